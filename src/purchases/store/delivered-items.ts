/**
 * What a supplier delivered, as the columns that keep it: those of its purchase, for ever, and those of its eSIM, until the next look. Kept
 * by the statement that settles or, where that is refused, alone. Install data is secret and never logged.
 */
import { sql, type RawBuilder, type Updateable } from 'kysely';
import type { EsimFacts, TopUpTotals } from '../../esims/rules.ts';
import { hasOrder } from './deliveries.ts';
import { columnsOfFacts } from '../../esims/store/esims.ts';
import type { EsimsTable, PurchasesTable, WorldDb } from '../../platform/database/tables.ts';

export interface DeliveredItem {
  /** The order at the supplier that delivered: one that was replaced meanwhile delivers nothing. Absent: not known. */
  readonly supplierId?: string;
  readonly purchase: Updateable<PurchasesTable>;
  readonly esim: Updateable<EsimsTable>;
}

/** Nothing that is not kept already. */
export const KEPT_BEFORE: DeliveredItem = { purchase: {}, esim: {} };

/** A new eSIM, which opens to its owner only when the purchase settles. */
export function profileItem(facts: EsimFacts, lookedAt: Date): DeliveredItem {
  return { purchase: {}, esim: { ...columnsOfFacts(facts), looked_at: lookedAt } };
}

/** A top-up's new totals. A supplier that names no end of validity leaves the one before. */
export function topUpItem(totals: TopUpTotals): DeliveredItem {
  const { iccid, totalVolumeBytes, orderUsageBytes, totalDuration, expiredTime } = totals;
  return {
    purchase: {
      top_up_iccid: iccid,
      top_up_total_volume_bytes: BigInt(totalVolumeBytes),
      top_up_remaining_bytes: BigInt(Math.max(0, totalVolumeBytes - orderUsageBytes)),
    },
    esim: {
      total_volume_bytes: BigInt(totalVolumeBytes),
      order_usage_bytes: BigInt(orderUsageBytes),
      total_duration: totalDuration,
      ...(expiredTime === null ? {} : { expired_time: new Date(expiredTime) }),
    },
  };
}

/** Keeps goods of an open purchase that is not settled with them. Twice is once. */
export async function saveDeliveredItem(
  db: WorldDb,
  transactionId: string,
  goods: DeliveredItem,
): Promise<void> {
  await sql`
    with kept as (
      update purchases set ${assigned(goods.purchase)}
       where transaction_id = ${transactionId} and top_up_total_volume_bytes is null
         and status = 'PROCESSING' and withdrawing_since is null and ${goods.supplierId === undefined ? sql`true` : hasOrder(goods.supplierId)}
      returning esim_id, package_type
    )
    update esims set ${assigned(goods.esim)} from kept
     where esims.id = kept.esim_id and (esims.status = 'PENDING' or kept.package_type = 'TOPUP')`.execute(db);
}

/** For a `set`: these columns, and that the row was changed now. */
export function assigned(columns: DeliveredItem['purchase'] | DeliveredItem['esim']): RawBuilder<unknown> {
  const each = Object.entries(columns).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  return sql.join([...each, sql`updated_at = now()`]);
}
