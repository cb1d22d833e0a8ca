import { formatRateMicros } from '../../catalogue/pricing.ts';

const PLAIN_DECIMAL = /^(\d{1,12})(?:\.(\d{1,30}))?$/;

/**
 * A provider's rate with at most six decimals, rounded half up without floating point. null for everything
 * that is not a positive plain decimal (signs, exponents, words) or that rounds to zero.
 */
export function rateText(written: unknown): string | null {
  const match = typeof written === 'string' ? PLAIN_DECIMAL.exec(written) : null;
  if (match?.[1] === undefined) return null;
  const fraction = (match[2] ?? '').padEnd(6, '0');
  const micros = BigInt(match[1] + fraction.slice(0, 6)) + (/^[5-9]/.test(fraction.slice(6)) ? 1n : 0n);
  return micros === 0n ? null : formatRateMicros(micros);
}
