/**
 * What is decided before a payment at the gateway is begun: its amount and currency, and whether the account
 * may open one more.
 */
import type { Catalogue } from '../catalogue/memory.ts';
import { sellingRate } from '../catalogue/prices.ts';
import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { divideHalfUp, formatMinor, type Money } from '../domain/money.ts';
import type { GatewayMethod } from '../domain/states.ts';
import type { PaymentDeps } from './deps.ts';
import { ifReachable, refused } from './first-answer.ts';
import { convertBetween, WITHOUT_FRACTION, type ChargeQuote } from './rules.ts';
import { countUnpaid } from './store/payments.ts';

type ChargeDeps = Pick<PaymentDeps, 'clock' | 'settings' | 'gateway'>;

const ONE_DOLLAR_MICROS = 1_000_000n;

/**
 * The charge for a price: in the method's currency, at a rate that is locked with it.
 * PAYMENT_METHOD_UNAVAILABLE names what does not fit.
 */
export function quoteCharge(
  deps: ChargeDeps,
  catalogue: Catalogue,
  method: GatewayMethod,
  price: Money,
): ChargeQuote {
  const currency = chargeCurrency(deps, method, price.currency);
  const limits = deps.gateway.limits(method, currency);
  if (!limits) throw unavailable(`${method} cannot be paid in ${currency}`);
  const charge = convert(deps, catalogue, price, currency);
  if (charge.amountMinor < limits.minMinor || charge.amountMinor > limits.maxMinor) {
    throw unavailable(
      `${method} takes ${currency} ${formatMinor(limits.minMinor)} to ${formatMinor(limits.maxMinor)}, this would be ${currency} ${formatMinor(charge.amountMinor)}`,
    );
  }
  return {
    gateway: deps.gateway.name,
    amountMinor: String(charge.amountMinor),
    currency,
    rateIds: charge.rateIds,
  };
}

function chargeCurrency(deps: ChargeDeps, method: GatewayMethod, priceCurrency: string): string {
  if (method === 'BANK_TRANSFER') return 'NGN';
  if (method !== 'MOBILE_MONEY') return priceCurrency;
  const currency = deps.settings.mobileMoneyCurrency;
  if (currency === undefined) throw unavailable('MOBILE_MONEY is not offered here');
  return currency;
}

function convert(deps: ChargeDeps, catalogue: Catalogue, price: Money, currency: string) {
  if (price.currency === currency) return { amountMinor: price.amountMinor, rateIds: [] };
  const rateOf = (wanted: string) =>
    wanted === 'USD' ? { id: undefined, micros: ONE_DOLLAR_MICROS } : sellingRate(deps, catalogue, wanted);
  const [from, to] = [rateOf(price.currency), rateOf(currency)];
  const amountMinor = convertBetween(price.amountMinor, from.micros, to.micros);
  return {
    amountMinor: WITHOUT_FRACTION.has(currency) ? divideHalfUp(amountMinor, 100n) * 100n : amountMinor,
    rateIds: [from.id, to.id].filter((id) => id !== undefined),
  };
}

/** In the message, since not every shape of an error has details. */
function unavailable(message: string): DomainError {
  return new DomainError('PAYMENT_METHOD_UNAVAILABLE', message);
}

/**
 * Refuses before anything is started. TOO_MANY_UNPAID_PAYMENTS. The step that opens the payment counts again
 * under a lock, for requests that come together; it also decides while the database is away here.
 */
export async function requireUnpaidQuota(
  {
    db,
    events,
    settings,
  }: Pick<PaymentDeps, 'db' | 'events'> & {
    readonly settings: Pick<PaymentDeps['settings'], 'unpaidLimits'>;
  },
  { account }: Principal,
): Promise<void> {
  const limit = settings.unpaidLimits[account.plan];
  const open = await ifReachable(() => countUnpaid(db, account.id, limit));
  if (open === undefined || open < limit) return;
  events.unpaidRefused({ accountId: account.id });
  throw refused({ reason: 'TOO_MANY_UNPAID_PAYMENTS', detail: `${open} are open` });
}
