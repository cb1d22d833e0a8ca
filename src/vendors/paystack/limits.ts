/**
 * What the vendor serves, from its pages (payment channels; errors): which method in which currency, amounts
 * and references. What one account has switched on, only the vendor's answers say.
 */
import type { Money } from '../../domain/money.ts';
import type { GatewayMethod } from '../../domain/states.ts';
import type { GatewayRefusal } from '../../payments/port.ts';

/**
 * 10,000,000.00 of every currency; the page does not say of which unit, and this reading is the stricter one.
 */
const MAX_MINOR = 1_000_000_000n;

/** The least amount of a transaction, in hundredths. */
const MIN_MINOR = new Map<string, bigint>([
  ['NGN', 50_00n],
  ['USD', 2_00n],
  ['GHS', 10n],
  ['ZAR', 1_00n],
  ['KES', 3_00n],
  ['XOF', 1_00n],
]);
/** Pay with transfer starts higher than the rest. */
const MIN_TRANSFER_MINOR = 100_00n;

const CURRENCIES: Readonly<Record<GatewayMethod, readonly string[]>> = {
  CARD: ['NGN', 'USD', 'GHS', 'ZAR', 'KES', 'XOF'],
  // All markets but South Africa.
  APPLE_PAY: ['NGN', 'USD', 'GHS', 'KES', 'XOF'],
  BANK_TRANSFER: ['NGN'],
  MOBILE_MONEY: ['GHS', 'KES', 'XOF'],
};

/** The least and the most that a method takes in a currency; undefined where it does not serve it. */
export function limitsOf(method: GatewayMethod, currency: string) {
  const minMinor = MIN_MINOR.get(currency);
  // Stryker disable next-line ConditionalExpression: no method has a currency that is not in the list above
  if (minMinor === undefined || !CURRENCIES[method].includes(currency)) return undefined;
  return { minMinor: method === 'BANK_TRANSFER' ? MIN_TRANSFER_MINOR : minMinor, maxMinor: MAX_MINOR };
}

/** Why an amount cannot be charged by a method; undefined when it can. */
export function refusalOf(
  method: GatewayMethod,
  { amountMinor, currency }: Money,
): GatewayRefusal | undefined {
  const limits = limitsOf(method, currency);
  if (limits === undefined) return MIN_MINOR.has(currency) ? 'METHOD_NOT_SERVED' : 'CURRENCY_NOT_SERVED';
  return amountMinor < limits.minMinor || amountMinor > limits.maxMinor ? 'AMOUNT_NOT_SERVED' : undefined;
}

/**
 * Whether the vendor can hold anything under this reference: its alphabet, and nothing that means something
 * else in a path.
 */
export function isReference(reference: string): boolean {
  return /^(?!\.+$)[A-Za-z0-9.=-]{1,100}$/.test(reference);
}
