import type { RateObservation, RateSource } from '../../src/catalogue/port.ts';
import { formatRateMicros, isRateJump, parseRateMicros, type Rate } from '../../src/catalogue/pricing.ts';
import {
  findGoodRates,
  findQuarantined,
  findSetRates,
  insertRates,
  OPERATOR_SOURCE,
  type NewRate,
} from '../../src/catalogue/store/rates.ts';
import { DAY_MS } from '../../src/domain/clock.ts';
import type { ActivityDeps } from '../deps.ts';

/** How long a second source may confirm a quarantined rate. */
const CONFIRM_WITHIN_MS = DAY_MS;

/**
 * Stores every observation of every source. One that is more than 10 % off the last good rate is quarantined
 * until a second source reports nearly the same, so that one broken provider changes no price.
 */
export async function refreshRates(deps: ActivityDeps): Promise<string> {
  const stored: NewRate[] = [];
  for (const source of deps.rateSources) {
    try {
      for (const observation of await observe(deps, source)) {
        const rates = await judge(deps, observation);
        await insertRates(deps.db, rates);
        stored.push(...rates);
      }
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      deps.events.rateSourceFailed({ source: source.name, detail });
    }
  }
  const quarantined = stored.filter((rate) => rate.status === 'QUARANTINED').length;
  return `${stored.length} rates from ${deps.rateSources.length} sources, ${quarantined} quarantined`;
}

/** Rates that an operator set replace the configured ones. */
async function observe({ db }: ActivityDeps, source: RateSource): Promise<RateObservation[]> {
  const observation = await source.observe();
  const set = observation.setByOperator === true ? await findSetRates(db) : new Map<string, bigint>();
  if (set.size === 0) return [observation];
  const configured = Object.entries(observation.ratesPerUsd).filter(([currency]) => !set.has(currency));
  const setByOperator = [...set].map(([currency, micros]) => [currency, formatRateMicros(micros)] as const);
  return [
    { ...observation, ratesPerUsd: Object.fromEntries(configured) },
    { ...observation, source: OPERATOR_SOURCE, ratesPerUsd: Object.fromEntries(setByOperator) },
  ];
}

async function judge(deps: ActivityDeps, observation: RateObservation): Promise<NewRate[]> {
  const { source, observedAt, setByOperator } = observation;
  const good = new Map((await findGoodRates(deps.db)).map((rate) => [rate.currency, rate]));
  const rates = Object.entries(observation.ratesPerUsd).flatMap(([currency, text]) => {
    const micros = parseRateMicros(text);
    const isUsable = micros !== undefined && /^[A-Z]{3}$/.test(currency) && currency !== 'USD';
    return isUsable ? [{ currency, micros, source, observedAt }] : [];
  });
  return Promise.all(
    rates.map(async (rate) => {
      const isTrusted = setByOperator === true || (await isPlausible(deps, good.get(rate.currency), rate));
      if (!isTrusted) deps.events.rateQuarantined({ currency: rate.currency, source });
      return { ...rate, status: isTrusted ? ('GOOD' as const) : ('QUARANTINED' as const) };
    }),
  );
}

async function isPlausible(
  { db, clock }: ActivityDeps,
  lastGood: Rate | undefined,
  { currency, micros, source }: Omit<NewRate, 'status'>,
): Promise<boolean> {
  if (!lastGood || !isRateJump(lastGood.micros, micros)) return true;
  const since = new Date(clock.now().getTime() - CONFIRM_WITHIN_MS);
  const quarantined = await findQuarantined(db, { since, currency });
  return quarantined.some((other) => other.source !== source && !isRateJump(other.micros, micros));
}
