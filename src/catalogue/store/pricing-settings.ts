/** Markups and the NGN increment, with their history: the newest row rules, and none is ever changed. */
import { sql } from 'kysely';
import type { PricingSettings } from '../pricing.ts';
import { bumpRevision } from './revisions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

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

/** Settings with who set them and why. */
export interface PricingChange extends PricingSettings {
  readonly by: string;
  readonly reason: string;
  readonly validFrom: Date;
}

/** The newest first. */
export async function listPricingSettings(db: WorldDb, limit: number): Promise<PricingChange[]> {
  const rows = await db
    .selectFrom('pricing_settings')
    .selectAll()
    .orderBy('valid_from', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    userMarkupBps: row.user_markup_bps,
    merchantMarkupBps: row.merchant_markup_bps,
    ngnIncrementBps: row.ngn_increment_bps,
    by: row.set_by,
    reason: row.reason,
    validFrom: row.valid_from,
  }));
}

/**
 * Makes these the settings, if `before` still are: a person saw what would change. `changed-meanwhile`: somebody was faster, nothing was
 * written. Every process sells at them within a second.
 */
export async function insertPricingSettings(
  db: WorldDb,
  change: Omit<PricingChange, 'validFrom'>,
  before: string,
): Promise<'set' | 'changed-meanwhile'> {
  return db.transaction().execute(async (trx) => {
    // Takes the lock that whoever else changes prices needs.
    await bumpRevision(trx, 'pricing');
    if ((await findPricingSettings(trx)).id !== before) return 'changed-meanwhile';
    await trx
      .insertInto('pricing_settings')
      .values({
        id: change.id,
        user_markup_bps: change.userMarkupBps,
        merchant_markup_bps: change.merchantMarkupBps,
        ngn_increment_bps: change.ngnIncrementBps,
        set_by: change.by,
        reason: change.reason,
        // Not when the transaction began: one that began later may have been faster.
        valid_from: sql`clock_timestamp()`,
      })
      .execute();
    return 'set';
  });
}
