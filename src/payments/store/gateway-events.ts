import { sql, type RawBuilder, type Selectable } from 'kysely';
import { inBatches } from '../../platform/database/retention.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { GatewayEventsTable } from './tables.ts';

export type GatewayEventRow = Selectable<GatewayEventsTable>;

/**
 * Stored as the note of an event without a payment of ours; a partial index in the database names this text.
 */
export const UNMATCHED_EVENT = 'unmatched';

export type InboxEvent = Pick<
  GatewayEventRow,
  'gateway' | 'event_key' | 'type' | 'about' | 'reference' | 'email'
>;

/** Far more than arrive during one commit. */
const MAX_AT_ONCE = 500;

/**
 * Saves events in batches: those that arrive during one commit share the next. Resolves once the event is
 * durable; undefined: a repeat of the same bytes.
 */
export function createEventWriter(db: WorldDb): (event: InboxEvent) => Promise<bigint | undefined> {
  const waiting: { event: InboxEvent; kept: PromiseWithResolvers<bigint | undefined> }[] = [];
  let isWriting = false;
  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_AT_ONCE);
      try {
        const events = batch.map(({ event }) => event);
        const ids = await insertEvents(db, events);
        for (const [nth, { kept }] of batch.entries()) kept.resolve(ids[nth]);
      } catch (error) {
        for (const { kept } of batch) kept.reject(error);
      }
    }
    isWriting = false;
  };
  return (event) => {
    const kept = Promise.withResolvers<bigint | undefined>();
    waiting.push({ event, kept });
    if (!isWriting) void writeAll();
    return kept.promise;
  };
}

/**
 * Returns ids in the order given. Rows are inserted in the order of their keys, so that two processes with
 * the same events cannot deadlock.
 */
async function insertEvents(db: WorldDb, events: readonly InboxEvent[]): Promise<(bigint | undefined)[]> {
  const column = (name: keyof InboxEvent) => sql`${events.map((event) => event[name])}::text[]`;
  const { rows } = await sql<Pick<GatewayEventRow, 'id' | 'gateway' | 'event_key'>>`
    insert into gateway_events (gateway, event_key, type, about, reference, email)
    select * from unnest(${column('gateway')}, ${column('event_key')}, ${column('type')}, ${column('about')},
                         ${column('reference')}, ${column('email')})
     order by 1, 2
    on conflict on constraint gateway_event_once do nothing
    returning id, gateway, event_key`.execute(db);
  const nameOf = (event: Pick<InboxEvent, 'gateway' | 'event_key'>) => `${event.gateway} ${event.event_key}`;
  const ids = new Map(rows.map((row) => [nameOf(row), row.id]));
  return events.map((event) => {
    const id = ids.get(nameOf(event));
    ids.delete(nameOf(event));
    return id;
  });
}

/** Oldest first, after `afterId`. */
export function findUnappliedEvents(
  db: WorldDb,
  { afterId, limit }: { readonly afterId: bigint; readonly limit: number },
): Promise<GatewayEventRow[]> {
  return db
    .selectFrom('gateway_events')
    .selectAll()
    .where('applied_at', 'is', null)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** An event that needs no check of a payment. */
export async function markEventApplied(db: WorldDb, id: bigint, note: string): Promise<void> {
  await db
    .updateTable('gateway_events')
    .set({ applied_at: sql`clock_timestamp()`, note })
    .where('id', '=', id)
    .where('applied_at', 'is', null)
    .execute();
}

/** What an event may be about that only a check can tell. */
export type CheckedFor = 'charge' | 'refund' | 'dispute';

/**
 * For the statement that books a check: its payment's events that arrived before the check began are done
 * with it.
 */
export function eventsCheckedBefore(
  { gateway, reference }: { readonly gateway: string; readonly reference: string },
  checkNumber: bigint,
  about: readonly CheckedFor[],
): RawBuilder<unknown> {
  return sql`
    update gateway_events set applied_at = clock_timestamp(), note = 'checked'
     where gateway = ${gateway} and reference = ${reference} and applied_at is null and check_number < ${checkNumber}
       and about = any(${[...about]})
    returning id`;
}

/** Deletes applied events, except unmatched ones that no person has dismissed. */
export function forgetGatewayEvents(
  db: WorldDb,
  appliedBefore: Date,
  isOver?: () => boolean,
): Promise<number> {
  return inBatches(async (limit) => {
    const { numAffectedRows } = await sql`
      delete from gateway_events where id = any(array(
        select id from gateway_events
         where applied_at < ${appliedBefore}
           and (note is distinct from ${UNMATCHED_EVENT} or about not in ('charge', 'refund', 'dispute'))
         order by applied_at limit ${limit} for update skip locked))`.execute(db);
    return Number(numAffectedRows ?? 0n);
  }, isOver);
}
