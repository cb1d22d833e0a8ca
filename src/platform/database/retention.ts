/** Deletes old rows in batches, so that no statement holds its locks for long. */

/** How long rows are kept. docs/OPERATIONS.md lists every table; a test compares it with the database. */
const DAY_MS = 24 * 3_600_000;

/** Answers to Idempotency-Keys: promised in docs/API.md. */
export const KEEP_KEYS_MS = 30 * DAY_MS;
/** Gateway events, once they are applied. A gateway sends an event again for days; a dispute comes within about four months, as an event of its own. */
export const KEEP_GATEWAY_EVENTS_MS = 90 * DAY_MS;
/** Exchange rates that no order refers to. Sales use rates of the last day; the rest is for looking back. */
export const KEEP_RATES_MS = 90 * DAY_MS;

/** A statement that deletes so many rows takes tens of milliseconds. */
const BATCH = 1_000;

/** Deletes batch after batch until one is not full, or `isOver`: the next run goes on. Answers how many rows. */
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
