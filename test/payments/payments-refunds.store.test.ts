/** Refunds: recorded before they are requested, ended once, in suspense until then. */
import { describe, expect, it } from 'vitest';
import { findPayment } from '../../src/payments/store/payments.ts';
import {
  beginRefund,
  closeRefundDone,
  closeRefundTakenBack,
  creditRefund,
  saveRefundState,
  type RefundRow,
} from '../../src/payments/store/refunds.ts';
import { paid, REVERSED, pastRefund, PRICE_MINOR, usePaymentBooks, type Payer } from './payments.support.ts';

const books = usePaymentBooks();
const DONE = { refundId: '7', gatewayStatus: 'processed' };

const suspense = async (payer: Payer) =>
  (await books.entries(payer)).filter((line) => line.includes('suspense'));
const credit = async ({ reference }: Payer, refund: RefundRow) =>
  creditRefund(books.world, refund, (await findPayment(books.world, reference))!);
const last = async (payer: Payer) => (await books.timeline(payer)).at(-1);

describe('a refund', () => {
  it('is due once, for the charge, in the currency of the payment', async () => {
    const { payer, refund } = await books.refundedPayer();
    await books.giveUp(payer);
    expect(await books.refunds(payer)).toHaveLength(1);
    expect(refund).toMatchObject({
      refund_key: `${payer.reference}-not-delivered`,
      amount_minor: 2_000_000n,
      currency: 'NGN',
      status: 'DUE',
      closed_at: null,
    });
    expect(await suspense(payer)).toEqual([
      'void: held:USD -1250, exchange:USD 1250, exchange:NGN -2000000, suspense:NGN 2000000',
    ]);
  });

  it('that the gateway has sent is done, once', async () => {
    const { payer, refund } = await books.refundedPayer();
    const ended = await Promise.all(
      Array.from({ length: 6 }, () => closeRefundDone(books.world, refund, DONE)),
    );
    expect(ended.filter(Boolean)).toHaveLength(1);
    expect(await credit(payer, refund)).toBe(false);
    expect((await suspense(payer)).slice(1)).toEqual([
      'refund: suspense:NGN -2000000, gateway-clearing:paystack:NGN 2000000',
    ]);
    expect(await books.balance(payer)).toBe(0n);
    expect(await last(payer)).toBe('refunded');
    expect(await books.refunds(payer)).toEqual([]);
  });

  it('that the gateway cannot send is credited to the wallet, once', async () => {
    const { payer, refund } = await books.refundedPayer();
    const ended = await Promise.all(Array.from({ length: 6 }, () => credit(payer, refund)));
    expect(ended.filter(Boolean)).toHaveLength(1);
    expect(await closeRefundDone(books.world, refund, DONE)).toBe(false);
    expect(await books.balance(payer)).toBe(PRICE_MINOR);
    expect(await last(payer)).toBe('refund-credited-to-wallet');
  });

  it('done and credited at the same moment is one of the two', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { payer, refund } = await books.refundedPayer();
      const ended = await Promise.all([
        closeRefundDone(books.world, refund, DONE),
        credit(payer, refund),
        closeRefundDone(books.world, refund, DONE),
        credit(payer, refund),
      ]);
      expect(ended.filter(Boolean)).toHaveLength(1);
      expect(await books.balance(payer)).toBe(ended[1] || ended[3] ? PRICE_MINOR : 0n);
    }
  });

  it('of a payment reversed before it was sent ends with the reversal, once: no dispute, and nothing for the wallet', async () => {
    const { payer, refund } = await books.refundedPayer();
    await books.bookCheck(payer, REVERSED);
    const ended = await Promise.all([
      ...Array.from({ length: 6 }, () => closeRefundTakenBack(books.world, refund)),
      books.bookCheck(payer, REVERSED),
    ]);
    expect(ended.filter((one) => one === true)).toHaveLength(1);
    expect((await suspense(payer)).slice(1)).toEqual([
      'payment-reversed: suspense:NGN -2000000, gateway-clearing:paystack:NGN 2000000',
    ]);
    expect(await books.payment(payer)).toMatchObject({ reversed_minor: 2_000_000n });
    expect([await credit(payer, refund), await closeRefundDone(books.world, refund, DONE)]).toEqual([
      false,
      false,
    ]);
    expect(await books.balance(payer)).toBe(0n);
    expect(await last(payer)).toBe('payment-reversed');
    expect(await books.refunds(payer)).toEqual([]);
    const before = await books.entries(payer);
    await books.bookCheck(payer, REVERSED);
    expect(await books.entries(payer), 'a later check finds nothing new').toEqual(before);
  });

  it('is requested by one of its readers, and by the next only if the first request is known', async () => {
    const { payer, refund } = await books.refundedPayer();
    const begun = await Promise.all(Array.from({ length: 8 }, () => beginRefund(books.world, refund)));
    expect(begun.filter(Boolean)).toHaveLength(1);
    const [asked] = await books.refunds(payer);
    expect(asked).toMatchObject({ status: 'ASKED', sent_at: expect.any(Date) as Date });
    expect(await beginRefund(books.world, asked!)).toBeUndefined();
    await pastRefund(books.owner, refund, 35_001);
    expect(await beginRefund(books.world, asked!)).toBeDefined();
    await pastRefund(books.owner, refund, 35_001);
    await closeRefundDone(books.world, refund, DONE);
    expect(await beginRefund(books.world, asked!)).toBeUndefined();
  });

  it('that is stuck keeps the gateway’s status and its money in suspense until it ends', async () => {
    const { payer, refund } = await books.refundedPayer();
    const stuck = { status: 'STUCK', refundId: null, gatewayStatus: 'refused' } as const;
    for (let again = 0; again < 2; again += 1) await saveRefundState(books.world, refund, stuck);
    expect(await books.timeline(payer)).toEqual(['opened', 'payment-received', 'failed', 'refund-blocked']);
    const [row] = await books.refunds(payer);
    expect(row).toMatchObject({ status: 'STUCK', gateway_status: 'refused' });
    expect(await suspense(payer)).toHaveLength(1);
    await closeRefundDone(books.world, row!, DONE);
    await saveRefundState(books.world, refund, stuck);
    expect(await books.refunds(payer)).toEqual([]);
  });

  it('of another currency is never credited: no rate was locked for it', async () => {
    const payer = await books.paidPayer(paid(5_000n, 'GHS'));
    const [refund] = await books.refunds(payer);
    expect(await credit(payer, refund!)).toBe(false);
    expect(await books.balance(payer)).toBe(0n);
    expect(await books.refunds(payer)).toHaveLength(1);
  });
});
