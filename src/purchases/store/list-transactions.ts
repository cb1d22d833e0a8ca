/**
 * Purchases and fundings of an account in one list, as fast for an account with a million as for one with a thousand. Every combination of filters
 * reads an index from its newest row. Counts end at a bound. A search reads a limited number of rows and says where to continue.
 */
import { sql, type RawBuilder } from 'kysely';
import { isId } from '../../domain/ids.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import {
  PACKAGE_TYPES,
  PAYMENT_METHODS,
  PURCHASE_STATUSES,
  type PackageType,
  type PaymentMethod,
  type PurchaseStatus,
} from '../../domain/states.ts';
import { containing } from '../../platform/database/like.ts';
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
  readonly createdAt: Date;
  readonly closedAt: Date | null;
}

export interface FoundTransactions {
  readonly items: readonly ListedTransaction[];
  /** For `after`; undefined at the end. */
  readonly next: string | undefined;
}

/** Rows that one search reads: some 50 ms. */
export const SEARCHED = 10_000;

/** Whether a cursor names a transaction of the account. */
export async function isOwnTransaction(db: WorldDb, accountId: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from purchases where transaction_id = ${id} and account_id = ${accountId}
    union all select from fundings where transaction_id = ${id} and account_id = ${accountId}`.execute(db);
  return rows.length > 0;
}

type Row = Omit<ListedTransaction, 'transactionId'> & {
  /** Null: nothing matches. */
  readonly transactionId: string | null;
  readonly scanned_count: bigint;
  readonly last_scanned_at: string | null;
};

/** One page, newest first. A page of a search may be short though there are more. */
export async function readTransactions(db: WorldDb, query: TransactionQuery): Promise<FoundTransactions> {
  const { limit, search } = query;
  const offset = query.after === undefined ? query.offset : 0;
  const scanLimit = search === undefined ? offset + limit + 1 : SEARCHED;
  const { rows } = await sql<Row>`
    with scanned as materialized (${candidates(query, scanLimit)}),
    matched as materialized (
      select scanned.transaction_id, scanned.created_at ${matching(search)}
       order by scanned.created_at desc, scanned.transaction_id desc limit ${limit + 1} offset ${offset}
    ), ends as (
      select count(*) as scanned_count, (array_agg(transaction_id order by created_at, transaction_id))[1] as last_scanned_at from scanned
    )
    select ends.*, matched.transaction_id as "transactionId",
           coalesce(p.package_type, 'FUNDING') as type, coalesce(p.status, f.status) as status, coalesce(p.reason, f.reason) as reason,
           coalesce(p.payment_method, f.payment_method) as "paymentMethod", coalesce(p.price_minor, f.amount_minor) as "amountMinor",
           coalesce(p.currency, f.currency) as currency, p.package_code as "packageCode", p.package_name as "packageName",
           p.volume_bytes as "dataBytes", p.esim_id as "esimId", nullif(e.iccid, '') as iccid, matched.created_at as "createdAt",
           coalesce(p.closed_at, f.closed_at) as "closedAt"
      from ends
      left join matched on true
      left join purchases p on p.transaction_id = matched.transaction_id
      left join fundings f on f.transaction_id = matched.transaction_id
      left join esims e on e.id = p.esim_id
     order by matched.created_at desc, matched.transaction_id desc`.execute(db);
  return pageOf(rows, { limit, isCut: search !== undefined && rows[0]?.scanned_count === BigInt(scanLimit) });
}

function pageOf(rows: readonly Row[], { limit, isCut }: { limit: number; isCut: boolean }) {
  const found = rows.flatMap((row) => (row.transactionId === null ? [] : [itemOf(row, row.transactionId)]));
  const items = found.slice(0, limit);
  const next = found.length > limit ? items.at(-1)?.transactionId : undefined;
  return { items, next: next ?? (isCut ? (rows[0]?.last_scanned_at ?? undefined) : undefined) };
}

function itemOf(row: Row, transactionId: string): ListedTransaction {
  const { type, status, reason, paymentMethod, amountMinor, currency, createdAt, closedAt } = row;
  const { packageCode, packageName, dataBytes, esimId, iccid } = row;
  const money = { paymentMethod, amountMinor, currency };
  const bought = { packageCode, packageName, dataBytes, esimId, iccid };
  return { transactionId, type, status, reason, ...money, ...bought, createdAt, closedAt };
}

/** How many match, counted up to `most`; of a search, among the newest that it reads. */
export async function countTransactions(
  db: WorldDb,
  filters: TransactionFilters,
  most: number,
): Promise<{ readonly total: number; readonly isMinimum: boolean }> {
  const { search } = filters;
  if (search === undefined) {
    const { rows } = await sql<{ total: bigint }>`
      select count(*) as total from (${sql.join(filtered(filters), sql` union all `)} limit ${most + 1}) counted`.execute(
      db,
    );
    const counted = Number(rows[0]?.total ?? 0n);
    return { total: Math.min(counted, most), isMinimum: counted > most };
  }
  const { rows } = await sql<{ total: bigint; scanned_count: bigint }>`
    with scanned as materialized (${candidates(filters, SEARCHED)})
    select count(*) as total, (select count(*) from scanned) as scanned_count ${matching(search)}`.execute(
    db,
  );
  const [row] = rows;
  return { total: Number(row?.total ?? 0n), isMinimum: row?.scanned_count === BigInt(SEARCHED) };
}

/** The newest `most` that the filters and the cursor leave, or all that a complete id in the search leads to. */
function candidates(
  query: TransactionFilters & Pick<Partial<TransactionQuery>, 'after'>,
  most: number,
): RawBuilder<unknown> {
  const ids = query.search === undefined ? undefined : idsOf(query.accountId, query.search);
  const sources = ids
    ? filtered(query).map((rows) => sql`${rows} and transaction_id = any(array(${ids}))`)
    : newest(query, most);
  const named = sources.map((rows) => sql`(${rows})`);
  return sql`
    select transaction_id, created_at from (${sql.join(named, sql` union all `)}) found
     where ${behind(query.after)} order by created_at desc, transaction_id desc limit ${most}`;
}

const behind = (after: string | undefined): RawBuilder<unknown> =>
  after === undefined
    ? sql`true`
    : sql`(created_at, transaction_id) < (
        (select created_at from purchases where transaction_id = ${after}
         union all select created_at from fundings where transaction_id = ${after}), ${after})`;

/** The rows of either table that the filters leave. */
function filtered(filters: TransactionFilters): RawBuilder<unknown>[] {
  const { accountId, type } = filters;
  const { statuses, methods, types } = facetsOf(filters);
  // Every column of the index is compared, or none: then the index by time is the shorter way.
  const [ofFacets, ofTypes] =
    isPlain(filters) && (type === undefined || type === 'FUNDING')
      ? [sql`true`, sql`true`]
      : [
          sql`status = any(${statuses}) and payment_method = any(${methods})`,
          sql`package_type = any(${types})`,
        ];
  const rows = (table: 'purchases' | 'fundings') => sql`
    select transaction_id, created_at from ${sql.table(table)}
     where account_id = ${accountId} and ${ofFacets} and ${during(filters)}`;
  return [
    ...(type === 'FUNDING' ? [] : [sql`${rows('purchases')} and ${ofTypes}`]),
    ...(type === undefined || type === 'FUNDING' ? [rows('fundings')] : []),
  ];
}

/** The same, the newest of each combination of filters first: each is a range of an index in its order. */
function newest(
  query: TransactionFilters & Pick<Partial<TransactionQuery>, 'after'>,
  most: number,
): RawBuilder<unknown>[] {
  const { accountId, type, after } = query;
  const range = sql`${during(query)} and ${behind(after)} order by created_at desc, transaction_id desc limit ${most}`;
  const ofAccount = (table: 'purchases' | 'fundings') => sql`
    select transaction_id, created_at from ${sql.table(table)} where account_id = ${accountId} and ${range}`;
  const { statuses, methods, types } = facetsOf(query);
  const ofFacets = (table: 'purchases' | 'fundings', ofType: RawBuilder<unknown>) => sql`
    select one.* from unnest(${statuses}::text[]) as facet_status, unnest(${methods}::text[]) as facet_method,
           unnest(${table === 'purchases' ? types : ['FUNDING']}::text[]) as facet_type, lateral (
             select transaction_id, created_at from ${sql.table(table)}
              where account_id = ${accountId} and status = facet_status and payment_method = facet_method and ${ofType} and ${range}
           ) one`;
  return [
    ...(type === 'FUNDING'
      ? []
      : [
          isPlain(query) && type === undefined
            ? ofAccount('purchases')
            : ofFacets('purchases', sql`package_type = facet_type`),
        ]),
    ...(type === undefined || type === 'FUNDING'
      ? [isPlain(query) ? ofAccount('fundings') : ofFacets('fundings', sql`true`)]
      : []),
  ];
}

const isPlain = ({ status, paymentMethod }: TransactionFilters): boolean =>
  status === undefined && paymentMethod === undefined;

function facetsOf({ status, type, paymentMethod }: TransactionFilters) {
  const types: readonly PackageType[] = type === undefined || type === 'FUNDING' ? PACKAGE_TYPES : [type];
  return {
    statuses: status === undefined ? PURCHASE_STATUSES : [status],
    methods: paymentMethod === undefined ? PAYMENT_METHODS : [paymentMethod],
    types,
  };
}

const during = ({ from, to }: TransactionFilters): RawBuilder<unknown> =>
  sql.join(
    [
      sql`true`,
      ...(from === undefined ? [] : [sql`created_at >= ${from}`]),
      ...(to === undefined ? [] : [sql`created_at < ${to}`]),
    ],
    sql` and `,
  );

const ICCID = /^\d{18,22}$/;

/** Transactions that a complete id leads to; undefined for any other text. */
function idsOf(accountId: string, search: string): RawBuilder<unknown> | undefined {
  const text = search.toLowerCase();
  if (isId('transaction', text)) return sql`select ${text}`;
  const esim = isId('esim', text) ? sql`id = ${text}` : ICCID.test(text) ? sql`iccid = ${text}` : undefined;
  if (!esim) return undefined;
  const esims = sql`from esims where account_id = ${accountId} and ${esim}`;
  return sql`
    select transaction_id ${esims}
    union all select transaction_id from purchases where package_type = 'TOPUP' and esim_id in (select id ${esims})`;
}

/** A from clause over `scanned`. */
function matching(search: string | undefined): RawBuilder<unknown> {
  if (search === undefined) return sql`from scanned`;
  const pattern = containing(search);
  // A complete id of an eSIM is in none of these columns: what it led to matches.
  const isEsimId = isId('esim', search.toLowerCase());
  const byIccid = /^\d+$/.test(search)
    ? sql`exists (select from esims where id = bought.esim_id and iccid ilike ${pattern} offset 0)`
    : sql`false`;
  // One by one, since a join of so many could read the whole table.
  return sql`
    from scanned
    left join lateral (select package_name, esim_id from purchases where transaction_id = scanned.transaction_id limit 1) bought on true
   where ${isEsimId} or scanned.transaction_id ilike ${pattern} or bought.package_name ilike ${pattern} or ${byIccid}`;
}
