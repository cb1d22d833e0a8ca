/**
 * A run is one row, however often it is begun, and a difference is open once. What a person closed stays
 * closed while the facts are the same.
 */
import { sql, type Insertable, type Selectable } from 'kysely';
import type { AuditFacts } from '../../accounts/audit-facts.ts';
import { writeWorldAudit } from '../../accounts/store/audit.ts';
import { BALANCE_SUBJECT, type AgreedSum } from '../supplier-rules.ts';
import type { Difference, DifferenceKind, ReconcileSummary } from '../payment-rules.ts';
import { countAndOldest } from '../../platform/database/summary.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import { toJson, type Side, type Slice } from './lines.ts';
import type { ReconciliationRunsTable } from './tables.ts';

export type RunRow = Selectable<ReconciliationRunsTable>;

/** A request by a person. Without a range: everything since the last regular run. */
interface AskedRun {
  readonly askedBy: string;
  readonly range?: Slice | undefined;
}

export async function keepRequest(
  db: WorldDb,
  { runKey, askedBy, range }: AskedRun & { readonly runKey: string },
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await trx
      .insertInto('reconciliation_requests')
      .values({ run_key: runKey, asked_by: askedBy, from_at: range?.from ?? null, to_at: range?.to ?? null })
      .execute();
    const detail: AuditFacts = range
      ? { after: `${range.from.toISOString()} to ${range.to.toISOString()}` }
      : {};
    await writeWorldAudit(trx, { actor: askedBy, action: 'reconciliation.ask', subject: runKey, detail });
  });
}

export async function findRequest(db: WorldDb, runKey: string): Promise<AskedRun | undefined> {
  const row = await db
    .selectFrom('reconciliation_requests')
    .selectAll()
    .where('run_key', '=', runKey)
    .executeTakeFirst();
  if (!row) return undefined;
  const { asked_by: askedBy, from_at: from, to_at: to } = row;
  return { askedBy, range: from && to ? { from, to } : undefined };
}

/** Begins a run, or resumes the one that was begun under the same key. */
export async function beginRun(db: WorldDb, run: Insertable<ReconciliationRunsTable>): Promise<RunRow> {
  await db
    .insertInto('reconciliation_runs')
    .values(run)
    .onConflict((conflict) => conflict.column('run_key').doNothing())
    .execute();
  return selectRuns(db).where('run_key', '=', run.run_key).executeTakeFirstOrThrow();
}

export function findRun(db: WorldDb, runKey: string): Promise<RunRow | undefined> {
  return selectRuns(db).where('run_key', '=', runKey).executeTakeFirst();
}

/** The last regular run that was finished. */
export function findLastRun(db: WorldDb): Promise<RunRow | undefined> {
  return selectRuns(db)
    .where('is_regular', '=', true)
    .where('status', '=', 'DONE')
    .orderBy('to_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

const selectRuns = (db: WorldDb) => db.selectFrom('reconciliation_runs').selectAll();

/** When the first thing happened that can be compared; undefined: nothing has. */
export async function firstMoment(db: WorldDb): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select least(
      (select min(created_at) from payments),
      (select created_at from ledger_transactions order by id limit 1)) as at`.execute(db);
  return rows[0]?.at ?? undefined;
}

/** Stores how many slices a run has read, so that it resumes there. */
export async function keepProgress(db: WorldDb, runId: bigint, slicesRead: number): Promise<void> {
  await db
    .updateTable('reconciliation_runs')
    .set({ slices_read: slicesRead, touched_at: sql`clock_timestamp()` })
    .where('id', '=', runId)
    .execute();
}

/** Closes a run with what it found. Safe to repeat. */
export async function finishRun(
  db: WorldDb,
  runId: bigint,
  compared: Readonly<Record<string, number>>,
  balance: { readonly balanceUsdE4: bigint; readonly agreedSum: AgreedSum },
): Promise<RunRow> {
  await db
    .updateTable('reconciliation_runs')
    .set({
      status: 'DONE',
      compared: JSON.stringify(compared),
      differences_opened: sql`(select count(*) from reconciliation_differences d where d.first_run_id = ${runId})`,
      differences_closed: sql`(
        select count(*) from reconciliation_differences d where d.last_run_id = ${runId} and d.closed_how = 'GONE')`,
      supplier_balance_usd_e4: balance.balanceUsdE4,
      supplier_sum_from_usd_e4: balance.agreedSum.fromUsdE4,
      supplier_sum_to_usd_e4: balance.agreedSum.toUsdE4,
      finished_at: sql`clock_timestamp()`,
      touched_at: sql`clock_timestamp()`,
    })
    .where('id', '=', runId)
    .where('status', '=', 'RUNNING')
    .execute();
  return selectRuns(db).where('id', '=', runId).executeTakeFirstOrThrow();
}

/** Abandons runs that were left untouched since a time. */
export async function abandonRuns(db: WorldDb, untouchedSince: Date): Promise<void> {
  await db
    .updateTable('reconciliation_runs')
    .set({ status: 'ABANDONED' })
    .where('status', '=', 'RUNNING')
    .where('touched_at', '<', untouchedSince)
    .execute();
}

/** As agreed on after the last run, or by a person who has since closed a difference about it. */
export async function findAgreedSum(db: WorldDb): Promise<AgreedSum | null> {
  const { rows } = await sql<AgreedSum>`
    with run as (
      select supplier_sum_from_usd_e4 as from_usd_e4, supplier_sum_to_usd_e4 as to_usd_e4, finished_at as at
        from reconciliation_runs where supplier_sum_from_usd_e4 is not null order by id desc limit 1
    ), closed as (
      select (theirs ->> 'sumFromUsdE4')::int8, (theirs ->> 'sumToUsdE4')::int8, closed_at
        from reconciliation_differences
       where subject = ${BALANCE_SUBJECT} and kind = 'supplier-balance-differs' and closed_how = 'BY_PERSON'
       order by id desc limit 1
    ), agreed as (
      select * from run union all select * from closed
    )
    select from_usd_e4 as "fromUsdE4", to_usd_e4 as "toUsdE4" from agreed order by at desc limit 1`.execute(
    db,
  );
  return rows[0] ?? null;
}

const selectOpen = (db: WorldDb) =>
  db.selectFrom('reconciliation_differences').where('closed_at', 'is', null);
const updateOpen = (db: WorldDb) =>
  db.updateTable('reconciliation_differences').where('closed_at', 'is', null);

/** Subjects with an open difference of a kind that a run has not compared yet. */
export async function findOpenSubjects(db: WorldDb, kind: DifferenceKind, runId: bigint): Promise<string[]> {
  const rows = await selectOpen(db)
    .select('subject')
    .where('kind', '=', kind)
    .where('last_run_id', '<', runId)
    .orderBy('subject')
    .execute();
  return rows.map((row) => row.subject);
}

/** Where open differences are dated before a time. */
export function findOldDates(db: WorldDb, before: Date): Promise<Slice[]> {
  return selectOpen(db)
    .select(['dated_from as from', 'dated_to as to'])
    .distinct()
    .where('dated_from', '<', before)
    .execute();
}

/** The result of comparing some subjects. */
interface Compared {
  readonly runId: bigint;
  readonly now: Date;
  readonly side: Side;
  /** With the stretch of the vendor's time in which each is found again. */
  readonly found: readonly (Difference & { readonly datedFrom: Date; readonly datedTo: Date })[];
  /** Subjects with all of their differences in `found`. */
  readonly decided: readonly string[];
  /** Subjects that have moved too recently to say. */
  readonly undecided: readonly string[];
}

/** Opens new differences, updates known ones and closes those that are gone. Safe to repeat. */
export async function keepCompared(db: WorldDb, compared: Compared): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (compared.found.length > 0) await openDifferences(trx, compared);
    await touchUndecided(trx, compared);
    await closeGone(trx, compared);
  });
}

const ofSide = (side: Side) => sql<boolean>`(kind like 'supplier-%') = ${side === 'supplier'}`;

async function openDifferences(trx: WorldDb, { runId, now, found }: Compared): Promise<void> {
  await sql`
    with found as (
      select * from jsonb_to_recordset(${toJson(found)}::jsonb) as found (
        kind text, subject text, "transactionId" text, currency text, "amountMinor" bigint, ours jsonb, theirs jsonb,
        "datedFrom" timestamptz, "datedTo" timestamptz)
    )
    insert into reconciliation_differences (kind, subject, transaction_id, currency, amount_minor, ours, theirs, dated_from, dated_to,
           first_run_id, last_run_id, first_seen_at, last_seen_at)
    select found.*, ${runId}::bigint, ${runId}::bigint, ${now}::timestamptz, ${now}::timestamptz
      from found
     where not exists (
       select from reconciliation_differences accepted
        where accepted.subject = found.subject and accepted.kind = found.kind and accepted.closed_how = 'BY_PERSON'
          and accepted.ours is not distinct from found.ours and accepted.theirs is not distinct from found.theirs)
    on conflict (subject, kind) where closed_at is null do update
       set transaction_id = excluded.transaction_id, currency = excluded.currency, amount_minor = excluded.amount_minor,
           ours = excluded.ours, theirs = excluded.theirs, dated_from = excluded.dated_from, dated_to = excluded.dated_to,
           last_run_id = greatest(reconciliation_differences.last_run_id, excluded.last_run_id),
           last_seen_at = excluded.last_seen_at`.execute(trx);
}

async function touchUndecided(trx: WorldDb, { runId, side, undecided }: Compared): Promise<void> {
  if (undecided.length === 0) return;
  await updateOpen(trx)
    .set({ last_run_id: sql`greatest(last_run_id, ${runId}::bigint)` })
    .where('subject', '=', sql<string>`any(${undecided}::text[])`)
    .where(ofSide(side))
    .execute();
}

/** Of subjects that were compared, every open difference except those just found. */
async function closeGone(trx: WorldDb, { runId, now, side, found, decided }: Compared): Promise<void> {
  if (decided.length === 0) return;
  await sql`
    update reconciliation_differences d
       set closed_at = ${now}, closed_how = 'GONE', last_run_id = ${runId}
     where d.closed_at is null and d.subject = any(${decided}::text[]) and ${ofSide(side)}
       and not exists (
         select from unnest(${found.map((one) => one.subject)}::text[], ${found.map((one) => one.kind)}::text[]) as f (subject, kind)
          where f.subject = d.subject and f.kind = d.kind)`.execute(trx);
}

/** Closes what a run of these sides did not find again, `within` the time that it covered. */
export async function closeUnseen(
  db: WorldDb,
  run: {
    readonly runId: bigint;
    readonly now: Date;
    readonly sides: readonly Side[];
    readonly within: Slice | undefined;
  },
): Promise<void> {
  const { runId, now, sides, within } = run;
  for (const side of sides) {
    const unseen = updateOpen(db)
      .set({ closed_at: now, closed_how: 'GONE', last_run_id: runId })
      // A later run may be going on and have compared it.
      .where('last_run_id', '<', runId)
      .where(ofSide(side));
    await (
      within ? unseen.where('dated_from', '>=', within.from).where('dated_to', '<', within.to) : unseen
    ).execute();
  }
}

export interface DifferenceFilter {
  readonly kinds?: readonly DifferenceKind[] | undefined;
  readonly currency?: string | undefined;
  readonly transactionId?: string | undefined;
  readonly limit: number;
}

const DIFFERENCE = [
  'id',
  'kind',
  'subject',
  'transaction_id as transactionId',
  'currency',
  'amount_minor as amountMinor',
  'ours',
  'theirs',
  'first_seen_at as firstSeenAt',
  'last_seen_at as lastSeenAt',
  'closed_at as closedAt',
  'closed_by as closedBy',
  'close_reason as closeReason',
] as const;

export type ListedDifference = Awaited<ReturnType<typeof listOpenDifferences>>[number];

/** Open or closed. */
export function findDifference(db: WorldDb, id: bigint): Promise<ListedDifference | undefined> {
  return db
    .selectFrom('reconciliation_differences')
    .select(DIFFERENCE)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Open differences, oldest first. */
export function listOpenDifferences(
  db: WorldDb,
  { kinds, currency, transactionId, limit }: DifferenceFilter,
) {
  let query = selectOpen(db).select(DIFFERENCE);
  if (kinds !== undefined) query = query.where('kind', 'in', kinds);
  if (currency !== undefined) query = query.where('currency', '=', currency);
  if (transactionId !== undefined) query = query.where('transaction_id', '=', transactionId);
  return query.orderBy('id').limit(limit).execute();
}

/** How many are open of each kind; also read for metrics. */
export async function countOpenDifferences(db: WorldDb): Promise<ReconcileSummary['open']> {
  const rows = await selectOpen(db)
    .select(['kind', (eb) => eb.fn.countAll<bigint>().as('count')])
    .groupBy('kind')
    .orderBy('kind')
    .execute();
  return rows.map(({ kind, count }) => ({ kind, count: Number(count) }));
}

export const summariseOpenDifferences = (db: WorldDb) =>
  selectOpen(db).select(countAndOldest('first_seen_at')).executeTakeFirstOrThrow();

/** Closes a difference on a person's word. */
export async function closeDifference(
  db: WorldDb,
  close: { readonly id: bigint; readonly by: string; readonly reason: string; readonly now: Date },
): Promise<'done' | 'ALREADY_CLOSED' | 'NOT_FOUND'> {
  const isClosed = await inTransaction(db, async (trx) => {
    const closed = await updateOpen(trx)
      .set({ closed_at: close.now, closed_how: 'BY_PERSON', closed_by: close.by, close_reason: close.reason })
      .where('id', '=', close.id)
      .returning(['kind', 'subject'])
      .executeTakeFirst();
    if (!closed) return false;
    const detail = { type: closed.kind, reference: closed.subject, reason: close.reason };
    const entry = { actor: close.by, action: 'difference.close', subject: String(close.id), detail } as const;
    await writeWorldAudit(trx, entry);
    return true;
  });
  if (isClosed) return 'done';
  const known = db.selectFrom('reconciliation_differences').select('id').where('id', '=', close.id);
  return (await known.executeTakeFirst()) ? 'ALREADY_CLOSED' : 'NOT_FOUND';
}
