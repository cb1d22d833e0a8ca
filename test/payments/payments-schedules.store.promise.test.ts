/**
 * Promise M4, the part about money through the gateway: in any order of confirmation, event, poll, expiry,
 * delivery, refund, reversal and dispute, a purchase ends once, its hold is posted or voided once, and all
 * money is booked once. Random schedules of many at once, on one purchase each, with checks that may be older
 * than those before them.
 */
import { expect, it } from 'vitest';
import type { DisputeState } from '../../src/payments/rules.ts';
import { bookTaken, closeDispute, findOpenDisputes, releaseRisk } from '../../src/payments/store/disputes.ts';
import { lockPayments } from '../../src/payments/store/lock-order.ts';
import { HoldConflict } from '../../src/ledger/store/holds.ts';
import type { SeenCharge } from '../../src/purchases/store/payment-bookings.ts';
import { closeFundingUnpaid, findPayment } from '../../src/payments/store/payments.ts';
import { closeUnpaid, settlePurchase } from '../../src/purchases/store/purchases.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { closeRefundDone, creditRefund } from '../../src/payments/store/refunds.ts';
import { paymentViolations } from '../support/money/payment-books.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
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
  /** Its disputes, the oldest first. */
  readonly disputes: { readonly amountMinor: bigint | null; state: DisputeState }[];
}

function seenNow({ receivedMinor, sentBackMinor, isReversed }: Gateway): Partial<SeenCharge> {
  const isGone = receivedMinor > 0n && (isReversed || sentBackMinor >= receivedMinor);
  const state = receivedMinor === 0n ? 'other' : isGone ? 'reversed' : 'paid';
  const refunds = sentBackMinor === 0n ? {} : { refunds: { oursMinor: sentBackMinor, othersMinor: 0n } };
  return { state, netMinor: receivedMinor, gatewayStatus: state, ...refunds };
}

async function unlessConflict(step: Promise<unknown>): Promise<void> {
  await step.catch((error: unknown) => {
    if (!(error instanceof HoldConflict)) throw error;
  });
}

async function moveRefund(payer: Payer, gateway: Gateway, isSent: boolean): Promise<void> {
  const [refund] = await books.refunds(payer);
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
  'dispute',
  'settle-dispute',
] as const;

/** The bank opens one, of all or of a part, or ends one; a check may see it, or see nothing. */
async function dispute(payer: Payer, { disputes }: Gateway, random: Random): Promise<void> {
  if (disputes.length < 2 && random.below(2) === 0)
    disputes.push({ amountMinor: random.pick([null, CHARGE_MINOR / 4n, CHARGE_MINOR]), state: 'open' });
  const open = disputes.find(({ state }) => state === 'open');
  if (open && random.below(3) === 0) open.state = random.pick(['won', 'lost', 'unknown'] as const);
  for (const [nth, { amountMinor, state }] of disputes.entries()) {
    const amount = amountMinor === null ? null : { amountMinor, currency: 'NGN' };
    await books.dispute(payer, { disputeId: `${nth}`, amount, state });
  }
}

/** As a person states it, who may override the gateway. */
async function settleDispute({ transactionId }: Payer, random: Random): Promise<void> {
  const outcome = random.pick(['WON', 'LOST'] as const);
  await books.world.transaction().execute(async (trx) => {
    await lockPayments(trx, transactionId);
    const [open] = await findOpenDisputes(trx, transactionId);
    if (!open) return;
    if (open.money === 'AT_RISK') await (outcome === 'WON' ? releaseRisk : bookTaken)(trx, open);
    await closeDispute(trx, open, { outcome, actionId: 'a test' });
  });
}

async function act(payer: Payer, gateway: Gateway, random: Random): Promise<void> {
  const { transactionId } = payer;
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
      await (payer.purpose === 'funding' ? closeFundingUnpaid : closeUnpaid)(
        books.world,
        transactionId,
        'PAYMENT_EXPIRED',
      );
      return;
    case 'settle':
      if (payer.purpose === 'funding') return;
      return unlessConflict(settlePurchase(books.world, transactionId));
    case 'fail':
      if (payer.purpose === 'funding') return;
      return unlessConflict(failPurchase(books.world, transactionId, { reason: 'OUT_OF_STOCK', detail: '' }));
    case 'reverse':
      if (random.below(3) === 0 && gateway.receivedMinor > 0n) gateway.isReversed = true;
      return;
    case 'refund':
      return moveRefund(payer, gateway, random.below(2) === 0);
    case 'dispute':
      return dispute(payer, gateway, random);
    case 'settle-dispute':
      return settleDispute(payer, random);
  }
}

async function schedule(random: Random): Promise<void> {
  const payer = await books.payer({ purpose: random.pick(['purchase', 'purchase', 'funding'] as const) });
  const isFunding = payer.purpose === 'funding';
  const gateway: Gateway = { receivedMinor: 0n, sentBackMinor: 0n, isReversed: false, disputes: [] };
  for (let step = 0; step < STEPS; step += 1)
    await Promise.all(Array.from({ length: AT_ONCE }, () => act(payer, gateway, random)));
  await books.bookCheck(payer, seenNow(gateway));
  const { received_minor: bookedMinor, paid_hold: isPaid } = await books.payment(payer);
  const [status] = (await books.status(payer)).split(',');
  const ends = (await books.timeline(payer)).filter((what) => what === 'delivered' || what === 'failed');
  if (!isFunding) {
    expect(ends).toHaveLength(status === 'SUCCESS' || status === 'FAILED' ? 1 : 0);
    expect(status !== 'SUCCESS' || isPaid, 'delivered is paid').toBe(true);
  }
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
