import type { Account } from '../domain/account.ts';
import { ACCOUNT_CURRENCIES, CONVERTED_CURRENCIES, type Money } from '../domain/money.ts';
import type { CataloguePackage } from './rules.ts';
import { DomainError } from '../domain/errors.ts';
import { convertUsdMinor, formatRateMicros, priceOf, type Rate } from './pricing.ts';
import { buyerOf, type Buyer, type Targeted } from './price-rules.ts';
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

/** Without an account, one who pays in the currency asked for, if there are accounts in it. */
const buyerIn = (account: Account | undefined, currency: string): Buyer =>
  account
    ? buyerOf(account)
    : { type: 'USER', currency: ACCOUNT_CURRENCIES.find((one) => one === currency) ?? 'USD' };

/**
 * Prices packages for one caller in one currency, all at one moment. A rule makes a price in the currency
 * that the caller pays in; in another currency it is what that is in US dollars, converted. Throws like
 * sellingRate.
 */
export function createPricer(
  deps: PriceDeps,
  catalogue: Catalogue,
  account: Account | undefined,
  currency: string,
) {
  const rateOf = (code: string) => (code === 'USD' ? undefined : sellingRate(deps, catalogue, code));
  const { settings, rules } = catalogue;
  const buyer = buyerIn(account, currency);
  const rate = rateOf(currency);
  const nowMs = catalogue.nowMs();
  return {
    rate,
    price: <Item extends Targeted & Pick<CataloguePackage, 'cost'>>(item: Item): PricedPackage<Item> => {
      const rule = rules.find(buyer, item, nowMs);
      const isOwn = rule === undefined || currency === buyer.currency;
      const terms = { settings, rate: isOwn ? rate : rateOf(buyer.currency), rule };
      const { amountMinor, usdMinor } = priceOf(item.cost, buyer.type, terms);
      const price = isOwn
        ? { amountMinor, currency }
        : rate
          ? convertUsdMinor(usdMinor, rate, settings)
          : { amountMinor: usdMinor, currency };
      return { item, price, priceUsdMinor: usdMinor };
    },
    /** When the price of this package may change by a rule; null: by none. */
    changesAt: (item: Targeted): Date | null => {
      const ms = rules.changesAtMs(buyer, item, nowMs);
      return ms === null ? null : new Date(ms);
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

/** Names everything that prices of this caller depend on but the currency asked for. No I/O. */
export const priceGroup = ({ rules, nowMs }: Catalogue, account: Account | undefined): string =>
  rules.groupOf(account && buyerOf(account), nowMs());

/** Decimal text: how many NGN one USD is. Throws like sellingRate. */
export function getExchangeRate(deps: PriceDeps & Pick<CatalogueDeps, 'catalogue'>): string {
  return formatRateMicros(sellingRate(deps, deps.catalogue.current(), 'NGN').micros);
}
