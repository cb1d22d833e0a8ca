/**
 * USD price = cost × (1 + markup), rounded half up to the cent. Another currency = that rounded USD price ×
 * rate × (1 + increment), rounded half up to its minor unit. A rule replaces the markup, or the price, and
 * rounds up. Integers only.
 */
import {
  divideHalfUp,
  divideUp,
  larger,
  raiseTo,
  type AccountCurrency,
  type Currency,
  type Money,
} from '../domain/money.ts';
import type { AccountType } from '../domain/account.ts';
import type { RuleRounding } from '../domain/price-rules.ts';

/** US dollars × 10,000, the supplier's unit. */
export type CostUsdE4 = bigint;

const BPS = 10_000n;
/** A cent in `CostUsdE4`. */
export const COST_UNITS_PER_CENT = 100n;

/** Hundredths of a percent: 2500 = 25 %. */
export interface PricingSettings {
  readonly id: string;
  readonly userMarkupBps: number;
  readonly merchantMarkupBps: number;
  readonly ngnIncrementBps: number;
}

/** One US dollar is `micros` ÷ 1,000,000 of `currency`. */
export interface Rate {
  readonly id: string;
  readonly currency: Currency;
  readonly micros: bigint;
  readonly source: string;
  readonly observedAtMs: number;
}

const RATE = /^(\d{1,12})(?:\.(\d{1,6}))?$/;
const MICROS = 1_000_000n;

/** `"1534.25"` → `1534250000n`; undefined when not a positive decimal of at most six places. */
export function parseRateMicros(text: string): bigint | undefined {
  const match = RATE.exec(text);
  if (!match) return undefined;
  const millionths = (match[2] ?? '').padEnd(6, '0');
  // Stryker disable next-line StringLiteral: whatever matches has whole digits
  const micros = BigInt(match[1] ?? '0') * MICROS + BigInt(millionths);
  return micros > 0n ? micros : undefined;
}

/** `1534250000n` → `"1534.25"`, without trailing zeros. */
export function formatRateMicros(micros: bigint): string {
  const fraction = (micros % MICROS).toString().padStart(6, '0').replace(/0+$/, '');
  return `${micros / MICROS}${fraction === '' ? '' : `.${fraction}`}`;
}

/** In US cents. */
export function priceUsdMinor(cost: CostUsdE4, accountType: AccountType, settings: PricingSettings): bigint {
  const markupBps = BigInt(accountType === 'MERCHANT' ? settings.merchantMarkupBps : settings.userMarkupBps);
  return divideHalfUp(cost * (BPS + markupBps), COST_UNITS_PER_CENT * BPS);
}

/** Converts rounded US cents at a rate; the configured increment applies to NGN only. */
export function convertUsdMinor(
  usdMinor: bigint,
  rate: Pick<Rate, 'currency' | 'micros'>,
  settings: PricingSettings,
): Money {
  const incrementBps = rate.currency === 'NGN' ? BigInt(settings.ngnIncrementBps) : 0n;
  return {
    amountMinor: divideHalfUp(usdMinor * rate.micros * (BPS + incrementBps), MICROS * BPS),
    currency: rate.currency,
  };
}

/** `[step, remainder]` in minor units. A currency without them is not rounded so. */
export const ROUND_UP_TO: Record<
  RuleRounding,
  Partial<Record<AccountCurrency, readonly [step: bigint, remainder: bigint]>>
> = {
  NONE: {},
  TO_99: { USD: [100n, 99n], NGN: [100n, 99n] },
  TO_HUNDREDS: { NGN: [10_000n, 0n] },
};

/** On cost in hundredths of a percent, or a price in one currency, which other currencies do not have. */
export type RuleAmount =
  | { readonly kind: 'MARKUP'; readonly markupBps: number }
  | { readonly kind: 'PRICE'; readonly priceMinor: bigint; readonly currency: AccountCurrency };

/** What a seller's price is made of. The rate is that of the buyer's currency; undefined for US dollars. */
export interface PriceTerms {
  readonly settings: PricingSettings;
  readonly rate: Pick<Rate, 'currency' | 'micros'> | undefined;
  readonly rule: (RuleAmount & { readonly rounding: RuleRounding }) | undefined;
}

/**
 * In the buyer's currency, and as US cents. A rule never goes below our cost. `isFixed`: its price stays as
 * it was set, also below cost, to be judged before it is saved.
 */
export function priceOf(
  cost: CostUsdE4,
  accountType: AccountType,
  { settings, rate, rule }: PriceTerms,
  { isFixed = false } = {},
): { readonly amountMinor: bigint; readonly usdMinor: bigint } {
  const convert = (cents: bigint) => (rate ? convertUsdMinor(cents, rate, settings).amountMinor : cents);
  const markupUsd = priceUsdMinor(
    cost,
    accountType,
    rule?.kind === 'MARKUP' ? bothMarkups(settings, rule.markupBps) : settings,
  );
  const marked = convert(markupUsd);
  // What costs nothing is not sold, whatever a rule says.
  if (!rule || priceUsdMinor(cost, accountType, settings) === 0n)
    return { amountMinor: marked, usdMinor: markupUsd };
  const wanted = rule.kind === 'PRICE' ? rule.priceMinor : marked;
  const floored = rule.kind === 'PRICE' && isFixed ? wanted : larger(wanted, costMinor(cost, rate));
  const step = ROUND_UP_TO[rule.rounding][(rate?.currency ?? 'USD') as AccountCurrency];
  const amountMinor = step ? raiseTo(floored, ...step) : floored;
  return {
    amountMinor,
    usdMinor: amountMinor === marked ? markupUsd : inUsdMinor(amountMinor, rate, settings),
  };
}

const bothMarkups = (settings: PricingSettings, markupBps: number): PricingSettings => ({
  ...settings,
  userMarkupBps: markupBps,
  merchantMarkupBps: markupBps,
});

/** Our cost, rounded up to the minor unit: the floor of what rules may ask. */
export const costMinor = (cost: CostUsdE4, rate: PriceTerms['rate']): bigint =>
  divideUp(cost * (rate?.micros ?? MICROS), COST_UNITS_PER_CENT * MICROS);

/** The US cents that `convertUsdMinor` makes this amount of, rounded half up. */
function inUsdMinor(amountMinor: bigint, rate: PriceTerms['rate'], settings: PricingSettings): bigint {
  if (!rate) return amountMinor;
  const incrementBps = rate.currency === 'NGN' ? BigInt(settings.ngnIncrementBps) : 0n;
  return divideHalfUp(amountMinor * MICROS * BPS, rate.micros * (BPS + incrementBps));
}

/** Settings of operators: what prices may do without a second look. In hundredths of a percent. */
export interface PriceLimits {
  readonly changeBps: number;
  readonly supplierChangeBps: number;
  readonly allowsBelowCost: boolean;
}

/** Whether a supplier's price is too far from the last one to be sold at once. A first price is not. */
export const isCostJump =
  ({ supplierChangeBps }: Pick<PriceLimits, 'supplierChangeBps'>) =>
  (last: CostUsdE4, cost: CostUsdE4): boolean =>
    Math.abs(changeBps(last, cost) ?? 0) > supplierChangeBps;

/** A rate more than 10 % off the last good one waits for a second source or an operator. */
export function isRateJump(lastGoodMicros: bigint, micros: bigint): boolean {
  // Stryker disable next-line EqualityOperator: equal rates are zero apart both ways
  const difference = micros > lastGoodMicros ? micros - lastGoodMicros : lastGoodMicros - micros;
  return difference * 10n > lastGoodMicros;
}

/**
 * How far `after` is from `before`, in hundredths of a percent of it, rounded half up. null where `before` is
 * zero. Both are non-negative.
 */
export function changeBps(before: bigint, after: bigint): number | null {
  if (before === 0n) return null;
  return after < before
    ? -Number(divideHalfUp((before - after) * BPS, before))
    : Number(divideHalfUp((after - before) * BPS, before));
}
