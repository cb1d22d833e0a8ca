/**
 * What we have of deliveries, for the comparison with the supplier: purchases with the cost that the ledger has for them, and what of our money
 * there is used. Reads only, in pages along an index.
 */
import { sql } from 'kysely';
import type { OurOrder, SupplierUse } from '../supplier-rules.ts';
import type { PackageType } from '../../domain/states.ts';
import { findLines, SUPPLIER_PARTS, type Slice } from './lines.ts';
import { withReadTimeout } from '../../platform/database/patience.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

export interface OurOrderRow extends OurOrder {
  readonly packageType: PackageType;
  /** What it was ordered under: a replacement has an id of its own. */
  readonly supplierIds: readonly string[];
  /** While its eSIM was being ordered, by the purchase that did: lists go by that. */
  readonly listed: Slice;
}

interface OrderFactsRow {
  readonly transaction_id: string;
  readonly supplier_transaction_id: string | null;
  readonly package_type: PackageType;
  readonly status: OurOrder['status'];
  readonly package_code: string;
  readonly cost_usd_e4: bigint;
  readonly booked_usd_e4: bigint;
  readonly moved_at: Date;
  readonly listed_from: Date;
  readonly listed_to: Date;
}

const ORDER_COLUMNS = sql`
  p.transaction_id, p.supplier_transaction_id, p.package_type, p.status, p.package_code, p.cost_usd_e4, cost.booked_usd_e4,
  greatest(p.created_at, p.closed_at, cost.moved_at) as moved_at, coalesce(base.created_at, p.created_at) as listed_from,
  greatest(p.created_at, base.closed_at, base.created_at) as listed_to`;

const ORDER_JOINS = sql`
  left join esims s on s.id = p.esim_id
  left join purchases base on base.transaction_id = s.transaction_id
  cross join lateral (
    select coalesce(sum(e.amount_minor), 0)::int8 as booked_usd_e4, max(t.created_at) as moved_at
      from ledger_transactions t
      join ledger_entries e on e.ledger_transaction_id = t.id and e.ledger_account_id = 'supplier-cost:USD4'
     where t.transaction_id = p.transaction_id
  ) cost`;

/** Purchases that were ordered under one of these ids. */
export async function findOurOrders(db: WorldDb, supplierIds: readonly string[]): Promise<OurOrderRow[]> {
  const ids = [...supplierIds];
  const { rows } = await sql<OrderFactsRow>`
    select ${ORDER_COLUMNS}
      from purchases p ${ORDER_JOINS}
     where p.transaction_id = any(${ids}::text[]) or p.supplier_transaction_id = any(${ids}::text[])
     order by p.transaction_id`.execute(db);
  return rows.map(toOurOrder);
}

function toOurOrder(row: OrderFactsRow): OurOrderRow {
  const { transaction_id: transactionId, supplier_transaction_id: replacedBy } = row;
  return {
    transactionId,
    supplierIds: replacedBy === null ? [transactionId] : [transactionId, replacedBy],
    packageType: row.package_type,
    status: row.status,
    packageCode: row.package_code,
    agreedCostUsdE4: row.cost_usd_e4,
    bookedCostUsdE4: row.booked_usd_e4,
    lastMovedAt: row.moved_at,
    listed: { from: row.listed_from, to: row.listed_to },
  };
}

export interface DeliveryPage {
  readonly packageType: PackageType;
  /** Ids of the ledger transactions that delivered: after one, up to another. */
  readonly afterId: bigint;
  readonly toId: bigint;
  readonly limit: number;
}

/** Where deliveries of a time lie in the ledger; undefined: there are none. */
export async function findLedgerRange(
  db: WorldDb,
  { from, to }: Slice,
): Promise<{ readonly fromId: bigint; readonly toId: bigint } | undefined> {
  // The sum keeps Postgres from walking the key from its far end until the time fits.
  const { rows } = await sql<{ from_id: bigint | null; to_id: bigint | null }>`
    select min(id + 0) as from_id, max(id + 0) as to_id
      from ledger_transactions where created_at >= ${from} and created_at < ${to}`.execute(db);
  const [range] = rows;
  return range?.from_id == null || range.to_id == null
    ? undefined
    : { fromId: range.from_id, toId: range.to_id };
}

export interface UnseenDeliveries {
  readonly unseen: readonly { readonly order: OurOrderRow; readonly bookedAt: Date }[];
  /** After which the next page begins; undefined: there is none. */
  readonly nextId: bigint | undefined;
}

/** Deliveries booked within a range of the ledger, a page of them: those that the run has no line of. */
export async function findUnseenDeliveries(
  db: WorldDb,
  runId: bigint,
  page: DeliveryPage & Slice,
): Promise<UnseenDeliveries> {
  const { rows } = await sql<OrderFactsRow & { readonly ledger_id: bigint; readonly booked_at: Date }>`
    select ${ORDER_COLUMNS}, booked.id as ledger_id, booked.created_at as booked_at
      from ledger_transactions booked
      join purchases p on p.transaction_id = booked.transaction_id ${ORDER_JOINS}
     where booked.id > ${page.afterId} and booked.id <= ${page.toId}
       and booked.created_at >= ${page.from} and booked.created_at < ${page.to}
       and booked.operation_key = p.transaction_id || ':post'
       and p.status = 'SUCCESS' and p.package_type = ${page.packageType}
     order by booked.id
     limit ${page.limit}`.execute(db);
  const delivered = rows.map((row) => ({ order: toOurOrder(row), bookedAt: row.booked_at }));
  const references = delivered.flatMap(({ order }) => order.supplierIds);
  const listed = await findLines(db, runId, { parts: SUPPLIER_PARTS, references });
  const seen = new Set(listed.map((line) => line.reference));
  return {
    unseen: delivered.filter(({ order }) => !order.supplierIds.some((id) => seen.has(id))),
    nextId: rows.at(-1)?.ledger_id,
  };
}

/** What packages cost at some time, by the catalogue's history; a package that was never in it is left out. */
export async function findListCosts(
  db: WorldDb,
  asked: readonly { readonly packageCode: string; readonly at: Date }[],
): Promise<(packageCode: string, at: Date) => bigint | null> {
  const codes = [...new Set(asked.map((one) => one.packageCode))];
  const prices =
    codes.length === 0
      ? []
      : await db
          .selectFrom('package_prices')
          .select(['package_code', 'cost_usd_e4', 'valid_from', 'valid_to'])
          .where('package_code', '=', sql<string>`any(${codes}::text[])`)
          .orderBy('valid_from')
          .execute();
  const byCode = Map.groupBy(prices, (price) => price.package_code);
  return (packageCode, at) => {
    const known = byCode.get(packageCode) ?? [];
    const then = known.findLast((price) => price.valid_from <= at) ?? known[0];
    return then?.cost_usd_e4 ?? null;
  };
}

/** What the ledger has used at the supplier, and what open purchases may have used that is not booked yet: one moment. */
export async function readSupplierUse(db: WorldDb): Promise<SupplierUse> {
  const { rows } = await withReadTimeout(db, (trx) =>
    sql<{ used: bigint; in_flight: bigint }>`
    select (select coalesce(-sum(amount_minor), 0)::int8 from ledger_entries where ledger_account_id = 'supplier-prepaid:USD4') as used,
           (select coalesce(sum(cost_usd_e4 * case when supplier_transaction_id is null then 1 else 2 end), 0)::int8 from purchases
             where status = 'PROCESSING' and supplier_asks > 0) as in_flight`.execute(trx),
  );
  const [row] = rows;
  return { usedUsdE4: row?.used ?? 0n, inFlightUsdE4: row?.in_flight ?? 0n };
}
