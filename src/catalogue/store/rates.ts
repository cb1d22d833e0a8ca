import { sql } from 'kysely';
import { inBatches } from '../../platform/database/retention.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { Rate } from '../pricing.ts';
import { bumpRevision } from './revisions.ts';

/** The `source` of rates that an operator set. */
export const OPERATOR_SOURCE = 'operator';

export interface NewRate {
  readonly currency: string;
  readonly micros: bigint;
  readonly source: string;
  readonly observedAt: Date;
  readonly status: 'GOOD' | 'QUARANTINED';
}

export interface SetRate {
  readonly currency: string;
  /** null: use the configured rate again. */
  readonly micros: bigint | null;
  readonly by: string;
  readonly reason: string;
}

/** The latest good rate of every currency. */
export async function findGoodRates(db: WorldDb): Promise<Rate[]> {
  const rows = await selectRates(db)
    .distinctOn('currency')
    .where('status', '=', 'GOOD')
    .orderBy('currency')
    .orderBy('observed_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(({ id, observedAt, ...rate }) => ({
    id: String(id),
    ...rate,
    observedAtMs: observedAt.getTime(),
  }));
}

const selectRates = (db: WorldDb) =>
  db
    .selectFrom('exchange_rates')
    .select(['id', 'currency', 'rate_micros as micros', 'source', 'observed_at as observedAt']);

/** Quarantined observations since a time, newest first; of one currency or of all. */
export async function findQuarantined(db: WorldDb, since: Date, currency?: string) {
  const rows = await selectRates(db)
    .where('status', '=', 'QUARANTINED')
    .where('observed_at', '>=', since)
    .$if(currency !== undefined, (query) => query.where('currency', '=', currency ?? ''))
    .orderBy('id', 'desc')
    .execute();
  return rows.map(({ id, ...rate }) => ({ id: String(id), ...rate }));
}

/** Stores observations. A good one makes every process reload its rates. */
export async function insertRates(db: WorldDb, rates: readonly NewRate[]): Promise<void> {
  if (rates.length === 0) return;
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('exchange_rates')
      .values(
        rates.map(({ micros, observedAt, ...rate }) => ({
          ...rate,
          rate_micros: micros,
          observed_at: observedAt,
        })),
      )
      .execute();
    if (rates.some((rate) => rate.status === 'GOOD')) await bumpRevision(trx, 'rates');
  });
}

/** Records the operator's decision, and the rate as an observation of now, so that prices use it within a second. */
export async function insertSetRate(
  db: WorldDb,
  { currency, micros, by, reason }: SetRate,
  now: Date,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('set_rates').values({ currency, rate_micros: micros, set_by: by, reason }).execute();
    if (micros === null) return;
    await trx
      .insertInto('exchange_rates')
      .values({
        currency,
        rate_micros: micros,
        source: OPERATOR_SOURCE,
        observed_at: now,
        status: 'GOOD',
        confirmed_by: by,
        confirmed_reason: reason,
      })
      .execute();
    await bumpRevision(trx, 'rates');
  });
}

/** The rates that operators set and that still apply, in micros by currency. */
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

/** Newest first. */
export function listSetRates(db: WorldDb, limit: number): Promise<(SetRate & { readonly at: Date })[]> {
  return db
    .selectFrom('set_rates')
    .select(['currency', 'rate_micros as micros', 'set_by as by', 'reason', 'set_at as at'])
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Marks a quarantined observation as good. undefined: no observation with this id since that time. */
export async function confirmQuarantined(
  db: WorldDb,
  confirm: { readonly id: bigint; readonly by: string; readonly reason: string; readonly since: Date },
): Promise<'confirmed' | 'already' | undefined> {
  const { id, by, reason, since } = confirm;
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('exchange_rates')
      .select('status')
      .where('id', '=', id)
      .where('observed_at', '>=', since)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return undefined;
    if (row.status === 'GOOD') return 'already';
    await trx
      .updateTable('exchange_rates')
      .set({ status: 'GOOD', confirmed_by: by, confirmed_reason: reason })
      .where('id', '=', id)
      .execute();
    await bumpRevision(trx, 'rates');
    return 'confirmed';
  });
}

/**
 * Deletes older rates. Kept: the last good one of a currency, and those that an order refers to or a person confirmed. Orders are searched one rate at a
 * time, by their index: for a join, Postgres would read all of them.
 */
export function forgetRates(db: WorldDb, createdBefore: Date, isOver?: () => boolean): Promise<number> {
  return inBatches(async (limit) => {
    const { numAffectedRows } = await sql`
      delete from exchange_rates where id in (
        select id from exchange_rates rate
         where created_at < ${createdBefore} and confirmed_by is null
           and (select rate_id from purchases where rate_id = rate.id::text limit 1) is null
           and (status <> 'GOOD' or exists (
             select from exchange_rates newer
              where newer.currency = rate.currency and newer.status = 'GOOD'
                and (newer.observed_at, newer.id) > (rate.observed_at, rate.id)))
         order by created_at limit ${limit} for update skip locked)`.execute(db);
    return Number(numAffectedRows ?? 0n);
  }, isOver);
}
