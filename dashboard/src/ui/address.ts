import { listStuckEnvironment } from 'simway-client/generated/ops-lists.ts';

/** Parses parameters of addresses. What is not valid is dropped. */
export type Search = Readonly<Record<string, unknown>>;

export const searchOf =
  <Parsers extends Readonly<Record<string, (value: unknown) => unknown>>>(parsers: Parsers) =>
  (search: Search): { readonly [Name in keyof Parsers]?: ReturnType<Parsers[Name]> } =>
    Object.fromEntries(Object.entries(parsers).map(([name, parse]) => [name, parse(search[name])])) as never;

/** The part of an address from `?` on. Empty without a parameter. */
export function textOfSearch(search: Search): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return text === '' ? '' : `?${text}`;
}

export const oneOf =
  <T extends string>(choices: readonly T[]) =>
  (value: unknown): T | undefined =>
    choices.find((choice) => choice === value);

export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;

/** Whether the calendar has this day: `Date` takes 2026-02-30 for the second of March. */
export function isRealDay(text: string): boolean {
  const at = new Date(text);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

const dayIn = (value: unknown): string | undefined =>
  typeof value === 'string' && isRealDay(value) ? value : undefined;

export function amountIn(value: unknown): number | undefined {
  const amount = typeof value === 'number' || typeof value === 'string' ? Number(value) : 0;
  return Number.isFinite(amount) && amount > 0 ? amount : undefined;
}

export const DAYS = { from: dayIn, to: dayIn };

export interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The times of these days in the reader's zone: `to` is not included, as the API takes it. */
export function timesOf({ from, to }: Days): Days {
  const startOf = (day: string | undefined, later: number): string | undefined => {
    if (day === undefined) return undefined;
    const at = new Date(`${day}T00:00`);
    at.setDate(at.getDate() + later);
    return at.toISOString();
  };
  return { from: startOf(from, 0), to: startOf(to, 1) };
}

/** What is searched for is in the address of the page, where a key must not be. */
export const looksSecret = (text: string): boolean =>
  /_(?:test|live)_[0-9A-Za-z]{10}|^ops_|^whsec_/.test(text);

/** `?text=` of a search page. A key or a secret is dropped. */
export function searchText({ text }: Readonly<Record<string, unknown>>): {
  readonly text?: string | undefined;
} {
  const wanted = typeof text === 'number' ? String(text) : typeof text === 'string' ? text.trim() : '';
  return { text: wanted === '' || looksSecret(wanted) ? undefined : wanted };
}

export const ENVIRONMENTS = listStuckEnvironment;
export type Environment = (typeof ENVIRONMENTS)[number];
