const DECIMALS = 6;
const PLAIN_DECIMAL = /^(\d{1,12})(?:\.(\d{1,30}))?$/;

/**
 * A provider's rate with at most six decimals, rounded half up, without ever being a floating-point number. null for everything that is not a
 * positive plain decimal (signs, exponents, words) or that rounds to zero.
 */
export function rateText(written: unknown): string | null {
  const match = typeof written === 'string' ? PLAIN_DECIMAL.exec(written) : null;
  if (match?.[1] === undefined) return null;
  const fraction = (match[2] ?? '').padEnd(DECIMALS, '0');
  const micros =
    BigInt(match[1] + fraction.slice(0, DECIMALS)) + (/^[5-9]/.test(fraction.slice(DECIMALS)) ? 1n : 0n);
  if (micros === 0n) return null;
  const digits = micros.toString().padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`.replace(/\.?0+$/, '');
}
