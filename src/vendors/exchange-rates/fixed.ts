import type { Clock } from '../../domain/clock.ts';
import type { RateSource } from '../../catalogue/port.ts';
import { rateText } from './decimal.ts';

/**
 * Rates from the configuration, the default source. Every observation counts as new, so a fixed rate never
 * grows too old. Throws TypeError for an entry that is not a currency with a rate, so that a typing error
 * shows at start.
 */
export function createFixedRates({
  ratesPerUsd,
  clock,
}: {
  /** ISO 4217 → how much of it one US dollar is, such as `{ NGN: '1600.00' }`. */
  readonly ratesPerUsd: Readonly<Record<string, string>>;
  readonly clock: Clock;
}): RateSource {
  const rates: Record<string, string> = {};
  for (const [currency, written] of Object.entries(ratesPerUsd)) {
    const rate = rateText(written);
    if (!/^[A-Z]{3}$/.test(currency) || rate === null) {
      throw new TypeError(`fixed rate ${currency}=${written} is no currency with a positive decimal`);
    }
    rates[currency] = rate;
  }
  return {
    name: 'fixed',
    observe: () =>
      Promise.resolve({ source: 'fixed', ratesPerUsd: rates, observedAt: clock.now(), setByOperator: true }),
  };
}
