/** From where to where a chart goes, and what its axes say: also for one value, for two, and for zeros. */

export const DAY_SECONDS = 86_400;
const MONTH_SECONDS = 28 * DAY_SECONDS;
const MINUTE_SECONDS = 60;

export type ChartKind = 'bars' | 'steps';
export type Range = readonly [number, number];

/** Above the highest value, as a part of it. */
const ROOM = 0.1;

/**
 * From zero on, lengths can be compared. Otherwise a line that moves little is shown large, and one that does
 * not move stands in the middle.
 */
export function valueRange(values: readonly number[], fromZero: boolean): Range {
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  if (values.length === 0 || (lowest === 0 && highest === 0)) return [0, 1];
  if (fromZero) return [Math.min(0, lowest * (1 + ROOM)), Math.max(0, highest * (1 + ROOM))];
  const room = lowest === highest ? Math.abs(lowest) * ROOM : (highest - lowest) * ROOM;
  const start = lowest - room;
  return [lowest >= 0 ? Math.max(0, start) : start, highest + room];
}

/** With room for the whole first and last bar; a single value stands in the middle of a day. */
export function timeRange(times: readonly number[], kind: ChartKind): Range {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  const room = kind === 'bars' ? DAY_SECONDS : first === last ? DAY_SECONDS / 2 : 0;
  return [first - room, last + room];
}

/** No two of them say the same, and without a value above zero there is only the zero. */
export function valueLabels(
  splits: readonly number[],
  values: readonly number[],
  format: (value: number) => string,
): string[] {
  const isZero = values.every((value) => value === 0);
  return withoutRepeats(splits.map((split) => (isZero && split !== 0 ? '' : format(split))));
}

/**
 * Months, days or times of day, by the step between two of them. Where the day changes between times, the
 * label is the day. A label may stand outside of what is shown, where a bar has its room.
 */
export function timeLabels(
  splits: readonly number[],
  { step, range: [start, end], timeZone }: { step: number; range: Range; timeZone: string | undefined },
): string[] {
  const formatOf = (parts: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(undefined, { ...parts, timeZone });
    return (seconds: number) => format.format(new Date(seconds * 1_000));
  };
  const dayOf = formatOf({ month: 'short', day: 'numeric' });
  const textOf =
    step >= MONTH_SECONDS
      ? formatOf({ month: 'short', year: 'numeric' })
      : step >= DAY_SECONDS
        ? dayOf
        : formatOf({ timeStyle: step >= MINUTE_SECONDS ? 'short' : 'medium' });
  let day = '';
  const labels = splits.map((seconds) => {
    if (seconds < start || seconds > end) return '';
    const before = day;
    day = dayOf(seconds);
    return step < DAY_SECONDS && before !== day ? day : textOf(seconds);
  });
  return withoutRepeats(labels);
}

function withoutRepeats(labels: readonly string[]): string[] {
  const said = new Set<string>();
  return labels.map((label) => {
    if (said.has(label)) return '';
    said.add(label);
    return label;
  });
}

/** Where a key leads from the value that is pointed at; undefined: to no value, so the latest is shown. */
export function indexAfterKey(
  key: string,
  now: number | undefined,
  count: number,
): number | undefined | null {
  const last = count - 1;
  const from = now ?? last;
  switch (key) {
    case 'ArrowLeft':
      return Math.max(0, now === undefined ? last : from - 1);
    case 'ArrowRight':
      return Math.min(last, from + 1);
    case 'Home':
      return 0;
    case 'End':
      return last;
    case 'Escape':
      return undefined;
    default:
      return null;
  }
}
