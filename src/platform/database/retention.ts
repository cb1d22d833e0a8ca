/** Deletes old rows in batches, so that no statement holds its locks for long. What somebody may still need is never old. */
import { sql } from 'kysely';
import { UNMATCHED_EVENT } from '../../payments/store/gateway-events.ts';
import type { WorldDb } from './tables.ts';

/** A statement that deletes so many rows takes tens of milliseconds. */
const BATCH = 1_000;

/** Deletes batch after batch until one is not full, or `isOver`: the next run goes on. Answers how many rows. */
export async function inBatches(
  deleteAtMost: (limit: number) => Promise<number>,
  isOver: () => boolean = () => false,
): Promise<number> {
  let deleted = 0;
  for (;;) {
    const count = await deleteAtMost(BATCH);
    deleted += count;
    if (count < BATCH || isOver()) return deleted;
  }
}

/** Events that were applied before. One about money that belongs to no payment of ours is kept until a person has dismissed it. */
export function forgetGatewayEvents(
  db: WorldDb,
  appliedBefore: Date,
  isOver?: () => boolean,
): Promise<number> {
  return inBatches(async (limit) => {
    const { numAffectedRows } = await sql`
      delete from gateway_events where id in (
        select id from gateway_events
         where applied_at < ${appliedBefore}
           and (note is distinct from ${UNMATCHED_EVENT} or about not in ('charge', 'refund', 'dispute'))
         order by applied_at limit ${limit} for update skip locked)`.execute(db);
    return Number(numAffectedRows ?? 0n);
  }, isOver);
}

/**
 * Rates that were kept before. The last good one of a currency stays, and so does one that an order refers to or that a person confirmed. Orders are
 * looked for one rate at a time, by their index: as a join, Postgres would read all of them.
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
