import { DAY_MS, type Clock } from '../domain/clock.ts';
import { inTransaction } from '../platform/database/transactions.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { isRateJump, parseRateMicros, type Rate } from './pricing.ts';
import {
  confirmQuarantined,
  findAnchorRates,
  findGoodRates,
  findQuarantined,
  insertProposedRate,
  insertSetRate,
  lockCurrency,
  sampleRates,
  summariseQuarantined,
  type SetRate,
} from './store/rates.ts';

export interface RateDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  /** By currency, as the setting says them: `{ NGN: '1600.00' }`. */
  readonly configuredRates?: Readonly<Record<string, string>> | undefined;
}

/** No sale uses an older rate, so an older observation is not worth confirming. */
const MAX_AGE_MS = DAY_MS;
/** One of every currency that a provider gets wrong, with room. */
const MAX_QUARANTINED = 200;
/** As many as a chart can show. */
const MAX_POINTS = 200;

/** Rates in use, and rates awaiting review (`waiting`). */
export async function listRates({ db, clock }: RateDeps) {
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
export const summariseWaitingRates = ({ db, clock }: RateDeps) =>
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

/** The rate that prices are made with now. undefined: there is none, or it is too old to sell at. */
export async function findSellingRate({ db, clock }: RateDeps, currency: string): Promise<Rate | undefined> {
  const rate = (await findGoodRates(db, currency))[0];
  return rate && clock.now().getTime() - rate.observedAtMs <= MAX_AGE_MS ? rate : undefined;
}

/**
 * Sets a rate, within a second and in place of the configured one until changed; null restores the configured
 * one. A rate that is more than 10 % off the current one waits in quarantine, as a slip of the hand may be.
 * So does one that is more than 10 % off every rate that is not the work of one person: otherwise small steps
 * could add up to any rate.
 */
export async function proposeRate(deps: RateDeps, rate: SetRate): Promise<RateProposal> {
  const { currency, micros } = rate;
  return inTransaction(deps.db, async (db) => {
    await lockCurrency(db, currency);
    const now = deps.clock.now();
    const beforeMicros = (await findGoodRates(db, currency))[0]?.micros;
    const isNear = (from: bigint): boolean => micros !== null && !isRateJump(from, micros);
    const isTrusted =
      micros === null ||
      (beforeMicros !== undefined &&
        isNear(beforeMicros) &&
        (await findAnchors({ ...deps, db }, currency, now)).some(isNear));
    if (isTrusted) return { outcome: 'set', rateId: await insertSetRate(db, rate, now), beforeMicros };
    const rateId = await insertProposedRate(db, { ...rate, micros }, now);
    return { outcome: 'waits', rateId, beforeMicros };
  });
}

/**
 * What a provider observed or a second person confirmed within 24 hours, or last; and the configured rate. In
 * micros.
 */
async function findAnchors(
  { db, configuredRates }: RateDeps,
  currency: string,
  now: Date,
): Promise<readonly bigint[]> {
  const found = await findAnchorRates(db, currency, new Date(now.getTime() - MAX_AGE_MS));
  const configured = parseRateMicros(configuredRates?.[currency] ?? '');
  return configured === undefined ? found : [...found, configured];
}

/**
 * Good rates of a currency in the last days, oldest first: at most 200, the first one and the last one of
 * each equal span of time.
 */
export function readRateHistory({ db, clock }: RateDeps, currency: string, days: number) {
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
  { db, clock }: RateDeps,
  confirm: { readonly id: bigint; readonly by: string; readonly reason: string },
): ReturnType<typeof confirmQuarantined> {
  const now = clock.now();
  return confirmQuarantined(db, { ...confirm, now, since: new Date(now.getTime() - MAX_AGE_MS) });
}
