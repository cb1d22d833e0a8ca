import { sql } from 'kysely';
import type { AuditFacts } from '../../accounts/audit-facts.ts';
import { writeWorldAudit } from '../../accounts/store/audit.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { PricingSettings } from '../pricing.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import { lockPricing } from './rates.ts';
import { bumpRevision } from './revisions.ts';

/** Settings with who set them and why. The newest row applies; rows are never changed. */
export interface PricingChange extends PricingSettings {
  readonly by: string;
  readonly reason: string;
  /** The second person; null: none was needed. */
  readonly confirmedBy: string | null;
  readonly validFrom: Date;
}

export function findPricingSettings(db: WorldDb): Promise<PricingSettings> {
  return newestFirst(db).limit(1).executeTakeFirstOrThrow();
}

/** The last ones of two people, or those of the migration. */
export function findAgreedSettings(db: WorldDb): Promise<PricingSettings> {
  return newestFirst(db)
    .where((eb) => eb.or([eb('confirmed_by', 'is not', null), eb('id', '=', 'initial')]))
    .limit(1)
    .executeTakeFirstOrThrow();
}

/** Those that applied at a moment; undefined before the first ones. */
export function findPricingSettingsAt(db: WorldDb, at: Date): Promise<PricingSettings | undefined> {
  return newestFirst(db).where('valid_from', '<=', at).limit(1).executeTakeFirst();
}

/** Newest first. */
export function listPricingSettings(db: WorldDb, limit: number, offset = 0): Promise<PricingChange[]> {
  return newestFirst(db)
    .select(['set_by as by', 'reason', 'confirmed_by as confirmedBy', 'valid_from as validFrom'])
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

/** Takes effect in every process within a second. Call it under the lock of pricing. */
export async function insertPricingSettings(
  trx: WorldDb,
  change: Omit<PricingChange, 'validFrom'>,
  before: PricingSettings,
  confirmReason?: string,
): Promise<void> {
  const { id, by, reason, confirmedBy, ...after } = change;
  await trx
    .insertInto('pricing_settings')
    .values({
      id,
      ...columnsOf(after),
      set_by: by,
      reason,
      confirmed_by: confirmedBy,
      // now() is the transaction's start, and a transaction that started later may have committed first.
      valid_from: sql`clock_timestamp()`,
    })
    .execute();
  const second: AuditFacts =
    confirmedBy === null ? {} : { reason: confirmReason, proposedBy: by, proposedReason: reason };
  const detail = { before, after, reason, ...second };
  await writeWorldAudit(trx, { actor: confirmedBy ?? by, action: 'prices.set', subject: id, detail });
  await bumpRevision(trx, 'pricing');
}

/** Settings of one person that wait for another. */
export interface PriceProposal extends Omit<PricingSettings, 'id'> {
  readonly proposalId: bigint;
  /** The settings that they would replace. */
  readonly beforeId: string;
  readonly by: string;
  readonly reason: string;
  readonly at: Date;
}

/** Returns its id. */
export async function insertProposedPrices(
  trx: WorldDb,
  { beforeId, by, reason, at, ...terms }: Omit<PriceProposal, 'proposalId'>,
): Promise<bigint> {
  const { id } = await trx
    .insertInto('proposed_prices')
    .values({
      before_id: beforeId,
      ...columnsOf(terms),
      ...{ proposed_by: by, proposed_reason: reason, proposed_at: at },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const detail = { after: terms, reason };
  await writeWorldAudit(trx, { actor: by, action: 'prices.propose', subject: String(id), detail });
  return id;
}

/** Of the settings in force, since a time, newest first: others can no longer be confirmed. */
export function findProposedPrices(db: WorldDb, since: Date): Promise<PriceProposal[]> {
  return proposals(db)
    .where('proposed_at', '>=', since)
    .where('before_id', '=', newestFirst(db).clearSelect().select('id').limit(1))
    .orderBy('id', 'desc')
    .execute();
}

export const findProposal = (db: WorldDb, id: bigint, since: Date) =>
  proposals(db).where('id', '=', id).where('proposed_at', '>=', since).executeTakeFirst();

export const markProposalConfirmed = (trx: WorldDb, id: bigint, settingsId: string) =>
  trx.updateTable('proposed_prices').set({ settings_id: settingsId }).where('id', '=', id).execute();

/** By another person, or by the one who proposed them. `false`: none with this id awaits a person. */
export function declineProposal(
  db: WorldDb,
  decline: { readonly id: bigint; readonly by: string; readonly reason: string; readonly since: Date },
): Promise<boolean> {
  const { id, by, reason, since } = decline;
  return inTransaction(db, async (trx) => {
    await lockPricing(trx);
    const proposal = await findProposal(trx, id, since);
    if (!proposal) return false;
    await trx
      .updateTable('proposed_prices')
      .set({ declined_at: sql`clock_timestamp()` })
      .where('id', '=', id)
      .execute();
    const { userMarkupBps, merchantMarkupBps, ngnIncrementBps, by: proposedBy } = proposal;
    const after = { userMarkupBps, merchantMarkupBps, ngnIncrementBps };
    const detail = { after, proposedBy, proposedReason: proposal.reason, reason };
    await writeWorldAudit(trx, { actor: by, action: 'prices.decline', subject: String(id), detail });
    return true;
  });
}

const proposals = (db: WorldDb) =>
  db
    .selectFrom('proposed_prices')
    .select(['id as proposalId', 'before_id as beforeId', 'proposed_by as by', 'proposed_reason as reason'])
    .select(['proposed_at as at', 'user_markup_bps as userMarkupBps'])
    .select(['merchant_markup_bps as merchantMarkupBps', 'ngn_increment_bps as ngnIncrementBps'])
    .where('settings_id', 'is', null)
    .where('declined_at', 'is', null);

const columnsOf = (terms: Omit<PricingSettings, 'id'>) => ({
  user_markup_bps: terms.userMarkupBps,
  merchant_markup_bps: terms.merchantMarkupBps,
  ngn_increment_bps: terms.ngnIncrementBps,
});
