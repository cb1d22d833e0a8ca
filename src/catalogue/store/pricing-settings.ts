import { sql } from 'kysely';
import { writeWorldAudit } from '../../accounts/store/audit.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { PricingSettings } from '../pricing.ts';
import { bumpRevision } from './revisions.ts';

/** Settings with who set them and why. The newest row applies; rows are never changed. */
export interface PricingChange extends PricingSettings {
  readonly by: string;
  readonly reason: string;
  readonly validFrom: Date;
}

export function findPricingSettings(db: WorldDb): Promise<PricingSettings> {
  return newestFirst(db).limit(1).executeTakeFirstOrThrow();
}

/** Those that applied at a moment; undefined before the first ones. */
export function findPricingSettingsAt(db: WorldDb, at: Date): Promise<PricingSettings | undefined> {
  return newestFirst(db).where('valid_from', '<=', at).limit(1).executeTakeFirst();
}

/** Newest first. */
export function listPricingSettings(db: WorldDb, limit: number, offset = 0): Promise<PricingChange[]> {
  return newestFirst(db)
    .select(['set_by as by', 'reason', 'valid_from as validFrom'])
    .limit(limit)
    .offset(offset)
    .execute();
}

export async function countPricingSettings(db: WorldDb): Promise<number> {
  const row = await db
    .selectFrom('pricing_settings')
    .select((eb) => eb.fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow();
  return Number(row.total);
}

const newestFirst = (db: WorldDb) =>
  db
    .selectFrom('pricing_settings')
    .select(['id', 'user_markup_bps as userMarkupBps', 'merchant_markup_bps as merchantMarkupBps'])
    .select('ngn_increment_bps as ngnIncrementBps')
    .orderBy('valid_from', 'desc');

/**
 * Takes effect in every process within a second. `changed-meanwhile`: the settings with the id `before`,
 * which the operator saw, no longer apply; nothing was written.
 */
export async function insertPricingSettings(
  db: WorldDb,
  change: Omit<PricingChange, 'validFrom'>,
  before: string,
): Promise<'set' | 'changed-meanwhile'> {
  return db.transaction().execute(async (trx) => {
    // First, since it locks out every other change of prices.
    await bumpRevision(trx, 'pricing');
    const present = await findPricingSettings(trx);
    if (present.id !== before) return 'changed-meanwhile';
    await trx
      .insertInto('pricing_settings')
      .values({
        id: change.id,
        user_markup_bps: change.userMarkupBps,
        merchant_markup_bps: change.merchantMarkupBps,
        ngn_increment_bps: change.ngnIncrementBps,
        set_by: change.by,
        reason: change.reason,
        // now() is the transaction's start, and a transaction that started later may have committed first.
        valid_from: sql`clock_timestamp()`,
      })
      .execute();
    const { id, by, reason, ...after } = change;
    const detail = { before: present, after, reason };
    await writeWorldAudit(trx, { actor: by, action: 'prices.set', subject: id, detail });
    return 'set';
  });
}
