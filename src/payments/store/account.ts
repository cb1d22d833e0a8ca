/**
 * The account of a payment: one row says where its money is. Received, and vouched for by a person, less what
 * is used for a delivery, credited to a wallet, on its way back, sent back, taken back by a bank, or
 * disputed, is free. Every path takes from what is free, in the statement that decides. The database refuses
 * less than nothing (payment_gives_what_it_has), so nobody has the same money twice, whoever comes first.
 *
 * Amounts are of the charge's currency. Money in another currency is not in this account: it is a refund from
 * the moment it is booked.
 */
import { sql, type RawBuilder } from 'kysely';
import { larger, smaller } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { atLockedRate } from '../booking-rules.ts';
import type { PaymentRow } from './payments.ts';

/** Changes of the account. What they do not add up to comes out of what is free, or becomes free. */
export type Moves = Partial<
  Record<
    'received' | 'vouched' | 'used' | 'credited' | 'refunding' | 'refunded' | 'reversed' | 'disputed',
    bigint
  >
>;

/** Moves money of a payment. Throws where there is less than that. */
export async function moveMoney(trx: WorldDb, reference: string, actions: Moves): Promise<void> {
  await sql`update payments set ${assignments(actions)} where reference = ${reference}`.execute(trx);
}

/** For a `set`. */
export function assignments(actions: Moves): RawBuilder<unknown> {
  const columns = Object.entries(actions).map(
    ([place, minor]) => sql`${sql.ref(`${place}_minor`)} = ${sql.ref(`${place}_minor`)} + ${minor}::bigint`,
  );
  return sql.join([...columns, sql`updated_at = clock_timestamp()`]);
}

/** The columns that say where the money is. */
export type Account = Pick<
  PaymentRow,
  | 'received_minor'
  | 'used_minor'
  | 'credited_minor'
  | 'refunding_minor'
  | 'refunded_minor'
  | 'reversed_minor'
  | 'disputed_minor'
  | 'free_minor'
>;

/** What the gateway can still send back: it has it, and nobody has asked for it or disputes it. */
export function sendableMinor(account: Account): bigint {
  const { received_minor, refunding_minor, refunded_minor, reversed_minor, disputed_minor } = account;
  const leftMinor = received_minor - refunding_minor - refunded_minor - reversed_minor - disputed_minor;
  return larger(leftMinor, 0n);
}

/**
 * Where an amount is taken from: what is free first, then what a delivery has used, then what a wallet got.
 */
export function takeFrom(
  account: Pick<Account, 'free_minor' | 'used_minor' | 'credited_minor'>,
  amountMinor: bigint,
): { readonly free: bigint; readonly used: bigint; readonly credited: bigint } {
  const free = smaller(account.free_minor, amountMinor);
  const used = smaller(account.used_minor, amountMinor - free);
  return { free, used, credited: smaller(account.credited_minor, amountMinor - free - used) };
}

type Locked = Pick<PaymentRow, 'charge_minor' | 'charge_currency' | 'price_minor' | 'price_currency'>;

/** An amount of the charge in the price's currency, at the locked rate. */
export function inPrice(payment: Locked, amountMinor: bigint): bigint {
  return atLockedRate(amountMinor, {
    chargeMinor: payment.charge_minor,
    chargeCurrency: payment.charge_currency,
    priceMinor: payment.price_minor,
    priceCurrency: payment.price_currency,
  });
}

/**
 * What a part of an amount is worth: the parts of an amount add up to what it is worth, in every currency.
 */
export function partInPrice(payment: Locked, wholeMinor: bigint, partMinor: bigint): bigint {
  return inPrice(payment, wholeMinor) - inPrice(payment, wholeMinor - partMinor);
}
