/** Until when an order counts as one that can still be paid: while it does, nothing closes it as unpaid. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  canBePaid,
  closeFundingUnpaid,
  markPaymentRefused,
  nextPaymentAttempt,
  openFunding,
  saveInstructions,
} from '../../src/payments/store/payments.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { closeUnpaid } from '../../src/purchases/store/purchases.ts';
import { purchaseInput } from '../support/facts.ts';
import { LATER, NOW, paid, usePaymentBooks } from './payments.support.ts';

const books = usePaymentBooks();
const PURPOSES = ['purchase', 'funding'] as const;
const PAGE = { kind: 'redirect', paymentUrl: 'https://checkout.example.com/2' } as const;

const canPay = (transactionId: string, now: Date): Promise<boolean> =>
  canBePaid(books.world, transactionId, now);

describe.each(PURPOSES)('a %s', (purpose) => {
  it('can be paid from when the gateway has said how, until its time is over', async () => {
    const payer = await books.payer({ purpose });
    const { expires_at: expiresAt } = await books.payment(payer);
    expect(await canPay(payer.transactionId, NOW)).toBe(true);
    expect(await canPay(payer.transactionId, new Date(expiresAt.getTime() - 1))).toBe(true);
    expect(await canPay(payer.transactionId, expiresAt)).toBe(false);
    expect(await canPay(payer.transactionId, LATER)).toBe(false);
  });

  it('cannot be paid again once its money has come', async () => {
    const payer = await books.payer({ purpose });
    await books.look(payer, paid());
    expect(await books.status(payer)).not.toContain('PENDING');
    expect(await canPay(payer.transactionId, NOW)).toBe(false);
  });

  it('cannot be paid once it is closed, though the gateway leaves the payment open', async () => {
    const payer = await books.payer({ purpose });
    const close = purpose === 'purchase' ? closeUnpaid : closeFundingUnpaid;
    expect(await close(books.world, payer.transactionId, 'PAYMENT_EXPIRED')).toBe('closed');
    expect(await canPay(payer.transactionId, NOW)).toBe(false);
  });

  it('cannot be paid before the gateway has said how, nor after it has refused', async () => {
    const transactionId = `txn-${randomUUID()}`;
    const charge = { amountMinor: '1250', currency: 'USD', rateIds: [] };
    const accountId = `acc-${randomUUID()}`;
    const input = purchaseInput({ transactionId, accountId, paymentMethod: 'CARD', charge });
    if (purpose === 'purchase') {
      await openPurchase(books.world, input, { now: NOW, supplier: 's', keepRefusal: () => false });
    } else {
      const amount = { amountMinor: '1250', currency: 'USD' } as const;
      await openFunding(books.world, { ...input, ...amount, charge, paymentMethod: 'CARD' }, NOW);
    }
    expect(await canPay(transactionId, NOW)).toBe(false);
    await markPaymentRefused(books.world, transactionId);
    expect(await canPay(transactionId, NOW)).toBe(false);
  });
});

it('counts any attempt that the gateway has opened', async () => {
  const payer = await books.payer();
  const { reference } = await nextPaymentAttempt(books.world, await books.payment(payer));
  expect(await canPay(payer.transactionId, NOW)).toBe(true);
  await saveInstructions(books.world, reference, PAGE);
  await books.look(payer, { state: 'other', netMinor: 0n });
  expect(await canPay(payer.transactionId, NOW)).toBe(true);
});

it('knows the time that the gateway gives for a transfer', async () => {
  const payer = await books.payer({ method: 'BANK_TRANSFER' });
  const { reference, expires_at: before } = await nextPaymentAttempt(books.world, await books.payment(payer));
  const expiresAt = new Date(before.getTime() + 3_600_000);
  await saveInstructions(books.world, reference, {
    kind: 'bank-transfer',
    bankName: 'A bank',
    accountName: 'Us',
    accountNumber: '0001',
    expiresAt,
  });
  expect(await canPay(payer.transactionId, new Date(expiresAt.getTime() - 1))).toBe(true);
  expect(await canPay(payer.transactionId, expiresAt)).toBe(false);
});

it('knows only what is asked about', async () => {
  await books.payer();
  expect(await canPay(`txn-${randomUUID()}`, NOW)).toBe(false);
});
