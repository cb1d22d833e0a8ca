/** The inbox of the payment gateway's events: kept before they are acknowledged, applied afterwards, each once. */
import { sql, type Selectable } from 'kysely';
import type { GatewayEventsTable, WorldDb } from './tables.ts';

export type GatewayEventRow = Selectable<GatewayEventsTable>;

export interface KeptEvent {
  readonly gateway: string;
  readonly eventKey: string;
  readonly type: string;
  readonly about: string;
  readonly reference: string | null;
  readonly email: string | null;
}

/** Keeps an event. The row's id, or undefined where the same bytes were kept before: a repeat is a reason to look again all the same. */
export async function keepEvent(db: WorldDb, event: KeptEvent): Promise<bigint | undefined> {
  const row = await db
    .insertInto('gateway_events')
    .values({
      gateway: event.gateway,
      event_key: event.eventKey,
      type: event.type,
      about: event.about,
      reference: event.reference,
      email: event.email,
      applied_at: null,
      note: null,
    })
    .onConflict((conflict) => conflict.constraint('gateway_event_once').doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id;
}

/** Events that nobody has applied, oldest first, from the one after `afterId`. */
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

export async function markEventApplied(db: WorldDb, id: bigint, note: string): Promise<void> {
  await db
    .updateTable('gateway_events')
    .set({ applied_at: sql`clock_timestamp()`, note })
    .where('id', '=', id)
    .where('applied_at', 'is', null)
    .execute();
}
