/** Exchange rates: every observation is kept with its source and time; only GOOD ones are sold at. */
import type { Rate } from '../pricing.ts';
import { bumpRevision } from './revisions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { sql } from 'kysely';

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

/** Where an observation comes from that a person set. */
export const OPERATOR_SOURCE = 'operator';

export interface SetRate {
  readonly currency: string;
  /** null: the configuration's counts again. */
  readonly micros: bigint | null;
  readonly by: string;
  readonly reason: string;
}

/** Keeps the word, and a rate as an observation of this moment, so that it is sold at within a second. */
export async function insertSetRate(db: WorldDb, rate: SetRate, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('set_rates')
      .values({ currency: rate.currency, rate_micros: rate.micros, set_by: rate.by, reason: rate.reason })
      .execute();
    if (rate.micros === null) return;
    await trx
      .insertInto('exchange_rates')
      .values({
        currency: rate.currency,
        rate_micros: rate.micros,
        source: OPERATOR_SOURCE,
        observed_at: now,
        status: 'GOOD',
        confirmed_by: rate.by,
        confirmed_reason: rate.reason,
      })
      .execute();
    await bumpRevision(trx, 'rates');
  });
}

/** The rates that people set and that stand now, by currency. */
export async function findSetRates(db: WorldDb): Promise<Map<string, bigint>> {
  const rows = await db
    .selectFrom('set_rates')
    .distinctOn('currency')
    .select(['currency', 'rate_micros'])
    .orderBy('currency')
    .orderBy('id', 'desc')
    .execute();
  return new Map(rows.flatMap((row) => (row.rate_micros === null ? [] : [[row.currency, row.rate_micros]])));
}

export interface WaitingRate {
  readonly id: string;
  readonly currency: string;
  readonly micros: bigint;
  readonly source: string;
  readonly observedAt: Date;
}

/** Observations in quarantine since a time, newest first. */
export async function findWaitingRates(db: WorldDb, since: Date): Promise<WaitingRate[]> {
  const rows = await db
    .selectFrom('exchange_rates')
    .select(['id', 'currency', 'rate_micros', 'source', 'observed_at'])
    .where('status', '=', 'QUARANTINED')
    .where('observed_at', '>=', since)
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => ({
    id: String(row.id),
    currency: row.currency,
    micros: row.rate_micros,
    source: row.source,
    observedAt: row.observed_at,
  }));
}

/**
 * Lets an observation count as good from now on. `already`: it is good, whoever said so. undefined: there is no such observation since that
 * time; an older rate would be sold at by nobody.
 */
export async function confirmWaitingRate(
  db: WorldDb,
  confirm: { readonly id: bigint; readonly by: string; readonly reason: string; readonly since: Date },
): Promise<'confirmed' | 'already' | undefined> {
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('exchange_rates')
      .select('status')
      .where('id', '=', confirm.id)
      .where('observed_at', '>=', confirm.since)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return undefined;
    if (row.status === 'GOOD') return 'already';
    await trx
      .updateTable('exchange_rates')
      .set({ status: 'GOOD', confirmed_by: confirm.by, confirmed_reason: confirm.reason })
      .where('id', '=', confirm.id)
      .execute();
    await bumpRevision(trx, 'rates');
    return 'confirmed';
  });
}

/** What people said of rates, newest first. */
export async function listSetRates(
  db: WorldDb,
  limit: number,
): Promise<{ currency: string; micros: bigint | null; by: string; reason: string; at: Date }[]> {
  const { rows } = await sql<{
    currency: string;
    micros: bigint | null;
    by: string;
    reason: string;
    at: Date;
  }>`select currency, rate_micros as micros, set_by as by, reason, set_at as at from set_rates order by id desc limit ${limit}`.execute(
    db,
  );
  return rows;
}
