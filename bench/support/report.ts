/**
 * What a run found: comparisons with a baseline, counts with a limit, and remarks. Printed as a table for
 * people or as JSON for programs. A ratio is made pair by pair, one for each round, so drift of the machine's
 * speed falls out.
 */
import { series, spreadOf, type Samples, type Spread } from './rounds.ts';

/** `atLeast` or `atMost` is the promise; neither: shown for information. */
interface Limit {
  readonly atLeast?: number;
  readonly atMost?: number;
}

interface Row {
  readonly promise: string;
  readonly what: string;
  readonly unit: string;
  readonly limit: Limit;
  readonly met: boolean | null;
}

interface Comparison extends Row {
  readonly ours: Spread;
  readonly baselineName: string;
  readonly baseline: Spread;
  /** Ours over the baseline. */
  readonly ratio: Spread;
}

export type Findings = ReturnType<typeof newFindings>;

export function newFindings(promise: string) {
  const comparisons: Comparison[] = [];
  const counts: (Row & { readonly value: number })[] = [];
  const remarks: string[] = [];
  return {
    comparisons,
    counts,
    remarks,
    /**
     * Judges a figure of ours against the same figure of other sides, measured in the same rounds; the median
     * of the ratios decides.
     */
    compare: (
      found: { what: string; unit: string; samples: Samples; figure: string; ours: string },
      ...baselines: (readonly [side: string, name: string, limit?: Limit])[]
    ): void => {
      const { what, unit, samples, figure } = found;
      const ours = series(samples, found.ours, figure);
      for (const [side, baselineName, limit = {}] of baselines) {
        const baseline = series(samples, side, figure);
        const ratio = spreadOf(ours.map((value, index) => value / (baseline[index] ?? Number.NaN)));
        const met = judge(ratio.median, limit);
        const spreads = { ours: spreadOf(ours), baseline: spreadOf(baseline), ratio };
        comparisons.push({ promise, what, unit, baselineName, ...spreads, limit, met });
      }
    },
    count: (what: string, unit: string, value: number, limit: Limit = {}): void =>
      void counts.push({ promise, what, unit, value, limit, met: judge(value, limit) }),
  };
}

function judge(value: number, { atLeast, atMost }: Limit): boolean | null {
  if (atLeast === undefined && atMost === undefined) return null;
  return value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity);
}

/** Whether every promise that was measured is kept. */
export function allMet({ comparisons, counts }: Findings): boolean {
  return [...comparisons, ...counts].every((row) => row.met !== false);
}

/** The tables for people. */
export function renderFindings({ comparisons, counts, remarks }: Findings): string {
  const begin = ({ promise, what, unit }: Row) => [promise, what, unit];
  const end = ({ limit, met }: Row) => [limitText(limit), met === null ? '' : met ? 'yes' : 'NO'];
  const compared = comparisons.map((row) => [
    ...begin(row),
    spreadText(row.ours, numberText),
    row.baselineName,
    spreadText(row.baseline, numberText),
    spreadText(row.ratio, (value) => value.toFixed(2)),
    ...end(row),
  ]);
  const counted = counts.map((row) => [...begin(row), numberText(row.value), ...end(row)]);
  return [
    table(['', 'what', 'unit', 'ours', 'baseline', '', 'ratio', 'promised', 'kept'], compared),
    table(['', 'what', 'unit', 'value', 'promised', 'kept'], counted),
    remarks.map((line) => `- ${line}`).join('\n'),
  ]
    .filter((block) => block !== '')
    .join('\n\n');
}

/** A Markdown table with padded cells: readable as it stands and ready for docs/BENCHMARKS.md. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function spreadText({ median, min, max }: Spread, textOf: (value: number) => string): string {
  return `${textOf(median)} (${textOf(min)}–${textOf(max)})`;
}

function numberText(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 1_000 ? value.toFixed(0) : value.toFixed(value < 10 ? 2 : 1);
}

function limitText({ atLeast, atMost }: Limit): string {
  if (atLeast !== undefined) return `≥ ${numberText(atLeast)}`;
  return atMost === undefined ? '' : `≤ ${numberText(atMost)}`;
}
