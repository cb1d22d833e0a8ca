/**
 * How many payments of one account may be open and unpaid: counted when they are opened, so that concurrent
 * requests cannot exceed the limit.
 */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { countUnpaid, closeFundingUnpaid, findFunding } from '../../src/payments/store/payments.ts';
import { DEFAULT_UNPAID_LIMITS } from '../../src/payments/rules.ts';
import { openFunding } from '../../src/payments/store/opening.ts';
import { findKeyOrUsed } from '../../src/platform/idempotency/store.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { closeUnpaid } from '../../src/purchases/store/purchases.ts';
import { findPurchase } from '../../src/purchases/store/reads.ts';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { purchaseInput } from '../support/money/facts.ts';
import { NOW, usePaymentBooks } from './payments.support.ts';

const books = usePaymentBooks();
const LIMITS = { ...DEFAULT_UNPAID_LIMITS, STANDARD: 5, PREMIUM: 8, ENTERPRISE: 20 };
const OPEN = { now: NOW, unpaidLimits: LIMITS, keepRefusal: () => false };

const account = (plan: 'STANDARD' | 'PREMIUM' = 'STANDARD') => books.account({ plan });

const inputOf = (accountId: string, given: Partial<PurchaseInput> = {}): PurchaseInput =>
  purchaseInput({ transactionId: `txn-${randomUUID()}`, accountId, paymentMethod: 'CARD', ...given });

function fund(accountId: string, keepRefusal = () => false, transactionId = `txn-${randomUUID()}`) {
  const input = inputOf(accountId, { transactionId });
  const charge = { gateway: 'paystack', amountMinor: '1250', currency: 'USD', rateIds: [] };
  const funding = { ...input, amountMinor: '1250', currency: 'USD', charge, paymentMethod: 'CARD' } as const;
  return openFunding(books.world, funding, NOW, { unpaidLimits: LIMITS, keepRefusal });
}

it.each([
  ['STANDARD', 5],
  ['PREMIUM', 8],
] as const)(
  'of a hundred at once, purchases and fundings, an account on %s opens %i',
  async (plan, limit) => {
    const accountId = await account(plan);
    // Twice as many at once as there are connections, so that none waits too long for one.
    const opened = await Promise.all(
      Array.from({ length: 20 }, async (_, loop) => {
        let count = 0;
        for (let turn = 0; turn < 5; turn += 1) {
          const stage =
            (loop + turn) % 2 === 0
              ? (await openPurchase(books.world, inputOf(accountId), OPEN)).stage
              : (await fund(accountId)).stage;
          if (stage !== 'failed') count += 1;
        }
        return count;
      }),
    );
    expect(opened.reduce((sum, count) => sum + count, 0)).toBe(limit);
    expect(await countUnpaid(books.world, accountId, 1_000)).toBe(limit);
    // Other accounts are not counted, and an unknown account has the smallest limit.
    expect(await openPurchase(books.world, inputOf(await account()), OPEN)).toMatchObject({
      stage: 'awaiting-payment',
    });
    expect(await openPurchase(books.world, inputOf(`acc-${randomUUID()}`), OPEN)).toMatchObject({
      stage: 'awaiting-payment',
    });
  },
);

it('a refusal writes nothing, and leaves the Idempotency-Key free for another id', async () => {
  const accountId = await account();
  const first = Array.from({ length: LIMITS.STANDARD }, () => inputOf(accountId));
  for (const input of first) await openPurchase(books.world, input, OPEN);
  const idempotency = { key: 'order-1', path: '/api/esim/buy', fingerprint: 'f' };
  const input = inputOf(accountId, { idempotency });
  // Run twice, as every step may be.
  for (let run = 0; run < 2; run += 1)
    expect(await openPurchase(books.world, input, OPEN)).toMatchObject({
      stage: 'failed',
      refusal: { reason: 'TOO_MANY_UNPAID_PAYMENTS' },
    });
  expect(await findPurchase(books.world, input.transactionId)).toBeUndefined();
  expect((await findKeyOrUsed(books.world, accountId, 'order-1', 'txn-other')).record).toMatchObject({
    transactionId: input.transactionId,
    refusal: { reason: 'TOO_MANY_UNPAID_PAYMENTS' },
  });
  await closeUnpaid(books.world, first[0]!.transactionId, 'PAYMENT_EXPIRED');
  const again = {
    ...input,
    transactionId: `txn-${randomUUID()}`,
    esimId: `esim-${randomUUID()}`,
    idempotency: { ...idempotency, follows: input.transactionId },
  };
  expect(await openPurchase(books.world, again, OPEN)).toMatchObject({ stage: 'awaiting-payment' });
  expect((await findKeyOrUsed(books.world, accountId, 'order-1', 'txn-other')).record).toMatchObject({
    transactionId: again.transactionId,
    refusal: undefined,
  });
});

const newId = () => `txn-${randomUUID()}`;
const withKey = { idempotency: { key: 'order-3', path: '/api/esim/buy', fingerprint: 'f' } };
type Opens = (accountId: string, transactionId: string) => Promise<{ readonly stage: string }>;

it.each<[string, Opens, (id: string) => Promise<unknown>]>([
  [
    'purchase',
    (accountId, transactionId) =>
      openPurchase(books.world, inputOf(accountId, { transactionId, ...withKey }), OPEN),
    (id) => closeUnpaid(books.world, id, 'PAYMENT_EXPIRED'),
  ],
  [
    'purchase without a key',
    (accountId, transactionId) => openPurchase(books.world, inputOf(accountId, { transactionId }), OPEN),
    (id) => closeUnpaid(books.world, id, 'PAYMENT_EXPIRED'),
  ],
  [
    'funding',
    (accountId, transactionId) => fund(accountId, undefined, transactionId),
    (id) => closeFundingUnpaid(books.world, id, 'PAYMENT_EXPIRED'),
  ],
])('a refused %s is not opened later under its id, even if there is room', async (name, open, close) => {
  const accountId = await account();
  const ids = Array.from({ length: LIMITS.STANDARD }, newId);
  for (const id of ids)
    await (name === 'funding'
      ? open(accountId, id)
      : openPurchase(books.world, inputOf(accountId, { transactionId: id }), OPEN));
  const transactionId = newId();
  const refused = await open(accountId, transactionId);
  expect(refused).toMatchObject({ refusal: { reason: 'TOO_MANY_UNPAID_PAYMENTS' } });
  await close(ids[0]!);
  expect(await open(accountId, transactionId)).toEqual(refused);
  expect(await countUnpaid(books.world, accountId, 1_000)).toBe(LIMITS.STANDARD - 1);
});

it('a refusal is kept as FAILED where the caller may have an answer already, and the key is free all the same', async () => {
  const accountId = await account();
  for (let count = 0; count < LIMITS.STANDARD; count += 1) await fund(accountId);
  const idempotency = { key: 'order-2', path: '/api/esim/buy', fingerprint: 'f' };
  const input = inputOf(accountId, { idempotency });
  for (let run = 0; run < 2; run += 1)
    expect(await openPurchase(books.world, input, { ...OPEN, keepRefusal: () => true })).toMatchObject({
      stage: 'failed',
      refusal: { reason: 'TOO_MANY_UNPAID_PAYMENTS' },
    });
  expect((await findPurchase(books.world, input.transactionId))?.purchase).toMatchObject({
    status: 'FAILED',
    reason: 'TOO_MANY_UNPAID_PAYMENTS',
  });
  expect(
    (await findKeyOrUsed(books.world, accountId, 'order-2', input.transactionId)).record?.refusal,
  ).toBeDefined();

  const transactionId = `txn-${randomUUID()}`;
  for (let run = 0; run < 2; run += 1)
    expect(await fund(accountId, () => true, transactionId)).toMatchObject({
      refusal: { reason: 'TOO_MANY_UNPAID_PAYMENTS' },
    });
  expect(await findFunding(books.world, transactionId)).toMatchObject({
    status: 'FAILED',
    reason: 'TOO_MANY_UNPAID_PAYMENTS',
  });
});

it('a payment no longer counts once it is paid or its time is over; paying from the wallet never counts', async () => {
  const accountId = await account();
  const transactionIds = Array.from({ length: LIMITS.STANDARD }, () => `txn-${randomUUID()}`);
  for (const transactionId of transactionIds) await fund(accountId, undefined, transactionId);
  // Repeating an open one does not count as new.
  expect(await fund(accountId, undefined, transactionIds[0])).toMatchObject({ stage: 'awaiting-payment' });
  expect(await fund(accountId)).toMatchObject({ stage: 'failed' });
  expect(
    await openPurchase(books.world, inputOf(accountId, { paymentMethod: 'WALLET' }), OPEN),
  ).toMatchObject({
    refusal: { reason: 'INSUFFICIENT_BALANCE' },
  });
  await closeFundingUnpaid(books.world, transactionIds[0]!, 'PAYMENT_EXPIRED');
  expect(await fund(accountId)).toMatchObject({ stage: 'awaiting-payment' });
  expect(await fund(accountId)).toMatchObject({ stage: 'failed' });
});
