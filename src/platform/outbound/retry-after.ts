const SECONDS = /^\d{1,9}$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The wait that a Retry-After header (RFC 9110) asks for. undefined: absent, unreadable or in the past. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  // Stryker disable next-line StringLiteral: any text that is neither seconds nor a date gives undefined
  const text = header?.trim() ?? '';
  const ms = SECONDS.test(text)
    ? Number(text) * 1_000
    : HTTP_DATE.test(text)
      ? Date.parse(text) - now.getTime()
      : 0;
  return ms > 0 ? ms : undefined;
}
