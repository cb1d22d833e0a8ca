/** Parses URL parameters; invalid values are dropped. */
import {
  listDifferencesKind,
  listedAccountCurrency,
  listStuckClass,
} from 'simway-client/generated/ops-lists.ts';
import { dayIn, oneOf, textIn, type Search } from '../ui/address.ts';
import type { DifferenceQuery, StuckQuery, AuditSearch } from './data.ts';

export const AGES = [
  { value: '0', label: 'Any time' },
  { value: '600', label: '10 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
] as const;

export type StuckSearch = Pick<StuckQuery, 'class' | 'olderThanSeconds' | 'currency' | 'page'>;

/** Whole and above zero. */
export function countIn(value: unknown): number | undefined {
  const count = Number(value);
  return Number.isSafeInteger(count) && count > 0 ? count : undefined;
}

/** The number of a row, which the router may have parsed. */
const digitsIn = (value: unknown): string | undefined =>
  /^\d{1,18}$/.test(textIn(value) ?? '') ? textIn(value) : undefined;

export const stuckSearch = (search: Search): StuckSearch => ({
  class: oneOf(listStuckClass, search['class']),
  olderThanSeconds: countIn(search['olderThanSeconds']),
  currency: oneOf(listedAccountCurrency, search['currency']),
  page: countIn(search['page']),
});

export const differenceSearch = (search: Search): Pick<DifferenceQuery, 'id' | 'kind' | 'page'> => ({
  id: digitsIn(search['id']),
  kind: oneOf(listDifferencesKind, search['kind']),
  page: countIn(search['page']),
});

export const BOOKS = ['trial-balance', 'daily', 'merchants', 'waiting'] as const;
export type Book = (typeof BOOKS)[number];

/** Whole days, UTC. */
export interface BooksSearch {
  readonly book?: Book | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const booksSearch = (search: Search): BooksSearch => ({
  book: oneOf(BOOKS, search['book']),
  from: dayIn(search['from']),
  to: dayIn(search['to']),
});

export const pageSearch = (search: Search): { readonly page?: number | undefined } => ({
  page: countIn(search['page']),
});

export const auditSearch = (search: Search): AuditSearch => ({
  actor: textIn(search['actor']),
  action: textIn(search['action']),
  subject: textIn(search['subject']),
  from: dayIn(search['from']),
  to: dayIn(search['to']),
});

export const accountsSearch = (
  search: Search,
): { readonly text?: string | undefined; readonly page?: number | undefined } => ({
  text: textIn(search['text']),
  page: countIn(search['page']),
});

export const accountSearch = (search: Search): { readonly message?: string | undefined } => ({
  message: textIn(search['message']),
});

export const RATE_DAYS = [7, 30, 90] as const;

export const ratesSearch = (
  search: Search,
): { readonly currency?: string | undefined; readonly days?: number | undefined } => ({
  currency:
    typeof search['currency'] === 'string' && /^[A-Z]{3}$/.test(search['currency'])
      ? search['currency']
      : undefined,
  days: RATE_DAYS.find((days) => days === Number(search['days'])),
});
