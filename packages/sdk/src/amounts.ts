/**
 * Amounts are exact decimals. The API writes them as JSON numbers with at most two decimals, made from whole
 * minor units. A JavaScript number keeps every decimal of up to 15 digits as it was written (up to
 * 9,999,999,999,999.99); only arithmetic on it is inexact. So these functions take the number or decimal
 * text, calculate with whole numbers, answer decimal text, and throw a RangeError for what is not exact.
 */
export type Amount = string | number;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;
const MAX_EXACT_DIGITS = 15;

/** `19178.13` → `'19178.13'`: the decimal as it stood in the answer. */
export function decimal(amount: Amount): string {
  const text = String(amount);
  const isExact = typeof amount === 'string' || text.replaceAll(/\D/g, '').length <= MAX_EXACT_DIGITS;
  if (!DECIMAL.test(text) || !isExact) throw new RangeError(`Not an exact amount: ${text}`);
  return text;
}

/** `addAmounts(0.1, '0.25')` → `'0.35'`. */
export function addAmounts(...amounts: readonly Amount[]): string {
  const places = Math.max(0, ...amounts.map(placesOf));
  return fromScaled(
    amounts.reduce((sum, amount) => sum + toScaled(amount, places), 0n),
    places,
  );
}

/** Below 0, 0 or above 0, as `sort` takes it. Both are of one currency. */
export function compareAmounts(one: Amount, other: Amount): number {
  const places = Math.max(placesOf(one), placesOf(other));
  const [first, second] = [toScaled(one, places), toScaled(other, places)];
  return first < second ? -1 : Number(first > second);
}

/**
 * `toMinor('12.34', 'USD')` → `1234n`, `toMinor('500', 'XOF')` → `500n`: whole minor units as ISO 4217
 * counts them. Throws a RangeError for a part of one, and for a currency that does not exist or has none.
 */
export const toMinor = (amount: Amount, currency: string): bigint => toScaled(amount, minorPlaces(currency));

/** `fromMinor(1234n, 'USD')` → `'12.34'`. */
export const fromMinor = (minor: bigint, currency: string): string =>
  fromScaled(minor, minorPlaces(currency));

/**
 * For a field of a request, such as `maxPrice`. Throws a RangeError where a JSON number would change the
 * amount.
 */
export function toNumber(amount: Amount): number {
  const number = Number(decimal(amount));
  if (compareAmounts(number, amount) !== 0) throw new RangeError(`Not exact as a number: ${amount}`);
  return number;
}

/** Metals, units of account, the code for tests and that for no currency. */
const WITHOUT_MINOR_UNITS = /^X(A[GU]|B[A-D]|DR|P[DT]|SU|TS|UA|XX)$/;

/** Intl takes any three letters, and gives what it does not know two decimals. */
function minorPlaces(currency: string): number {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  const code = format.currency ?? '';
  if (!Intl.supportedValuesOf('currency').includes(code) || WITHOUT_MINOR_UNITS.test(code))
    throw new RangeError(`No currency with minor units: ${currency}`);
  return format.maximumFractionDigits ?? 2;
}

const placesOf = (amount: Amount): number => (decimal(amount).split('.')[1] ?? '').length;

function toScaled(amount: Amount, places: number): bigint {
  const [, sign = '', whole = '', fraction = ''] = DECIMAL.exec(decimal(amount)) ?? [];
  if (/[1-9]/.test(fraction.slice(places)))
    throw new RangeError(`${amount} has more than ${places} decimals`);
  return BigInt(sign + whole + fraction.slice(0, places).padEnd(places, '0'));
}

function fromScaled(scaled: bigint, places: number): string {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(places + 1, '0');
  const point = digits.length - places;
  return `${scaled < 0n ? '-' : ''}${digits.slice(0, point)}${places > 0 ? '.' : ''}${digits.slice(point)}`;
}
