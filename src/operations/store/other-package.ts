/** Another package than the one that was bought, judged by its cost when asked for and when delivered. */
import { sql } from 'kysely';
import { COST_UNITS_PER_CENT } from '../../catalogue/pricing.ts';
import { snapshotOf } from '../../catalogue/rules.ts';
import { toPackage, type StoredPackage } from '../../catalogue/store/catalogue.ts';
import { formatAmount } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { countOrders, planNextOrder } from '../../purchases/store/supplier-orders.ts';
import type { ActionRefusal, Ended } from '../rules.ts';
import type { ActionSubject } from './subject.ts';
import type { ActionRow } from './tables.ts';

type PurchaseRow = NonNullable<ActionSubject['purchase']>;

/** Its number at the supplier is one digit. */
const MAX_ORDERS = 9;

/** What was paid for it; for the eSIM of a replacement, what was paid for the first one. */
async function findMaxCostE4(db: WorldDb, purchase: PurchaseRow): Promise<bigint> {
  const first = await db
    .selectFrom('replacements')
    .innerJoin('esims', 'esims.id', 'replacements.first_esim_id')
    .innerJoin('purchases', 'purchases.transaction_id', 'esims.transaction_id')
    .select('purchases.price_usd_minor')
    .where('replacements.new_transaction_id', '=', purchase.transaction_id)
    .executeTakeFirst();
  return (first ?? purchase).price_usd_minor * COST_UNITS_PER_CENT;
}

/** How many other packages were ordered before the one that is being delivered, or about to be. */
export async function countOtherPackagesBefore(db: WorldDb, transactionId: string): Promise<number> {
  const { made } = await db
    .selectFrom('operator_actions')
    .select(sql<number>`count(*)::int4`.as('made'))
    .where('transaction_id', '=', transactionId)
    .where('action', '=', 'deliver-other')
    .where('status', '=', 'DONE')
    .executeTakeFirstOrThrow();
  if (made === 0) return 0;
  const { hasLive } = await countOrders(db, transactionId);
  return hasLive ? made - 1 : made;
}

/** The package that a person named, or else the cheapest equal one. */
export async function findOtherPackage(
  db: WorldDb,
  { purchase }: Pick<ActionSubject, 'purchase'>,
  named: string | undefined,
): Promise<{ readonly packageCode: string } | { readonly refusal: ActionRefusal }> {
  if (!purchase || (await countOrders(db, purchase.transaction_id)).count >= MAX_ORDERS)
    return { refusal: 'NO_EQUAL_PACKAGE' };
  const maxCostE4 = await findMaxCostE4(db, purchase);
  const row = await db
    .selectFrom('packages as other')
    .innerJoin('packages as bought', 'bought.package_type', 'other.package_type')
    .select('other.package_code')
    .where('bought.package_code', '=', purchase.package_code)
    .where('other.package_code', '<>', purchase.package_code)
    .where('other.withdrawn_at', 'is', null)
    // The supplier takes an order at its own price only.
    .where('other.package_code', 'not in', (eb) => eb.selectFrom('held_costs').select('package_code'))
    .where('other.cost_usd_e4', '<=', maxCostE4)
    .$if(named !== undefined, (query) => query.where('other.package_code', '=', named ?? ''))
    .$if(named === undefined, (query) =>
      query
        .whereRef('other.region_code', '=', 'bought.region_code')
        .whereRef('other.volume_bytes', '=', 'bought.volume_bytes')
        .whereRef('other.data_type', '=', 'bought.data_type')
        .whereRef('other.duration', '=', 'bought.duration')
        .whereRef('other.duration_unit', '=', 'bought.duration_unit'),
    )
    // A top-up must be one that this eSIM takes.
    .$if(purchase.package_type === 'TOPUP', (query) =>
      query.where('other.package_code', 'in', (eb) =>
        eb
          .selectFrom('package_top_ups')
          .innerJoin('esims', 'esims.package_code', 'package_top_ups.package_code')
          .select('package_top_ups.top_up_code')
          .where('esims.id', '=', purchase.esim_id),
      ),
    )
    .orderBy('other.cost_usd_e4')
    .orderBy('other.package_code')
    .limit(1)
    .executeTakeFirst();
  if (row) return { packageCode: row.package_code };
  return { refusal: named === undefined ? 'NO_EQUAL_PACKAGE' : 'PACKAGE_DOES_NOT_FIT' };
}

const inDollars = (costE4: bigint): string =>
  `USD ${formatAmount({ amountMinor: costE4, currency: 'USD4' })}`;

/** Why the package no longer fits; otherwise as it is now. An approval may have taken a week. */
export async function judgeOtherPackage(
  db: WorldDb,
  { package_code }: Pick<ActionRow, 'package_code'>,
  purchase: PurchaseRow | undefined,
): Promise<
  { readonly item: StoredPackage } | { readonly refusal: 'PACKAGE_DOES_NOT_FIT'; readonly detail: string }
> {
  const code = package_code ?? '';
  const row = await db.selectFrom('packages').selectAll().where('package_code', '=', code).executeTakeFirst();
  const refuse = (detail: string) => ({ refusal: 'PACKAGE_DOES_NOT_FIT', detail }) as const;
  if (!purchase || !row) return refuse(`there is no package ${code}`);
  if (row.withdrawn_at !== null) return refuse(`${code} was withdrawn`);
  const held = await db
    .selectFrom('held_costs')
    .select('cost_usd_e4')
    .where('package_code', '=', code)
    .executeTakeFirst();
  if (held)
    return refuse(
      `the supplier asks ${inDollars(held.cost_usd_e4)} for ${code}: that price is not confirmed yet`,
    );
  const max = await findMaxCostE4(db, purchase);
  if (row.cost_usd_e4 > max)
    return refuse(
      `${code} costs ${inDollars(row.cost_usd_e4)} by now, more than the ${inDollars(max)} that were paid`,
    );
  return { item: toPackage(row) };
}

/** Replaces the package by the new one, whose order is planned with it. */
export async function orderOtherPackage(
  trx: WorldDb,
  action: ActionRow,
  { purchase }: ActionSubject,
): Promise<Ended> {
  const judged = await judgeOtherPackage(trx, action, purchase);
  if (!('item' in judged)) return judged;
  if (!purchase) return { refusal: 'PACKAGE_DOES_NOT_FIT' };
  const { item } = judged;
  const { transaction_id: transactionId } = purchase;
  const volumeBytes = BigInt(item.volumeBytes);
  const { packageCode, supplier, cost: costUsdE4 } = item;
  if (!(await planNextOrder(trx, transactionId, { packageCode, supplier, volumeBytes, costUsdE4 })))
    return { refusal: 'SUPPLIER_MAY_DELIVER' };
  await trx
    .updateTable('purchases')
    .set({
      package_code: packageCode,
      supplier,
      package_name: item.name,
      volume_bytes: volumeBytes,
      duration: item.duration,
      cost_usd_e4: costUsdE4,
      updated_at: sql`now()`,
    })
    .where('transaction_id', '=', transactionId)
    .execute();
  if (purchase.package_type === 'BASE') await replaceOnEsim(trx, purchase.esim_id, item);
  const detail = `${purchase.package_code} by ${packageCode}`;
  await trx
    .insertInto('purchase_events')
    .values({ transaction_id: transactionId, what: 'package-replaced', detail })
    .execute();
  return { did: `${packageCode} is ordered instead of ${purchase.package_code}` };
}

async function replaceOnEsim(trx: WorldDb, esimId: string, item: StoredPackage): Promise<void> {
  await trx
    .updateTable('esims')
    .set({
      package_code: item.packageCode,
      supplier: item.supplier,
      package_name: item.name,
      snapshot: JSON.stringify(snapshotOf(item)),
      total_volume_bytes: BigInt(item.volumeBytes),
      total_duration: item.duration,
      duration_unit: item.durationUnit,
      data_type: item.dataType,
      updated_at: sql`now()`,
    })
    .where('id', '=', esimId)
    .where('status', '=', 'PENDING')
    .execute();
}
