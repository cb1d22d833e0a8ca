/** Purchases and fundings of an account in one list, newest first. Counts end at a bound. */
import { sql, type RawBuilder } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { Metadata } from '../../domain/own-details.ts';
import { PACKAGE_TYPES, type PaymentMethod, type PurchaseStatus } from '../../domain/states.ts';
import { hasReference, rowsWithReference } from '../../jobs/store/references.ts';
import { containing, spells } from '../../platform/database/like.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

export const TRANSACTION_TYPES = [...PACKAGE_TYPES, 'FUNDING'] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

export interface TransactionFilters {
  readonly accountId: string;
  readonly status?: PurchaseStatus | undefined;
  readonly type?: TransactionType | undefined;
  readonly paymentMethod?: PaymentMethod | undefined;
  /** Included. */
  readonly from?: Date | undefined;
  /** Excluded. */
  readonly to?: Date | undefined;
  readonly search?: string | undefined;
  /** The caller's own, whole. */
  readonly reference?: string | undefined;
}

export interface TransactionQuery extends TransactionFilters {
  readonly offset: number;
  readonly limit: number;
  /** Continues behind this transaction of the account, in place of `offset`. */
  readonly after?: string | undefined;
}

export interface ListedTransaction {
  readonly transactionId: string;
  readonly type: TransactionType;
  readonly status: PurchaseStatus;
  readonly reason: string | null;
  readonly paymentMethod: PaymentMethod;
  readonly amountMinor: bigint;
  readonly currency: AccountCurrency;
  readonly packageCode: string | null;
  readonly packageName: string | null;
  readonly dataBytes: bigint | null;
  readonly esimId: string | null;
  readonly iccid: string | null;
  readonly reference: string | null;
  readonly metadata: Metadata | null;
  readonly createdAt: Date;
  readonly closedAt: Date | null;
}

export interface FoundTransactions {
  readonly items: readonly ListedTransaction[];
  /** For `after`; undefined at the end. */
  readonly next: string | undefined;
}

/** Whether a cursor names a transaction of the account. */
export async function isOwnTransaction(db: WorldDb, accountId: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from purchases where transaction_id = ${id} and account_id = ${accountId}
    union all select from fundings where transaction_id = ${id} and account_id = ${accountId}`.execute(db);
  return rows.length > 0;
}

/** One page, newest first. */
export async function readTransactions(db: WorldDb, query: TransactionQuery): Promise<FoundTransactions> {
  const { limit, after } = query;
  const offset = after === undefined ? query.offset : 0;
  const newest = (rows: RawBuilder<unknown>) =>
    sql`(${rows} and ${behind(after)} order by created_at desc, transaction_id desc limit ${offset + limit + 1})`;
  const { rows } = await sql<ListedTransaction>`
    with page as materialized (
      select * from (${sql.join(matching(query).map(newest), sql` union all `)}) found
       order by created_at desc, transaction_id desc limit ${limit + 1} offset ${offset}
    )
    select page.transaction_id as "transactionId",
           coalesce(p.package_type, 'FUNDING') as type, coalesce(p.status, f.status) as status, coalesce(p.reason, f.reason) as reason,
           coalesce(p.payment_method, f.payment_method) as "paymentMethod", coalesce(p.price_minor, f.amount_minor) as "amountMinor",
           coalesce(p.currency, f.currency) as currency, p.package_code as "packageCode", p.package_name as "packageName",
           p.volume_bytes as "dataBytes", p.esim_id as "esimId", nullif(e.iccid, '') as iccid,
           coalesce(p.reference, f.reference) as reference, coalesce(p.metadata, f.metadata) as metadata, page.created_at as "createdAt",
           coalesce(p.closed_at, f.closed_at) as "closedAt"
      from page
      left join purchases p on p.transaction_id = page.transaction_id
      left join fundings f on f.transaction_id = page.transaction_id
      left join esims e on e.id = p.esim_id
     order by page.created_at desc, page.transaction_id desc`.execute(db);
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? items.at(-1)?.transactionId : undefined };
}

/** How many match, counted up to `most`. */
export async function countTransactions(
  db: WorldDb,
  filters: TransactionFilters,
  most: number,
): Promise<{ readonly total: number; readonly isMinimum: boolean }> {
  const { rows } = await sql<{ total: bigint }>`
    select count(*) as total from (${sql.join(matching(filters), sql` union all `)} limit ${most + 1}) counted`.execute(
    db,
  );
  const counted = Number(rows[0]?.total ?? 0n);
  return { total: Math.min(counted, most), isMinimum: counted > most };
}

const behind = (after: string | undefined): RawBuilder<unknown> =>
  after === undefined
    ? sql`true`
    : sql`(created_at, transaction_id) < (
        (select created_at from purchases where transaction_id = ${after}
         union all select created_at from fundings where transaction_id = ${after}), ${after})`;

/** The rows of either table that match. */
function matching(filters: TransactionFilters): RawBuilder<unknown>[] {
  const { accountId, status, type, paymentMethod, from, to, search, reference } = filters;
  const ofBoth = [
    sql`account_id = ${accountId}`,
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(paymentMethod === undefined ? [] : [sql`payment_method = ${paymentMethod}`]),
    ...(from === undefined ? [] : [sql`created_at >= ${from}`]),
    ...(to === undefined ? [] : [sql`created_at < ${to}`]),
    ...(reference === undefined ? [] : [hasReference(reference)]),
  ];
  const ofPurchases = [
    ...(type === undefined ? [] : [sql`package_type = ${type}`]),
    ...(search === undefined ? [] : [hasInPurchase(accountId, search)]),
  ];
  const ofFundings =
    search === undefined
      ? []
      : [sql`(transaction_id ilike ${containing(search)} or ${hasReference(search)})`];
  const rows = (table: 'purchases' | 'fundings', more: readonly RawBuilder<unknown>[]) =>
    sql`select transaction_id, created_at from ${sql.table(table)} where ${sql.join([...ofBoth, ...more], sql` and `)}`;
  return [
    ...(type === 'FUNDING' ? [] : [rows('purchases', ofPurchases)]),
    ...(type === undefined || type === 'FUNDING' ? [rows('fundings', ofFundings)] : []),
  ];
}

/** A part of the transaction id, package name or ICCID; the complete id of the eSIM, or own reference. */
function hasInPurchase(accountId: string, search: string): RawBuilder<unknown> {
  const pattern = containing(search);
  return sql`(transaction_id ilike ${pattern} or ${spells('package_name', search)} or esim_id = ${search.toLowerCase()}
    or ${hasReference(search)}
    or esim_id in (select id from esims where account_id = ${accountId} and iccid ilike ${pattern})
    or transaction_id in (select transaction_id from (${rowsWithReference(accountId, search)}) own))`;
}
