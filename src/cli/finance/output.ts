/**
 * With --json, standard output holds one JSON value and nothing else. Notes for people go to standard error.
 */
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
      if (isJson) terminal.stdout(`${JSON.stringify(value)}\n`);
    },
    table: (headings, rows) => alignColumns([headings, ...rows]).forEach(line),
  };
}

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
export function money(amount: number | null | undefined, currency: string | null | undefined): string {
  if (amount === null || amount === undefined) return '';
  return `${currency === 'USD4' ? 'USD' : (currency ?? '')} ${amount.toFixed(currency === 'USD4' ? 4 : 2)}`.trim();
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
export const moment = (at: string | null): string =>
  at === null ? '' : `${at.slice(0, 19).replace('T', ' ')}Z`;

interface PageOfItems {
  readonly items: readonly unknown[];
  readonly pagination: { readonly hasNextPage: boolean };
}

const PAGE_LIMIT = 100;

/** The first page, with the items of all pages, at most `most`. */
export async function allPages<Page extends PageOfItems>(
  read: (query: { readonly page: number; readonly limit: number }) => Promise<Page>,
  most = Infinity,
): Promise<Page> {
  const first = await read({ page: 1, limit: PAGE_LIMIT });
  const items = [...first.items];
  let { hasNextPage } = first.pagination;
  for (let page = 2; hasNextPage && items.length < most; page += 1) {
    const next = await read({ page, limit: PAGE_LIMIT });
    items.push(...next.items);
    ({ hasNextPage } = next.pagination);
  }
  return { ...first, items: items.slice(0, most) };
}
