/** The unit in which the supplier counts: US dollars with four decimals. */
const SUPPLIER_UNIT = 'USD4';

const amounts = new Map<string, Intl.NumberFormat>();

function amountFormat(currency: string): Intl.NumberFormat {
  const known = amounts.get(currency);
  if (known) return known;
  const isUnit = currency === SUPPLIER_UNIT;
  const made = new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: isUnit ? 'USD' : currency,
    currencyDisplay: 'code',
    ...(isUnit ? { minimumFractionDigits: 4 } : {}),
  });
  amounts.set(currency, made);
  return made;
}

export const formatAmount = (amount: number, currency: string): string =>
  amountFormat(currency).format(amount);

const momentFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const minuteFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

/** The half of the day is not parted from its hour. */
const formatTime = (format: Intl.DateTimeFormat, iso: string): string =>
  format.format(new Date(iso)).replace(/ (?=\D+$)/, '\u00a0');

export const formatMoment = (iso: string): string => formatTime(momentFormat, iso);
export const formatMinute = (iso: string): string => formatTime(minuteFormat, iso);

export const DAY_MS = 86_400_000;

/** The day of a time in UTC, as the API takes it: `2026-11-25`. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** A whole day of the books, which are kept in UTC. */
export const formatDay = (day: string): string => dayFormat.format(new Date(day));

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** With at most two units: `3 days 4 h`, `12 min`. */
export function formatAge(seconds: number): string {
  if (seconds < MINUTE) return `${String(Math.trunc(seconds))} s`;
  if (seconds < HOUR) return `${String(Math.trunc(seconds / MINUTE))} min`;
  if (seconds < DAY)
    return `${String(Math.trunc(seconds / HOUR))} h ${String(Math.trunc((seconds % HOUR) / MINUTE))} min`;
  const days = Math.trunc(seconds / DAY);
  return `${String(days)} ${days === 1 ? 'day' : 'days'} ${String(Math.trunc((seconds % DAY) / HOUR))} h`;
}

const rateFormat = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 6 });
const percentFormat = new Intl.NumberFormat(undefined, {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});

/** How many units of a currency one US dollar is. */
export const formatRate = (rate: number | null): string => (rate === null ? 'None' : rateFormat.format(rate));

export const formatPercent = (percent: number): string => `${percentFormat.format(percent)} %`;

const BYTE_UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;
const BYTES_STEP = 1024;

/** A data volume: GB = bytes / 1024³, as in the API. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= BYTES_STEP && unit < BYTE_UNITS.length - 1) [value, unit] = [value / BYTES_STEP, unit + 1];
  return `${value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 2 : 1 })} ${BYTE_UNITS[unit] ?? ''}`;
}

const tickFormat = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 2 });

/** Beside an axis, whose title names the unit: `1.25M`. */
export const formatTick = (value: number): string => tickFormat.format(value);
