/** Purchases as they are read back: with the eSIM they made or topped up, and with their timeline where asked. */
import { sql, type Selectable } from 'kysely';
import type { EsimRow } from './esims.ts';
import type { PurchasesTable, WorldDb } from './tables.ts';

export type PurchaseRow = Selectable<PurchasesTable>;

export interface PurchaseRecord {
  readonly purchase: PurchaseRow;
  /** Absent only for a purchase that was refused before an eSIM order was made. */
  readonly esim: EsimRow | undefined;
}

/** One statement, so that both are of one moment. */
export async function findPurchase(db: WorldDb, transactionId: string): Promise<PurchaseRecord | undefined> {
  const row: Record<string, unknown> | undefined = await db
    .selectFrom('purchases')
    .leftJoin('esims', 'esims.id', 'purchases.esim_id')
    .selectAll('esims')
    .select(PURCHASE_COLUMNS.map((column) => sql.ref(`purchases.${column}`).as(PURCHASE + column)))
    .where('purchases.transaction_id', '=', transactionId)
    .executeTakeFirst();
  if (!row) return undefined;
  const [ofPurchase, ofEsim] = [{}, {}] as [Record<string, unknown>, Record<string, unknown>];
  for (const [name, value] of Object.entries(row)) {
    if (name.startsWith(PURCHASE)) ofPurchase[name.slice(PURCHASE.length)] = value;
    else ofEsim[name] = value;
  }
  return {
    purchase: ofPurchase as unknown as PurchaseRow,
    esim: ofEsim['id'] === null ? undefined : (ofEsim as unknown as EsimRow),
  };
}

/** Keeps the purchase's columns apart from the eSIM's of the same names. */
const PURCHASE = 'purchase:';

const PURCHASE_COLUMNS = Object.keys({
  transaction_id: true,
  account_id: true,
  package_type: true,
  payment_method: true,
  status: true,
  reason: true,
  package_code: true,
  package_name: true,
  volume_bytes: true,
  duration: true,
  esim_id: true,
  price_minor: true,
  currency: true,
  price_usd_minor: true,
  cost_usd_e4: true,
  settings_id: true,
  rate_id: true,
  supplier_asks: true,
  supplier_order_no: true,
  supplier_transaction_id: true,
  top_up_iccid: true,
  top_up_total_volume_bytes: true,
  top_up_remaining_bytes: true,
  needs_attention_since: true,
  attention_reason: true,
  request_id: true,
  created_at: true,
  updated_at: true,
  closed_at: true,
} satisfies Record<keyof PurchasesTable, true>) as readonly (keyof PurchasesTable)[];

/** What happened to a purchase, oldest first. */
export function findTimeline(db: WorldDb, transactionId: string): Promise<{ at: Date; what: string }[]> {
  return db
    .selectFrom('purchase_events')
    .select(['at', 'what'])
    .where('transaction_id', '=', transactionId)
    .orderBy('id')
    .execute();
}
