// What must always be true of the books, whatever was killed: ledger, wallets, holds, purchases, eSIMs and
// the supplier's orders agree. Reads only, as the owner; reports violations as text.
import { sql, type Kysely } from 'kysely';
import { expect } from 'vitest';
import type { WorldDatabase } from '../../../src/platform/database/tables.ts';
import { paymentViolations } from './payment-books.ts';
import type { SupplierOrder } from '../world/stack.ts';

export type Books = Awaited<ReturnType<typeof inspectBooks>>;

interface BooksOf {
  /** The environment's schema, read as its owner. */
  readonly owner: Kysely<WorldDatabase>;
  readonly supplierControlUrl: string;
}

interface PurchaseFacts {
  readonly transaction_id: string;
  readonly account_id: string;
  readonly payment_method: string;
  readonly package_type: string;
  readonly status: string;
  readonly price_minor: string | bigint;
  readonly hold_status: string | null;
  readonly hold_minor: string | bigint | null;
  readonly hold_account: string | null;
  readonly cost_booked: string | bigint | null;
  readonly is_returned: boolean;
  readonly esim_status: string | null;
  readonly iccid: string | null;
  readonly top_up_iccid: string | null;
  /** Its orders at the supplier. */
  readonly supplier_id: string;
}

const MAX_SUPPLIER_ENTRIES = 20_000;

/** Reads all books and lists every contradiction. */
export async function inspectBooks(books: BooksOf) {
  const purchases = await readPurchases(books.owner);
  const supplier = await readSupplier(books.supplierControlUrl);
  const violations = [
    ...(await ledgerViolations(books.owner)),
    ...(await paymentViolations(books.owner)),
    ...purchases.flatMap((purchase) => moneyViolations(purchase)),
    ...purchases.flatMap((purchase) =>
      supplierViolations(purchase, supplier.get(purchase.supplier_id) ?? []),
    ),
    ...purchases.flatMap((purchase) => replacedViolations(purchase, supplier)),
    ...strangers(purchases, supplier),
  ];
  const having = (...statuses: string[]): number =>
    purchases.filter((it) => statuses.includes(it.status)).length;
  return {
    /** Empty when there are none. */
    violations,
    counts: {
      purchases: purchases.length,
      open: having('PENDING', 'PROCESSING'),
      success: having('SUCCESS'),
      failed: having('FAILED'),
    },
  };
}

/**
 * Fails the test with every contradiction. Returns the counts, so that a test can show that there was
 * something to check.
 */
export async function expectSoundBooks(books: BooksOf): Promise<Books['counts']> {
  const { violations, counts } = await inspectBooks(books);
  expect(violations).toEqual([]);
  return counts;
}

async function ledgerViolations(owner: Kysely<WorldDatabase>): Promise<string[]> {
  const { rows } = await sql<{ violation: string }>`
    select 'entries in ' || currency || ' sum to ' || sum(amount_minor) as violation
      from ledger_entries group by currency having sum(amount_minor) <> 0
    union all
    select 'transaction ' || ledger_transaction_id || ' sums to ' || sum(amount_minor) || ' ' || currency
      from ledger_entries group by ledger_transaction_id, currency having sum(amount_minor) <> 0
    union all
    select 'wallet of ' || w.account_id || ' says ' || w.balance_minor || ', its entries ' || coalesce(e.total, 0)
      from wallets w left join (
        select ledger_account_id, sum(amount_minor) as total from ledger_entries group by 1
      ) e using (ledger_account_id)
     where w.balance_minor <> coalesce(e.total, 0)
    union all
    select 'wallet of ' || account_id || ' is below zero' from wallets where balance_minor < 0
    union all
    select 'held:' || currency || ' says ' || coalesce(e.total, 0) || ', its open holds ' || coalesce(h.total, 0)
      from (select substr(ledger_account_id, 6) as currency, sum(amount_minor) as total
              from ledger_entries where ledger_account_id like 'held:%' group by 1) e
      full join (select currency, sum(amount_minor) as total from holds where status = 'HELD' group by 1) h using (currency)
     where coalesce(e.total, 0) <> coalesce(h.total, 0)
    union all
    select 'hold ' || h.id || ' has no purchase' from holds h left join purchases p on p.transaction_id = h.id where p.transaction_id is null
  `.execute(owner);
  return rows.map((row) => row.violation);
}

async function readPurchases(owner: Kysely<WorldDatabase>): Promise<PurchaseFacts[]> {
  const { rows } = await sql<PurchaseFacts>`
    select p.transaction_id, p.account_id, p.payment_method, p.package_type, p.status, p.price_minor, p.top_up_iccid,
           coalesce((select id from supplier_orders o where o.transaction_id = p.transaction_id order by is_live desc, planned_at desc limit 1),
                    p.transaction_id) as supplier_id,
           h.status as hold_status, h.amount_minor as hold_minor, h.account_id as hold_account,
           e.status as esim_status, e.iccid,
           exists (select from returns r where r.transaction_id = p.transaction_id and r.cancelled_at is not null) as is_returned,
           (select sum(le.amount_minor) from ledger_transactions lt join ledger_entries le on le.ledger_transaction_id = lt.id
             where lt.transaction_id = p.transaction_id and le.ledger_account_id = 'supplier-cost:USD4') as cost_booked
      from purchases p
      left join holds h on h.id = p.transaction_id
      left join esims e on e.id = p.esim_id`.execute(owner);
  return rows;
}

const HOLD_WANTED: Readonly<Record<string, readonly (string | null)[]>> = {
  PENDING: ['HELD'],
  PROCESSING: ['HELD'],
  SUCCESS: ['POSTED'],
  FAILED: ['VOIDED', null],
};

function moneyViolations(purchase: PurchaseFacts): string[] {
  const { transaction_id: id, status, hold_status: hold } = purchase;
  const found: string[] = [];
  const awaitsMoney = status === 'PENDING' && purchase.payment_method !== 'WALLET';
  if (!awaitsMoney && !(HOLD_WANTED[status] ?? []).includes(hold))
    found.push(`${id} is ${status}, its hold ${hold ?? 'absent'}`);
  if (hold !== null && String(purchase.hold_minor) !== String(purchase.price_minor))
    found.push(`${id} costs ${purchase.price_minor}, held were ${purchase.hold_minor ?? 0}`);
  if (hold !== null && purchase.hold_account !== purchase.account_id)
    found.push(`${id} is paid by ${purchase.hold_account ?? ''}`);
  if (purchase.package_type === 'BASE') found.push(...esimViolations(purchase));
  return found;
}

function esimViolations({ transaction_id: id, status, esim_status: esim, iccid }: PurchaseFacts): string[] {
  const delivered = esim !== null && esim !== 'PENDING' && esim !== 'FAILED';
  if (status === 'SUCCESS' && (!delivered || iccid === ''))
    return [`${id} is SUCCESS, its eSIM ${esim ?? 'absent'} with ICCID "${iccid ?? ''}"`];
  if (status === 'FAILED' && esim !== null && esim !== 'FAILED' && esim !== 'CANCELLED')
    return [`${id} is FAILED, its eSIM ${esim}`];
  if ((status === 'PROCESSING' || status === 'PENDING') && esim !== 'PENDING')
    return [`${id} is ${status}, its eSIM ${esim ?? 'absent'}`];
  return [];
}

function supplierViolations(purchase: PurchaseFacts, entries: readonly SupplierOrder[]): string[] {
  const { transaction_id: id, status } = purchase;
  if (entries.length > 1) return [`${id} has ${entries.length} orders at the supplier`];
  const [entry] = entries;
  if (status === 'FAILED') {
    const left = entry?.kind === 'topup' || entry?.esims.some((esim) => esim.esimStatus !== 'CANCEL');
    return left === true ? [`${id} is FAILED, but the supplier holds it`] : [];
  }
  if (status !== 'SUCCESS') return [];
  if (!entry) return [`${id} is SUCCESS, but the supplier holds nothing`];
  const found: string[] = [];
  if ((purchase.package_type === 'BASE') !== (entry.kind === 'order'))
    found.push(`${id} is ${purchase.package_type}, at the supplier ${entry.kind}`);
  if (entry.count !== 1 || !['GOT_RESOURCE', 'DONE'].includes(entry.status))
    found.push(`${id} is SUCCESS, at the supplier ${entry.count} × ${entry.status}`);
  const iccid = purchase.package_type === 'BASE' ? purchase.iccid : purchase.top_up_iccid;
  if (iccid !== entry.esims[0]?.iccid) found.push(`${id} delivered another eSIM than the supplier holds`);
  const isCancelled = entry.esims.every(({ esimStatus }) => esimStatus === 'CANCEL');
  if (purchase.is_returned && !isCancelled)
    found.push(`${id} is returned, but the supplier has not cancelled it`);
  if (String(purchase.cost_booked ?? 0) !== String(purchase.is_returned ? 0 : entry.amount))
    found.push(`${id} cost ${entry.amount}, booked were ${purchase.cost_booked ?? 0}`);
  return found;
}

/** An order that another package replaced is cancelled, or was never allocated: no purchase has two eSIMs. */
function replacedViolations(
  purchase: PurchaseFacts,
  supplier: ReadonlyMap<string, readonly SupplierOrder[]>,
): string[] {
  return orderIdsOf(purchase)
    .filter((id) => id !== purchase.supplier_id)
    .flatMap((id) => supplier.get(id) ?? [])
    .filter((entry) => entry.kind === 'topup' || entry.esims.some((esim) => esim.esimStatus !== 'CANCEL'))
    .filter((entry) => entry.status !== 'GETTING_RESOURCE')
    .map((entry) => `${purchase.transaction_id} was replaced, but the supplier holds ${entry.transactionId}`);
}

/** Its own id, and those of the replacements up to the last. */
function orderIdsOf({ transaction_id: id, supplier_id: last }: PurchaseFacts): string[] {
  const ids = [id];
  for (let number = 2; ids.at(-1) !== last; number += 1) ids.push(`${id}-${number}`);
  return ids;
}

/** Orders at the supplier that no purchase of ours knows. */
function strangers(
  purchases: readonly PurchaseFacts[],
  supplier: ReadonlyMap<string, readonly SupplierOrder[]>,
): string[] {
  const known = new Set(purchases.flatMap(orderIdsOf));
  return [...supplier.keys()]
    .filter((id) => !known.has(id))
    .map((id) => `the supplier holds ${id}, we do not`);
}

async function readSupplier(controlUrl: string): Promise<Map<string, SupplierOrder[]>> {
  const answer = await fetch(`${controlUrl}/orders?limit=${MAX_SUPPLIER_ENTRIES}`);
  const entries = (await answer.json()) as SupplierOrder[];
  if (entries.length >= MAX_SUPPLIER_ENTRIES) throw new Error('more supplier orders than can be read');
  return Map.groupBy(entries, (entry) => entry.transactionId);
}
