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
import { closeUnpaid, flagAttention, settlePurchase } from '../../src/purchases/store/purchases.ts';
import { loadDelivery } from '../../src/purchases/store/supplier-orders.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { creditRefund, findOpenRefunds } from '../../src/payments/store/refunds.ts';
import { entriesOf } from '../support/money/payment-books.ts';
import { CHARGE_MINOR, paid, PRICE_MINOR, usePaymentBooks } from './payments.support.ts';

const books = usePaymentBooks();
const entries = (payer: { transactionId: string; accountId: string }) => entriesOf(books.owner, payer);

describe('a purchase that waits for money', () => {
  it('paid exactly is held at the locked rate and PROCESSING, once however often it is seen', async () => {
    const payer = await books.payer();
    expect(await books.bookCheck(payer)).toMatchObject({ what: 'payment-received' });
    for (let again = 0; again < 3; again += 1)
      expect(await books.bookCheck(payer)).toMatchObject({ toHoldMinor: 0n, toWalletMinor: 0n });
    expect(await books.status(payer)).toBe('PROCESSING');
    expect(await entries(payer)).toEqual([
      'payment-received: gateway-clearing:paystack:NGN -2000000, exchange:NGN 2000000, exchange:USD -1250, held:USD 1250',
    ]);
    expect(await books.payment(payer)).toMatchObject({
      received_minor: CHARGE_MINOR,
      free_minor: CHARGE_MINOR,
      paid_hold: true,
      gateway_status: 'success',
    });
    expect(await books.timeline(payer)).toEqual(['opened', 'payment-received']);
  });

  it('has its time for delivery counted from the payment, not from its start', async () => {
    const payer = await books.payer();
    await sql`update supplier_orders set planned_at = planned_at - interval '1 hour' where id = ${payer.transactionId}`.execute(
      books.owner,
    );
    await books.bookCheck(payer);
    expect((await loadDelivery(books.world, payer.transactionId)).elapsedMs).toBeLessThan(600_000);
  });

  it('paid in the currency of its price needs no exchange', async () => {
    const payer = await books.payer({
      charge: { gateway: 'paystack', amountMinor: '1250', currency: 'USD', rateIds: [] },
    });
    await books.bookCheck(payer, paid(PRICE_MINOR, 'USD'));
    expect(await entries(payer)).toEqual([
      'payment-received: gateway-clearing:paystack:USD -1250, held:USD 1250',
    ]);
  });

  it('paid short ends, and all of it is in the wallet', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer, paid(1_600_000n));
    await books.bookCheck(payer, paid(1_600_000n));
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_UNDERPAID');
    expect(await books.balance(payer)).toBe(1_000n);
    expect(await books.timeline(payer)).toEqual(['opened', 'payment-received-short', 'failed']);
    await books.bookCheck(payer, paid(CHARGE_MINOR));
    expect(await books.balance(payer), 'the rest came too late').toBe(PRICE_MINOR);
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_UNDERPAID');
  });

  it('paid over is delivered, with the excess in the wallet', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer, paid(CHARGE_MINOR + 160_000n));
    expect(await books.status(payer)).toBe('PROCESSING');
    expect(await books.balance(payer)).toBe(100n);
    expect(await books.timeline(payer)).toEqual(['opened', 'payment-received-over']);
  });

  it('paid with less than a cent ends, and the ledger has the money', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer, paid(1n));
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_UNDERPAID');
    expect(await entries(payer)).toEqual([
      'payment-received-short: gateway-clearing:paystack:NGN -1, exchange:NGN 1',
    ]);
  });

  it('paid in another currency ends, and the money waits in suspense for its refund', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer, paid(5_000n, 'GHS'));
    await books.bookCheck(payer, paid(5_000n, 'GHS'));
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_WRONG_CURRENCY');
    expect(await entries(payer)).toEqual([
      'payment-received-in-other-currency: gateway-clearing:paystack:GHS -5000, suspense:GHS 5000',
    ]);
    expect(await refunds(payer)).toEqual(['DUE 5000 GHS']);
    expect(await books.balance(payer)).toBe(0n);
  });

  it('paid in another currency twice gets two refunds', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer, paid(5_000n, 'GHS'));
    await books.bookCheck(payer, paid(8_000n, 'GHS'));
    expect(await refunds(payer)).toEqual(['DUE 5000 GHS', 'DUE 3000 GHS']);
  });

  it('paid in another currency as well is delivered, and its delivery says that money goes back', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer);
    await books.bookCheck(payer, paid(5_000n, 'GHS'));
    expect(await refunds(payer)).toEqual(['DUE 5000 GHS']);
    const { transactionId } = payer;
    expect(await settlePurchase(books.world, transactionId)).toEqual({ isFirst: true, isMoneyOpen: true });
    // Whoever repeats it does not know what a bank did since.
    expect(await settlePurchase(books.world, transactionId)).toEqual({ isFirst: false, isMoneyOpen: true });
  });

  it('paid and reversed before we saw it ends, and the ledger shows both', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer, { state: 'reversed', gatewayStatus: 'reversed' });
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_REVERSED');
    expect(await entries(payer)).toEqual([
      'payment-reversed: gateway-clearing:paystack:NGN -2000000, suspense:NGN 2000000, suspense:NGN -2000000, gateway-clearing:paystack:NGN 2000000',
    ]);
    expect(await books.timeline(payer)).toEqual(['opened', 'payment-reversed', 'failed']);
    await books.bookCheck(payer, { state: 'reversed', gatewayStatus: 'reversed' });
    expect(await books.timeline(payer)).toHaveLength(3);
  });

  it('keeps waiting in every state without money', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer, { state: 'other', gatewayStatus: 'abandoned', netMinor: CHARGE_MINOR });
    expect(await books.status(payer)).toBe('PENDING');
    expect(await books.payment(payer)).toMatchObject({ gateway_status: 'abandoned' });
  });
});

describe('a purchase that is closed', () => {
  it('paid late and reversed before any check has both in the ledger once, and nothing stays', async () => {
    const payer = await books.payer();
    await closeUnpaid(books.world, payer.transactionId, 'PAYMENT_EXPIRED');
    for (let again = 0; again < 3; again += 1)
      await books.bookCheck(payer, { state: 'reversed', gatewayStatus: 'reversed' });
    expect(await entries(payer)).toEqual([
      'payment-reversed: gateway-clearing:paystack:NGN -2000000, suspense:NGN 2000000, suspense:NGN -2000000, gateway-clearing:paystack:NGN 2000000',
    ]);
    expect(await books.timeline(payer)).toEqual(['opened', 'failed', 'payment-reversed']);
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_EXPIRED');
    expect([await books.balance(payer), await attention(payer)]).toEqual([0n, null]);
  });

  it('paid twice has the second payment in the wallet', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer);
    await settlePurchase(books.world, payer.transactionId);
    await books.bookCheck(payer, paid(2n * CHARGE_MINOR));
    await books.bookCheck(payer, paid(2n * CHARGE_MINOR));
    expect(await books.status(payer)).toBe('SUCCESS');
    expect(await books.balance(payer)).toBe(PRICE_MINOR);
    expect(await books.timeline(payer)).toEqual([
      'opened',
      'payment-received',
      'delivered',
      'payment-received-again',
    ]);
  });

  it('paid by two of its attempts has one as its payment, the other in the wallet', async () => {
    const payer = await books.payer();
    const first = await books.payment(payer);
    const second = await nextPaymentAttempt(books.world, first);
    expect(second.reference).toBe(`${payer.transactionId}-2`);
    await books.bookCheck({ ...payer, reference: second.reference });
    await books.bookCheck(payer);
    expect(await books.balance(payer)).toBe(PRICE_MINOR);
    expect(await books.timeline(payer)).toEqual(['opened', 'payment-received', 'payment-received-again']);
    expect((await findPayments(books.world, payer.transactionId)).map((row) => row.paid_hold)).toEqual([
      false,
      true,
    ]);
  });

  it.each(['PAYMENT_EXPIRED', 'PAYMENT_NOT_OPENED'] as const)(
    'paid late, after %s, has the money in the wallet, and stays as it ended',
    async (reason) => {
      const payer = await books.payer();
      expect(await closeUnpaid(books.world, payer.transactionId, reason)).toBe('closed');
      expect(await closeUnpaid(books.world, payer.transactionId, 'PAYMENT_REVERSED')).toBe('closed');
      await books.bookCheck(payer);
      expect(await books.status(payer)).toBe(`FAILED, ${reason}`);
      expect(await books.balance(payer)).toBe(PRICE_MINOR);
      expect(await books.timeline(payer)).toEqual(['opened', 'failed', 'payment-received-late']);
    },
  );

  it('reversed becomes a reversal in suspense that needs attention, and stays delivered', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer);
    await settlePurchase(books.world, payer.transactionId);
    for (let again = 0; again < 3; again += 1)
      await books.bookCheck(payer, { state: 'reversed', gatewayStatus: 'reversed' });
    expect(await books.status(payer)).toBe('SUCCESS');
    expect((await entries(payer)).at(-1)).toBe(
      'payment-reversed: gateway-clearing:paystack:NGN 2000000, suspense:NGN -2000000',
    );
    expect(await attention(payer)).toBe('PAYMENT_REVERSED');
  });

  it('reversed during delivery is not settled, and its end says where the money is', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer);
    await books.bookCheck(payer, { state: 'reversed', gatewayStatus: 'reversed' });
    await expect(settlePurchase(books.world, payer.transactionId)).rejects.toThrow('should be POSTED');
    expect(await books.status(payer)).toBe('PROCESSING');
    await failPurchase(books.world, payer.transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_REVERSED');
    expect(await attention(payer)).toBe('PAYMENT_REVERSED');
  });

  it('no longer needs attention for reasons of open purchases once it is delivered', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer);
    await flagAttention(books.world, payer.transactionId, 'SUPPLIER_NEVER_ALLOCATED');
    expect(await attention(payer)).toBe('SUPPLIER_NEVER_ALLOCATED');
    await settlePurchase(books.world, payer.transactionId);
    expect(await attention(payer)).toBe(null);
  });

  it('is not refunded when its money was reversed', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer);
    await books.bookCheck(payer, { state: 'reversed', gatewayStatus: 'reversed' });
    await failPurchase(books.world, payer.transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
    expect(await refunds(payer)).toEqual([]);
  });

  it('reversed twice for the same amount has both booked', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer, paid(2n * CHARGE_MINOR));
    await failPurchase(books.world, payer.transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
    await books.bookCheck(payer, { state: 'reversed', gatewayStatus: 'reversed' });
    const [refund] = await findOpenRefunds(books.world, payer.transactionId);
    expect(await creditRefund(books.world, refund!, await books.payment(payer))).toBe(true);
    await books.bookCheck(payer, { state: 'reversed', gatewayStatus: 'reversed' });
    const reversal =
      'payment-reversed: gateway-clearing:paystack:NGN 2000000, exchange:USD 1250, exchange:NGN -2000000, wallet -1250';
    expect((await entries(payer)).filter((line) => line === reversal)).toHaveLength(2);
    expect(await books.balance(payer)).toBe(0n);
  });

  it('is not reversed by our own refund', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer);
    await failPurchase(books.world, payer.transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
    const before = await entries(payer);
    await books.bookCheck(payer, { state: 'reversed', gatewayStatus: 'reversed' });
    expect(await entries(payer)).toEqual(before);
    expect(await attention(payer)).toBe(null);
  });
});

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
    const payer = await funding();
    await books.bookCheck(payer, paid(5_000n, 'GHS'));
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_WRONG_CURRENCY');
    expect(await refunds(payer)).toEqual(['DUE 5000 GHS']);
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
    const [early, late] = [await funding(), await funding()];
    await books.bookCheck(early, { state: 'reversed' });
    expect(await books.status(early)).toBe('FAILED, PAYMENT_REVERSED');
    await books.bookCheck(late);
    await books.bookCheck(late, { state: 'reversed' });
    expect(await books.status(late)).toBe('SUCCESS');
    expect(await books.balance(late)).toBe(0n);
    expect((await entries(late)).at(-1)).toBe(
      'payment-reversed: gateway-clearing:paystack:NGN 2000000, exchange:USD 1250, exchange:NGN -2000000, wallet -1250',
    );
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

async function refunds({ transactionId }: { transactionId: string }): Promise<string[]> {
  const rows = await books.world
    .selectFrom('refunds')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .orderBy('created_at')
    .execute();
  return rows.map((row) => `${row.status} ${row.amount_minor} ${row.currency}`);
}

async function attention({ transactionId }: { transactionId: string }): Promise<string | null> {
  const row = await books.world
    .selectFrom('purchases')
    .select('attention_reason')
    .where('transaction_id', '=', transactionId)
    .executeTakeFirstOrThrow();
  return row.attention_reason;
}
