import { sql } from 'kysely';
import { inTransaction, lockByName } from '../../platform/database/transactions.ts';
import { inBatches } from '../../platform/database/retention.ts';
import { areTwoPeople } from '../../accounts/store/access.ts';
import { writeWorldAudit } from '../../accounts/store/audit.ts';
import { countAndOldest } from '../../platform/database/summary.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { formatRateMicros, type Rate } from '../pricing.ts';
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

/** Who changed a rate, and why. */
interface RateAuthor {
  readonly by: string;
  readonly reason: string;
}

export interface SetRate extends RateAuthor {
  readonly currency: string;
  /** null: use the configured rate again. */
  readonly micros: bigint | null;
}

export type ProposedRate = SetRate & { readonly micros: bigint };

/**
 * The latest good rate of every currency, or of one. Goes from one currency to the next in the index, so what
 * is kept of earlier rates, two million rows in 90 days, is not read.
 */
export async function findGoodRates(db: WorldDb, currency?: string): Promise<Rate[]> {
  const known =
    currency === undefined
      ? sql`
        select min(currency) as currency from exchange_rates where status = 'GOOD'
        union all
        select (select min(rates.currency) from exchange_rates rates where rates.status = 'GOOD' and rates.currency > known.currency)
          from known where known.currency is not null`
      : sql`select ${currency}::text as currency`;
  const { rows } = await sql<Omit<Rate, 'id' | 'observedAtMs'> & { id: bigint; observedAt: Date }>`
    with recursive known as (${known})
    select latest.* from known cross join lateral (
      select id, currency, rate_micros as micros, source, observed_at as "observedAt" from exchange_rates
       where status = 'GOOD' and currency = known.currency
       order by observed_at desc, id desc limit 1) latest
     order by latest.currency`.execute(db);
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
export async function findQuarantined(
  db: WorldDb,
  { since, currency, limit }: { readonly since: Date; readonly currency?: string; readonly limit?: number },
) {
  const rows = await selectRates(db)
    .select(['proposed_by as proposedBy', 'proposed_reason as proposedReason'])
    .where('status', '=', 'QUARANTINED')
    .where('observed_at', '>=', since)
    .$if(currency !== undefined, (query) => query.where('currency', '=', currency ?? ''))
    .orderBy('id', 'desc')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
  return rows.map(({ id, ...rate }) => ({ id: String(id), ...rate }));
}

/** How many were quarantined since a time, and when the first of them was observed; null: none. */
export const summariseQuarantined = (db: WorldDb, since: Date) =>
  db
    .selectFrom('exchange_rates')
    .select(countAndOldest('observed_at'))
    .where('status', '=', 'QUARANTINED')
    .where('observed_at', '>=', since)
    .executeTakeFirstOrThrow();

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

/**
 * Records the operator's decision, and the rate as an observation of now, so that prices use it within a
 * second. Returns the observation's id; null where the configured rate applies again.
 */
export async function insertSetRate(db: WorldDb, rate: SetRate, now: Date): Promise<string | null> {
  const { currency, micros, by, reason } = rate;
  return inTransaction(db, async (trx) => {
    const detail = { ...(await rateChange(trx, currency, micros)), reason };
    await insertSetRateRow(trx, rate);
    await writeWorldAudit(trx, { actor: by, action: 'rate.set', subject: currency, detail });
    if (micros === null) return null;
    const { id } = await trx
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
      .returning('id')
      .executeTakeFirstOrThrow();
    await bumpRevision(trx, 'rates');
    return String(id);
  });
}

/**
 * One change of rates or markups by a person at a time: each is judged by what all of them together do to
 * prices.
 */
export const lockPricing = (trx: WorldDb): Promise<void> => lockByName(trx, 'rates and markups');

/**
 * Good rates of a currency that are not the work of one person: observed by a provider, or confirmed by a
 * second person. Those since that time, or the last one before. In micros, newest first.
 */
export async function findAnchorRates(db: WorldDb, currency: string, since: Date): Promise<bigint[]> {
  const anchors = sql`
    exchange_rates where currency = ${currency} and status = 'GOOD'
      and (source <> ${OPERATOR_SOURCE} or (proposed_by is not null and confirmed_by is not null))`;
  const { rows } = await sql<{ micros: bigint }>`
    select rate_micros as micros from ${anchors}
       and observed_at >= least(${since}::timestamptz, (select max(observed_at) from ${anchors}))
     order by observed_at desc, id desc`.execute(db);
  return rows.map(({ micros }) => micros);
}

/** Keeps a rate in quarantine until another person confirms it. Returns its id. */
export async function insertProposedRate(db: WorldDb, rate: ProposedRate, now: Date): Promise<string> {
  const { currency, micros, by, reason } = rate;
  return inTransaction(db, async (trx) => {
    const { id } = await trx
      .insertInto('exchange_rates')
      .values({
        currency,
        rate_micros: micros,
        source: OPERATOR_SOURCE,
        observed_at: now,
        status: 'QUARANTINED',
        proposed_by: by,
        proposed_reason: reason,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const detail = { rateId: String(id), ...(await rateChange(trx, currency, micros)), reason };
    await writeWorldAudit(trx, { actor: by, action: 'rate.propose', subject: currency, detail });
    return String(id);
  });
}

async function insertSetRateRow(trx: WorldDb, { currency, micros, by, reason }: SetRate): Promise<void> {
  await trx.insertInto('set_rates').values({ currency, rate_micros: micros, set_by: by, reason }).execute();
}

/** The current rate and the one that replaces it, for the audit log. */
async function rateChange(trx: WorldDb, currency: string, micros: bigint | null) {
  const before = (await findGoodRates(trx, currency))[0];
  return {
    before: before === undefined ? null : formatRateMicros(before.micros),
    after: micros === null ? 'as configured' : formatRateMicros(micros),
  };
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

/**
 * Good rates of a currency from `since` to `until`, oldest first: the earliest, and the last one of each span
 * of `spanSeconds`.
 */
export async function sampleRates(
  db: WorldDb,
  currency: string,
  { since, until, spanSeconds }: { readonly since: Date; readonly until: Date; readonly spanSeconds: number },
): Promise<{ readonly at: Date; readonly micros: bigint; readonly source: string }[]> {
  const { rows } = await sql<{ at: Date; micros: bigint; source: string }>`
    with rates as (
      select observed_at as at, rate_micros as micros, source, id,
                   floor(extract(epoch from observed_at - ${since}::timestamptz) / ${spanSeconds}) as span
              from exchange_rates
             where currency = ${currency} and status = 'GOOD'
               and observed_at >= ${since} and observed_at <= ${until}),
    sampled as (select distinct on (span) at, micros, source, id from rates order by span, at desc, id desc),
    earliest as (select at, micros, source, id from rates order by at, id limit 1)
    select at, micros, source from (select * from earliest union select * from sampled) points order by at, id`.execute(
    db,
  );
  return rows;
}

/**
 * Marks a quarantined observation as good. One that a person proposed counts from now on, until changed.
 * undefined: no observation with this id since that time; `not-independent`: the person who proposed it is
 * not another person, independent of this one.
 */
export async function confirmQuarantined(
  db: WorldDb,
  confirm: RateAuthor & { readonly id: bigint; readonly since: Date; readonly now: Date },
): Promise<'confirmed' | 'already' | 'not-independent' | undefined> {
  const { id, by, reason, since, now } = confirm;
  return inTransaction(db, async (trx) => {
    await lockPricing(trx);
    const row = await trx
      .selectFrom('exchange_rates')
      .selectAll()
      .where('id', '=', id)
      .where('observed_at', '>=', since)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return undefined;
    if (row.status === 'GOOD') return 'already';
    if (row.status === 'DECLINED') return undefined;
    const { currency, rate_micros: micros, proposed_by: proposer } = row;
    if (proposer !== null && !(await areTwoPeople(trx, proposer, by, now))) return 'not-independent';
    if (proposer !== null) {
      const proposed = { currency, micros, by: proposer, reason: row.proposed_reason ?? reason };
      await insertSetRateRow(trx, proposed);
    }
    const detail = {
      rateId: String(id),
      ...(await rateChange(trx, currency, micros)),
      reason,
      ...{ proposedBy: proposer, proposedReason: row.proposed_reason, source: row.source },
    };
    await writeWorldAudit(trx, { actor: by, action: 'rate.confirm', subject: currency, detail });
    await trx
      .updateTable('exchange_rates')
      .set({ status: 'GOOD', confirmed_by: by, confirmed_reason: reason })
      // A person's rate is not an observation of that time: what was observed since must not go before it.
      .$if(proposer !== null, (update) => update.set({ observed_at: now }))
      .where('id', '=', id)
      .execute();
    await bumpRevision(trx, 'rates');
    return 'confirmed';
  });
}

/** By another person, or by the one who proposed it. `false`: none with this id awaits a person. */
export async function declineQuarantined(
  db: WorldDb,
  { id, by, reason, since }: RateAuthor & { readonly id: bigint; readonly since: Date },
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await lockPricing(trx);
    const row = await trx
      .updateTable('exchange_rates')
      .set({ status: 'DECLINED' })
      .where('id', '=', id)
      .where('status', '=', 'QUARANTINED')
      .where('observed_at', '>=', since)
      .returningAll()
      .executeTakeFirst();
    if (!row) return false;
    const { currency, rate_micros: micros, proposed_by: proposedBy, proposed_reason: proposedReason } = row;
    const proposal = { after: formatRateMicros(micros), proposedBy, proposedReason, source: row.source };
    const detail = { rateId: String(id), ...proposal, reason };
    await writeWorldAudit(trx, { actor: by, action: 'rate.decline', subject: currency, detail });
    return true;
  });
}

/**
 * Deletes older rates. Kept: the last good one of a currency, and those that an order refers to or a person
 * confirmed. Orders are searched one rate at a time, by their index: for a join, Postgres would read all of
 * them.
 */
export function forgetRates(db: WorldDb, createdBefore: Date, isOver?: () => boolean): Promise<number> {
  return inBatches(async (limit) => {
    const { numAffectedRows } = await sql`
      delete from exchange_rates where id = any(array(
        select id from exchange_rates rate
         where created_at < ${createdBefore} and confirmed_by is null
           and (select rate_id from purchases where rate_id = rate.id::text limit 1) is null
           and (status <> 'GOOD' or exists (
             select from exchange_rates newer
              where newer.currency = rate.currency and newer.status = 'GOOD'
                and (newer.observed_at, newer.id) > (rate.observed_at, rate.id)))
         order by created_at limit ${limit} for update skip locked))`.execute(db);
    return Number(numAffectedRows ?? 0n);
  }, isOver);
}
