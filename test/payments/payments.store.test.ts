/**
 * Booking what the gateway has received: each rule of docs/API.md's table as rows and ledger entries, and a
 * repeated check changes nothing.
 */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  findCollection,
  closePayment,
  closeExpiredPayments,
  findPayments,
  findPaymentsToClose,
  saveInstructions,
  markPaymentRefused,
  nextPaymentAttempt,
  closeFundingUnpaid,
} from '../../src/payments/store/payments.ts';
import { closeUnpaid, flagAttention } from '../../src/purchases/store/purchases.ts';
import { loadDelivery } from '../../src/purchases/store/supplier-orders.ts';
import { creditRefund } from '../../src/payments/store/refunds.ts';
import {
  CHARGE_MINOR,
  paid,
  PRICE_MINOR,
  REVERSED,
  usePaymentBooks,
  type Payer,
} from './payments.support.ts';
import type { FailureReason } from '../../src/domain/refusals.ts';
import type { SeenCharge } from '../../src/purchases/store/payment-bookings.ts';

const books = usePaymentBooks();
type Booked = Partial<Awaited<ReturnType<typeof books.state>>>;
const GHS = paid(5_000n, 'GHS');
const CAME_AND_WENT =
  'payment-reversed: gateway-clearing:paystack:NGN -2000000, suspense:NGN 2000000, suspense:NGN -2000000, gateway-clearing:paystack:NGN 2000000';
const IN_DOLLARS = { gateway: 'paystack', amountMinor: '1250', currency: 'USD', rateIds: [] };

describe('a purchase that waits for money', () => {
  it('paid exactly is held at the locked rate and PROCESSING, once however often it is seen', async () => {
    const payer = await books.payer();
    expect(await books.bookCheck(payer)).toMatchObject({ what: 'payment-received' });
    for (let again = 0; again < 3; again += 1)
      expect(await books.bookCheck(payer)).toMatchObject({ toHoldMinor: 0n, toWalletMinor: 0n });
    expect(await books.state(payer)).toMatchObject({
      status: 'PROCESSING',
      timeline: ['payment-received'],
      entries: [
        'payment-received: gateway-clearing:paystack:NGN -2000000, exchange:NGN 2000000, exchange:USD -1250, held:USD 1250',
      ],
    });
    expect(await books.payment(payer)).toMatchObject({
      received_minor: CHARGE_MINOR,
      free_minor: CHARGE_MINOR,
      paid_hold: true,
      gateway_status: 'success',
    });
  });

  it('has its time for delivery counted from the payment, not from its start', async () => {
    const payer = await books.payer();
    await sql`update supplier_orders set planned_at = planned_at - interval '1 hour' where id = ${payer.transactionId}`.execute(
      books.owner,
    );
    await books.bookCheck(payer);
    expect((await loadDelivery(books.world, payer.transactionId)).elapsedMs).toBeLessThan(600_000);
  });

  it.each<[string, Partial<SeenCharge>, Booked]>([
    [
      'short ends, and all of it is in the wallet',
      paid(1_600_000n),
      {
        status: 'FAILED, PAYMENT_UNDERPAID',
        balance: 1_000n,
        timeline: ['payment-received-short', 'failed'],
      },
    ],
    [
      'over is delivered, with the excess in the wallet',
      paid(CHARGE_MINOR + 160_000n),
      { status: 'PROCESSING', balance: 100n, timeline: ['payment-received-over'] },
    ],
    [
      'with less than a cent ends, and the ledger has the money',
      paid(1n),
      {
        status: 'FAILED, PAYMENT_UNDERPAID',
        entries: ['payment-received-short: gateway-clearing:paystack:NGN -1, exchange:NGN 1'],
      },
    ],
    [
      'in another currency ends, and the money waits in suspense for its refund',
      GHS,
      {
        status: 'FAILED, PAYMENT_WRONG_CURRENCY',
        balance: 0n,
        entries: [
          'payment-received-in-other-currency: gateway-clearing:paystack:GHS -5000, suspense:GHS 5000',
        ],
        refunds: ['DUE 5000 GHS'],
      },
    ],
    [
      'and reversed before we saw it ends, and the ledger shows both',
      REVERSED,
      {
        status: 'FAILED, PAYMENT_REVERSED',
        timeline: ['payment-reversed', 'failed'],
        entries: [CAME_AND_WENT],
      },
    ],
    [
      'nothing keeps waiting',
      { state: 'other', gatewayStatus: 'abandoned', netMinor: CHARGE_MINOR },
      { status: 'PENDING', timeline: [], entries: [] },
    ],
  ])('paid %s, once however often it is seen', async (_how, seen, booked) => {
    const payer = await books.paidPayer(seen);
    await books.bookCheck(payer, seen);
    expect(await books.state(payer)).toMatchObject(booked);
    const { gatewayStatus = 'success' } = seen;
    expect(await books.payment(payer)).toMatchObject({ gateway_status: gatewayStatus });
  });

  it('paid in the currency of its price needs no exchange', async () => {
    const payer = await books.paidPayer(paid(PRICE_MINOR, 'USD'), { charge: IN_DOLLARS });
    expect(await books.entries(payer)).toEqual([
      'payment-received: gateway-clearing:paystack:USD -1250, held:USD 1250',
    ]);
  });

  it('paid short, and the rest later: that came too late', async () => {
    const payer = await books.paidPayer(paid(1_600_000n));
    await books.bookCheck(payer);
    expect(await books.state(payer)).toMatchObject({
      status: 'FAILED, PAYMENT_UNDERPAID',
      balance: PRICE_MINOR,
    });
  });

  it('paid in another currency twice gets two refunds', async () => {
    const payer = await books.paidPayer(GHS);
    await books.bookCheck(payer, paid(8_000n, 'GHS'));
    expect(await books.state(payer)).toMatchObject({ refunds: ['DUE 5000 GHS', 'DUE 3000 GHS'] });
  });

  it('paid in another currency as well is delivered, and its delivery says that money goes back', async () => {
    const payer = await books.paidPayer();
    await books.bookCheck(payer, GHS);
    expect(await books.state(payer)).toMatchObject({ refunds: ['DUE 5000 GHS'] });
    expect(await books.settle(payer)).toEqual({ isFirst: true, isMoneyOpen: true });
    // Whoever repeats it does not know what a bank did since.
    expect(await books.settle(payer)).toEqual({ isFirst: false, isMoneyOpen: true });
  });
});

describe('a purchase that is closed', () => {
  const close = ({ transactionId }: Payer, reason: FailureReason = 'PAYMENT_EXPIRED') =>
    closeUnpaid(books.world, transactionId, reason);

  it('paid late and reversed before any check has both in the ledger once, and nothing stays', async () => {
    const payer = await books.payer();
    await close(payer);
    for (let again = 0; again < 3; again += 1) await books.bookCheck(payer, REVERSED);
    expect(await books.state(payer)).toMatchObject({
      status: 'FAILED, PAYMENT_EXPIRED',
      attention: null,
      balance: 0n,
      timeline: ['failed', 'payment-reversed'],
      entries: [CAME_AND_WENT],
    });
  });

  it('paid twice has the second payment in the wallet', async () => {
    const payer = await books.deliveredPayer();
    for (let again = 0; again < 2; again += 1) await books.bookCheck(payer, paid(2n * CHARGE_MINOR));
    expect(await books.state(payer)).toMatchObject({
      status: 'SUCCESS',
      balance: PRICE_MINOR,
      timeline: ['payment-received', 'delivered', 'payment-received-again'],
    });
  });

  it('paid by two of its attempts has one as its payment, the other in the wallet', async () => {
    const payer = await books.payer();
    const second = await nextPaymentAttempt(books.world, await books.payment(payer));
    expect(second.reference).toBe(`${payer.transactionId}-2`);
    await books.bookCheck({ ...payer, reference: second.reference });
    await books.bookCheck(payer);
    expect(await books.state(payer)).toMatchObject({
      balance: PRICE_MINOR,
      timeline: ['payment-received', 'payment-received-again'],
    });
    const tries = await findPayments(books.world, payer.transactionId);
    expect(tries.map((row) => row.paid_hold)).toEqual([false, true]);
  });

  it.each(['PAYMENT_EXPIRED', 'PAYMENT_NOT_OPENED'] as const)(
    'paid late, after %s, has the money in the wallet, and stays as it ended',
    async (reason) => {
      const payer = await books.payer();
      expect(await close(payer, reason)).toBe('closed');
      expect(await close(payer, 'PAYMENT_REVERSED')).toBe('closed');
      await books.bookCheck(payer);
      expect(await books.state(payer)).toMatchObject({
        status: `FAILED, ${reason}`,
        balance: PRICE_MINOR,
        timeline: ['failed', 'payment-received-late'],
      });
    },
  );

  it('reversed becomes a reversal in suspense that needs attention, and stays delivered', async () => {
    const payer = await books.deliveredPayer();
    for (let again = 0; again < 3; again += 1) await books.bookCheck(payer, REVERSED);
    const { entries, ...state } = await books.state(payer);
    expect(state).toMatchObject({ status: 'SUCCESS', attention: 'PAYMENT_REVERSED' });
    expect(entries.at(-1)).toBe(
      'payment-reversed: gateway-clearing:paystack:NGN 2000000, suspense:NGN -2000000',
    );
  });

  it('reversed during delivery is not settled nor refunded, and its end says where the money is', async () => {
    const payer = await books.paidPayer();
    await books.bookCheck(payer, REVERSED);
    await expect(books.settle(payer)).rejects.toThrow('should be POSTED');
    expect(await books.status(payer)).toBe('PROCESSING');
    await books.giveUp(payer);
    expect(await books.state(payer)).toMatchObject({
      status: 'FAILED, PAYMENT_REVERSED',
      attention: 'PAYMENT_REVERSED',
      refunds: [],
    });
  });

  it('no longer needs attention for reasons of open purchases once it is delivered', async () => {
    const payer = await books.paidPayer();
    await flagAttention(books.world, payer.transactionId, 'SUPPLIER_NEVER_ALLOCATED');
    expect(await books.attention(payer)).toBe('SUPPLIER_NEVER_ALLOCATED');
    await books.settle(payer);
    expect(await books.attention(payer)).toBe(null);
  });

  it('reversed twice for the same amount has both booked', async () => {
    const { payer } = await books.refundedPayer(paid(2n * CHARGE_MINOR));
    await books.bookCheck(payer, REVERSED);
    const [refund] = await books.refunds(payer);
    expect(await creditRefund(books.world, refund!, await books.payment(payer))).toBe(true);
    await books.bookCheck(payer, REVERSED);
    expect((await books.entries(payer)).filter((line) => line === PAID_BY_WALLET)).toHaveLength(2);
    expect(await books.balance(payer)).toBe(0n);
  });

  it('is not reversed by our own refund', async () => {
    const { payer } = await books.refundedPayer();
    const before = await books.state(payer);
    await books.bookCheck(payer, REVERSED);
    expect(await books.state(payer)).toEqual(before);
  });
});

const PAID_BY_WALLET =
  'payment-reversed: gateway-clearing:paystack:NGN 2000000, exchange:USD 1250, exchange:NGN -2000000, wallet -1250';

describe('a funded wallet', () => {
  const funding = () => books.payer({ purpose: 'funding' });

  it.each([
    ['exactly', CHARGE_MINOR, PRICE_MINOR],
    ['with less', 160_000n, 100n],
    ['with more', 2n * CHARGE_MINOR, 2n * PRICE_MINOR],
  ])('%s: is credited with what came', async (_how, netMinor, creditMinor) => {
    const payer = await funding();
    await books.bookCheck(payer, paid(netMinor));
    await books.bookCheck(payer, paid(netMinor));
    expect(await books.status(payer)).toBe('SUCCESS');
    expect(await books.balance(payer)).toBe(creditMinor);
    await books.bookCheck(payer, paid(netMinor + 160_000n));
    expect(await books.balance(payer), 'again').toBe(creditMinor + 100n);
  });

  it('in another currency is FAILED, and the money is refunded', async () => {
    const payer = await books.paidPayer(GHS, { purpose: 'funding' });
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_WRONG_CURRENCY');
    expect((await books.refunds(payer)).map((refund) => refund.amount_minor)).toEqual([5_000n]);
  });

  it('paid after it expired is credited all the same, and stays as it ended', async () => {
    const payer = await funding();
    expect(await closeFundingUnpaid(books.world, payer.transactionId, 'PAYMENT_EXPIRED')).toBe('closed');
    await books.bookCheck(payer);
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_EXPIRED');
    expect(await books.balance(payer)).toBe(PRICE_MINOR);
    expect(await closeFundingUnpaid(books.world, payer.transactionId, 'PAYMENT_REVERSED')).toBe('closed');
  });

  it('reversed before it was seen fails; reversed afterwards, the wallet pays it', async () => {
    const early = await books.paidPayer({ state: 'reversed' }, { purpose: 'funding' });
    expect(await books.status(early)).toBe('FAILED, PAYMENT_REVERSED');
    const late = await books.fundedPayer();
    await books.bookCheck(late, { state: 'reversed' });
    expect(await books.state(late)).toMatchObject({ status: 'SUCCESS', balance: 0n });
    expect((await books.entries(late)).at(-1)).toBe(PAID_BY_WALLET);
  });
});

describe('the rows of payments', () => {
  it('an attempt begins once, keeps its first instructions, and is refused only while nothing is known', async () => {
    const payer = await books.payer();
    expect(await findCollection(books.world, payer.transactionId)).toMatchObject({
      payment: { attempt: 1 },
      status: 'PENDING',
    });
    const account = { bankName: 'Test Bank', accountNumber: '0123456789', accountName: 'Simway' };
    const other = { kind: 'bank-transfer', ...account, expiresAt: new Date() } as const;
    await saveInstructions(books.world, payer.reference, other);
    await markPaymentRefused(books.world, payer.reference);
    expect(await books.payment(payer)).toMatchObject({
      status: 'OPEN',
      instructions: { paymentUrl: 'https://checkout.example.com/1' },
    });
    const tries = await Promise.all(
      Array.from({ length: 4 }, async () => nextPaymentAttempt(books.world, await books.payment(payer))),
    );
    expect(new Set(tries.map((row) => row.reference))).toEqual(new Set([`${payer.transactionId}-2`]));
    await markPaymentRefused(books.world, tries[0]!.reference);
    expect((await findPayments(books.world, payer.transactionId)).map((row) => row.status)).toEqual([
      'OPEN',
      'REFUSED',
    ]);
  });

  it('monitoring ends after some days: at once if the payment is known to be over, otherwise after a last check', async () => {
    const [paidOne, abandoned, waiting, unchecked] = await Promise.all(
      Array.from({ length: 4 }, () => books.payer()),
    );
    await books.bookCheck(paidOne!);
    await books.bookCheck(abandoned!, { state: 'other', gatewayStatus: 'abandoned' });
    await books.bookCheck(waiting!, { state: 'other', gatewayStatus: 'ongoing' });
    const limit = 1_000;
    const which = { expiredForMs: 72 * 3_600_000, limit };
    expect(await closeExpiredPayments(books.world, which)).toBe(0);
    expect(await findPaymentsToClose(books.world, which)).toEqual([]);

    await sql`update payments set expires_at = clock_timestamp() - interval '73 hours'`.execute(books.owner);
    expect(await closeExpiredPayments(books.world, { ...which, limit: 1 }), 'in batches').toBe(1);
    await closeExpiredPayments(books.world, which);
    for (const payer of [paidOne!, abandoned!])
      expect(await books.payment(payer)).toMatchObject({ status: 'CLOSED' });
    const left = (await findPaymentsToClose(books.world, which)).map((row) => row.reference);
    for (const payer of [waiting!, unchecked!]) expect(left).toContain(payer.reference);
    await closePayment(books.world, waiting!.reference);
    expect(await findPaymentsToClose(books.world, which)).toHaveLength(left.length - 1);
  });
});
