/**
 * An answer sent before the purchase's first step: the row of its key exists already, and the step takes it
 * over, once.
 */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { beginKey, findIdempotencyKey, keepAnswer } from '../../src/platform/idempotency/store.ts';
import { ensureWallet, findWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { openPurchase, type OpenOptions } from '../../src/purchases/store/opening.ts';
import { findPurchase } from '../../src/purchases/store/reads.ts';
import { openBooks, refusalOf, untilStatementWaits } from '../support/world/books.ts';
import { basePackage, purchaseInput, region } from '../support/money/facts.ts';
import { openFunding } from '../../src/payments/store/opening.ts';
import type { FundingInput } from '../../src/payments/rules.ts';
import { forFile } from '../support/world/for-file.ts';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const OPEN: OpenOptions = { now: NOW, keepRefusal: () => false };
const EARLY = { statusCode: 201, body: '{"status":"PROCESSING"}' };
const PRICE_MINOR = 1_250n;

const books = await forFile(openBooks());
await replaceCatalogue(
  books.world,
  { supplier: 'esim-access', regions: [region()], packages: [basePackage()] },
  NOW,
);

/** Answered before anything of the purchase was written. */
async function answeredEarly(fundsMinor: bigint): Promise<PurchaseInput> {
  const accountId = `acc-${randomUUID()}`;
  const amount = { amountMinor: fundsMinor, currency: 'USD' };
  await ensureWallet(books.world, accountId, 'USD');
  await fundWallet(books.world, { operationKey: `fund:${accountId}`, accountId, amount, reason: 'a test' });
  const idempotency = { key: 'a key', path: '/api/esim/buy', fingerprint: 'f1' };
  const input = purchaseInput({
    transactionId: `txn-${randomUUID()}`.slice(0, 40),
    accountId,
    idempotency,
  });
  await beginKey(books.world, input);
  await beginKey(books.world, input);
  expect(
    await keepAnswer(books.world, { accountId, ...idempotency, transactionId: input.transactionId }, EARLY),
  ).toBe(true);
  return input;
}

const keptOf = ({ accountId }: { readonly accountId: string }) =>
  findIdempotencyKey(books.world, accountId, 'a key');
const balance = async ({ accountId }: PurchaseInput) =>
  (await findWallet(books.world, accountId))?.balance.amountMinor;

it('the step takes the row over with its answer once, however many run the step', async () => {
  const input = await answeredEarly(10_000n);
  const results = await Promise.all(
    Array.from({ length: 5 }, () => refusalOf(openPurchase(books.world, input, OPEN))),
  );
  expect(new Set(results)).toEqual(new Set(['accepted']));
  expect(await openPurchase(books.world, input, OPEN)).toMatchObject({ stage: 'paid' });
  expect(await balance(input)).toBe(10_000n - PRICE_MINOR);
  await beginKey(books.world, input);
  expect(await keptOf(input)).toMatchObject({ refusal: undefined, answer: EARLY });
});

it('after a later refusal the sent answer stays, and reads show a FAILED purchase', async () => {
  const input = await answeredEarly(1n);
  for (let again = 0; again < 2; again += 1)
    expect(await openPurchase(books.world, input, OPEN)).toMatchObject({ stage: 'failed' });
  expect(await keptOf(input)).toMatchObject({ refusal: undefined, isBegun: false, answer: EARLY });
  expect((await findPurchase(books.world, input.transactionId))?.purchase).toMatchObject({
    status: 'FAILED',
    reason: 'INSUFFICIENT_BALANCE',
  });
  expect(await balance(input)).toBe(1n);
});

it('of two runs, one between its read and its write, the other’s stored result counts', async () => {
  const input = await answeredEarly(10_000n);
  const opening = await books.world.startTransaction().execute();
  expect(await openPurchase(opening, input, OPEN)).toMatchObject({ stage: 'paid' });
  const withdraw = (at: Date | null) =>
    books.owner
      .updateTable('packages')
      .set({ withdrawn_at: at })
      .where('package_code', '=', input.packageCode)
      .execute();
  await withdraw(NOW);
  // It has read a withdrawn package and no purchase, and waits to write its refusal.
  const refusing = openPurchase(books.world, input, OPEN);
  await untilStatementWaits(books.owner);
  await opening.commit().execute();
  expect(await refusing).toMatchObject({ stage: 'paid' });
  expect(await keptOf(input)).toMatchObject({ refusal: undefined, answer: EARLY });
  expect(await openPurchase(books.world, input, OPEN)).toMatchObject({ stage: 'paid' });
  expect(await balance(input)).toBe(10_000n - PRICE_MINOR);
  await withdraw(null);
});

it('the row belongs to its own request: another purchase with the same key does not take it', async () => {
  const input = await answeredEarly(10_000n);
  const other = { ...input, transactionId: `txn-${randomUUID()}`.slice(0, 40) };
  expect(await openPurchase(books.world, other, OPEN)).toMatchObject({ refusal: { reason: 'SUPERSEDED' } });
  expect(await balance(input)).toBe(10_000n);
});

it('a funding takes its row over in the same way', async () => {
  const input: FundingInput = {
    ...(await answeredEarly(1n)),
    amountMinor: '500',
    currency: 'USD',
    paymentMethod: 'CARD',
    charge: { gateway: 'paystack', amountMinor: '500', currency: 'USD', rateIds: [] },
  };
  for (let again = 0; again < 2; again += 1) await openFunding(books.world, input, NOW, {});
  expect(await keptOf(input)).toMatchObject({ transactionId: input.transactionId, answer: EARLY });
});

it('a key is taken over only from the refused request that this one follows', async () => {
  const refused = await answeredEarly(10_000n);
  const free = { transaction_id: 'txn-refused', begun: false, answer_status: null, answer_body: null };
  await books.owner
    .updateTable('idempotency_keys')
    .set({ ...free, refusal_reason: 'INSUFFICIENT_BALANCE', refusal_detail: '' })
    .where('account_id', '=', refused.accountId)
    .execute();
  const next = (follows: string): PurchaseInput => ({
    ...refused,
    transactionId: `txn-${randomUUID()}`.slice(0, 40),
    idempotency: { ...refused.idempotency!, follows },
  });
  const stale = next('txn-refused-before');
  expect(await openPurchase(books.world, stale, OPEN)).toMatchObject({ refusal: { reason: 'SUPERSEDED' } });
  expect(await openPurchase(books.world, refused, OPEN)).toMatchObject({ refusal: { reason: 'SUPERSEDED' } });
  expect(await balance(refused)).toBe(10_000n);
  const follower = next('txn-refused');
  expect(await openPurchase(books.world, follower, OPEN)).toMatchObject({ stage: 'paid' });
  expect(await keptOf(refused)).toMatchObject({ transactionId: follower.transactionId, refusal: undefined });
  expect(await openPurchase(books.world, next('txn-refused'), OPEN)).toMatchObject({ stage: 'failed' });
  expect(await balance(refused)).toBe(10_000n - PRICE_MINOR);
});

it('of an answer and a refusal that come together, the first to write decides for both', async () => {
  const { idempotency, ...input } = await answeredEarly(1n);
  const sent = { ...input, idempotency: { ...idempotency!, key: 'another key' } };
  expect(await openPurchase(books.world, sent, OPEN)).toMatchObject({ stage: 'failed' });
  // The caller's time is over a moment later: the row says that it was refused.
  expect(await beginKey(books.world, sent)).toMatchObject({
    transactionId: sent.transactionId,
    refusal: { reason: 'INSUFFICIENT_BALANCE' },
  });
});
