/**
 * What a supplier delivered, as columns of its purchase and its eSIM. Written by the statement that settles or, where settling is refused, alone.
 * Install data is secret and never logged.
 */
import { sql, type RawBuilder, type Updateable } from 'kysely';
import type { EsimFacts, TopUpTotals } from '../../esims/rules.ts';
import { hasOrder } from './deliveries.ts';
import { columnsOfFacts } from '../../esims/store/esims.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { EsimsTable } from '../../esims/store/tables.ts';
import type { PurchasesTable } from './tables.ts';

export interface DeliveredItem {
  /** The supplier's order; one that was replaced meanwhile delivers nothing. Absent: not known. */
  readonly supplierId?: string;
  readonly purchase: Updateable<PurchasesTable>;
  readonly esim: Updateable<EsimsTable>;
}

/** The delivery is kept already. */
export const KEPT_BEFORE: DeliveredItem = { purchase: {}, esim: {} };

/** A new eSIM; its owner sees it once the purchase is settled. */
export function profileItem(facts: EsimFacts, lookedAt: Date): DeliveredItem {
  return { purchase: {}, esim: { ...columnsOfFacts(facts), looked_at: lookedAt } };
}

/** A top-up's new totals. Without a new end of validity, the old one stays. */
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

/** Keeps the delivery of an open purchase that cannot be settled. Safe to repeat. */
export async function saveDeliveredItem(
  db: WorldDb,
  transactionId: string,
  item: DeliveredItem,
): Promise<void> {
  await sql`
    with kept as (
      update purchases set ${assigned(item.purchase)}
       where transaction_id = ${transactionId} and top_up_total_volume_bytes is null
         and status = 'PROCESSING' and withdrawing_since is null and ${item.supplierId === undefined ? sql`true` : hasOrder(item.supplierId)}
      returning esim_id, package_type
    )
    update esims set ${assigned(item.esim)} from kept
     where esims.id = kept.esim_id and (esims.status = 'PENDING' or kept.package_type = 'TOPUP')`.execute(db);
}

/** For a `set`: these columns, and that the row was changed now. */
export function assigned(columns: DeliveredItem['purchase'] | DeliveredItem['esim']): RawBuilder<unknown> {
  const each = Object.entries(columns).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  return sql.join([...each, sql`updated_at = now()`]);
}
