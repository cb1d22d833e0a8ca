/**
 * Purchases as they are read back: with the eSIM they made or topped up, and with their timeline where asked.
 */
import { PURCHASE_EVENTS, type PurchaseEvent } from '../../domain/states.ts';
import { sql, type Selectable } from 'kysely';
import type { EsimRow } from '../../esims/store/esims.ts';
import type { Vendors } from '../../payments/opened.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { PurchasesTable } from './tables.ts';

export type PurchaseRow = Selectable<PurchasesTable>;

export interface PurchaseRecord {
  readonly purchase: PurchaseRow;
  /** Absent only for a purchase that was refused before an eSIM order was made. */
  readonly esim: EsimRow | undefined;
}

export async function findPurchase(db: WorldDb, transactionId: string): Promise<PurchaseRecord | undefined> {
  const purchase = await db
    .selectFrom('purchases')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .executeTakeFirst();
  if (!purchase) return undefined;
  const esim = await db.selectFrom('esims').selectAll().where('id', '=', purchase.esim_id).executeTakeFirst();
  return { purchase, esim };
}

/** What happened to a purchase, oldest first. Leaves out what only a newer version has a word for. */
export function findTimeline(
  db: WorldDb,
  transactionId: string,
): Promise<{ at: Date; what: PurchaseEvent }[]> {
  return db
    .selectFrom('purchase_events')
    .select(['at', 'what'])
    .where('transaction_id', '=', transactionId)
    .where('what', 'in', PURCHASE_EVENTS)
    .orderBy('id')
    .execute();
}

/** As its rows are now: an action may have replaced its package. */
export async function findVendors(db: WorldDb, transactionId: string): Promise<Vendors> {
  const { rows } = await sql<Vendors>`
    select (select supplier from purchases where transaction_id = ${transactionId}) as supplier,
           (select gateway from payments where transaction_id = ${transactionId} order by attempt desc limit 1) as gateway`.execute(
    db,
  );
  return rows[0] ?? {};
}
