/** Exchange rates by a person's word: what is sold at, what waits for a word, and the word itself. Each is kept with who and why. */
import { isRateJump, type Rate } from './pricing.ts';
import type { Clock } from '../domain/clock.ts';
import {
  findGoodRates,
  confirmWaitingRate,
  findWaitingRates,
  insertSetRate,
  listSetRates,
  type WaitingRate,
} from './store/rates.ts';
import type { WorldDb } from '../platform/database/tables.ts';

interface RateDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
}

/** Observations older than this are sold at by nobody (decisions.md), so there is nothing to confirm. */
const WORTH_MS = 24 * 3_600_000;
/** As many words as fit on a screen. */
const MOST_WORDS = 20;

export interface RatesView {
  readonly good: readonly (Rate & { readonly ageSeconds: number; readonly isSold: boolean })[];
  readonly waiting: readonly WaitingRate[];
  readonly words: Awaited<ReturnType<typeof listSetRates>>;
}

export async function listRates({ db, clock }: RateDeps): Promise<RatesView> {
  const nowMs = clock.now().getTime();
  const [good, waiting, words] = await Promise.all([
    findGoodRates(db),
    findWaitingRates(db, new Date(nowMs - WORTH_MS)),
    listSetRates(db, MOST_WORDS),
  ]);
  return {
    good: good.map((rate) => {
      const ageMs = nowMs - rate.observedAtMs;
      return { ...rate, ageSeconds: Math.max(0, Math.trunc(ageMs / 1_000)), isSold: ageMs <= WORTH_MS };
    }),
    waiting,
    words,
  };
}

export interface RateChange {
  readonly currency: string;
  readonly beforeMicros: bigint | undefined;
  readonly afterMicros: bigint | null;
  /** More than the tenth that would keep an observation in quarantine. */
  readonly isJump: boolean;
}

/** What setting a rate would change. */
export async function previewRate(
  { db }: RateDeps,
  { currency, micros }: { readonly currency: string; readonly micros: bigint | null },
): Promise<RateChange> {
  const before = (await findGoodRates(db)).find((rate) => rate.currency === currency)?.micros;
  const isJump = before !== undefined && micros !== null && isRateJump(before, micros);
  return { currency, beforeMicros: before, afterMicros: micros, isJump };
}

/** Sold at within a second, and observed anew in place of the configuration's until the next word; null gives it back to the configuration. */
export async function setRate(
  { db, clock }: RateDeps,
  rate: {
    readonly currency: string;
    readonly micros: bigint | null;
    readonly by: string;
    readonly reason: string;
  },
): Promise<void> {
  await insertSetRate(db, rate, clock.now());
}

/** Lets an observation out of quarantine. undefined: there is none that is worth confirming. */
export function confirmRate(
  { db, clock }: RateDeps,
  confirm: { readonly id: bigint; readonly by: string; readonly reason: string },
): Promise<'confirmed' | 'already' | undefined> {
  return confirmWaitingRate(db, { ...confirm, since: new Date(clock.now().getTime() - WORTH_MS) });
}
