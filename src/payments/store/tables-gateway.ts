/** The rows of what the payment gateway tells: its events, and how far its list was read. */
import type { Generated } from 'kysely';

/** Ten minutes of the gateway's list, by when its charges were opened. */
export interface GatewayWindowsTable {
  starts_at: Date;
  /** When it should be read next. */
  wanted_at: Date;
  /** When it is tried next: later than wanted while somebody reads it, or the list is away. */
  due_at: Date;
  /** How many of its charges were paid when all of those were booked; null: never, or not all. */
  settled_total: number | null;
}

export interface GatewayEventsTable {
  id: Generated<bigint>;
  gateway: string;
  event_key: string;
  type: string;
  about: string;
  reference: string | null;
  email: string | null;
  received_at: Generated<Date>;
  applied_at: Date | null;
  note: string | null;
}
