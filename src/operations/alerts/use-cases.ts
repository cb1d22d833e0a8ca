/** What operators do about alerts, their channels, and the balance at the supplier. */
import { randomBytes } from 'node:crypto';
import { writeAudit } from '../../accounts/store/audit.ts';
import { findPerson } from '../../accounts/store/people.ts';
import { bumpRevision } from '../../catalogue/store/revisions.ts';
import type { Environment } from '../../domain/account.ts';
import type { ChannelKind } from '../../domain/alerts.ts';
import type { Session } from '../../domain/callers.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId, makeId } from '../../domain/ids.ts';
import type { PageQuery } from '../../domain/page.ts';
import type { Bound } from '../../platform/bind.ts';
import type { AccountsDb, WorldDb } from '../../platform/database/tables.ts';
import { inEnvironment, lockByName } from '../../platform/database/transactions.ts';
import type { UrlGuard } from '../../platform/outbound/url-guard.ts';
import type { SecretBox } from '../../platform/secret-box.ts';
import {
  deleteChannel,
  insertChannel,
  listAlerts,
  listChannels,
  writeTestMessage,
  type Channel,
} from '../store/alerts.ts';
import { checkBalance, describeAvailability, type BalanceDeps } from '../supplier/balance.ts';
import type { BalanceLimits } from '../supplier/balance-rules.ts';
import { MAX_CHANNELS, type ChannelFilter } from './alert-rules.ts';

export interface AlertDeps {
  readonly db: WorldDb;
  readonly accounts: AccountsDb;
  readonly environment: Environment;
  readonly balanceLimits: BalanceLimits;
  /** Absent where nothing outside can be asked. */
  readonly alerting?:
    | {
        readonly supplier: BalanceDeps['supplier'];
        readonly urlGuard: Pick<UrlGuard, 'check'>;
        readonly secretBox: SecretBox;
      }
    | undefined;
}

/** Bound to their dependencies in app/composition. */
export const alertUseCases = {
  listAlerts: ({ db }: AlertDeps, query: PageQuery & { readonly isOpen?: boolean | undefined }) =>
    listAlerts(db, query),
  listChannels: ({ db }: AlertDeps) => listChannels(db),
  addChannel,
  removeChannel,
  testChannel,
  readAvailability: ({ db, balanceLimits }: AlertDeps) => describeAvailability(db, balanceLimits),
  checkBalanceNow,
  endShortage,
};

export type AlertCases = Bound<typeof alertUseCases>;

export interface ChannelCommand extends ChannelFilter {
  readonly kind: ChannelKind;
  /** An operator's e-mail address, or the URL of a chat's incoming webhook. */
  readonly address: string;
}

const invalid = (details: string): DomainError =>
  new DomainError('VALIDATION_ERROR', 'Invalid request', { details });

/** VALIDATION_ERROR for an address that is no operator's, or not on the public internet, or one too many. */
async function addChannel(
  deps: AlertDeps,
  { person }: Pick<Session, 'person'>,
  { kind, address, ...filter }: ChannelCommand,
): Promise<Channel> {
  const id = makeId('channel', randomBytes(16).toString('hex'));
  const where = kind === 'MAIL' ? await ofOperator(deps, address) : await ofChat(deps, id, address);
  return deps.accounts.transaction().execute(async (trx) => {
    const made = await inEnvironment(trx, deps.environment, async (world) => {
      await lockByName(world, 'channels of alerts');
      if ((await listChannels(world)).length >= MAX_CHANNELS)
        throw invalid(`an environment has at most ${MAX_CHANNELS} channels`);
      await insertChannel(world, { id, kind, ...where, ...filter, createdBy: person.email });
      return (await listChannels(world)).find((one) => one.id === id);
    });
    if (!made) throw new Error(`channel ${id} was not written`);
    await writeAudit(trx, {
      actor: person.email,
      action: 'alert-channel.create',
      subject: id,
      detail: { environment: deps.environment, type: kind, host: made.shown },
    });
    return made;
  });
}

async function ofOperator({ accounts }: AlertDeps, address: string) {
  const found = await findPerson(accounts, { email: address.trim().toLowerCase() });
  if (!found || found.disabled_at !== null)
    throw invalid('address: must be the e-mail address of an operator');
  return { shown: found.email, urlSealed: null };
}

async function ofChat({ alerting }: AlertDeps, id: string, url: string) {
  if (!alerting) throw new DomainError('SERVICE_UNAVAILABLE', 'No channel can be added here');
  const verdict = await alerting.urlGuard.check(url);
  if (!verdict.ok) throw invalid(`address: ${verdict.detail}`);
  return { shown: new URL(url).host, urlSealed: alerting.secretBox.seal(url, id) };
}

/** What waits for it is not sent. NOT_FOUND. */
function removeChannel(
  { accounts, environment }: AlertDeps,
  { person }: Pick<Session, 'person'>,
  id: string,
): Promise<void> {
  return accounts.transaction().execute(async (trx) => {
    const shown = await inEnvironment(trx, environment, (world) => deleteChannel(world, id));
    if (shown === undefined) throw noChannel();
    const detail = { environment, host: shown };
    await writeAudit(trx, { actor: person.email, action: 'alert-channel.remove', subject: id, detail });
  });
}

const noChannel = (): DomainError => new DomainError('NOT_FOUND', 'No such channel');

/** Sent within a minute. NOT_FOUND. */
async function testChannel(
  { db }: AlertDeps,
  { person }: Pick<Session, 'person'>,
  id: string,
): Promise<void> {
  const known = isId('channel', id) && (await listChannels(db)).some((channel) => channel.id === id);
  if (!known) throw noChannel();
  await writeTestMessage(db, id, `${person.email} asked for this message.`);
}

/** SERVICE_UNAVAILABLE where the supplier does not answer. */
async function checkBalanceNow({ db, alerting, balanceLimits }: AlertDeps) {
  const supplier = alerting?.supplier;
  const outcome = supplier ? await checkBalance({ db, supplier }, { isForced: true }) : 'unread';
  if (outcome === 'unread') throw new DomainError('SERVICE_UNAVAILABLE', 'The supplier did not answer');
  return describeAvailability(db, balanceLimits);
}

/** The package is sold again, at the word of a person. NOT_FOUND where it is sold. */
async function endShortage({ db, balanceLimits }: AlertDeps, packageCode: string) {
  await db.transaction().execute(async (trx) => {
    const ended = await trx
      .deleteFrom('package_shortages')
      .where('package_code', '=', packageCode)
      .executeTakeFirst();
    if (ended.numDeletedRows === 0n) throw new DomainError('NOT_FOUND', 'This package is sold');
    await bumpRevision(trx, 'availability');
  });
  return describeAvailability(db, balanceLimits);
}
