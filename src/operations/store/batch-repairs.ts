/** Batch repairs and their rows. What people decide is on record beside their other actions, in the same transaction. */
import { sql, type Selectable } from 'kysely';
import { isSamePerson } from '../../accounts/operators/independence.ts';
import { areTwoPeople } from '../../accounts/store/access.ts';
import type { Money } from '../../domain/money.ts';
import type { Page, PageQuery } from '../../domain/page.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type {
  BatchRepairAction,
  BatchRepairCounts,
  BatchRepairFilter,
  BatchRepairRowStatus,
  BatchRepairStatus,
} from '../batch-repair-rules.ts';
import { APPROVAL_WITHIN_MS, REFUSAL_MESSAGES, type ActionRefusal } from '../rules.ts';
import type { StuckClass } from '../stuck-rules.ts';
import { recordRepair } from './events-and-messages.ts';
import type { BatchRepairRowsTable, BatchRepairsTable } from './tables.ts';

export type BatchRepairRow = Selectable<BatchRepairRowsTable>;
export type BatchRepair = Selectable<BatchRepairsTable> & { readonly counts: BatchRepairCounts };

/** A row that is to be repaired. */
export interface PlannedRow {
  readonly transactionId: string;
  readonly class: StuckClass;
  readonly amount: Money | null;
  readonly preview: string;
}

export interface NewBatchRepair {
  readonly id: string;
  /** The same key is the same batch repair, asked for once. */
  readonly repairKey: string;
  readonly action: BatchRepairAction;
  readonly filter: BatchRepairFilter;
  readonly reason: string;
  readonly evidence: string | null;
  readonly by: string;
  readonly rows: readonly PlannedRow[];
  readonly now: Date;
}

/** `in-another`: every row is part of another open batch repair. Otherwise the rows that are not. */
export async function insertBatchRepair(
  db: WorldDb,
  { id, repairKey, action, filter, reason, evidence, by, rows, now }: NewBatchRepair,
): Promise<'inserted' | 'in-another' | { readonly existing: string; readonly isSame: boolean }> {
  return db.transaction().execute(async (trx) => {
    await expireLate(trx, now);
    // So that two that are asked for at once do not take the same rows, and a key is used once.
    await sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || ' batch repairs', 0))`.execute(
      trx,
    );
    const earlier = await trx
      .selectFrom('batch_repairs')
      .select(['id', 'action', 'by_person'])
      .where('repair_key', '=', repairKey)
      .executeTakeFirst();
    if (earlier)
      return {
        existing: earlier.id,
        isSame: earlier.action === action && isSamePerson(earlier.by_person, by),
      };
    const taken = await findTaken(
      trx,
      rows.map((row) => row.transactionId),
    );
    const free = rows.filter((row) => !taken.has(row.transactionId));
    if (free.length === 0) return 'in-another';
    await trx
      .insertInto('batch_repairs')
      .values({
        id,
        repair_key: repairKey,
        action,
        filter: JSON.stringify(filter),
        reason,
        evidence,
        by_person: by,
        status: 'WAITS_FOR_APPROVAL',
        row_count: free.length,
        expires_at: new Date(now.getTime() + APPROVAL_WITHIN_MS),
        created_at: now,
      })
      .execute();
    await trx
      .insertInto('batch_repair_rows')
      .values(
        free.map(({ transactionId, class: stuckClass, amount, preview }, index) => ({
          repair_id: id,
          row_number: index + 1,
          transaction_id: transactionId,
          class: stuckClass,
          amount_minor: amount?.amountMinor ?? null,
          currency: amount?.currency ?? null,
          preview,
        })),
      )
      .execute();
    await recordRepair(trx, 'ask-batch-repair', id, `${action} on ${free.length} items`, { by, reason });
    return 'inserted';
  });
}

/** Those of these that an open batch repair works on, with its id. */
export async function findTaken(
  db: WorldDb,
  transactionIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('batch_repair_rows')
    .select(['transaction_id', 'repair_id'])
    .where('closed_at', 'is', null)
    .where('transaction_id', '=', sql<string>`any(${[...transactionIds]})`)
    .execute();
  return new Map(rows.map((row) => [row.transaction_id, row.repair_id]));
}

export type Decision = 'approve' | 'decline';

/** `decided`: now, or before by the same person. */
export type DecisionOutcome = 'decided' | 'not-found' | ActionRefusal;

/** The decision of a second person. A refused try is on record. */
export async function decideBatchRepair(
  db: WorldDb,
  id: string,
  decision: Decision,
  { by, reason, now }: { readonly by: string; readonly reason: string; readonly now: Date },
): Promise<DecisionOutcome> {
  return db.transaction().execute(async (trx) => {
    await expireLate(trx, now);
    const repair = await lockRepair(trx, id);
    if (!repair) return 'not-found';
    const isAgain = repair.status === 'RUNNING' && isSamePerson(repair.decided_by ?? '', by);
    if (isAgain && decision === 'approve') return 'decided';
    const refusal = await refusalOf(trx, repair, decision, by, now);
    const about = `${repair.action} on ${repair.row_count} items`;
    const refused = refusal === null ? '' : `: ${REFUSAL_MESSAGES[refusal]}`;
    await recordRepair(trx, `${decision}-batch-repair`, id, `${about}${refused}`, { by, reason }, refusal);
    if (refusal !== null) return refusal;
    const decided = { decided_by: by, decided_at: now };
    if (decision === 'approve')
      await updateRepair(trx, id, { ...decided, status: 'RUNNING', next_check_at: now });
    else await closeUnbegun(trx, id, { ...decided, status: 'DECLINED' }, now);
    return 'decided';
  });
}

async function refusalOf(
  trx: WorldDb,
  repair: Selectable<BatchRepairsTable>,
  decision: Decision,
  by: string,
  now: Date,
): Promise<ActionRefusal | null> {
  if (repair.status === 'EXPIRED') return 'APPROVAL_EXPIRED';
  if (repair.status !== 'WAITS_FOR_APPROVAL') return 'NOT_WAITING';
  // The person who requested it may withdraw it.
  if (decision === 'decline') return null;
  if (isSamePerson(repair.by_person, by)) return 'SAME_PERSON';
  return (await areTwoPeople(trx, repair.by_person, by, now)) ? null : 'NOT_INDEPENDENT';
}

/** Rows that are not begun are then skipped. `false`: it does not run. */
export async function askToStop(
  db: WorldDb,
  id: string,
  { by, reason, now }: { readonly by: string; readonly reason: string; readonly now: Date },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const repair = await lockRepair(trx, id);
    if (repair?.status !== 'RUNNING') return false;
    if (repair.stop_asked_at !== null) return true;
    await updateRepair(trx, id, { stop_asked_at: now });
    await recordRepair(trx, 'stop-batch-repair', id, repair.action, { by, reason });
    return true;
  });
}

const lockRepair = (trx: WorldDb, id: string) =>
  trx.selectFrom('batch_repairs').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();

const updateRepair = (trx: WorldDb, id: string, fields: object) =>
  trx.updateTable('batch_repairs').set(fields).where('id', '=', id).execute();

async function closeUnbegun(
  trx: WorldDb,
  id: string,
  fields: { readonly status: BatchRepairStatus },
  now: Date,
): Promise<void> {
  await updateRepair(trx, id, { ...fields, next_check_at: null, closed_at: now });
  await trx
    .updateTable('batch_repair_rows')
    .set({ status: 'SKIPPED', closed_at: now })
    .where('repair_id', '=', id)
    .where('closed_at', 'is', null)
    .execute();
}

/** They were not approved in time: their rows are free for others. */
async function expireLate(trx: WorldDb, now: Date): Promise<void> {
  const late = await trx
    .selectFrom('batch_repairs')
    .select('id')
    .where('closed_at', 'is', null)
    .where('status', '=', 'WAITS_FOR_APPROVAL')
    .where('expires_at', '<=', now)
    .orderBy('id')
    .forUpdate()
    .execute();
  for (const { id } of late) await closeUnbegun(trx, id, { status: 'EXPIRED' }, now);
}

/** What an action is to be made of, and the rows whose turn it is. undefined: it does not run, or is to stop. */
export async function findDueRows(db: WorldDb, id: string, now: Date, limit: number) {
  const repair = await db
    .selectFrom('batch_repairs')
    .selectAll()
    .where('id', '=', id)
    .where('status', '=', 'RUNNING')
    .where('stop_asked_at', 'is', null)
    .executeTakeFirst();
  if (!repair) return undefined;
  const rows = await db
    .selectFrom('batch_repair_rows')
    .selectAll()
    .where('repair_id', '=', id)
    .where('closed_at', 'is', null)
    .where((eb) => eb.or([eb('next_at', 'is', null), eb('next_at', '<=', now)]))
    .orderBy('row_number')
    .limit(limit)
    .execute();
  return { repair, rows };
}

type RowEnd =
  | { readonly status: Exclude<BatchRepairRowStatus, 'WAITING'>; readonly detail: string }
  /** No outcome yet: tried again at this time. */
  | { readonly nextAt: Date; readonly detail: string };

/** The first end of a row stays. */
export async function noteRow(
  db: WorldDb,
  { repair_id, row_number }: Pick<BatchRepairRow, 'repair_id' | 'row_number'>,
  end: RowEnd,
  now: Date,
): Promise<void> {
  const fields =
    'nextAt' in end
      ? { next_at: end.nextAt, detail: end.detail }
      : { status: end.status, detail: end.detail, closed_at: now };
  await db
    .updateTable('batch_repair_rows')
    .set((eb) => ({ ...fields, attempts: eb('attempts', '+', 1) }))
    .where('repair_id', '=', repair_id)
    .where('row_number', '=', row_number)
    .where('closed_at', 'is', null)
    .execute();
}

/** How a batch repair stands; ends it where no row is left, or it is to stop. undefined: there is none that was approved. */
export async function settleBatchRepair(
  db: WorldDb,
  id: string,
  { now, nextCheckAt }: { readonly now: Date; readonly nextCheckAt: Date },
): Promise<{ readonly repair: BatchRepair; readonly nextRowAt: Date | null } | undefined> {
  await db.transaction().execute(async (trx) => {
    const repair = await lockRepair(trx, id);
    if (repair?.status !== 'RUNNING') return;
    const left = await trx
      .selectFrom('batch_repair_rows')
      .select('row_number')
      .where('repair_id', '=', id)
      .where('closed_at', 'is', null)
      .limit(1)
      .executeTakeFirst();
    if (!left) await closeUnbegun(trx, id, { status: 'COMPLETED' }, now);
    else if (repair.stop_asked_at !== null) await closeUnbegun(trx, id, { status: 'STOPPED' }, now);
    else await updateRepair(trx, id, { next_check_at: nextCheckAt });
  });
  const repair = await findBatchRepair(db, id);
  if (!repair?.decided_by) return undefined;
  const next = await db
    .selectFrom('batch_repair_rows')
    .select(({ fn }) => fn.min('next_at').as('at'))
    .where('repair_id', '=', id)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  return { repair, nextRowAt: next?.at ?? null };
}

/** Those that run and have not shown themselves in time. Each is answered once within `againAfterMs`. */
export async function leaseOverdueRepairs(
  db: WorldDb,
  { now, againAfterMs, limit }: { readonly now: Date; readonly againAfterMs: number; readonly limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update batch_repairs set next_check_at = ${new Date(now.getTime() + againAfterMs)}
     where id in (select id from batch_repairs where closed_at is null and next_check_at <= ${now}
                   order by next_check_at limit ${limit} for update skip locked)
    returning id`.execute(db);
  return rows.map((row) => row.id);
}

const COUNTS = sql<BatchRepairCounts>`(
  select jsonb_build_object(
    'waiting', count(*) filter (where status = 'WAITING'), 'done', count(*) filter (where status = 'DONE'),
    'refused', count(*) filter (where status = 'REFUSED'), 'unknown', count(*) filter (where status = 'UNKNOWN'),
    'skipped', count(*) filter (where status = 'SKIPPED'))
    from batch_repair_rows where repair_id = batch_repairs.id)`.as('counts');

export function findBatchRepair(db: WorldDb, id: string): Promise<BatchRepair | undefined> {
  return db.selectFrom('batch_repairs').selectAll().select(COUNTS).where('id', '=', id).executeTakeFirst();
}

/** Those that can be approved now. */
export async function summariseWaitingRepairs(
  db: WorldDb,
  now: Date,
): Promise<{ readonly count: number; readonly oldestAt: Date | null }> {
  const { count, oldestAt } = await db
    .selectFrom('batch_repairs')
    .select((eb) => [
      eb.fn.countAll<bigint>().as('count'),
      eb.fn.min<Date | null>('created_at').as('oldestAt'),
    ])
    .where('closed_at', 'is', null)
    .where('status', '=', 'WAITS_FOR_APPROVAL')
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return { count: Number(count), oldestAt };
}

/** At most 500, in their order. */
export function listRows(db: WorldDb, id: string): Promise<BatchRepairRow[]> {
  return db
    .selectFrom('batch_repair_rows')
    .selectAll()
    .where('repair_id', '=', id)
    .orderBy('row_number')
    .execute();
}

/** Newest first. */
export async function listBatchRepairs(
  db: WorldDb,
  { page, limit, isOpen }: PageQuery & { readonly isOpen?: boolean | undefined },
): Promise<Page<BatchRepair>> {
  const wanted = db
    .selectFrom('batch_repairs')
    .$if(isOpen !== undefined, (query) => query.where('closed_at', isOpen ? 'is' : 'is not', null));
  const [items, counted] = await Promise.all([
    wanted
      .selectAll()
      .select(COUNTS)
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .offset((page - 1) * limit)
      .limit(limit)
      .execute(),
    wanted.select(({ fn }) => fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items, total: Number(counted.total), page, limit };
}
