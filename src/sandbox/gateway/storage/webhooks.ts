/**
 * Events and their deliveries in SQLite: prepared statements, one function each. Guarantee: no business rule here.
 */
import { insertStatement, type Database } from '../../support/database.ts';
import type { Attempt, DeliveryRow, EventRow } from './rows.ts';

const EVENT_COLUMNS = ['event', 'reference', 'body', 'createdAtMs'] as const;
const DELIVERY_COLUMNS = ['eventId', 'url', 'state', 'dueAtMs', 'attempts'] as const;
const MOST_AT_ONCE = 200;

export type WebhookStore = ReturnType<typeof createWebhookStore>;
export type DueDelivery = DeliveryRow & { body: string };

/** The statements over webhooks. */
export function createWebhookStore(database: Database) {
  const { sql } = database;
  const insertEvent = insertStatement(database, 'events', EVENT_COLUMNS);
  const insertDelivery = insertStatement(database, 'deliveries', DELIVERY_COLUMNS);
  const eventById = sql.prepare('SELECT * FROM events WHERE id = ?');
  const recentEvents = sql.prepare(
    `SELECT * FROM events WHERE (?1 IS NULL OR reference = ?1) AND (?2 IS NULL OR event = ?2)
     ORDER BY id DESC LIMIT ?3`,
  );
  const deliveriesOf = sql.prepare('SELECT * FROM deliveries WHERE eventId = ? ORDER BY id');
  const due = sql.prepare(
    `SELECT deliveries.*, body FROM deliveries JOIN events ON events.id = eventId
     WHERE state = 'waiting' AND dueAtMs <= ? ORDER BY dueAtMs, deliveries.id LIMIT ${MOST_AT_ONCE}`,
  );
  const nextDue = sql.prepare("SELECT min(dueAtMs) AS atMs FROM deliveries WHERE state = 'waiting'");
  const take = sql.prepare("UPDATE deliveries SET state = 'sending' WHERE id = ?");
  const takeBack = sql.prepare("UPDATE deliveries SET state = 'waiting' WHERE state = 'sending'");
  const settle = sql.prepare('UPDATE deliveries SET state = ?, dueAtMs = ?, attempts = ? WHERE id = ?');
  const move = sql.prepare("UPDATE deliveries SET dueAtMs = ? WHERE id = ? AND state = 'waiting'");
  return {
    insertEvent: (row: Omit<EventRow, 'id'>): number =>
      Number(insertEvent.run(...EVENT_COLUMNS.map((column) => row[column])).lastInsertRowid),
    insertDelivery: (row: Omit<DeliveryRow, 'id'>): number =>
      Number(insertDelivery.run(...DELIVERY_COLUMNS.map((column) => row[column])).lastInsertRowid),
    eventById: (id: number) => eventById.get(id) as EventRow | undefined,
    /** The newest events, newest first; null: whatever. */
    recentEvents: (reference: string | null, event: string | null, limit: number) =>
      recentEvents.all(reference, event, limit) as unknown as EventRow[],
    deliveriesOf: (eventId: number) => deliveriesOf.all(eventId) as unknown as DeliveryRow[],
    /** What is due, oldest first; all of it is taken and will be settled. */
    takeDue: (nowMs: number): DueDelivery[] => {
      const rows = due.all(nowMs) as unknown as DueDelivery[];
      for (const { id } of rows) take.run(id);
      return rows;
    },
    /** What an earlier process had taken and did not settle waits again. */
    takeBack: () => void takeBack.run(),
    nextDueAtMs: () => (nextDue.get() as { atMs: number | null }).atMs,
    settle: (id: number, state: DeliveryRow['state'], dueAtMs: number, attempts: Attempt[]) =>
      void settle.run(state, dueAtMs, JSON.stringify(attempts), id),
    /** Puts off, or forward, what waits. */
    move: (id: number, dueAtMs: number) => void move.run(dueAtMs, id),
  };
}
