/** How long rows are kept that the hourly sweep forgets. docs/OPERATIONS.md has every table; a test holds it to the database. */
const DAY_MS = 24 * 3_600_000;

/** Answers to Idempotency-Keys: promised in docs/API.md. */
export const KEEP_KEYS_MS = 30 * DAY_MS;
/** Gateway events, once they are applied. A gateway sends an event again for days; a dispute comes within about four months, as an event of its own. */
export const KEEP_GATEWAY_EVENTS_MS = 90 * DAY_MS;
/** Exchange rates that no order refers to. Sales use rates of the last day; the rest is for looking back. */
export const KEEP_RATES_MS = 90 * DAY_MS;
