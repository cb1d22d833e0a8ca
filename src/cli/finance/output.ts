/**
 * With --json, standard output holds one JSON value and nothing else, amounts as whole numbers of minor units. Notes for people go to standard
 * error. Tables show amounts as decimals with their currency.
 */
import { formatAmount } from '../../domain/money.ts';
import { UsageMistake } from '../../platform/command.ts';
import type { Terminal } from '../context.ts';

export interface Output extends Terminal {
  readonly isJson: boolean;
  /** Prints nothing with --json. */
  line(text: string): void;
  note(text: string): void;
  /** Prints nothing without --json. */
  json(value: unknown): void;
  /** Prints nothing with --json. */
  table(headings: readonly string[], rows: readonly (readonly string[])[]): void;
}

export function createOutput(terminal: Terminal, isJson: boolean): Output {
  const line = (text: string): void => {
    if (!isJson) terminal.stdout(`${text}\n`);
  };
  return {
    ...terminal,
    isJson,
    line,
    note: (text) => terminal.stderr(`${text}\n`),
    json: (value) => {
      if (isJson) terminal.stdout(`${toJson(value)}\n`);
    },
    table: (headings, rows) => alignColumns([headings, ...rows]).forEach(line),
  };
}

/** A bigint of any size becomes a JSON number. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? (JSON as WithRawJson).rawJSON(inner.toString()) : inner,
  );
}

/** In Node since 22, and not in the types yet. */
type WithRawJson = typeof JSON & { rawJSON(text: string): unknown };

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, (row[column] ?? '').length), 0),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

export function notConfirmed(question: string): never {
  throw new UsageMistake(
    `${question} There is no terminal to ask at: add --yes to do it, or --dry-run to see it; nothing was done`,
  );
}

/** Asks the person at the terminal. Throws UsageMistake if there is none. */
export async function isConfirmed(out: Output, isYes: boolean, question: string): Promise<boolean> {
  if (isYes) return true;
  if (!out.isTerminal) return notConfirmed(question);
  const answer = await out.ask(`${question} [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return true;
  out.note('nothing was done');
  return false;
}

/** `NGN 12.50`; empty without an amount. */
export function money(amountMinor: bigint | null | undefined, currency: string | null | undefined): string {
  if (amountMinor === null || amountMinor === undefined) return '';
  const code = currency ?? '';
  return `${code === 'USD4' ? 'USD' : code} ${formatAmount({ amountMinor, currency: code })}`.trim();
}

/** `3d 4h`, `2h 12m`, `40s`. */
export function age(seconds: number): string {
  const days = Math.trunc(seconds / 86_400);
  const hours = Math.trunc(seconds / 3_600) % 24;
  const minutes = Math.trunc(seconds / 60) % 60;
  if (days > 0) return `${days}d ${hours}h`;
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m` : `${seconds}s`;
}

/** To the second, UTC. */
export function moment(at: Date | null): string {
  return at === null ? '' : `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
