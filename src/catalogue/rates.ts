import type { Clock } from '../domain/clock.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { isRateJump } from './pricing.ts';
import {
  confirmQuarantined,
  findGoodRates,
  findQuarantined,
  insertSetRate,
  listSetRates,
  type SetRate,
} from './store/rates.ts';

interface RateDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
}

/** No sale uses an older rate, so an older observation is not worth confirming. */
const MAX_AGE_MS = 24 * 3_600_000;
/** Fits on a screen. */
const MOST_SET_RATES = 20;

/** Rates in use, rates awaiting review (`waiting`), and what operators set (`words`). */
export async function listRates({ db, clock }: RateDeps) {
  const nowMs = clock.now().getTime();
  const [good, waiting, words] = await Promise.all([
    findGoodRates(db),
    findQuarantined(db, new Date(nowMs - MAX_AGE_MS)),
    listSetRates(db, MOST_SET_RATES),
  ]);
  const withAge = good.map((rate) => {
    const ageMs = nowMs - rate.observedAtMs;
    return { ...rate, ageSeconds: Math.max(0, Math.trunc(ageMs / 1_000)), isSold: ageMs <= MAX_AGE_MS };
  });
  return { good: withAge, waiting, words };
}

/** What setting a rate would change. `isJump`: from a rate source, this change would be quarantined. */
export async function previewRate(
  { db }: RateDeps,
  { currency, micros }: Pick<SetRate, 'currency' | 'micros'>,
) {
  const before = (await findGoodRates(db)).find((rate) => rate.currency === currency)?.micros;
  const isJump = before !== undefined && micros !== null && isRateJump(before, micros);
  return { currency, beforeMicros: before, afterMicros: micros, isJump };
}

/** Takes effect within a second and replaces the configured rate until changed; null restores the configured rate. */
export async function setRate({ db, clock }: RateDeps, rate: SetRate): Promise<void> {
  await insertSetRate(db, rate, clock.now());
}

/** Accepts a quarantined rate. undefined: none with this id that is recent enough to use. */
export function confirmRate(
  { db, clock }: RateDeps,
  confirm: { readonly id: bigint; readonly by: string; readonly reason: string },
): Promise<'confirmed' | 'already' | undefined> {
  return confirmQuarantined(db, { ...confirm, since: new Date(clock.now().getTime() - MAX_AGE_MS) });
}
