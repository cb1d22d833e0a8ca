/**
 * What a run found: comparisons with a baseline, counts with a limit, remarks, and the machine. Printed as a
 * table for people or as JSON for programs. A ratio is made pair by pair, one for each round, so drift of the
 * machine's speed falls out.
 */
import { spreadOf, type Spread } from './rounds.ts';

/** `atLeast` or `atMost` is the promise; neither: shown for information. */
interface Limit {
  readonly atLeast?: number;
  readonly atMost?: number;
}

interface Comparison {
  readonly promise: string;
  readonly what: string;
  readonly unit: string;
  readonly ours: Spread;
  readonly baselineName: string;
  readonly baseline: Spread;
  /** Ours over the baseline. */
  readonly ratio: Spread;
  readonly limit: Limit;
  readonly met: boolean | null;
}

interface Count {
  readonly promise: string;
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  readonly limit: Limit;
  readonly met: boolean | null;
}

export interface Findings {
  readonly comparisons: Comparison[];
  readonly counts: Count[];
  readonly remarks: string[];
}

export function noFindings(): Findings {
  return { comparisons: [], counts: [], remarks: [] };
}

/** Judges ours against a baseline measured in the same rounds; the median of the ratios decides. */
export function compare(
  what: Pick<Comparison, 'promise' | 'what' | 'unit' | 'baselineName'> & { readonly limit?: Limit },
  ours: readonly number[],
  baseline: readonly number[],
): Comparison {
  const ratios = ours.map((value, index) => value / (baseline[index] ?? Number.NaN));
  const ratio = spreadOf(ratios);
  const limit = what.limit ?? {};
  return {
    ...what,
    ours: spreadOf(ours),
    baseline: spreadOf(baseline),
    ratio,
    limit,
    met: judge(ratio.median, limit),
  };
}

export function count(
  what: Pick<Count, 'promise' | 'what' | 'unit' | 'value'> & { readonly limit?: Limit },
): Count {
  const limit = what.limit ?? {};
  return { ...what, limit, met: judge(what.value, limit) };
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
  const blocks: string[] = [];
  if (comparisons.length > 0) {
    const head = ['', 'what', 'unit', 'ours', 'baseline', '', 'ratio', 'promised', 'kept'];
    const rows = comparisons.map((row) => [
      row.promise,
      row.what,
      row.unit,
      spreadText(row.ours),
      row.baselineName,
      spreadText(row.baseline),
      ratioText(row.ratio),
      limitText(row.limit),
      metText(row.met),
    ]);
    blocks.push(table(head, rows));
  }
  if (counts.length > 0) {
    const head = ['', 'what', 'unit', 'value', 'promised', 'kept'];
    const rows = counts.map((row) => [
      row.promise,
      row.what,
      row.unit,
      numberText(row.value),
      limitText(row.limit),
      metText(row.met),
    ]);
    blocks.push(table(head, rows));
  }
  if (remarks.length > 0) blocks.push(remarks.map((line) => `- ${line}`).join('\n'));
  return blocks.join('\n\n');
}

/** A Markdown table with padded cells: readable as it stands and ready for docs/BENCHMARKS.md. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

const spreadText = ({ median, min, max }: Spread): string =>
  `${numberText(median)} (${numberText(min)}–${numberText(max)})`;
const ratioText = ({ median, min, max }: Spread): string =>
  `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
const metText = (met: boolean | null): string => (met === null ? '' : met ? 'yes' : 'NO');

function numberText(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 1_000 ? value.toFixed(0) : value.toFixed(value < 10 ? 2 : 1);
}

function limitText({ atLeast, atMost }: Limit): string {
  if (atLeast !== undefined) return `≥ ${numberText(atLeast)}`;
  return atMost === undefined ? '' : `≤ ${numberText(atMost)}`;
}
