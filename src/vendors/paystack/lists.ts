/**
 * Lists of the vendor, page by page. Guarantee: every row once, each read or refused as a whole; a list that does not end, or gives the
 * same page again, is never taken for a complete one.
 */
import { GatewayUnavailable } from '../../payments/port.ts';
import type { Answer, Client } from './client.ts';
import { meaningOf } from './codes.ts';
import { questionFailure } from './map.ts';
import { readPage, type WirePage } from './wire.ts';

/** Rows a page: twice the vendor's default, a few hundred kilobytes. */
const PER_PAGE = 100;
/** The vendor's default, should it not take our number: a shorter page is the last one. */
const DEFAULT_PER_PAGE = 50;
const MAX_PAGES = 10_000;
/** Some 5 KB a row with its log; many times that is no list any more. */
const PAGE_LIMITS = { maxBodyBytes: 8 * 1024 * 1024 } as const;

export interface ListRequest<T> {
  readonly path: string;
  readonly query: Readonly<Record<string, string | number>>;
  readonly read: (row: unknown) => T;
  /** What a row is known by, so that rows which move while we page count once. */
  readonly keyOf: (row: T) => string;
}

/** The rows of a list. Throws GatewayUnavailable when it cannot be read to its end. */
export async function* rowsOf<T>(client: Client, request: ListRequest<T>): AsyncGenerator<T> {
  const { path, query, read, keyOf } = request;
  const seen = new Set<string>();
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { rows, isLast } = await pageOf(client, { path, query, page });
    let fresh = 0;
    for (const value of rows) {
      const row = readable(path, () => read(value));
      const key = keyOf(row);
      if (seen.has(key)) continue;
      seen.add(key);
      fresh += 1;
      yield row;
    }
    if (isLast) return;
    if (fresh === 0) throw new GatewayUnavailable(`${path}: page ${page} repeats`, { retryable: true });
  }
  throw new GatewayUnavailable(`${path}: more than ${MAX_PAGES} pages`, { retryable: false });
}

/** What was opened in [from, to): the vendor counts the last moment in. */
export function windowQuery(from: Date, to: Date): { readonly from: string; readonly to: string } {
  return { from: from.toISOString(), to: new Date(to.getTime() - 1).toISOString() };
}

/** One page of a list, from 1. Throws GatewayUnavailable. */
export async function pageOf(
  client: Client,
  { path, query, page }: Pick<ListRequest<unknown>, 'path' | 'query'> & { readonly page: number },
): Promise<WirePage & { readonly isLast: boolean }> {
  const answer = await client.get(path, { ...query, perPage: PER_PAGE, page }, PAGE_LIMITS);
  const data = answeredData(path, answer);
  const meta = answer.kind === 'answered' ? answer.meta : undefined;
  const read = readable(path, () => readPage(data, meta));
  const { rows, pageCount } = read;
  return { ...read, isLast: pageCount === null ? rows.length < DEFAULT_PER_PAGE : page >= pageCount };
}

/** The `data` of an answered question. Throws GatewayUnavailable, final when the vendor refused the asking itself. */
export function answeredData(what: string, answer: Answer): unknown {
  if (answer.kind === 'answered') return answer.data;
  const { detail, retryAfterMs } = questionFailure(answer);
  const retryable = answer.kind === 'lost' || meaningOf(answer).kind !== 'refused';
  throw new GatewayUnavailable(`${what}: ${detail}`, { retryable, retryAfterMs });
}

/** Runs a reader over an answer; what it cannot read is GatewayUnavailable. */
export function readable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new GatewayUnavailable(`${what}: unreadable: ${(cause as Error).message}`, {
      retryable: true,
      cause,
    });
  }
}
