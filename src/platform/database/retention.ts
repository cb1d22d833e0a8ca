/** Deletes old rows in batches, so that no statement holds its locks for long. */
import { DAY_MS } from '../../domain/clock.ts';

/** How long rows are kept. docs/CAPACITY.md lists every table; a test compares it with the database. */

/** Answers to Idempotency-Keys: promised in docs/API.md. */
export const KEEP_KEYS_MS = 30 * DAY_MS;
/**
 * Gateway events, once they are applied. A gateway sends an event again for days; a dispute comes within
 * about four months, as an event of its own.
 */
export const KEEP_GATEWAY_EVENTS_MS = 90 * DAY_MS;
/** Supplier events, once the supplier was asked: long enough to find out why a merchant was notified late. */
export const KEEP_SUPPLIER_EVENTS_MS = 30 * DAY_MS;
/** Events that came from none of the supplier's addresses: anyone can send them. */
export const KEEP_FOREIGN_EVENTS_MS = DAY_MS;
/**
 * Exchange rates that no order refers to. Sales use rates of the last day; the rest is for questions about
 * the past.
 */
export const KEEP_RATES_MS = 90 * DAY_MS;
/**
 * Addresses of travellers, once their e-mail is sent or given up: long enough to answer who asks where it
 * went.
 */
export const KEEP_TRAVELLER_EMAILS_MS = 30 * DAY_MS;
/**
 * Addresses of buyers, from the opening on: the gateway needs them for a charge, which is opened within
 * hours.
 */
export const KEEP_BUYER_EMAILS_MS = 30 * DAY_MS;
/** Balances at suppliers: a quarter, so that the sales of a season can be compared. */
export const KEEP_SUPPLIER_BALANCES_MS = 90 * DAY_MS;
/** Alerts that are over, and what was sent about them. */
export const KEEP_ALERTS_MS = 90 * DAY_MS;
/** Events in the feed: promised in docs/API.md. */
export const KEEP_EVENTS_MS = 30 * DAY_MS;

/**
 * Quotes, after they expired. Longer than the day in which a purchase that was asked for with one may still
 * be opened.
 */
export const KEEP_QUOTES_MS = 7 * DAY_MS;

/** Refusals without another row. Longer than the day in which what our API has signed may be opened. */
export const KEEP_REFUSED_IDS_MS = 2 * DAY_MS;

/** A statement that deletes this many rows takes tens of milliseconds. */
const BATCH = 1_000;

/**
 * Deletes batch after batch until one is not full, or `isOver`: the next run continues. Returns how many rows
 * it deleted.
 */
export async function inBatches(
  deleteAtMost: (limit: number) => Promise<number>,
  isOver: () => boolean = () => false,
): Promise<number> {
  let deleted = 0;
  for (;;) {
    const count = await deleteAtMost(BATCH);
    deleted += count;
    if (count < BATCH || isOver()) return deleted;
  }
}
