/** What a receiver says about when to come back (RFC 9110, Retry-After). Pure; how far it is believed is the schedule's matter. */

const SECONDS = /^\d{1,9}$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** From now, in milliseconds; undefined when it is not said, not readable or over. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  // Stryker disable next-line StringLiteral: whatever is neither seconds nor a date is nothing
  const text = header?.trim() ?? '';
  const ms = SECONDS.test(text)
    ? Number(text) * 1_000
    : HTTP_DATE.test(text)
      ? Date.parse(text) - now.getTime()
      : 0;
  return ms > 0 ? ms : undefined;
}
