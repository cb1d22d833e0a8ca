/** Balances at suppliers as they were read, and what is not sold meanwhile. */
import { sql } from 'kysely';
import { UNLISTED_REGION_CODE } from '../../catalogue/rules.ts';
import type { ShortageReason } from '../../domain/states.ts';
import { callFunction } from '../../platform/database/functions.ts';
import { inBatches } from '../../platform/database/retention.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { RATE_WINDOWS_MS, type Spent } from '../supplier/balance-rules.ts';

/** Read at least this often, whatever is sold: what others spend of the same account shows, too. */
export const READ_EVERY_MS = 5 * 60_000;

/**
 * Whether the balance is to be read: it is old, something was booked as used since, or a refusal has only
 * said how much there is not.
 */
export async function isBalanceDue(db: WorldDb, supplier: string): Promise<boolean> {
  const { rows } = await sql<{ is_due: boolean }>`
    select coalesce((
      select is_bound or read_at < clock_timestamp() - ${READ_EVERY_MS} * interval '1 ms' or exists (
               select from ledger_entries where ledger_account_id = ${`supplier-prepaid:${supplier}:USD4`}
                  and id > booked_until)
        from supplier_balances where supplier = ${supplier} order by check_number desc limit 1), true) as is_due`.execute(
    db,
  );
  return rows[0]?.is_due ?? true;
}

interface BalanceCheck {
  readonly check_number: bigint;
  readonly booked_until: bigint;
  readonly asked_at: Date;
}

/** Before the supplier is asked. */
export const beginBalanceCheck = (db: WorldDb, supplier: string): Promise<BalanceCheck> =>
  callFunction<BalanceCheck>(db, 'begin_balance_check', { supplier });

/** `is_new`: no later check was kept before. Ends shortages of balance that it covers. */
export const keepBalance = (
  db: WorldDb,
  kept: BalanceCheck & {
    readonly supplier: string;
    readonly balance_usd_e4: bigint;
    readonly tight_below_usd_e4: bigint;
  },
) => callFunction<{ is_new: boolean; available_usd_e4: bigint }>(db, 'keep_supplier_balance', { ...kept });

/** What was used of the balance, in hours. A payment into it within an hour hides nothing of other reads. */
export async function readSpent(db: WorldDb, supplier: string): Promise<Spent[]> {
  const { rows } = await sql<Spent>`
    with seen as (
      select read_at, lag(read_at) over checks as before_at,
             greatest(0, lag(balance_usd_e4) over checks - balance_usd_e4) as spent
        from supplier_balances
       where supplier = ${supplier} and not is_bound
         and read_at > clock_timestamp() - ${RATE_WINDOWS_MS[1]} * interval '1 ms'
      window checks as (order by check_number)
    )
    select min(before_at) as "from", max(read_at) as "to", sum(spent)::bigint as "usdE4"
      from seen where before_at is not null
     group by date_bin('1 hour', read_at, 'epoch'::timestamptz) order by 1`.execute(db);
  return rows;
}

/** The dearest that is listed. 0: nothing is. */
export async function readDearestCost(db: WorldDb, supplier: string): Promise<bigint> {
  const { dearest } = await db
    .selectFrom('packages')
    .select((eb) => eb.fn.max<bigint | null>('cost_usd_e4').as('dearest'))
    .where('supplier', '=', supplier)
    .where('withdrawn_at', 'is', null)
    .where('region_code', '<>', UNLISTED_REGION_CODE)
    .executeTakeFirstOrThrow();
  return dearest ?? 0n;
}

export interface KeptBalance {
  readonly supplier: string;
  readonly balanceUsdE4: bigint;
  /** Less what is ordered and not in it yet. */
  readonly availableUsdE4: bigint;
  /** Learnt from a refusal: there is no more than this. */
  readonly isBound: boolean;
  readonly isTight: boolean;
  readonly readAt: Date;
  /** Postgres's. */
  readonly now: Date;
}

/** The newest of each supplier, with what was ordered since. */
export async function readBalances(db: WorldDb): Promise<KeptBalance[]> {
  const { rows } = await sql<KeptBalance>`
    select supplier, balance_usd_e4 as "balanceUsdE4",
           balance_usd_e4 - supplier_uncharged(supplier, booked_until, asked_at) as "availableUsdE4",
           is_bound as "isBound", is_tight as "isTight", read_at as "readAt", clock_timestamp() as now
      from (select distinct on (supplier) * from supplier_balances order by supplier, check_number desc) newest
     order by supplier`.execute(db);
  return rows;
}

export interface ListedShortage {
  readonly packageCode: string;
  readonly name: string;
  readonly supplier: string;
  readonly reason: ShortageReason;
  readonly since: Date;
  readonly refusals: number;
  readonly probeAt: Date;
}

/** More than a catalogue has. */
const MAX_SHORTAGES = 5_000;

/** Packages that are not sold, the oldest shortage first. */
export const listShortages = (db: WorldDb): Promise<ListedShortage[]> =>
  db
    .selectFrom('package_shortages as short')
    .leftJoin('packages', 'packages.package_code', 'short.package_code')
    .select(['short.package_code as packageCode', 'short.supplier', 'short.reason', 'short.since'])
    .select(['short.refusals', 'short.probe_at as probeAt'])
    .select((eb) => eb.fn.coalesce('packages.name', 'short.package_code').as('name'))
    .orderBy('short.since')
    .orderBy('short.package_code')
    .limit(MAX_SHORTAGES)
    .execute();

/** How many listed packages cost more than is left. */
export async function countUncovered(
  db: WorldDb,
  { supplier, availableUsdE4 }: Pick<KeptBalance, 'supplier' | 'availableUsdE4'>,
): Promise<number> {
  const { count } = await db
    .selectFrom('packages')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('supplier', '=', supplier)
    .where('withdrawn_at', 'is', null)
    .where('region_code', '<>', UNLISTED_REGION_CODE)
    .where('cost_usd_e4', '>', availableUsdE4)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Deletes balances that were read before then; returns how many. */
export const forgetBalances = (db: WorldDb, before: Date, isOver: () => boolean): Promise<number> =>
  inBatches(async (limit) => {
    const { numAffectedRows } = await sql`
      delete from supplier_balances where check_number in (
        select check_number from supplier_balances where read_at < ${before} limit ${limit})`.execute(db);
    return Number(numAffectedRows ?? 0n);
  }, isOver);
