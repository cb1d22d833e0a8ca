/**
 * Runs of reconciliation and the differences that they found. Guarantee: a run is one row however often it is begun, a difference is open once
 * however often it is found, and what a person has closed stays closed while the facts are the same.
 */
import { sql, type Selectable } from 'kysely';
import { BALANCE_SUBJECT, type AgreedSum } from '../supplier-rules.ts';
import type { Difference, DifferenceKind, OpenCount } from '../payment-rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { ReconciliationDifferencesTable, ReconciliationRunsTable, StoredSlice } from './tables.ts';

export type RunRow = Selectable<ReconciliationRunsTable>;

export interface NewRun {
  readonly runKey: string;
  readonly askedBy: string;
  readonly isRegular: boolean;
  readonly from: Date;
  readonly to: Date;
  readonly newFrom: Date;
  readonly settledBefore: Date;
  readonly slices: readonly StoredSlice[];
}

export function findRun(db: WorldDb, runKey: string): Promise<RunRow | undefined> {
  return db.selectFrom('reconciliation_runs').selectAll().where('run_key', '=', runKey).executeTakeFirst();
}

/** Begins a run, or takes up the one that was begun under the same key. */
export async function beginRun(db: WorldDb, run: NewRun): Promise<RunRow> {
  await db
    .insertInto('reconciliation_runs')
    .values({
      run_key: run.runKey,
      asked_by: run.askedBy,
      is_regular: run.isRegular,
      from_at: run.from,
      to_at: run.to,
      new_from_at: run.newFrom,
      settled_before: run.settledBefore,
      slices: JSON.stringify(run.slices),
      supplier_balance_usd_e4: null,
      supplier_sum_from_usd_e4: null,
      supplier_sum_to_usd_e4: null,
      finished_at: null,
    })
    .onConflict((conflict) => conflict.column('run_key').doNothing())
    .execute();
  return db
    .selectFrom('reconciliation_runs')
    .selectAll()
    .where('run_key', '=', run.runKey)
    .executeTakeFirstOrThrow();
}

/** The last regular run that was finished. */
export function findLastRun(db: WorldDb): Promise<RunRow | undefined> {
  return db
    .selectFrom('reconciliation_runs')
    .selectAll()
    .where('is_regular', '=', true)
    .where('status', '=', 'DONE')
    .orderBy('to_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** When the first thing happened that could be compared; undefined: nothing has. */
export async function firstMoment(db: WorldDb): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select least(
      (select min(created_at) from payments),
      (select created_at from ledger_transactions order by id limit 1)) as at`.execute(db);
  return rows[0]?.at ?? undefined;
}

/** How far a run has read the other sides, so that it is taken up there. */
export async function keepProgress(db: WorldDb, runId: bigint, slicesRead: number): Promise<void> {
  await db
    .updateTable('reconciliation_runs')
    .set({ slices_read: slicesRead, touched_at: sql`clock_timestamp()` })
    .where('id', '=', runId)
    .execute();
}

export interface RunEnd {
  readonly compared: Readonly<Record<string, number>>;
  readonly balance?: { readonly balanceUsdE4: bigint; readonly agreedSum: AgreedSum };
}

/** Closes a run with what it found; twice is once. */
export async function finishRun(db: WorldDb, runId: bigint, end: RunEnd): Promise<RunRow> {
  await db
    .updateTable('reconciliation_runs')
    .set({
      status: 'DONE',
      compared: JSON.stringify(end.compared),
      differences_opened: sql`(select count(*) from reconciliation_differences d where d.first_run_id = ${runId})`,
      differences_closed: sql`(
        select count(*) from reconciliation_differences d where d.last_run_id = ${runId} and d.closed_how = 'GONE')`,
      supplier_balance_usd_e4: end.balance?.balanceUsdE4 ?? null,
      supplier_sum_from_usd_e4: end.balance?.agreedSum.fromUsdE4 ?? null,
      supplier_sum_to_usd_e4: end.balance?.agreedSum.toUsdE4 ?? null,
      finished_at: sql`clock_timestamp()`,
      touched_at: sql`clock_timestamp()`,
    })
    .where('id', '=', runId)
    .where('status', '=', 'RUNNING')
    .execute();
  return db.selectFrom('reconciliation_runs').selectAll().where('id', '=', runId).executeTakeFirstOrThrow();
}

/** Runs that nobody has gone on with since a time are given up. */
export async function abandonRuns(db: WorldDb, untouchedSince: Date): Promise<void> {
  await db
    .updateTable('reconciliation_runs')
    .set({ status: 'ABANDONED' })
    .where('status', '=', 'RUNNING')
    .where('touched_at', '<', untouchedSince)
    .execute();
}

/** Balance and use together as last agreed on: after a run, or by a person who closed a difference about it since. */
export async function findAgreedSum(db: WorldDb): Promise<AgreedSum | null> {
  const { rows } = await sql<{ from_usd_e4: bigint; to_usd_e4: bigint }>`
    with last as (
      select supplier_sum_from_usd_e4 as from_usd_e4, supplier_sum_to_usd_e4 as to_usd_e4, finished_at as at
        from reconciliation_runs where supplier_sum_from_usd_e4 is not null order by id desc limit 1
    ), closed as (
      select (theirs ->> 'sumFromUsdE4')::int8, (theirs ->> 'sumToUsdE4')::int8, closed_at
        from reconciliation_differences
       where subject = ${BALANCE_SUBJECT} and kind = 'supplier-balance-differs' and closed_how = 'BY_PERSON'
       order by id desc limit 1
    )
    select from_usd_e4, to_usd_e4 from (select * from last union all select * from closed) agreed order by at desc limit 1`.execute(
    db,
  );
  const [row] = rows;
  return row ? { fromUsdE4: row.from_usd_e4, toUsdE4: row.to_usd_e4 } : null;
}

/** Subjects with an open difference of a kind that a run has not met yet. */
export async function findOpenSubjects(
  db: WorldDb,
  kind: DifferenceKind,
  exceptRunId: bigint,
): Promise<string[]> {
  const rows = await db
    .selectFrom('reconciliation_differences')
    .select('subject')
    .where('closed_at', 'is', null)
    .where('kind', '=', kind)
    .where('last_run_id', '<', exceptRunId)
    .orderBy('subject')
    .execute();
  return rows.map((row) => row.subject);
}

/** Where open differences are dated before a time. */
export async function findOldDates(db: WorldDb, before: Date): Promise<{ from: Date; to: Date }[]> {
  const rows = await db
    .selectFrom('reconciliation_differences')
    .select(['dated_from', 'dated_to'])
    .distinct()
    .where('closed_at', 'is', null)
    .where('dated_from', '<', before)
    .execute();
  return rows.map((row) => ({ from: row.dated_from, to: row.dated_to }));
}

/** A difference with the stretch of the other side's time in which it is found again. */
export interface FoundDifference extends Difference {
  readonly datedFrom: Date;
  readonly datedTo: Date;
}

/** What comparing came to, to be kept. */
export interface Compared {
  readonly runId: bigint;
  readonly now: Date;
  /** Whose side it was: a payment's reference may be a purchase's id. */
  readonly side: 'gateway' | 'supplier';
  readonly found: readonly FoundDifference[];
  /** Subjects that are as they should be. */
  readonly clean: readonly string[];
  /** Subjects that have moved too lately to say. */
  readonly undecided: readonly string[];
}

/** Opens what is new, goes on with what is known, closes what is gone. One transaction; twice is once. */
export async function keepCompared(db: WorldDb, compared: Compared): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (compared.found.length > 0) await openDifferences(trx, compared);
    await touchUndecided(trx, compared);
    await closeGone(trx, compared);
  });
}

const ofSide = (side: Compared['side']) => sql<boolean>`(kind like 'supplier-%') = ${side === 'supplier'}`;

async function openDifferences(trx: WorldDb, { runId, now, found }: Compared): Promise<void> {
  await sql`
    with found as (
      select * from jsonb_to_recordset(${JSON.stringify(found.map(toRecord))}::jsonb) as found (
        kind text, subject text, transaction_id text, currency text, amount_minor bigint, ours jsonb, theirs jsonb,
        dated_from timestamptz, dated_to timestamptz)
    )
    insert into reconciliation_differences (kind, subject, transaction_id, currency, amount_minor, ours, theirs, dated_from, dated_to,
           first_run_id, last_run_id, first_seen_at, last_seen_at)
    select kind, subject, transaction_id, currency, amount_minor, ours, theirs, dated_from, dated_to,
           ${runId}::bigint, ${runId}::bigint, ${now}::timestamptz, ${now}::timestamptz
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

/** A side that knows nothing is absent here, since jsonb has a null of its own. */
function toRecord(found: FoundDifference): Record<string, unknown> {
  const { ours, theirs } = found;
  return {
    kind: found.kind,
    subject: found.subject,
    transaction_id: found.transactionId,
    currency: found.currency,
    amount_minor: String(found.amountMinor),
    ...(ours === null ? {} : { ours }),
    ...(theirs === null ? {} : { theirs }),
    dated_from: found.datedFrom,
    dated_to: found.datedTo,
  };
}

async function touchUndecided(trx: WorldDb, { runId, side, undecided }: Compared): Promise<void> {
  if (undecided.length === 0) return;
  await trx
    .updateTable('reconciliation_differences')
    .set({ last_run_id: sql`greatest(last_run_id, ${runId}::bigint)` })
    .where('closed_at', 'is', null)
    .where('subject', '=', sql<string>`any(${[...undecided]}::text[])`)
    .where(ofSide(side))
    .execute();
}

/** Of subjects that were compared, every open difference but those just found. */
async function closeGone(trx: WorldDb, { runId, now, side, found, clean }: Compared): Promise<void> {
  const subjects = [...clean, ...found.map((one) => one.subject)];
  if (subjects.length === 0) return;
  await sql`
    update reconciliation_differences d
       set closed_at = ${now}, closed_how = 'GONE', last_run_id = ${runId}
     where d.closed_at is null and d.subject = any(${subjects}::text[]) and ${ofSide(side)}
       and not exists (
         select from unnest(${found.map((one) => one.subject)}::text[], ${found.map((one) => one.kind)}::text[]) as f (subject, kind)
          where f.subject = d.subject and f.kind = d.kind)`.execute(trx);
}

/**
 * What a run should have met on the sides that it asked and did not is on neither side any more. `within`: only differences from that stretch
 * of time, where a run has looked at nothing else.
 */
export async function closeUnseen(
  db: WorldDb,
  run: {
    readonly runId: bigint;
    readonly now: Date;
    readonly sides: readonly Compared['side'][];
    readonly within?: { readonly from: Date; readonly to: Date };
  },
): Promise<void> {
  const { runId, now, sides, within } = run;
  for (const side of sides) {
    const unseen = db
      .updateTable('reconciliation_differences')
      .set({ closed_at: now, closed_how: 'GONE', last_run_id: runId })
      .where('closed_at', 'is', null)
      // A later run may go on beside this one and have met it.
      .where('last_run_id', '<', runId)
      .where(ofSide(side));
    await (
      within === undefined
        ? unseen
        : unseen.where('dated_from', '>=', within.from).where('dated_to', '<', within.to)
    ).execute();
  }
}

export type DifferenceRow = Selectable<ReconciliationDifferencesTable>;

export interface DifferenceFilter {
  readonly kinds?: readonly DifferenceKind[] | undefined;
  readonly currency?: string | undefined;
  readonly transactionId?: string | undefined;
  /** Those after this one, oldest first. */
  readonly afterId?: bigint | undefined;
  readonly limit: number;
}

/** Open differences, oldest first. */
export function listOpenDifferences(db: WorldDb, filter: DifferenceFilter): Promise<DifferenceRow[]> {
  const { kinds, currency, transactionId, afterId, limit } = filter;
  let query = db.selectFrom('reconciliation_differences').selectAll().where('closed_at', 'is', null);
  if (kinds !== undefined) query = query.where('kind', '=', sql<DifferenceKind>`any(${[...kinds]}::text[])`);
  if (currency !== undefined) query = query.where('currency', '=', currency);
  if (transactionId !== undefined) query = query.where('transaction_id', '=', transactionId);
  if (afterId !== undefined) query = query.where('id', '>', afterId);
  return query.orderBy('id').limit(limit).execute();
}

/** How many are open of each kind; for metrics as well. */
export async function countOpenDifferences(db: WorldDb): Promise<OpenCount[]> {
  const rows = await db
    .selectFrom('reconciliation_differences')
    .select(['kind', (eb) => eb.fn.countAll<bigint>().as('count')])
    .where('closed_at', 'is', null)
    .groupBy('kind')
    .orderBy('kind')
    .execute();
  return rows.map(({ kind, count }) => ({ kind, count: Number(count) }));
}

/** Closed by a person who says why. `closed`: it was closed before. */
export async function closeDifference(
  db: WorldDb,
  close: { readonly id: bigint; readonly by: string; readonly reason: string; readonly now: Date },
): Promise<'done' | 'closed' | 'absent'> {
  const done = await db
    .updateTable('reconciliation_differences')
    .set({ closed_at: close.now, closed_how: 'BY_PERSON', closed_by: close.by, close_reason: close.reason })
    .where('id', '=', close.id)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  if (done.numUpdatedRows > 0n) return 'done';
  const row = await db
    .selectFrom('reconciliation_differences')
    .select('id')
    .where('id', '=', close.id)
    .executeTakeFirst();
  return row ? 'closed' : 'absent';
}
