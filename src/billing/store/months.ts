import { sql } from 'kysely';
import type { Month } from '../../domain/papers.ts';
import { callFunction } from '../../platform/database/functions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

export interface Closing {
  readonly month: Month;
  readonly askedBy: string;
  readonly askedAt: Date;
  /** null: it waits for a second person. */
  readonly closedBy: string | null;
  readonly closedAt: Date | null;
  /** When the last of its invoices was written. */
  readonly invoicedAt: Date | null;
}

const closings = (db: WorldDb) =>
  db
    .selectFrom('month_closings')
    .select(['month', 'asked_by as askedBy', 'asked_at as askedAt', 'closed_by as closedBy'])
    .select(['closed_at as closedAt', 'invoiced_at as invoicedAt']);

/** Oldest first: twelve a year. */
export const listClosings = (db: WorldDb): Promise<Closing[]> => closings(db).orderBy('month').execute();

export const findClosing = (db: WorldDb, month: Month): Promise<Closing | undefined> =>
  closings(db).where('month', '=', month).executeTakeFirst();

/** When the ledger began, by the database; undefined: it has no entries. And what time it is there. */
export async function readLedgerTimes(db: WorldDb): Promise<{ readonly began?: Date; readonly now: Date }> {
  const { rows } = await sql<{ began: Date | null; now: Date }>`
    select (select created_at from ledger_transactions order by id limit 1) as began, clock_timestamp() as now`.execute(
    db,
  );
  const { began, now } = rows[0] ?? { began: null, now: new Date(0) };
  return began === null ? { now } : { began, now };
}

export const askClosing = (trx: WorldDb, month: Month, by: string) =>
  trx.insertInto('month_closings').values({ month, asked_by: by }).execute();

/** Only one that waits: a trigger refuses the others. */
export const withdrawClosing = (trx: WorldDb, month: Month) =>
  trx.deleteFrom('month_closings').where('month', '=', month).execute();

export async function closeMonthRow(
  trx: WorldDb,
  month: Month,
  by: string,
): Promise<'closed' | 'already-closed' | 'not-asked' | 'busy'> {
  const { close_month: outcome } = await callFunction<{
    close_month: 'closed' | 'already-closed' | 'not-asked' | 'busy';
  }>(trx, 'close_month', { which: month, by_whom: by });
  return outcome;
}

/** Closed, and their invoices are not all written yet. */
export async function listUninvoiced(db: WorldDb): Promise<Month[]> {
  const rows = await db
    .selectFrom('month_closings')
    .select('month')
    .where('closed_at', 'is not', null)
    .where('invoiced_at', 'is', null)
    .orderBy('month')
    .execute();
  return rows.map(({ month }) => month);
}

export const markInvoiced = (db: WorldDb, month: Month) =>
  db
    .updateTable('month_closings')
    .set({ invoiced_at: sql<Date>`clock_timestamp()` })
    .where('month', '=', month)
    .where('invoiced_at', 'is', null)
    .execute();
