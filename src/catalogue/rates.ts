import { DAY_MS } from '../domain/clock.ts';
import { inTransaction } from '../platform/database/transactions.ts';
import { judgePrices } from './price-effect.ts';
import { effectOnAgreed, findAnchors, MAX_AGE_MS, type RateDeps } from './agreed-prices.ts';
import { isRateJump } from './pricing.ts';
import {
  confirmQuarantined,
  findGoodRates,
  findQuarantined,
  insertProposedRate,
  insertSetRate,
  lockPricing,
  sampleRates,
  summariseQuarantined,
  type SetRate,
} from './store/rates.ts';

/** One of every currency that a provider gets wrong, with room. */
const MAX_QUARANTINED = 200;
/** As many as a chart can show. */
const MAX_POINTS = 200;

/** Rates in use, and rates awaiting review (`waiting`). */
export async function listRates({ db, clock }: Pick<RateDeps, 'db' | 'clock'>) {
  const nowMs = clock.now().getTime();
  const [good, waiting] = await Promise.all([
    findGoodRates(db),
    findQuarantined(db, { since: new Date(nowMs - MAX_AGE_MS), limit: MAX_QUARANTINED }),
  ]);
  const withAge = good.map((rate) => {
    const ageMs = nowMs - rate.observedAtMs;
    return { ...rate, ageSeconds: Math.max(0, Math.trunc(ageMs / 1_000)), isSold: ageMs <= MAX_AGE_MS };
  });
  return { good: withAge, waiting };
}

/** How many rates await review, and since when the first does. */
export const summariseWaitingRates = ({ db, clock }: Pick<RateDeps, 'db' | 'clock'>) =>
  summariseQuarantined(db, new Date(clock.now().getTime() - MAX_AGE_MS));

export interface RateProposal {
  /**
   * `waits`: it is the currency's first rate or too far off (`proposeRate`), so another person has to confirm
   * it.
   */
  readonly outcome: 'set' | 'waits';
  /** null: the configured rate applies again after the next refresh. */
  readonly rateId: string | null;
  readonly beforeMicros: bigint | undefined;
}

/**
 * Sets a rate, within a second and in place of the configured one until changed; null restores the configured
 * one. A rate that is more than 10 % off the current one waits in quarantine, as a slip of the hand may be.
 * So does one that is more than 10 % off every rate that is not the work of one person: otherwise small steps
 * could add up to any rate. And one that, with the markups, moves a price too far or below cost: a second
 * person knows whether the world changed.
 */
export async function proposeRate(deps: RateDeps, rate: SetRate): Promise<RateProposal> {
  const { currency, micros } = rate;
  return inTransaction(deps.db, async (db) => {
    await lockPricing(db);
    const now = deps.clock.now();
    const beforeMicros = (await findGoodRates(db, currency))[0]?.micros;
    const isNear = (from: bigint): boolean => micros !== null && !isRateJump(from, micros);
    const isTrusted =
      micros === null ||
      (beforeMicros !== undefined &&
        isNear(beforeMicros) &&
        (await findAnchors({ ...deps, db }, currency, now)).some(isNear) &&
        judgePrices(
          await effectOnAgreed({ ...deps, db }, { rate: { currency, micros } }),
          deps.priceLimits,
        ) === 'set');
    if (isTrusted) return { outcome: 'set', rateId: await insertSetRate(db, rate, now), beforeMicros };
    const rateId = await insertProposedRate(db, { ...rate, micros }, now);
    return { outcome: 'waits', rateId, beforeMicros };
  });
}

/**
 * Good rates of a currency in the last days, oldest first: at most 200, the first one and the last one of
 * each equal span of time.
 */
export function readRateHistory(
  { db, clock }: Pick<RateDeps, 'db' | 'clock'>,
  currency: string,
  days: number,
) {
  const until = clock.now();
  const since = new Date(until.getTime() - days * DAY_MS);
  const spanSeconds = (days * DAY_MS) / 1_000 / (MAX_POINTS - 2);
  return sampleRates(db, currency, { since, until, spanSeconds });
}

/**
 * Accepts a quarantined rate. undefined: none with this id that is recent enough to use. `not-independent`:
 * another person has to.
 */
export function confirmRate(
  { db, clock }: Pick<RateDeps, 'db' | 'clock'>,
  confirm: { readonly id: bigint; readonly by: string; readonly reason: string },
): ReturnType<typeof confirmQuarantined> {
  const now = clock.now();
  return confirmQuarantined(db, { ...confirm, now, since: new Date(now.getTime() - MAX_AGE_MS) });
}
