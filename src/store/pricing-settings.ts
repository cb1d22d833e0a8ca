/** Markups and the NGN increment, with their history: the newest row rules, and none is ever changed. */
import type { PricingSettings } from '../domain/pricing.ts';
import type { WorldDb } from './tables.ts';

export async function findPricingSettings(db: WorldDb): Promise<PricingSettings> {
  const row = await db
    .selectFrom('pricing_settings')
    .selectAll()
    .orderBy('valid_from', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  return {
    id: row.id,
    userMarkupBps: row.user_markup_bps,
    merchantMarkupBps: row.merchant_markup_bps,
    ngnIncrementBps: row.ngn_increment_bps,
  };
}
