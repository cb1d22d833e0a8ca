/**
 * Promise M4, the part about outside money: in any order of confirmation, event, poll, expiry, delivery, refund, reversal and dispute, a
 * purchase ends once, its hold is posted or voided once, and all money is booked once. Random schedules of many at once, on one purchase
 * each, with checks that may be older than those before them.
 */
import { expect, it } from 'vitest';
import { bookDispute } from '../../src/payments/store/disputes.ts';
import { HoldConflict } from '../../src/ledger/store/holds.ts';
import type { SeenCharge } from '../../src/purchases/store/payment-bookings.ts';
import { findPayment } from '../../src/payments/store/payments.ts';
import { closeUnpaid, settlePurchase } from '../../src/purchases/store/purchases.ts';
import { failPurchase } from '../support/give-back.ts';
import { closeRefundDone, creditRefund, findOpenRefunds } from '../../src/payments/store/refunds.ts';
import { paymentViolations } from '../support/payment-books.ts';
import { createRandom, size, withSeed, type Random } from '../support/size.ts';
import { CHARGE_MINOR, usePaymentBooks, type Payer } from './payments.support.ts';

const SCHEDULES = size({ ci: 40, prove: 20_000 });
const AT_ONCE = 3;
const STEPS = 10;

const books = usePaymentBooks();

/** The gateway's current state of the charge. */
interface Gateway {
  receivedMinor: bigint;
  sentBackMinor: bigint;
  isReversed: boolean;
}

function seenNow({ receivedMinor, sentBackMinor, isReversed }: Gateway): Partial<SeenCharge> {
  const isGone = receivedMinor > 0n && (isReversed || sentBackMinor >= receivedMinor);
  const state = receivedMinor === 0n ? 'other' : isGone ? 'reversed' : 'paid';
  return { state, netMinor: receivedMinor, gatewayStatus: state };
}

async function unlessConflict(step: Promise<unknown>): Promise<void> {
  await step.catch((error: unknown) => {
    if (!(error instanceof HoldConflict)) throw error;
  });
}

async function moveRefund(payer: Payer, gateway: Gateway, isSent: boolean): Promise<void> {
  const [refund] = await findOpenRefunds(books.world, payer.transactionId);
  if (!refund) return;
  if (!isSent) {
    await creditRefund(books.world, refund, (await findPayment(books.world, payer.reference))!);
  } else if (!gateway.isReversed) {
    const isDone = await closeRefundDone(books.world, refund, { refundId: '1', gatewayStatus: 'processed' });
    if (isDone) gateway.sentBackMinor += refund.amount_minor;
  }
}

const DEEDS = [
  'pay',
  'short',
  'check',
  'check',
  'check',
  'close',
  'settle',
  'fail',
  'reverse',
  'refund',
  'dispute',
] as const;

async function act(payer: Payer, gateway: Gateway, random: Random): Promise<void> {
  const { transactionId, reference } = payer;
  switch (random.pick(DEEDS)) {
    case 'pay':
    case 'short':
      if (!gateway.isReversed)
        gateway.receivedMinor += random.pick([CHARGE_MINOR, CHARGE_MINOR / 2n, CHARGE_MINOR + 1n]);
      return;
    case 'check':
      await books.bookCheck(payer, seenNow(gateway));
      return;
    case 'close':
      await closeUnpaid(books.world, transactionId, 'PAYMENT_EXPIRED');
      return;
    case 'settle':
      return unlessConflict(settlePurchase(books.world, transactionId));
    case 'fail':
      return unlessConflict(failPurchase(books.world, transactionId, { reason: 'OUT_OF_STOCK', detail: '' }));
    case 'reverse':
      if (random.below(3) === 0 && gateway.receivedMinor > 0n) gateway.isReversed = true;
      return;
    case 'refund':
      return moveRefund(payer, gateway, random.below(2) === 0);
    case 'dispute':
      await bookDispute(books.world, reference);
      return;
  }
}

async function schedule(random: Random): Promise<void> {
  const payer = await books.payer();
  const gateway: Gateway = { receivedMinor: 0n, sentBackMinor: 0n, isReversed: false };
  for (let step = 0; step < STEPS; step += 1)
    await Promise.all(Array.from({ length: AT_ONCE }, () => act(payer, gateway, random)));
  await books.bookCheck(payer, seenNow(gateway));
  const { booked_minor: bookedMinor, paid_hold: isPaid } = await books.payment(payer);
  const [status] = (await books.status(payer)).split(',');
  const ends = (await books.timeline(payer)).filter((what) => what === 'delivered' || what === 'failed');
  expect(ends).toHaveLength(status === 'SUCCESS' || status === 'FAILED' ? 1 : 0);
  expect(status !== 'SUCCESS' || isPaid, 'delivered is paid').toBe(true);
  if (!gateway.isReversed && gateway.sentBackMinor === 0n)
    expect(bookedMinor, 'all that came is booked').toBe(gateway.receivedMinor);
  expect(bookedMinor <= gateway.receivedMinor, 'no more is booked than came').toBe(true);
}

it(`${SCHEDULES} random schedules of ${AT_ONCE} at once end each purchase once`, async () => {
  await withSeed(async (seed) => {
    const random = createRandom(seed);
    for (let count = 0; count < SCHEDULES; count += 1) await schedule(random);
    expect(await paymentViolations(books.owner)).toEqual([]);
  });
});
