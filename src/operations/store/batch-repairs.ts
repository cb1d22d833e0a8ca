/** Batch repairs and their rows. What people decide is recorded beside their other actions. */
import { sql } from 'kysely';
import { isSamePerson } from '../../accounts/operators/two-person-rules.ts';
import { areTwoPeople } from '../../accounts/store/access.ts';
import type { Money } from '../../domain/money.ts';
import { closeJob, insertJob, lockJob, updateJob, type JobFields } from '../../jobs/store/jobs.ts';
import { countAndOldest } from '../../platform/database/summary.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { lockByName } from '../../platform/database/transactions.ts';
import type { BatchRepairAction, BatchRepairFilter } from '../batch-repair-rules.ts';
import { APPROVAL_WITHIN_MS, REFUSAL_MESSAGES, type ActionRefusal } from '../rules.ts';
import type { StuckClass } from '../stuck-rules.ts';
import { recordRepair } from './events-and-messages.ts';

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
    await lockByName(trx, 'batch repairs');
    const earlier = await trx
      .selectFrom('jobs')
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
    await insertJob(
      trx,
      {
        id,
        kind: 'repair',
        status: 'WAITS_FOR_APPROVAL',
        repair_key: repairKey,
        action,
        filter: JSON.stringify(filter),
        reason,
        evidence,
        by_person: by,
        expires_at: new Date(now.getTime() + APPROVAL_WITHIN_MS),
        created_at: now,
      },
      free.map(({ transactionId, class: stuckClass, amount, preview }, index) => ({
        row_number: index + 1,
        transaction_id: transactionId,
        class: stuckClass,
        amount_minor: amount?.amountMinor ?? null,
        currency: amount?.currency ?? null,
        preview,
      })),
    );
    await recordRepair(trx, 'ask-batch-repair', id, `${action} on ${free.length} items`, { by, reason });
    return 'inserted';
  });
}

/** Those of these that an open batch repair works on, with its id. */
export async function findTaken(db: WorldDb, transactionIds: readonly string[]) {
  const rows = await db
    .selectFrom('job_rows')
    .select(['transaction_id', 'job_id'])
    .where('kind', '=', 'repair')
    .where('closed_at', 'is', null)
    .where('transaction_id', '=', sql<string>`any(${[...transactionIds]})`)
    .execute();
  return new Map(rows.map((row) => [row.transaction_id, row.job_id]));
}

/** What one currency was asked for, and what the rows that are done moved. */
interface RepairTotal extends Money {
  readonly movedAmountMinor: bigint;
}

/** Of these batch repairs. */
export async function sumRepairs(db: WorldDb, ids: readonly string[]) {
  const rows = await db
    .selectFrom('job_rows')
    .select(['job_id', sql<string>`currency`.as('currency')])
    .select(sql<bigint>`sum(amount_minor)::bigint`.as('amountMinor'))
    .select(
      sql<bigint>`coalesce(sum(amount_minor) filter (where status = 'DONE'), 0)::bigint`.as(
        'movedAmountMinor',
      ),
    )
    .where('job_id', '=', sql<string>`any(${[...ids]})`)
    .where('amount_minor', 'is not', null)
    .groupBy(['job_id', 'currency'])
    .orderBy('currency')
    .execute();
  const byRepair = Map.groupBy(rows, (row) => row.job_id);
  return (id: string): readonly RepairTotal[] => byRepair.get(id) ?? [];
}

export type Decision = 'approve' | 'decline';
export const DECISIONS = ['approve', 'decline', 'stop'] as const;

/** Who approved, declined or stopped it, and why; the oldest first. */
export async function listDecisions(db: WorldDb, id: string) {
  const { rows } = await sql<{ what: (typeof DECISIONS)[number]; by: string; reason: string; at: Date }>`
    select split_part(action, '-', 1) as what, by_person as by, reason, created_at as at from operator_actions
     where transaction_id = ${id} and status = 'DONE' and action in ('approve-batch-repair', 'decline-batch-repair', 'stop-batch-repair')
     order by created_at`.execute(db);
  return rows;
}

/** A refused try is on record. `decided`: now, or before by the same person. */
export async function recordDecision(
  db: WorldDb,
  id: string,
  decision: Decision,
  { by, reason, now }: { readonly by: string; readonly reason: string; readonly now: Date },
): Promise<'decided' | 'not-found' | ActionRefusal> {
  return db.transaction().execute(async (trx) => {
    await expireLate(trx, now);
    const repair = await lockJob(trx, id, 'repair');
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
      await updateJob(trx, id, { ...decided, status: 'RUNNING', next_check_at: now });
    else await closeJob(trx, id, { ...decided, status: 'DECLINED' }, now);
    return 'decided';
  });
}

async function refusalOf(
  trx: WorldDb,
  repair: JobFields,
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
    const repair = await lockJob(trx, id, 'repair');
    if (repair?.status !== 'RUNNING') return false;
    if (repair.stop_asked_at !== null) return true;
    await updateJob(trx, id, { stop_asked_at: now });
    await recordRepair(trx, 'stop-batch-repair', id, repair.action, { by, reason });
    return true;
  });
}

const waitingRepairs = (db: WorldDb) =>
  db
    .selectFrom('jobs')
    .where('kind', '=', 'repair')
    .where('closed_at', 'is', null)
    .where('status', '=', 'WAITS_FOR_APPROVAL');

/** They were not approved in time: their rows are free for others. */
async function expireLate(trx: WorldDb, now: Date): Promise<void> {
  const late = waitingRepairs(trx).select('id').where('expires_at', '<=', now);
  for (const { id } of await late.orderBy('id').forUpdate().execute())
    await closeJob(trx, id, { status: 'EXPIRED' }, now);
}

/** Those that can be approved now. */
export const summariseWaitingRepairs = (db: WorldDb, now: Date) =>
  waitingRepairs(db)
    .select(countAndOldest('created_at'))
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
