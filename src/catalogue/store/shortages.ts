/** Packages that cannot be delivered now, and balances at suppliers that are counted at each opening. */
import { sql } from 'kysely';
import { callFunction } from '../../platform/database/functions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { ShortageReason } from '../../domain/states.ts';
import type { Availability } from '../shortage-rules.ts';

/** Few rows: the memory of every process reads them when their revision changes. */
export async function readAvailability(db: WorldDb): Promise<Availability> {
  const [shortages, balances] = await Promise.all([
    db.selectFrom('package_shortages').select(['package_code', 'probe_at', 'paid_probe_at']).execute(),
    sql<{ supplier: string; left: bigint; is_tight: boolean }>`
      select distinct on (supplier) supplier, balance_usd_e4 - uncharged_usd_e4 as left, is_tight
        from supplier_balances order by supplier, check_number desc`.execute(db),
  ]);
  return {
    shortages: new Map(
      shortages.map((row) => [row.package_code, { probeAt: row.probe_at, paidProbeAt: row.paid_probe_at }]),
    ),
    tightBalances: new Map(
      balances.rows.filter((row) => row.is_tight).map((row) => [row.supplier, row.left]),
    ),
  };
}

/** The supplier has refused this order. The same order counts once. */
export async function keepShortage(db: WorldDb, orderId: string, reason: ShortageReason): Promise<void> {
  await callFunction(db, 'keep_shortage', { order_id: orderId, reason });
}

/** Ends shortages of packages that the supplier has delivered again. Returns how many. */
export async function endProbedShortages(db: WorldDb): Promise<number> {
  const { ended } = await db
    .selectNoFrom(sql<number>`end_probed_shortages()`.as('ended'))
    .executeTakeFirstOrThrow();
  return ended;
}
