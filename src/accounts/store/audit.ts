import { sql } from 'kysely';
import type { Environment } from '../../domain/account.ts';
import type { AccountsDb, WorldDb } from '../../platform/database/tables.ts';
import { noticeOf, type AuditAction, type AuditEntry, type UnmailedAction } from '../audit-entry.ts';
import type { AuditFacts } from '../audit-facts.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import { dropNotices, postponeNotices, queueNotices } from './notices.ts';

/**
 * Call it in the transaction of the change itself. `detail` must hold no key, secret or activation code. Also
 * queues the mails that tell people about the change (../notices.ts).
 */
export async function writeAudit<Facts extends AuditFacts>(
  db: AccountsDb,
  entry: AuditEntry<AuditAction, Facts>,
): Promise<void> {
  if (!noticeOf(entry)) {
    await insertEntry(db, entry);
    return;
  }
  await inTransaction(db, async (trx) => {
    await insertEntry(trx, entry);
    await queueNotices(trx, entry);
  });
}

const insertEntry = (db: AccountsDb, entry: AuditEntry) =>
  db
    .insertInto('audit_log')
    .values({ ...entry, detail: JSON.stringify(entry.detail ?? {}) })
    .execute();

/** Longer than such a change takes. */
const HELD_MS = 60_000;

/**
 * For a change that better-auth makes, outside of our transactions. If we die in between, its notice is sent
 * all the same.
 */
export async function auditAround<T, Facts extends AuditFacts>(
  db: AccountsDb,
  entry: AuditEntry<AuditAction, Facts>,
  change: () => Promise<T>,
): Promise<T> {
  const held = await inTransaction(db, (trx) => queueNotices(trx, entry, HELD_MS));
  const result = await change().catch(async (error: unknown) => {
    await dropNotices(db, held);
    throw error;
  });
  await inTransaction(db, async (trx) => {
    await insertEntry(trx, entry);
    await postponeNotices(trx, held, 0);
  });
  return result;
}

/** The same, unless there is an equal entry since then. */
export async function writeAuditOnce<Facts extends AuditFacts>(
  db: AccountsDb,
  { actor, action, subject, detail }: AuditEntry<UnmailedAction, Facts>,
  since: Date,
): Promise<void> {
  await sql`
    insert into audit_log (actor, action, subject, detail)
    select ${actor}, ${action}, ${subject}, ${JSON.stringify(detail ?? {})}::jsonb
     where not exists (
       select from audit_log where subject = ${subject} and at > ${since} and actor = ${actor} and action = ${action})`.execute(
    db,
  );
}

/** The same for a change of rows of an environment. `detail` gets the environment's name as `environment`. */
export async function writeWorldAudit<Facts extends AuditFacts>(
  trx: WorldDb,
  { actor, action, subject, detail }: AuditEntry<UnmailedAction, Facts>,
): Promise<void> {
  await sql`
    insert into accounts.audit_log (actor, action, subject, detail)
    select ${actor}, ${action}, ${subject}, ${JSON.stringify(detail ?? {})}::jsonb || jsonb_build_object('environment', environment)
      from world`.execute(trx);
}

/** All of them exact; includes `from`, excludes `to`. */
export interface AuditFilters {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  /** Only changes of rows of this environment. */
  readonly environment?: Environment | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Before a row in time, or at the same moment with a lower id. `atMicros`: since 1970. */
export interface LogPlace<Id> {
  readonly atMicros: bigint;
  readonly id: Id;
}

/** Microseconds since 1970, as precise as Postgres keeps a moment. */
export const microsOf = (column: string) =>
  sql<bigint>`(extract(epoch from ${sql.ref(column)}) * 1000000)::int8`;

export const momentOf = (micros: bigint) =>
  sql<Date>`(timestamptz 'epoch' + ${String(micros)}::int8 * interval '1 microsecond')`;

/** The newest first. */
export function listAuditRows(
  db: AccountsDb,
  { actor, action, subject, environment, from, to }: AuditFilters,
  { before, limit }: { readonly before: LogPlace<bigint> | undefined; readonly limit: number },
) {
  let query = db
    .selectFrom('audit_log')
    .select(['id', 'at', 'actor', 'action', 'subject', 'detail'])
    .select(microsOf('at').as('atMicros'));
  if (actor !== undefined) query = query.where('actor', '=', actor);
  if (action !== undefined) query = query.where('action', '=', action);
  if (subject !== undefined) query = query.where('subject', '=', subject);
  if (environment !== undefined) query = query.where(sql<boolean>`detail ->> 'environment' = ${environment}`);
  if (from !== undefined) query = query.where('at', '>=', from);
  if (to !== undefined) query = query.where('at', '<', to);
  if (before !== undefined)
    query = query.where(sql<boolean>`(at, id) < (${momentOf(before.atMicros)}, ${before.id})`);
  return query.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}
