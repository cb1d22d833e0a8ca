/**
 * Money is a whole number of minor units with its currency. Every amount is a bigint from the database to the edge, so nothing is
 * ever rounded by the machine (promise M9); decimals exist only as text.
 */

/** Currencies that wallets are kept in. */
export const ACCOUNT_CURRENCIES = ['NGN', 'USD'] as const;
export type AccountCurrency = (typeof ACCOUNT_CURRENCIES)[number];

/** ISO 4217 alphabetic code; every currency is shown with two decimals at the edge. */
export type Currency = string;

export interface Money {
  readonly amountMinor: bigint;
  readonly currency: Currency;
}

const DECIMAL = /^(-?)(\d{1,18})(?:\.(\d{1,2}))?$/;

/** `{amountMinor: 1234n}` → `"12.34"`. */
export function formatMinor(amountMinor: bigint): string {
  // Stryker disable next-line EqualityOperator: zero is the same with either sign
  const digits = (amountMinor < 0n ? -amountMinor : amountMinor).toString().padStart(3, '0');
  return `${amountMinor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The supplier's unit: US dollars × 10,000. */
const USD4_PLACES = 4;

/** As an amount of a ledger currency is written: two decimals, and four for USD4. */
export function formatAmount({ amountMinor, currency }: Money): string {
  if (currency !== 'USD4') return formatMinor(amountMinor);
  // Stryker disable next-line EqualityOperator: zero is the same with either sign
  const digits = (amountMinor < 0n ? -amountMinor : amountMinor).toString().padStart(USD4_PLACES + 1, '0');
  return `${amountMinor < 0n ? '-' : ''}${digits.slice(0, -USD4_PLACES)}.${digits.slice(-USD4_PLACES)}`;
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

/** numerator ÷ denominator for non-negative numbers, the half rounded up. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  if (denominator <= 0n || numerator < 0n) throw new RangeError('divideHalfUp takes n >= 0 and d > 0');
  return (2n * numerator + denominator) / (2n * denominator);
}
