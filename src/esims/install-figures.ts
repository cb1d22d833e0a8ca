/** Figures in the words of a language. Pure. */

const MIB = 1_048_576;
const GIB = 1_073_741_824;

/** `1610612736n` → "1.5 GB". */
export function bytesText(bytes: bigint, locale: string): string {
  const inGib = bytes >= GIB;
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: inGib ? 'gigabyte' : 'megabyte',
    maximumFractionDigits: inGib ? 2 : 0,
  }).format(Number(bytes) / (inGib ? GIB : MIB));
}

const UNITS: Readonly<Record<string, string>> = { HOUR: 'hour', DAY: 'day', MONTH: 'month' };

/** `7`, `DAY` → "7 days". */
export function unitsText(count: number, unit: string, locale: string): string {
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: UNITS[unit] ?? 'day',
    unitDisplay: 'long',
  }).format(count);
}

/** The day and minute in UTC: whose time zone counts is not known. */
export function dateText(at: Date, locale: string): string {
  return new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  }).format(at);
}

const STEPS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** "5 minutes ago", in the largest unit that fits; under a minute: "now". */
export function ageText(at: Date, now: Date, locale: string): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const ageMs = Math.max(0, now.getTime() - at.getTime());
  const [unit, unitMs] = STEPS.find(([, ms]) => ageMs >= ms) ?? (['second', Infinity] as const);
  return format.format(-Math.trunc(ageMs / unitMs), unit);
}
