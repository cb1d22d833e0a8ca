/** How long an order counts as payable: as long as it does, nothing closes it as unpaid. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createOrderActivities } from '../../activities/purchases/orders.ts';
import {
  closeFundingUnpaid,
  findPayableUntil,
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

const canPay = async (transactionId: string, now: Date): Promise<boolean> => {
  const until = await findPayableUntil(books.world, transactionId);
  return until !== undefined && until > now;
};

describe.each(PURPOSES)('a %s', (purpose) => {
  it('can be paid from the gateway’s payment instructions until its time is over', async () => {
    const payer = await books.payer({ purpose });
    const { expires_at: expiresAt } = await books.payment(payer);
    expect(await canPay(payer.transactionId, NOW)).toBe(true);
    expect(await canPay(payer.transactionId, new Date(expiresAt.getTime() - 1))).toBe(true);
    expect(await canPay(payer.transactionId, expiresAt)).toBe(false);
    expect(await canPay(payer.transactionId, LATER)).toBe(false);
  });

  it('cannot be paid again once its money has arrived', async () => {
    const payer = await books.payer({ purpose });
    await books.bookCheck(payer, paid());
    expect(await books.status(payer)).not.toContain('PENDING');
    expect(await canPay(payer.transactionId, NOW)).toBe(false);
  });

  it('cannot be paid once it is closed, even if the gateway leaves the payment open', async () => {
    const payer = await books.payer({ purpose });
    const close = purpose === 'purchase' ? closeUnpaid : closeFundingUnpaid;
    expect(await close(books.world, payer.transactionId, 'PAYMENT_EXPIRED')).toBe('closed');
    expect(await canPay(payer.transactionId, NOW)).toBe(false);
  });

  it('cannot be paid before the gateway’s payment instructions, nor after its refusal', async () => {
    const transactionId = `txn-${randomUUID()}`;
    const charge = { amountMinor: '1250', currency: 'USD', rateIds: [] };
    const accountId = `acc-${randomUUID()}`;
    const input = purchaseInput({ transactionId, accountId, paymentMethod: 'CARD', charge });
    if (purpose === 'purchase') {
      await openPurchase(books.world, input, { now: NOW, supplier: 's', gateway: 'paystack', keepRefusal: () => false });
    } else {
      const amount = { amountMinor: '1250', currency: 'USD' } as const;
      await openFunding(books.world, { ...input, ...amount, charge, paymentMethod: 'CARD' }, NOW);
    }
    expect(await canPay(transactionId, NOW)).toBe(false);
    await markPaymentRefused(books.world, transactionId);
    expect(await canPay(transactionId, NOW)).toBe(false);
  });
});

it('an order can be paid by any attempt that the gateway has opened', async () => {
  const payer = await books.payer();
  const { reference } = await nextPaymentAttempt(books.world, await books.payment(payer));
  expect(await canPay(payer.transactionId, NOW)).toBe(true);
  await saveInstructions(books.world, reference, PAGE);
  await books.bookCheck(payer, { state: 'other', netMinor: 0n });
  expect(await canPay(payer.transactionId, NOW)).toBe(true);
});

it('an order can be paid by transfer for the time that the gateway allows', async () => {
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

it('only orders of the query are answered for', async () => {
  await books.payer();
  expect(await canPay(`txn-${randomUUID()}`, NOW)).toBe(false);
});

describe('the step that closes an order as unpaid', () => {
  /** Runs the step at a moment; answers its alerts. */
  const stepAt = (now: Date) => {
    const alerts: string[] = [];
    const deps: unknown = {
      db: books.world,
      clock: { now: () => now },
      events: {
        unverifiedRequest: ({ transactionId }: { transactionId: string }) => alerts.push(transactionId),
        purchaseFailed: () => undefined,
      },
    };
    return { alerts, close: createOrderActivities(deps as ActivityDeps).closeUnpaid };
  };
  const STILL_PAYABLE = 'can still be paid';

  it('refuses until a minute before the time is over, in each retry, with one alert per payment', async () => {
    const payers = [await books.payer(), await books.payer({ purpose: 'funding' })] as const;
    const ids = payers.map(({ transactionId }) => transactionId);
    const { alerts, close } = stepAt(new Date(LATER.getTime() - 60_001));
    for (let retry = 0; retry < 3; retry += 1)
      for (const [index, purpose] of PURPOSES.entries())
        await expect(close(ids[index]!, purpose, 'PAYMENT_EXPIRED')).rejects.toThrow(STILL_PAYABLE);
    expect(alerts).toEqual(ids);
    for (const payer of payers) expect(await books.status(payer)).toBe('PENDING');
  });

  it.each([
    ['less than a minute before it', LATER.getTime() - 60_000, 'PAYMENT_EXPIRED'],
    ['for another reason', NOW.getTime(), 'PAYMENT_NOT_OPENED'],
  ] as const)('refuses %s, without an alert', async (_when, atMs, reason) => {
    const payer = await books.payer();
    const { alerts, close } = stepAt(new Date(atMs));
    await expect(close(payer.transactionId, 'purchase', reason)).rejects.toThrow(STILL_PAYABLE);
    expect(alerts).toEqual([]);
    expect(await books.status(payer)).toBe('PENDING');
  });

  it.each(PURPOSES)('closes a %s one second early, since clocks differ', async (purpose) => {
    const payer = await books.payer({ purpose });
    const { alerts, close } = stepAt(new Date(LATER.getTime() - 1_000));
    await close(payer.transactionId, purpose, 'PAYMENT_EXPIRED');
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_EXPIRED');
    expect(alerts).toEqual([]);
  });
});
