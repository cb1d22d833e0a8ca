/**
 * Observing exchange rates. Every observation is kept; one more than 10 % off the last good rate is quarantined until a second source
 * says much the same (decisions.md), so that one broken provider moves no price.
 */
import { formatRateMicros, isRateJump, parseRateMicros, type Rate } from '../../src/catalogue/pricing.ts';
import type { RateObservation, RateSource } from '../../src/catalogue/port.ts';
import {
  findGoodRates,
  findQuarantined,
  insertRates,
  findSetRates,
  OPERATOR_SOURCE,
  type NewRate,
} from '../../src/catalogue/store/rates.ts';
import type { ActivityDeps } from '../deps.ts';

/** How long a quarantined observation waits to be confirmed by another source. */
const CONFIRM_WITHIN_MS = 24 * 3_600_000;

export async function refreshRates(deps: ActivityDeps): Promise<string> {
  const kept: NewRate[] = [];
  for (const source of deps.rateSources) {
    try {
      for (const observation of await observe(deps, source)) {
        const rates = await judge(deps, observation);
        await insertRates(deps.db, rates);
        kept.push(...rates);
      }
    } catch (error) {
      deps.events.rateSourceFailed({
        source: source.name,
        detail: error instanceof Error ? error.message : String(error),
      });
    }
  }
  const quarantined = kept.filter((rate) => rate.status === 'QUARANTINED').length;
  return `${kept.length} rates from ${deps.rateSources.length} sources, ${quarantined} quarantined`;
}

/** What a person set since stands in place of the configuration's, and is observed anew as it would be. */
async function observe({ db }: ActivityDeps, source: RateSource): Promise<RateObservation[]> {
  const observation = await source.observe();
  const set = observation.setByOperator === true ? await findSetRates(db) : new Map<string, bigint>();
  if (set.size === 0) return [observation];
  const left = Object.entries(observation.ratesPerUsd).filter(([currency]) => !set.has(currency));
  const words = [...set].map(([currency, micros]) => [currency, formatRateMicros(micros)] as const);
  return [
    { ...observation, ratesPerUsd: Object.fromEntries(left) },
    { ...observation, source: OPERATOR_SOURCE, ratesPerUsd: Object.fromEntries(words) },
  ];
}

async function judge(deps: ActivityDeps, observation: RateObservation): Promise<NewRate[]> {
  const good = new Map((await findGoodRates(deps.db)).map((rate) => [rate.currency, rate]));
  const rates = Object.entries(observation.ratesPerUsd).flatMap(([currency, text]) => {
    const micros = parseRateMicros(text);
    return micros === undefined || !/^[A-Z]{3}$/.test(currency) || currency === 'USD'
      ? []
      : [{ currency, micros }];
  });
  return Promise.all(
    rates.map(async ({ currency, micros }) => {
      const trusted =
        observation.setByOperator === true ||
        (await isTrusted(deps, good.get(currency), currency, micros, observation.source));
      if (!trusted) deps.events.rateQuarantined({ currency, source: observation.source });
      return {
        currency,
        micros,
        source: observation.source,
        observedAt: observation.observedAt,
        status: trusted ? ('GOOD' as const) : ('QUARANTINED' as const),
      };
    }),
  );
}

async function isTrusted(
  { db, clock }: ActivityDeps,
  lastGood: Rate | undefined,
  currency: string,
  micros: bigint,
  source: string,
): Promise<boolean> {
  if (!lastGood || !isRateJump(lastGood.micros, micros)) return true;
  const since = new Date(clock.now().getTime() - CONFIRM_WITHIN_MS);
  const waiting = await findQuarantined(db, currency, since);
  return waiting.some((other) => other.source !== source && !isRateJump(other.micros, micros));
}
