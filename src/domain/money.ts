/** Currencies that wallets are kept in. */
export const ACCOUNT_CURRENCIES = ['NGN', 'USD'] as const;
export type AccountCurrency = (typeof ACCOUNT_CURRENCIES)[number];

/** Those whose prices are converted: costs are in US dollars. */
export const CONVERTED_CURRENCIES = ACCOUNT_CURRENCIES.filter((currency) => currency !== 'USD');

/** ISO 4217 alphabetic code; every currency is shown with two decimals at the edge. */
export type Currency = string;

/**
 * Every amount is a bigint from the database to the HTTP edge, so floating point never rounds it (promise
 * M9).
 */
export interface Money {
  readonly amountMinor: bigint;
  readonly currency: Currency;
}

const DECIMAL = /^(-?)(\d{1,18})(?:\.(\d{1,2}))?$/;

/** `1234n` → `"12.34"`. */
export function formatMinor(amountMinor: bigint): string {
  return formatDecimal(amountMinor, 2);
}

/** Of a ledger currency. USD4, US dollars × 10,000, is the supplier's unit. */
export function formatAmount({ amountMinor, currency }: Money): string {
  return formatDecimal(amountMinor, currency === 'USD4' ? 4 : 2);
}

function formatDecimal(amount: bigint, places: number): string {
  // Stryker disable next-line EqualityOperator: zero is the same with either sign
  const digits = (amount < 0n ? -amount : amount).toString().padStart(places + 1, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** `"12.3"` → `1230n`; undefined when the text is no decimal with at most two places. */
export function parseMinor(text: string): bigint | undefined {
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const hundredths = (match[3] ?? '').padEnd(2, '0');
  // Stryker disable next-line StringLiteral: whatever matches has whole digits
  const minor = BigInt(match[2] ?? '0') * 100n + BigInt(hundredths);
  return match[1] === '-' ? -minor : minor;
}

// Stryker disable next-line EqualityOperator: of two equal amounts either is the smaller
export const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

// Stryker disable next-line EqualityOperator: of two equal amounts either is the larger
export const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** numerator ÷ denominator for non-negative numbers, rounded half up. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  if (denominator <= 0n || numerator < 0n) throw new RangeError('divideHalfUp takes n >= 0 and d > 0');
  return (2n * numerator + denominator) / (2n * denominator);
}

/**
 * The tax in an amount that includes it, rounded half up away from zero; the rest is net, so both together
 * are the amount.
 */
export function taxIncluded(grossMinor: bigint, rateBps: number): bigint {
  const taxOf = (gross: bigint) => divideHalfUp(gross * BigInt(rateBps), 10_000n + BigInt(rateBps));
  return grossMinor < 0n ? -taxOf(-grossMinor) : taxOf(grossMinor);
}

/** numerator ÷ denominator for non-negative numbers, rounded up. */
export function divideUp(numerator: bigint, denominator: bigint): bigint {
  if (denominator <= 0n || numerator < 0n) throw new RangeError('divideUp takes n >= 0 and d > 0');
  return (numerator + denominator - 1n) / denominator;
}

/** The least amount that is not below this one and is `remainder` above a multiple of `step`. */
export function raiseTo(amountMinor: bigint, step: bigint, remainder: bigint): bigint {
  const missing = (remainder - (amountMinor % step) + step) % step;
  return amountMinor + missing;
}
