/**
 * The events of an account in an order that a reader may rely on: that of transaction ids, but never before
 * what was committed when they were written. Only events below every running transaction are read, so that
 * nothing can appear before them any more. A sequence is no such order: a transaction may commit after
 * readers have passed its number.
 */
import { sql } from 'kysely';
import type { WebhookEvent } from '../events.ts';
import { inBatches } from '../../platform/database/retention.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

export interface FeedPosition {
  readonly position: bigint;
  readonly seq: bigint;
}

export interface FeedQuery {
  readonly accountId: string;
  readonly after: FeedPosition;
  readonly limit: number;
  readonly event?: WebhookEvent | undefined;
}

export interface FeedPage {
  /** Bodies as they are stored: an address may be sealed. */
  readonly events: readonly (FeedPosition & { readonly id: string; readonly body: string })[];
  /** Where to continue. */
  readonly next: FeedPosition;
  readonly hasMore: boolean;
}

/** How many events one call with a filter reads, so that a rare event costs no scan of the whole feed. */
const SCAN_LIMIT = 1_000;

interface Row extends FeedPosition {
  readonly horizon: bigint;
  readonly deleted_to: bigint;
  readonly scanned_count: bigint;
  readonly last_position: bigint | null;
  readonly last_seq: bigint | null;
  readonly id: string | null;
  readonly body: string;
}

/**
 * Oldest first. `expired`: events after this position were deleted, or the database was restored to an
 * earlier moment. With `event` a page may be short, or empty, though there are more.
 */
export async function readFeed(db: WorldDb, query: FeedQuery): Promise<FeedPage | 'expired'> {
  const { accountId, after, limit, event } = query;
  const scanLimit = event === undefined ? limit + 1 : SCAN_LIMIT;
  // `account_id` is compared in two queries, so that each walks the index in order.
  const from = (whose: ReturnType<typeof sql>) => sql`
    (select id, position, seq, event, body from events
      where ${whose} and (position, seq) > (${after.position}::bigint, ${after.seq}::bigint) and position < (select horizon from feed)
      order by position, seq limit ${scanLimit})`;
  const { rows } = await sql<Row>`
    with feed as materialized (
      select position_offset + pg_snapshot_xmin(pg_current_snapshot())::text::bigint as horizon, deleted_to from event_feed
    ), scanned as materialized (
      ${from(sql`account_id = ${accountId}`)} union all ${from(sql`account_id is null`)}
      order by position, seq limit ${scanLimit}
    ), last as (
      select position, seq from scanned order by position desc, seq desc limit 1
    ), found as (
      select id, position, seq, body from scanned where ${event ?? null}::text is null or event = ${event ?? null}
       order by position, seq limit ${limit + 1}
    )
    select feed.horizon, feed.deleted_to, (select count(*) from scanned) as scanned_count, last.position as last_position, last.seq as last_seq, found.*
      from feed left join last on true left join found on true
     order by found.position, found.seq`.execute(db);
  const [first] = rows;
  if (!first) throw new Error('event_feed has no row');
  if (isExpired(after, first)) return 'expired';
  const events = rows.flatMap(({ id, position, seq, body }) =>
    id === null ? [] : [{ id, position, seq, body }],
  );
  return pageOf(events, first, { limit, scanLimit });
}

/** The start is never expired; every other position must be one that this database can have given. */
function isExpired({ position }: FeedPosition, { horizon, deleted_to }: Row): boolean {
  return position !== 0n && (position <= deleted_to || position > horizon);
}

function pageOf(
  found: FeedPage['events'],
  { horizon, scanned_count, last_position, last_seq }: Row,
  { limit, scanLimit }: { readonly limit: number; readonly scanLimit: number },
): FeedPage {
  const events = found.slice(0, limit);
  const last = events.at(-1);
  if (found.length > limit && last) return { events, next: last, hasMore: true };
  if (scanned_count >= BigInt(scanLimit) && last_position !== null && last_seq !== null)
    return { events, next: { position: last_position, seq: last_seq }, hasMore: true };
  // Everything below is read. So the cursor of an account where nothing happens does not expire.
  return { events, next: { position: horizon, seq: 0n }, hasMore: false };
}

/** Deletes events written before then, until `isOver`; returns how many. */
export function forgetEvents(db: WorldDb, writtenBefore: Date, isOver: () => boolean): Promise<number> {
  return inBatches(async (limit) => {
    const { rows } = await sql<{ count: bigint }>`
      with old as materialized (
        select id, position from events where created_at < ${writtenBefore} order by created_at limit ${limit}
      ), gone as (
        delete from events using old where events.id = old.id returning old.position
      ), marked as (
        update event_feed set deleted_to = greatest(deleted_to, (select max(position) from old)) where exists (select from old)
      )
      select count(*) as count from gone`.execute(db);
    return Number(rows[0]?.count ?? 0n);
  }, isOver);
}
