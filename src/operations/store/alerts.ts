/** Rows of alerts, of channels, and of what is sent to them. Every time is Postgres's. */
import { sql, type Generated } from 'kysely';
import type { Page, PageQuery } from '../../domain/page.ts';
import { readPage } from '../../platform/database/page.ts';
import { inBatches } from '../../platform/database/retention.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import {
  severityOf,
  titleOf,
  type AlertKind,
  type AlertMessage,
  type ChannelKind,
  type Severity,
} from '../../domain/alerts.ts';
import type { ChannelFilter, Condition, OpenAlert } from '../alerts/alert-rules.ts';

interface AlertsTable {
  id: Generated<bigint>;
  kind: AlertKind;
  subject: string;
  severity: Severity;
  detail: string;
  opened_at: Generated<Date>;
  told_at: Generated<Date>;
  ending_since: Date | null;
  closed_at: Date | null;
}

interface ChannelsTable {
  id: string;
  kind: ChannelKind;
  shown: string;
  url_sealed: Buffer | null;
  min_severity: Severity;
  kinds: AlertKind[];
  created_by: string;
  created_at: Generated<Date>;
}

interface MessagesTable {
  id: Generated<bigint>;
  alert_id: bigint | null;
  channel_id: string;
  what: AlertMessage;
  severity: Severity;
  title: string;
  detail: string;
  attempts: Generated<number>;
  next_attempt_at: Generated<Date | null>;
  sent_at: Date | null;
  failure: string | null;
  created_at: Generated<Date>;
}

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    operator_alerts: AlertsTable;
    alert_channels: ChannelsTable;
    alert_messages: MessagesTable;
  }
}

export const readOpenAlerts = (db: WorldDb): Promise<OpenAlert[]> =>
  db
    .selectFrom('operator_alerts')
    .select(['id', 'kind', 'subject', 'detail', 'told_at as toldAt', 'ending_since as endingSince'])
    .where('closed_at', 'is', null)
    .execute();

export async function openAlert(trx: WorldDb, { kind, subject, detail }: Condition): Promise<bigint> {
  const values = { kind, subject, detail, severity: severityOf(kind) };
  const { id } = await trx
    .insertInto('operator_alerts')
    .values(values)
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

const now = sql<Date>`clock_timestamp()`;

/** Its condition is there, in today's words. */
export const keepAlert = (trx: WorldDb, { id, detail }: OpenAlert) =>
  trx.updateTable('operator_alerts').set({ detail, ending_since: null }).where('id', '=', id).execute();

export const endAlert = (trx: WorldDb, id: bigint) =>
  trx.updateTable('operator_alerts').set({ ending_since: now }).where('id', '=', id).execute();

export const closeAlert = (trx: WorldDb, id: bigint) =>
  trx.updateTable('operator_alerts').set({ closed_at: now }).where('id', '=', id).execute();

export const markTold = (trx: WorldDb, id: bigint) =>
  trx.updateTable('operator_alerts').set({ told_at: now }).where('id', '=', id).execute();

export type Channel = ChannelFilter & {
  readonly id: string;
  readonly kind: ChannelKind;
  /** An e-mail address, or the host of a URL. */
  readonly shown: string;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly lastSentAt: Date | null;
  /** Why what waits longest is not sent; null: nothing waits, or it was not tried yet. */
  readonly failure: string | null;
};

export async function listChannels(db: WorldDb): Promise<Channel[]> {
  return db
    .selectFrom('alert_channels')
    .select(['id', 'kind', 'shown', 'min_severity as minSeverity', 'kinds', 'created_by as createdBy'])
    .select('created_at as createdAt')
    .select((eb) => [
      eb
        .selectFrom('alert_messages')
        .select((own) => own.fn.max('sent_at').as('at'))
        .whereRef('channel_id', '=', 'alert_channels.id')
        .as('lastSentAt'),
      eb
        .selectFrom('alert_messages')
        .select('failure')
        .whereRef('channel_id', '=', 'alert_channels.id')
        .where('sent_at', 'is', null)
        .orderBy('id')
        .limit(1)
        .as('failure'),
    ])
    .orderBy('created_at')
    .execute();
}

export interface NewChannel extends ChannelFilter {
  readonly id: string;
  readonly kind: ChannelKind;
  readonly shown: string;
  readonly urlSealed: Buffer | null;
  readonly createdBy: string;
}

export const insertChannel = (trx: WorldDb, channel: NewChannel) =>
  trx
    .insertInto('alert_channels')
    .values({
      id: channel.id,
      kind: channel.kind,
      shown: channel.shown,
      url_sealed: channel.urlSealed,
      min_severity: channel.minSeverity,
      kinds: [...channel.kinds],
      created_by: channel.createdBy,
    })
    .execute();

/** With what waits for it. Its `shown`; undefined: there is none. */
export async function deleteChannel(trx: WorldDb, id: string): Promise<string | undefined> {
  const deleted = await trx
    .deleteFrom('alert_channels')
    .where('id', '=', id)
    .returning('shown')
    .executeTakeFirst();
  return deleted?.shown;
}

interface NewMessage {
  readonly alertId: bigint;
  readonly what: AlertMessage;
  readonly about: Pick<Condition, 'kind' | 'detail'>;
}

/** One for each of the channels. */
export async function writeMessages(
  trx: WorldDb,
  channelIds: readonly string[],
  { alertId, what, about }: NewMessage,
): Promise<void> {
  if (channelIds.length === 0) return;
  const { kind, detail } = about;
  const values = { alert_id: alertId, what, severity: severityOf(kind), title: titleOf(kind), detail };
  await trx
    .insertInto('alert_messages')
    .values(channelIds.map((channel_id) => ({ ...values, channel_id })))
    .execute();
}

export const writeTestMessage = (db: WorldDb, channelId: string, detail: string) =>
  db
    .insertInto('alert_messages')
    .values({
      channel_id: channelId,
      what: 'test',
      severity: 'warning',
      title: 'This channel works',
      detail,
    })
    .execute();

export interface LeasedMessage {
  readonly id: bigint;
  readonly channelId: string;
  readonly kind: ChannelKind;
  readonly shown: string;
  readonly urlSealed: Buffer | null;
  readonly what: AlertMessage;
  readonly severity: Severity;
  readonly title: string;
  readonly detail: string;
  /** Including this one. */
  readonly attempts: number;
  /** false: of an operator who has left. */
  readonly isReachable: boolean;
}

/** The one due longest. A sender that dies after sending causes a second one. */
export async function leaseMessage(db: WorldDb, leaseMs: number): Promise<LeasedMessage | undefined> {
  const { rows } = await sql<LeasedMessage>`
    with leased as (
      update alert_messages
         set attempts = attempts + 1, next_attempt_at = clock_timestamp() + ${leaseMs}::float8 * interval '1 ms'
       where id = (
         select id from alert_messages where sent_at is null and next_attempt_at <= clock_timestamp()
          order by next_attempt_at limit 1 for update skip locked)
      returning *
    )
    select leased.id, channel.id as "channelId", channel.kind, channel.shown, channel.url_sealed as "urlSealed",
           what, severity, title, detail, attempts,
           channel.kind <> 'MAIL' or accounts.is_active_operator(channel.shown) as "isReachable"
      from leased join alert_channels channel on channel.id = leased.channel_id`.execute(db);
  return rows[0];
}

export const markMessageSent = (db: WorldDb, id: bigint) =>
  db
    .updateTable('alert_messages')
    .set({ sent_at: now, next_attempt_at: null, failure: null })
    .where('id', '=', id)
    .where('sent_at', 'is', null)
    .execute();

export const postponeMessage = (db: WorldDb, id: bigint, waitMs: number, failure: string) =>
  db
    .updateTable('alert_messages')
    .set({ next_attempt_at: sql`clock_timestamp() + ${waitMs}::float8 * interval '1 ms'`, failure })
    .where('id', '=', id)
    .where('sent_at', 'is', null)
    .execute();

export const resealChannel = (db: WorldDb, id: string, sealed: Buffer) =>
  db.updateTable('alert_channels').set({ url_sealed: sealed }).where('id', '=', id).execute();

export interface ListedAlert {
  readonly id: bigint;
  readonly kind: AlertKind;
  readonly subject: string;
  readonly severity: Severity;
  readonly detail: string;
  readonly openedAt: Date;
  readonly closedAt: Date | null;
}

/** Open ones first, then the newest. */
export function listAlerts(
  db: WorldDb,
  { isOpen, ...page }: PageQuery & { readonly isOpen?: boolean | undefined },
): Promise<Page<ListedAlert>> {
  const alerts = db
    .selectFrom('operator_alerts')
    .select(['id', 'kind', 'subject', 'severity', 'detail'])
    .select(['opened_at as openedAt', 'closed_at as closedAt'])
    .$if(isOpen !== undefined, (qb) => qb.where('closed_at', isOpen ? 'is' : 'is not', null))
    .orderBy(sql`closed_at is not null`)
    .orderBy('id', 'desc');
  return readPage(alerts, page);
}

/** Deletes alerts that were closed before then, with their messages, and tests. How many alerts. */
export async function forgetAlerts(db: WorldDb, before: Date, isOver: () => boolean): Promise<number> {
  await db
    .deleteFrom('alert_messages')
    .where('alert_id', 'is', null)
    .where('created_at', '<', before)
    .execute();
  return inBatches(async (limit) => {
    const { numAffectedRows } = await sql`
      delete from operator_alerts where id in (
        select id from operator_alerts where closed_at < ${before} limit ${limit})`.execute(db);
    return Number(numAffectedRows ?? 0n);
  }, isOver);
}
