/**
 * Purchases, fundings and eSIMs of all accounts, newest first. A page reads the index by time, or by account
 * and time, and stops after MAX_LOOKED rows, whatever is asked for: it continues behind the last one.
 */
import { sql, type RawBuilder } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { ESIM_STATUSES, PackageType, PaymentMethod, PurchaseStatus } from '../../domain/states.ts';
import { hasReference } from '../../jobs/store/references.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** Some 50 ms where none of them matches. */
export const MAX_LOOKED = 10_000;

export interface ListFilters {
  readonly accountId?: string | undefined;
  readonly status?: string | undefined;
  readonly packageType?: PackageType | undefined;
  readonly paymentMethod?: PaymentMethod | undefined;
  readonly packageCode?: string | undefined;
  /** Its package covers it; ISO 3166-1. */
  readonly country?: string | undefined;
  /** The merchant's own, whole. */
  readonly reference?: string | undefined;
  readonly iccid?: string | undefined;
  /** Included. */
  readonly from?: Date | undefined;
  /** Excluded. */
  readonly to?: Date | undefined;
}

export interface ListQuery extends ListFilters {
  /** Continues behind the row with this id. */
  readonly after?: string | undefined;
  readonly limit: number;
}

interface Common {
  readonly accountId: string;
  readonly createdAt: Date;
  readonly currency: AccountCurrency;
}

export interface PurchaseLine extends Common {
  readonly transactionId: string;
  readonly packageType: PackageType;
  readonly packageCode: string;
  readonly packageName: string;
  readonly status: PurchaseStatus;
  readonly reason: string | null;
  readonly attentionReason: string | null;
  readonly paymentMethod: PaymentMethod;
  readonly priceMinor: bigint;
  readonly esimId: string | null;
  readonly iccid: string | null;
  readonly reference: string | null;
  readonly closedAt: Date | null;
}

export interface FundingLine extends Common {
  readonly transactionId: string;
  readonly status: Exclude<PurchaseStatus, 'PROCESSING'>;
  readonly reason: string | null;
  readonly attentionReason: string | null;
  readonly paymentMethod: Exclude<PaymentMethod, 'WALLET'>;
  readonly amountMinor: bigint;
  readonly reference: string | null;
  readonly closedAt: Date | null;
}

export interface EsimLine extends Common {
  readonly esimId: string;
  readonly iccid: string | null;
  readonly transactionId: string;
  readonly packageCode: string;
  readonly packageName: string;
  readonly status: (typeof ESIM_STATUSES)[number];
  readonly priceMinor: bigint;
  readonly totalVolumeBytes: bigint;
  readonly orderUsageBytes: bigint;
  readonly usageAsOf: Date | null;
  readonly activateTime: Date | null;
  readonly expiredTime: Date | null;
}

interface ListedTable {
  readonly table: 'purchases' | 'fundings' | 'esims';
  readonly id: 'transaction_id' | 'id';
  /** Of `page`. Nothing that installs an eSIM. */
  readonly fields: RawBuilder<unknown>;
  readonly joins?: RawBuilder<unknown>;
}

const OF_PAYMENT = sql`
  page.account_id as "accountId", page.created_at as "createdAt", page.currency, page.transaction_id as "transactionId",
  page.status, page.reason, page.attention_reason as "attentionReason", page.payment_method as "paymentMethod",
  page.reference, page.closed_at as "closedAt"`;

export const LISTED = {
  purchases: {
    table: 'purchases',
    id: 'transaction_id',
    fields: sql`${OF_PAYMENT}, page.package_type as "packageType", page.package_code as "packageCode",
      page.package_name as "packageName", page.price_minor as "priceMinor", nullif(page.esim_id, '') as "esimId",
      nullif(e.iccid, '') as iccid`,
    joins: sql`left join esims e on e.id = page.esim_id`,
  },
  fundings: {
    table: 'fundings',
    id: 'transaction_id',
    fields: sql`${OF_PAYMENT}, page.amount_minor as "amountMinor"`,
  },
  esims: {
    table: 'esims',
    id: 'id',
    fields: sql`page.account_id as "accountId", page.created_at as "createdAt", page.currency, page.id as "esimId",
      nullif(page.iccid, '') as iccid, page.transaction_id as "transactionId", page.package_code as "packageCode",
      page.package_name as "packageName", page.status, page.price_minor as "priceMinor",
      page.total_volume_bytes as "totalVolumeBytes", page.order_usage_bytes as "orderUsageBytes",
      page.usage_as_of as "usageAsOf", page.activate_time as "activateTime", page.expired_time as "expiredTime"`,
  },
} as const satisfies Record<string, ListedTable>;

export type ListName = keyof typeof LISTED;

export interface Lines {
  readonly purchases: PurchaseLine;
  readonly fundings: FundingLine;
  readonly esims: EsimLine;
}

/** One page. `next`: behind which the next one begins, also where this one found nothing. */
export async function readLines<Name extends ListName>(
  db: WorldDb,
  name: Name,
  { after, limit, ...filters }: ListQuery,
): Promise<{ readonly items: readonly Lines[Name][]; readonly next: string | undefined }> {
  const listed: ListedTable = LISTED[name];
  const [table, id] = [sql.table(listed.table), sql.ref(listed.id)];
  const isBehind =
    after === undefined
      ? sql`true`
      : sql`(created_at, ${id}) < ((select created_at from ${table} where ${id} = ${after}), ${after})`;
  const looked = sql`
    select * from ${table} where ${sql.join([isBehind, ...servedByIndex(filters)], sql` and `)}
     order by created_at desc, ${id} desc limit ${MAX_LOOKED}`;
  const { rows } = await sql<Lines[Name] & { readonly rowId: string }>`
    with page as materialized (
      select * from (${looked}) looked where ${sql.join([sql`true`, ...lookedFor(filters)], sql` and `)}
       order by created_at desc, ${id} desc limit ${limit + 1}
    )
    select ${listed.fields}, page.${id} as "rowId" from page ${listed.joins ?? sql``}
     order by page.created_at desc, page.${id} desc`.execute(db);
  const items = rows.slice(0, limit);
  if (rows.length > limit) return { items, next: rows[limit - 1]?.rowId };
  const last = await sql<{ id: string }>`
    select ${id} as id from (${looked}) looked offset ${MAX_LOOKED - 1} limit 1`.execute(db);
  return { items, next: last.rows[0]?.id };
}

/** Each has an index in which the rows lie in the order of the list, or are few. */
function servedByIndex({ accountId, reference, iccid, from, to }: ListFilters): RawBuilder<unknown>[] {
  return [
    ...(accountId === undefined ? [] : [sql`account_id = ${accountId}`]),
    ...(reference === undefined ? [] : [hasReference(reference)]),
    ...(iccid === undefined ? [] : [sql`iccid = ${iccid} and iccid <> ''`]),
    ...(from === undefined ? [] : [sql`created_at >= ${from}`]),
    ...(to === undefined ? [] : [sql`created_at < ${to}`]),
  ];
}

/** Among the rows that are looked at. */
function lookedFor(filters: ListFilters): RawBuilder<unknown>[] {
  const { status, packageType, paymentMethod, packageCode, country } = filters;
  return [
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(packageType === undefined ? [] : [sql`package_type = ${packageType}`]),
    ...(paymentMethod === undefined ? [] : [sql`payment_method = ${paymentMethod}`]),
    ...(packageCode === undefined ? [] : [sql`package_code = ${packageCode}`]),
    ...(country === undefined
      ? []
      : [
          sql`package_code in (select package_code from packages where string_to_array(location, ',') @> array[${country}::text])`,
        ]),
  ];
}

/** Whether a cursor names a row of the list. */
export async function isListed(db: WorldDb, name: ListName, id: string): Promise<boolean> {
  const listed = LISTED[name];
  const { rows } = await sql`
    select from ${sql.table(listed.table)} where ${sql.ref(listed.id)} = ${id}`.execute(db);
  return rows.length > 0;
}
