// A chart of one value, of two, and of none above zero says as much as one of many.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DAY_SECONDS,
  indexAfterKey,
  timeLabels,
  timeRange,
  valueLabels,
  valueRange,
} from '../../dashboard/src/ui/chart-scales.ts';
import { formatAmount, formatTick } from '../../dashboard/src/ui/format.ts';

const NOON = Date.parse('2026-11-29T12:00:00Z') / 1_000;

describe('the range of values', () => {
  it.each<[string, number[], boolean, [number, number]]>([
    ['nothing', [], true, [0, 1]],
    ['one zero', [0], false, [0, 1]],
    ['zeros', [0, 0, 0], true, [0, 1]],
    ['one bar', [100], true, [0, 110]],
    ['bars on both sides', [-100, 100], true, [-110, 110]],
    ['one value of a line', [100], false, [90, 110]],
    ['the same value twice', [1650.25, 1650.25], false, [1485.225, 1815.275]],
    ['two values', [100, 110], false, [99, 111]],
    ['a line that falls to nothing', [0, 10], false, [0, 11]],
    ['a line below zero', [-20, -10], false, [-21, -9]],
  ])('of %s', (_name, values, fromZero, [low, high]) => {
    const [start, end] = valueRange(values, fromZero);
    expect(start).toBeCloseTo(low, 6);
    expect(end).toBeCloseTo(high, 6);
  });

  it('has every value in it, and is never empty', () => {
    const value = fc.integer({ min: -1_000_000, max: 1_000_000 });
    fc.assert(
      fc.property(fc.array(value), fc.boolean(), (values, fromZero) => {
        const [start, end] = valueRange(values, fromZero);
        expect(end).toBeGreaterThan(start);
        for (const one of values) expect(one >= start && one <= end).toBe(true);
        if (fromZero) expect(start <= 0 && end >= 0).toBe(true);
      }),
    );
  });
});

describe('the range of times', () => {
  it.each<['bars' | 'steps', number[], [number, number]]>([
    ['bars', [NOON], [NOON - DAY_SECONDS, NOON + DAY_SECONDS]],
    ['steps', [NOON], [NOON - DAY_SECONDS / 2, NOON + DAY_SECONDS / 2]],
    ['steps', [NOON, NOON + 60], [NOON, NOON + 60]],
    ['bars', [], [-DAY_SECONDS, DAY_SECONDS]],
  ])('of %s at %j', (kind, times, range) => {
    expect(timeRange(times, kind)).toEqual(range);
  });
});

describe('labels', () => {
  const usd = (value: number) => formatAmount(value, 'USD');

  it('of small amounts do not repeat', () => {
    const labels = valueLabels([0, 0.002, 0.004, 0.006, 0.008, 0.01], [0.01], usd);
    const said = labels.filter((label) => label !== '');
    expect(new Set(said).size).toBe(said.length);
    expect(said).toEqual([usd(0), usd(0.01)]);
  });

  it('of nothing but zeros are one zero', () => {
    expect(valueLabels([0, 0.5, 1], [0, 0], formatTick)).toEqual(['0', '', '']);
    expect(valueLabels([0, 0.5, 1], [], formatTick)).toEqual(['0', '', '']);
  });

  it('of times within two days say the day where it changes', () => {
    const HALF = DAY_SECONDS / 2;
    const splits = [NOON - HALF, NOON, NOON + HALF, NOON + 2 * HALF];
    const labels = timeLabels(splits, {
      ...{ step: HALF, range: [NOON - HALF, NOON + 2 * HALF], timeZone: 'UTC' },
    }).map((label) => label.replace('\u202f', ' '));
    expect(labels).toEqual(['Nov 29', '12:00 PM', 'Nov 30', '']);
  });

  it('outside of what is shown are empty, and months are named once', () => {
    const day = (text: string) => Date.parse(`${text}T00:00:00Z`) / 1_000;
    const labels = timeLabels([day('2025-12-01'), day('2026-01-01'), day('2026-01-31'), day('2026-03-01')], {
      ...{ step: 30 * DAY_SECONDS, timeZone: 'UTC' },
      range: [day('2025-12-15'), day('2026-03-01')],
    });
    expect(labels).toEqual(['', 'Jan 2026', '', 'Mar 2026']);
  });
});

describe('keys', () => {
  it.each<[string, number | undefined, number | undefined | null]>([
    ['ArrowLeft', undefined, 2],
    ['ArrowLeft', 2, 1],
    ['ArrowLeft', 0, 0],
    ['ArrowRight', undefined, 2],
    ['ArrowRight', 1, 2],
    ['ArrowRight', 2, 2],
    ['Home', 2, 0],
    ['End', 0, 2],
    ['Escape', 1, undefined],
    ['Tab', 1, null],
  ])('%s of three values, from %s: %s', (key, from, to) => {
    expect(indexAfterKey(key, from, 3)).toBe(to);
  });
});
