/**
 * How answers are read: one about another charge or of the other mode proves nothing about ours, and words
 * never seen before raise an alert. A list that does not end, or repeats a page, is never complete.
 */
import type { z } from 'zod';
import { GatewayUnavailable, type GatewayOutcome } from '../../payments/port.ts';
import type { Answer, Answered, Client, NotAnswered } from './client.ts';
import { meaningOf } from './codes.ts';
import { effectFailure, readFailure, unknown } from './map.ts';
import { page as pageSchema, read } from './wire.ts';

/** What an account's money is. */
export type Mode = 'live' | 'test';

/**
 * A value from the vendor that this adapter does not know, or an answer that it cannot read. Holds no
 * personal data.
 */
export interface UnknownStatus {
  readonly what: 'charge status' | 'refund status' | 'error' | 'answer';
  /** The call that it was met in. */
  readonly operation: string;
  readonly word: string;
}

export interface Context {
  readonly client: Client;
  readonly mode: Mode;
  /** Must not throw. */
  readonly onUnknown: (unseen: UnknownStatus) => void;
}

/** Whether an answer names the other mode than ours; one that names none is taken for ours. */
export function isOtherMode(domain: string, mode: Mode): boolean {
  return domain !== '' && domain !== mode;
}

/** Throws for an answer of the other mode. */
export function requireMode({ mode }: Context, domain: string): void {
  if (isOtherMode(domain, mode)) throw new Error('the answer is of the other mode');
}

/** Throws for an answer about another charge than the one asked for. */
export function requireSameReference(wanted: string, answered: string): void {
  if (answered !== wanted) throw new Error('the answer is about another reference');
}

/** Raises the alert when a status led to the state "unknown". */
export function alertIfUnseen(
  { onUnknown }: Context,
  what: 'charge status' | 'refund status',
  operation: string,
  found: { readonly state: string; readonly gatewayStatus: string },
): void {
  if (found.state === 'unknown') onUnknown({ what, operation, word: found.gatewayStatus.slice(0, 40) });
}

/**
 * The outcome of a yes; a yes that cannot be read, or is about something else, is unknown and raises the
 * alert.
 */
export function readYes<Schema extends z.ZodType, T>(
  { onUnknown }: Context,
  operation: string,
  schema: Schema,
  answer: Answered,
  outcomeOf: (data: z.output<Schema>) => GatewayOutcome<T>,
): GatewayOutcome<T> {
  try {
    return outcomeOf(read(schema, answer.data));
  } catch (error) {
    const reason = (error as Error).message;
    onUnknown({ what: 'answer', operation, word: reason });
    return unknown(`unreadable yes: ${reason}`);
  }
}

/** What a failed effect means; an error never seen before raises the alert. */
export function failedEffect({ onUnknown }: Context, operation: string, answer: NotAnswered) {
  if (answer.kind === 'failed' && meaningOf(answer).kind === 'unseen') {
    const word = answer.code || answer.category || `HTTP ${answer.httpStatus}`;
    onUnknown({ what: 'error', operation, word: word.slice(0, 40) });
  }
  return effectFailure(answer);
}

/**
 * Throws GatewayUnavailable for a read without an answer, final when the vendor refused the asking
 * itself.
 */
export function requireAnswer(what: string, answer: Answer): Answered {
  if (answer.kind === 'answered') return answer;
  const { detail, retryAfterMs } = readFailure(answer);
  const retryable = answer.kind === 'lost' || meaningOf(answer).kind !== 'refused';
  throw new GatewayUnavailable(`${what}: ${detail}`, { retryable, retryAfterMs });
}

/** Reads an answer or a part of it. Throws GatewayUnavailable. */
export function readable<Schema extends z.ZodType>(what: string, schema: Schema, value: unknown) {
  try {
    return read(schema, value);
  } catch (cause) {
    const message = `${what}: unreadable: ${(cause as Error).message}`;
    throw new GatewayUnavailable(message, { retryable: true, cause });
  }
}

/** Rows a page: twice the vendor's default, a few hundred kilobytes. */
const PER_PAGE = '100';
/** The vendor's default, should it not take our number: a shorter page is the last one. */
const DEFAULT_PER_PAGE = 50;
const MAX_PAGES = 10_000;
/** Some 5 KB a row with its log; many times that is no list any more. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

export type Query = Readonly<Record<string, string>>;

/** One page of a list, from 1. Throws GatewayUnavailable. */
export async function pageOf(client: Client, path: string, query: Query, page: number) {
  const answer = await client.get(path, { ...query, perPage: PER_PAGE, page: String(page) }, MAX_PAGE_BYTES);
  const { data: rows, meta } = readable(path, pageSchema, requireAnswer(path, answer));
  const { pageCount, total } = meta;
  return { rows, total, isLast: pageCount === null ? rows.length < DEFAULT_PER_PAGE : page >= pageCount };
}

/**
 * The rows of a list, each once even if it moves to another page while we read. Throws GatewayUnavailable
 * when the list cannot be read to its end.
 */
export async function* rowsOf<Row extends { readonly id: string; readonly reference: string }>(
  client: Client,
  path: string,
  row: z.ZodType<Row>,
  query: Query,
): AsyncGenerator<Row> {
  const seen = new Set<string>();
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { rows, isLast } = await pageOf(client, path, query, page);
    const seenBefore = seen.size;
    for (const value of rows) {
      const read = readable(path, row, value);
      const key = read.id || read.reference;
      if (seen.has(key)) continue;
      seen.add(key);
      yield read;
    }
    if (isLast) return;
    if (seen.size === seenBefore)
      throw new GatewayUnavailable(`${path}: page ${page} repeats`, { retryable: true });
  }
  throw new GatewayUnavailable(`${path}: more than ${MAX_PAGES} pages`, { retryable: false });
}
