/** Purchases as our books have them, for the comparison with the supplier. Pages along an index. */
import { sql } from 'kysely';
import type { PackageType } from '../../domain/states.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { withReadTimeout } from '../../platform/database/transactions.ts';
import type { OurOrder, SupplierUse } from '../supplier-rules.ts';
import { findLines, type Slice, type Unlisted } from './lines.ts';

export interface OurOrderRow extends OurOrder {
  readonly packageType: PackageType;
  /** The ids of its orders: a replacement has its own. */
  readonly supplierIds: readonly string[];
  /** When its eSIM was being ordered, which is what the supplier's list goes by. */
  readonly listed: Slice;
}

type StoredOrder = Omit<OurOrderRow, 'listed'> & { readonly listedFrom: Date; readonly listedTo: Date };

const ORDER_COLUMNS = sql`
  p.transaction_id as "transactionId", orders.ids as "supplierIds", p.package_type as "packageType", p.status,
  p.package_code as "packageCode", p.cost_usd_e4 as "agreedCostUsdE4", cost.booked_usd_e4 as "bookedCostUsdE4",
  exists (select from returns r where r.transaction_id = p.transaction_id and r.cancelled_at is not null) as "isReturned",
  greatest(p.created_at, p.closed_at, cost.moved_at) as "lastMovedAt", coalesce(base.created_at, p.created_at) as "listedFrom",
  greatest(p.created_at, base.closed_at, base.created_at) as "listedTo"`;

const ORDER_JOINS = sql`
  left join esims s on s.id = p.esim_id
  left join purchases base on base.transaction_id = s.transaction_id
  cross join lateral (
    select coalesce(array_agg(o.id order by o.planned_at), array[p.transaction_id]) as ids from supplier_orders o
     where o.transaction_id = p.transaction_id
  ) orders
  cross join lateral (
    select coalesce(sum(e.amount_minor), 0)::int8 as booked_usd_e4, max(t.created_at) as moved_at
      from ledger_transactions t
      join ledger_entries e on e.ledger_transaction_id = t.id and e.ledger_account_id = 'supplier-cost:USD4'
     where t.transaction_id = p.transaction_id
  ) cost`;

const toOurOrder = ({ listedFrom, listedTo, ...order }: StoredOrder): OurOrderRow => ({
  ...order,
  listed: { from: listedFrom, to: listedTo },
});

/** Purchases that were ordered under one of these ids. */
export async function findOurOrders(db: WorldDb, ids: readonly string[]): Promise<OurOrderRow[]> {
  const { rows } = await sql<StoredOrder>`
    select ${ORDER_COLUMNS}
      from purchases p ${ORDER_JOINS}
     where p.transaction_id = any(${ids}::text[])
        or p.transaction_id in (select transaction_id from supplier_orders where id = any(${ids}::text[]))
     order by p.transaction_id`.execute(db);
  return rows.map(toOurOrder);
}

/** The first and last id of ledger transactions of a time; both null where there are none. */
export async function findLedgerRange(db: WorldDb, { from, to }: Slice) {
  // The sum keeps Postgres from walking the key from its far end until the time fits.
  const { rows } = await sql<{ fromId: bigint; toId: bigint } | { fromId: null; toId: null }>`
    select min(id + 0) as "fromId", max(id + 0) as "toId"
      from ledger_transactions where created_at >= ${from} and created_at < ${to}`.execute(db);
  return rows[0] ?? { fromId: null, toId: null };
}

/** Deliveries booked in `(afterId, toId]` of the ledger. */
export async function findUnlistedDeliveries(
  db: WorldDb,
  runId: bigint,
  page: Slice & {
    readonly packageType: PackageType;
    readonly afterId: bigint;
    readonly toId: bigint;
    readonly limit: number;
  },
): Promise<Unlisted<OurOrderRow & { readonly bookedAt: Date }, bigint>> {
  const { rows } = await sql<StoredOrder & { readonly ledgerId: bigint; readonly bookedAt: Date }>`
    select ${ORDER_COLUMNS}, booked.id as "ledgerId", booked.created_at as "bookedAt"
      from ledger_transactions booked
      join purchases p on p.transaction_id = booked.transaction_id ${ORDER_JOINS}
     where booked.id > ${page.afterId} and booked.id <= ${page.toId}
       and booked.created_at >= ${page.from} and booked.created_at < ${page.to}
       and booked.operation_key = p.transaction_id || ':post'
       and p.status = 'SUCCESS' and p.package_type = ${page.packageType}
     order by booked.id
     limit ${page.limit}`.execute(db);
  const orders = rows.map((row) => ({ ...toOurOrder(row), bookedAt: row.bookedAt }));
  const references = orders.flatMap((order) => order.supplierIds);
  const lines = await findLines(db, runId, { side: 'supplier', references });
  const listed = new Set(lines.map((line) => line.reference));
  return {
    unlisted: orders.filter((order) => !order.supplierIds.some((id) => listed.has(id))),
    next: rows.at(-1)?.ledgerId,
  };
}

/** What packages cost at a time, by the catalogue's history; null for a package that was never in it. */
export async function findListCosts(db: WorldDb, packageCodes: readonly string[]) {
  const { rows: prices } = await sql<{ package_code: string; cost_usd_e4: bigint; valid_from: Date }>`
    select package_code, cost_usd_e4, valid_from from package_versions
     where package_code = any(${packageCodes}::text[]) order by valid_from`.execute(db);
  const byCode = Map.groupBy(prices, (price) => price.package_code);
  return (packageCode: string, at: Date): bigint | null => {
    const known = byCode.get(packageCode) ?? [];
    const then = known.findLast((price) => price.valid_from <= at) ?? known[0];
    return then?.cost_usd_e4 ?? null;
  };
}

/** Booked use at a supplier, and what open orders may have used beyond that, read at one moment. */
export function readSupplierUse(db: WorldDb, supplier: string): Promise<SupplierUse> {
  return withReadTimeout(db, async (trx) => {
    const { rows } = await sql<SupplierUse>`
      select (select coalesce(-sum(amount_minor), 0)::int8
                from ledger_entries where ledger_account_id = ${`supplier-prepaid:${supplier}:USD4`}) as "usedUsdE4",
             (select coalesce(sum(o.cost_usd_e4), 0)::int8
                from purchases p join supplier_orders o using (transaction_id)
               where p.status = 'PROCESSING' and o.supplier = ${supplier} and o.attempts > 0) as "inFlightUsdE4",
             (select coalesce(sum(p.cost_usd_e4), 0)::int8
                from returns r join purchases p using (transaction_id)
               where r.supplier = ${supplier}
                 and (r.cancel_attempts > 0 and r.state in ('PENDING', 'NEEDS_REVIEW')
                      or r.cancelled_at > clock_timestamp() - interval '15 minutes')) as "returningUsdE4"`.execute(
      trx,
    );
    return rows[0] as SupplierUse;
  });
}
