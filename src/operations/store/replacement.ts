/**
 * Another package in place of the one that cannot be delivered: what was paid stays, so it must cost us no more than that. The order for it
 * has an id of its own at the supplier, since the first id stands for the first package for ever.
 */
import { sql } from 'kysely';
import { snapshotOf } from '../../catalogue/rules.ts';
import type { ActionRefusal } from '../rules.ts';
import { toPackage, type StoredPackage } from '../../catalogue/store/catalogue.ts';
import type { Ended, ActionSubject } from './subject.ts';
import type { ActionRow } from './tables.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** Cents of the price, in the supplier's ten-thousandths of a dollar. */
const COST_UNITS_PER_CENT = 100n;
/** Its number at the supplier is one digit. */
const MOST_REPLACEMENTS = 8;

/** The package that a person named, or else the cheapest equal one. */
export async function findReplacement(
  db: WorldDb,
  { purchase }: ActionSubject,
  named: string | undefined,
): Promise<{ readonly packageCode: string } | { readonly refusal: ActionRefusal }> {
  if (!purchase || replacementNumber(purchase) > MOST_REPLACEMENTS) return { refusal: 'NO_EQUAL_PACKAGE' };
  const mostCostE4 = purchase.price_usd_minor * COST_UNITS_PER_CENT;
  const row = await db
    .selectFrom('packages as other')
    .innerJoin('packages as bought', 'bought.package_type', 'other.package_type')
    .select('other.package_code')
    .where('bought.package_code', '=', purchase.package_code)
    .where('other.package_code', '<>', purchase.package_code)
    .where('other.withdrawn_at', 'is', null)
    .where('other.cost_usd_e4', '<=', mostCostE4)
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

/** Puts the new package in place of the old one; nothing was asked for it yet. */
export async function replacePackage(trx: WorldDb, move: ActionRow, subject: ActionSubject): Promise<Ended> {
  const { purchase } = subject;
  const row = await trx
    .selectFrom('packages')
    .selectAll()
    .where('package_code', '=', move.package_code ?? '')
    .executeTakeFirst();
  if (!purchase || !row) return { refusal: 'PACKAGE_DOES_NOT_FIT' };
  const item = toPackage(row);
  await trx
    .updateTable('purchases')
    .set({
      package_code: item.packageCode,
      package_name: item.name,
      volume_bytes: BigInt(item.volumeBytes),
      duration: item.duration,
      cost_usd_e4: item.cost,
      supplier_transaction_id: `${purchase.transaction_id}-${replacementNumber(purchase) + 1}`,
      supplier_order_no: null,
      supplier_asks: 0,
      supplier_first_asked_at: null,
      supplier_previous_asked_at: null,
      supplier_asked_at: null,
      supplier_searched_until: null,
      withdrawing_since: null,
      cancel_asked_at: null,
      updated_at: sql`now()`,
    })
    .where('transaction_id', '=', purchase.transaction_id)
    .execute();
  if (purchase.package_type === 'BASE') await replaceOnEsim(trx, purchase.esim_id, item);
  await trx
    .insertInto('purchase_events')
    .values({
      transaction_id: purchase.transaction_id,
      what: 'package-replaced',
      detail: `${purchase.package_code} by ${item.packageCode}`,
    })
    .execute();
  return { did: `${item.packageCode} is delivered instead of ${purchase.package_code}` };
}

/** 1: what was bought; 2: the first replacement. */
function replacementNumber(purchase: {
  readonly transaction_id: string;
  readonly supplier_transaction_id: string | null;
}): number {
  const { supplier_transaction_id: at, transaction_id: id } = purchase;
  return at === null ? 1 : Number(at.slice(id.length + 1));
}

async function replaceOnEsim(trx: WorldDb, esimId: string, item: StoredPackage): Promise<void> {
  await trx
    .updateTable('esims')
    .set({
      package_code: item.packageCode,
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
