import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import type { WebhookDeps } from './deps.ts';
import { FEED_START, readCursor, writeCursor, type FeedPosition } from './feed-cursor.ts';
import type { WebhookEvent } from './event-rules.ts';
import { readFeed } from './store/feed.ts';

export interface FeedCommand {
  /** A cursor of an earlier answer. Default: the oldest kept event. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly event?: WebhookEvent | undefined;
}

export interface Feed {
  readonly events: readonly {
    readonly id: string;
    /** As it is sent to an endpoint. */
    readonly body: string;
  }[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

/** One page of the account's events. Throws VALIDATION_ERROR for what is no cursor of this account, CURSOR_EXPIRED for one that is too old. */
export async function listEvents(
  deps: Pick<WebhookDeps, 'db' | 'completeBodies'>,
  { account, environment }: Principal,
  { after, limit, event }: FeedCommand,
): Promise<Feed> {
  const owner = `${environment}:${account.id}`;
  const position = after === undefined ? FEED_START : requireCursor(after, owner);
  const page = await readFeed(deps.db, { accountId: account.id, after: position, limit, event });
  if (page === 'expired') {
    throw new DomainError(
      'CURSOR_EXPIRED',
      'Events after this cursor are not kept any more: start again without after',
    );
  }
  const bodies = await deps.completeBodies(page.events.map(({ body }) => body));
  return {
    events: page.events.map(({ id }, index) => ({ id, body: bodies[index] ?? '' })),
    nextCursor: writeCursor(page.next, owner),
    hasMore: page.hasMore,
  };
}

function requireCursor(text: string, owner: string): FeedPosition {
  const position = readCursor(text, owner);
  if (position) return position;
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
    details: 'after: must be a nextCursor of this account and environment',
  });
}
