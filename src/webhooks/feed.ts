import { createHash } from 'node:crypto';
import { inList, type Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import type { WebhookDeps } from './deps.ts';
import { readFeed, type FeedPosition, type FeedQuery } from './store/feed.ts';

interface FeedCommand extends Pick<FeedQuery, 'limit' | 'event'> {
  /** A cursor of an earlier answer. Default: the oldest kept event. */
  readonly after?: string | undefined;
}

/**
 * One page of the account's events, with bodies as they are sent to endpoints. Throws VALIDATION_ERROR if the
 * cursor is not one of this account, CURSOR_EXPIRED if it is too old.
 */
export async function listEvents(
  deps: Pick<WebhookDeps, 'db' | 'completeBodies'>,
  principal: Principal,
  { after, limit, event }: FeedCommand,
) {
  const { account, environment } = principal;
  const owner = `${environment}:${account.id}`;
  const position = after === undefined ? FEED_START : requireCursor(after, owner);
  const page = await readFeed(deps.db, { accountId: account.id, after: position, limit, event });
  if (page === 'expired') throw new DomainError('CURSOR_EXPIRED', EXPIRED);
  const bodies = await deps.completeBodies(
    page.events.map(({ body }) => body),
    inList(principal),
  );
  return {
    events: page.events.map(({ id }, index) => ({ id, body: bodies[index] ?? '' })),
    nextCursor: writeCursor(page.next, owner),
    hasMore: page.hasMore,
  };
}

const EXPIRED = 'Events after this cursor are not kept any more: start again without after';

function requireCursor(text: string, owner: string): FeedPosition {
  const position = readCursor(text, owner);
  if (position) return position;
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
    details: 'after: must be a nextCursor of this account and environment',
  });
}

/** Before the oldest event. */
export const FEED_START: FeedPosition = { position: 0n, seq: 0n };

const NUMBER_BYTES = 8;
const NUMBERS_BYTES = 2 * NUMBER_BYTES;
/** Finds what was cut off, mistyped or made for another owner. It is no secret: a cursor opens nothing. */
const CHECK_BYTES = 8;
/** In base64url. */
export const CURSOR_CHARACTERS = ((NUMBERS_BYTES + CHECK_BYTES) * 4) / 3;

/** `owner`: the account and its environment. */
export function writeCursor({ position, seq }: FeedPosition, owner: string): string {
  const numbers = Buffer.alloc(NUMBERS_BYTES);
  numbers.writeBigInt64BE(position, 0);
  numbers.writeBigInt64BE(seq, NUMBER_BYTES);
  return Buffer.concat([numbers, checkOf(numbers, owner)]).toString('base64url');
}

/** undefined: no cursor of this owner. */
export function readCursor(text: string, owner: string): FeedPosition | undefined {
  if (text.length !== CURSOR_CHARACTERS) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const numbers = bytes.subarray(0, NUMBERS_BYTES);
  if (bytes.toString('base64url') !== text) return undefined;
  if (!checkOf(numbers, owner).equals(bytes.subarray(NUMBERS_BYTES))) return undefined;
  return { position: numbers.readBigInt64BE(0), seq: numbers.readBigInt64BE(NUMBER_BYTES) };
}

function checkOf(numbers: Buffer, owner: string): Buffer {
  const hash = createHash('sha256').update(`feed cursor of ${owner}:`).update(numbers).digest();
  return hash.subarray(0, CHECK_BYTES);
}
