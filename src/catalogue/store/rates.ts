/** Exchange rates: every observation is kept with its source and time; only GOOD ones are sold at. */
import type { Rate } from '../pricing.ts';
import { bumpRevision } from './revisions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

export interface NewRate {
  readonly currency: string;
  readonly micros: bigint;
  readonly source: string;
  readonly observedAt: Date;
  readonly status: 'GOOD' | 'QUARANTINED';
}

/** The latest good rate of every currency. */
export async function findGoodRates(db: WorldDb): Promise<Rate[]> {
  const rows = await db
    .selectFrom('exchange_rates')
    .distinctOn('currency')
    .select(['id', 'currency', 'rate_micros', 'source', 'observed_at'])
    .where('status', '=', 'GOOD')
    .orderBy('currency')
    .orderBy('observed_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => ({
    id: String(row.id),
    currency: row.currency,
    micros: row.rate_micros,
    source: row.source,
    observedAtMs: row.observed_at.getTime(),
  }));
}

/** Quarantined observations of a currency newer than `since`, for a second source to agree with. */
export async function findQuarantined(
  db: WorldDb,
  currency: string,
  since: Date,
): Promise<{ micros: bigint; source: string }[]> {
  const rows = await db
    .selectFrom('exchange_rates')
    .select(['rate_micros', 'source'])
    .where('currency', '=', currency)
    .where('status', '=', 'QUARANTINED')
    .where('observed_at', '>=', since)
    .execute();
  return rows.map((row) => ({ micros: row.rate_micros, source: row.source }));
}

/** Keeps observations; a good one makes every process look again. */
export async function insertRates(db: WorldDb, rates: readonly NewRate[]): Promise<void> {
  if (rates.length === 0) return;
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('exchange_rates')
      .values(
        rates.map((rate) => ({
          currency: rate.currency,
          rate_micros: rate.micros,
          source: rate.source,
          observed_at: rate.observedAt,
          status: rate.status,
          confirmed_by: null,
        })),
      )
      .execute();
    if (rates.some((rate) => rate.status === 'GOOD')) await bumpRevision(trx, 'rates');
  });
}
