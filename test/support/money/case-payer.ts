// One payer of the matrix of promise M7: how the service learns of the payment, and how it has ended.
// What happens, and how it must end, is defined by each case.
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { atLockedRate } from '../../../src/payments/booking-rules.ts';
import { findWallet } from '../../../src/ledger/store/ledger.ts';
import { findPayment, type PaymentRow } from '../../../src/payments/store/payments.ts';
import { timelineOf } from '../people/buyer.ts';
import { createSemaphore } from '../time/concurrency.ts';
import { eventsOf, reconcileNow, resend, untilTaken } from './payers.ts';
import { entriesOf } from './payment-books.ts';
import { chargeAt, confirm, type Paid } from './payments.ts';
import type { Random } from '../time/size.ts';
import type { Stack, TestAccount } from '../world/stack.ts';
import { until } from '../time/until.ts';

export const ORDERS = ['event first', 'confirm first', 'poll only'] as const;
export type Order = (typeof ORDERS)[number];

/** The expected end of a case. */
export interface End {
  readonly state: string;
  /** Kinds of ledger transactions, oldest first. */
  readonly ledger: readonly string[];
  /** The part of the charge that is credited to the wallet, in the charge's currency. */
  readonly creditedMinor?: number;
  readonly timelineHas: string;
  readonly refund?: string;
  readonly attention?: string;
}

export interface CasePayer {
  readonly stack: Stack;
  readonly account: TestAccount;
  readonly order: Order;
  readonly random: Random;
  readonly bought: Paid;
  /** The amount to be paid. */
  readonly chargeMinor: number;
  readonly chargeCurrency: string;
}

const ENDS_WITHIN_MS = 90_000;
/** How often confirm-payment checks a closed payment at the gateway. */
const CLOSED_CHECK_EVERY_MS = 2_100;

/** How the service learns of the payment: by the gateway's events, by confirm-payment, or by polling. */
export async function learn(payer: CasePayer): Promise<void> {
  const { stack, account, order, random, bought } = payer;
  if (order === 'event first') await sendEvents(payer);
  if (order === 'confirm first') {
    if ((await stateOf(payer)) !== 'PENDING') await setTimeout(CLOSED_CHECK_EVERY_MS);
    for (let times = 0; times <= random.below(3); times += 1) {
      const { status } = await confirm(stack, account, bought.transactionId);
      expect(status).toBe(200);
    }
  }
  if (order === 'poll only') await findWithoutEvents(payer);
}

/** Every event of the charge, in any order, some of them twice: older ones come again. */
export async function sendEvents({ stack, random, bought }: CasePayer): Promise<void> {
  const events = await eventsOf(stack, bought.reference);
  const shuffled = events
    .flatMap((event) => Array.from({ length: 1 + random.below(3) }, () => event))
    .map((event) => ({ event, at: random.below(1_000) }))
    .toSorted((one, other) => one.at - other.at);
  for (const { event } of shuffled) await resend(stack, event);
  await untilTaken(stack, bought.reference);
}

/**
 * Polling finds money for a payment that has brought none in the gateway's list. A settled payment is
 * compared with the gateway's statement once a day, and an operator then has it checked.
 */
async function findWithoutEvents(payer: CasePayer): Promise<void> {
  const { stack, account, bought } = payer;
  if ((await stateOf(payer)) === 'PENDING') return;
  const before = await bookings(payer);
  const { status } = await chargeAt(stack, bought.reference);
  const isWatched = before === 0 && status === 'success';
  await until(
    async () => {
      if (!isWatched && (await differs(payer))) await confirm(stack, account, bought.transactionId);
      return bookings(payer);
    },
    (now) => now > before,
    { what: 'a booking', everyMs: 1_000, withinMs: ENDS_WITHIN_MS },
  );
}

const comparing = createSemaphore(1);

/** Whether the comparison with the statement lists it. */
async function differs({ stack, bought }: CasePayer): Promise<boolean> {
  await comparing(() => reconcileNow(stack));
  const found = await stack.world
    .selectFrom('reconciliation_differences')
    .select('id')
    .where('subject', '=', bought.reference)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  return found !== undefined;
}

/** How often the ledger has booked an entry for it. */
async function bookings({ stack, bought }: CasePayer): Promise<number> {
  const booked = await stack.world
    .selectFrom('ledger_transactions')
    .select('id')
    .where('transaction_id', '=', bought.transactionId)
    .execute();
  return booked.length;
}

async function paymentOf({ stack, bought }: CasePayer): Promise<PaymentRow> {
  return (await findPayment(stack.world, bought.reference))!;
}

async function rowOf({ stack, bought }: CasePayer) {
  return stack.world
    .selectFrom('purchases')
    .selectAll()
    .where('transaction_id', '=', bought.transactionId)
    .executeTakeFirstOrThrow();
}

export async function stateOf(payer: CasePayer): Promise<string> {
  const { status, reason } = await rowOf(payer);
  return [status, reason].filter(Boolean).join(', ');
}

export async function untilState(payer: CasePayer, state: string): Promise<void> {
  await until(
    () => stateOf(payer),
    (now) => now === state,
    { what: `${payer.bought.transactionId} is ${state}`, withinMs: ENDS_WITHIN_MS },
  );
}

/** Checks everything together; a failure shows the actual and the expected values. */
export async function expectEnd(payer: CasePayer, end: End): Promise<void> {
  const wanted = {
    state: end.state,
    ledger: end.ledger,
    wallet: atLockedRate(BigInt(end.creditedMinor ?? 0), factsOf(await paymentOf(payer))),
    timelineHas: true,
    refund: end.refund ?? 'none',
    attention: end.attention ?? 'none',
  };
  const readEnd = async (): Promise<typeof wanted> => {
    const { stack, account, bought } = payer;
    const whose = { transactionId: bought.transactionId, accountId: account.accountId };
    const refund = await stack.world
      .selectFrom('refunds')
      .select('status')
      .where('transaction_id', '=', bought.transactionId)
      .executeTakeFirst();
    return {
      state: await stateOf(payer),
      ledger: (await entriesOf(stack.owner, whose)).map((line) => line.split(':')[0]!),
      wallet: (await findWallet(stack.world, account.accountId))?.balance.amountMinor ?? 0n,
      timelineHas: (await timelineOf(stack, bought.transactionId)).includes(end.timelineHas),
      refund: refund?.status ?? 'none',
      attention: (await rowOf(payer)).attention_reason ?? 'none',
    };
  };
  const isSo = (seen: object): boolean => toText(seen) === toText(wanted);
  await until(readEnd, isSo, {
    what: `${payer.bought.transactionId} ends as ${toText(wanted)}`,
    withinMs: ENDS_WITHIN_MS,
  });
}

const toText = (value: object): string =>
  JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? String(each) : each));

function factsOf(row: PaymentRow) {
  return {
    chargeMinor: row.charge_minor,
    chargeCurrency: row.charge_currency,
    priceMinor: row.price_minor,
    priceCurrency: row.price_currency,
  };
}
