import type { Account } from '../domain/account.ts';
import { CONVERTED_CURRENCIES, type Money } from '../domain/money.ts';
import type { CataloguePackage } from './rules.ts';
import { DomainError } from '../domain/errors.ts';
import { convertUsdMinor, formatRateMicros, priceUsdMinor, type Rate } from './pricing.ts';
import type { Catalogue } from './memory.ts';
import type { CatalogueDeps } from './deps.ts';

export interface PricedPackage<Item = CataloguePackage> {
  readonly item: Item;
  /** In the currency asked for. */
  readonly price: Money;
  /** US cents, with markup. */
  readonly priceUsdMinor: bigint;
}

/** What costs nothing, or whose price rounds to zero for this caller, is not sold to them. */
export function isOnSale({ price }: Pick<PricedPackage, 'price'>): boolean {
  return price.amountMinor > 0n;
}

type PriceDeps = Pick<CatalogueDeps, 'clock' | 'settings'>;

/** Prices packages for one caller in one currency. Throws like sellingRate. */
export function createPricer(
  deps: PriceDeps,
  catalogue: Catalogue,
  account: Account | undefined,
  currency: string,
) {
  const accountType = account?.type ?? 'USER';
  const rate = currency === 'USD' ? undefined : sellingRate(deps, catalogue, currency);
  return {
    rate,
    price: <Item extends Pick<CataloguePackage, 'cost'>>(item: Item): PricedPackage<Item> => {
      const usdMinor = priceUsdMinor(item.cost, accountType, catalogue.settings);
      const price = rate
        ? convertUsdMinor(usdMinor, rate, catalogue.settings)
        : { amountMinor: usdMinor, currency: 'USD' };
      return { item, price, priceUsdMinor: usdMinor };
    },
  };
}

/**
 * Throws VALIDATION_ERROR if the currency has no rate, EXCHANGE_RATE_UNAVAILABLE where its last good rate is
 * too old to sell at.
 */
export function sellingRate(deps: PriceDeps, catalogue: Catalogue, currency: string): Rate {
  const rate = catalogue.rates.get(currency);
  if (!rate) {
    if (CONVERTED_CURRENCIES.some((one) => one === currency))
      throw rateUnavailable(currency, 'there is none yet');
    throw new DomainError('VALIDATION_ERROR', 'Invalid parameters', {
      details: `currency: no rate is held for ${currency}`,
    });
  }
  if (isTooOld(deps, rate)) throw rateUnavailable(currency, 'the last good one is older than 24 hours');
  return rate;
}

const isTooOld = (deps: PriceDeps, rate: Rate): boolean =>
  deps.clock.now().getTime() > usableUntilMs(deps, rate);

const usableUntilMs = ({ settings }: PriceDeps, { observedAtMs }: Rate): number =>
  observedAtMs + settings.rateMaxAgeMs;

/**
 * Changes with the catalogue's revision, and when a rate grows too old to sell at, which changes no row.
 * Every read of the catalogue calls this, and there may be a hundred currencies. So it keeps its result until
 * the next rate grows too old, the catalogue changes, or the clock is set back.
 */
export function createPriceRevision(deps: PriceDeps): (catalogue: Catalogue) => string {
  /** Valid while afterMs < now ≤ untilMs. */
  let last: { catalogue: Catalogue; revision: string; afterMs: number; untilMs: number } | undefined;
  return (catalogue) => {
    const nowMs = deps.clock.now().getTime();
    if (last?.catalogue === catalogue && nowMs > last.afterMs && nowMs <= last.untilMs) return last.revision;
    last = { catalogue, revision: catalogue.revision, afterMs: -Infinity, untilMs: Infinity };
    for (const rate of catalogue.rates.values()) {
      const endsMs = usableUntilMs(deps, rate);
      if (nowMs <= endsMs) last.untilMs = Math.min(last.untilMs, endsMs);
      else {
        last.afterMs = Math.max(last.afterMs, endsMs);
        last.revision += `:${rate.currency}`;
      }
    }
    return last.revision;
  };
}

function rateUnavailable(currency: string, why: string): DomainError {
  return new DomainError('EXCHANGE_RATE_UNAVAILABLE', `No current exchange rate from USD to ${currency}`, {
    details: `USD to ${currency}: ${why}`,
    retryAfterSeconds: 60,
  });
}

/** Decimal text: how many NGN one USD is. Throws like sellingRate. */
export function getExchangeRate(deps: PriceDeps & Pick<CatalogueDeps, 'catalogue'>): string {
  return formatRateMicros(sellingRate(deps, deps.catalogue.current(), 'NGN').micros);
}
