/**
 * The vendor's limit: 8 requests in any second, per account. Guarantee: exact over a sliding second; a refused call costs nothing.
 */
const REQUESTS_PER_SECOND = 8;
const WINDOW_MS = 1000;

/** Answers whether the call at `nowMs` is within the limit, and counts it when it is. */
export function createRateLimit(): (nowMs: number) => boolean {
  const recent: number[] = [];
  return (nowMs) => {
    const oldest = recent[0];
    if (recent.length >= REQUESTS_PER_SECOND && oldest !== undefined && nowMs - oldest < WINDOW_MS)
      return false;
    recent.push(nowMs);
    if (recent.length > REQUESTS_PER_SECOND) recent.shift();
    return true;
  };
}
