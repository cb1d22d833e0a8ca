/** An answer sent before the purchase's first step: the row of its key exists already, and the step takes it over, once. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { beginKey, findIdempotencyKey, keepAnswer } from '../../src/platform/idempotency/store.ts';
import { ensureWallet, findWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { openPurchase, type OpenOptions } from '../../src/purchases/store/opening.ts';
import { openBooks, refusalOf, untilStatementWaits, type Books } from '../support/books.ts';
import { basePackage, purchaseInput, region } from '../support/facts.ts';
import { openFunding } from '../../src/payments/store/payments.ts';
import type { FundingInput } from '../../src/payments/rules.ts';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const OPEN: OpenOptions = { now: NOW, supplier: 'a-supplier', gateway: 'paystack', keepRefusal: () => false };
const EARLY = { statusCode: 201, body: '{"status":"PROCESSING"}' };
const PRICE_MINOR = 1_250n;

let books: Books;
beforeAll(async () => {
  books = await openBooks();
  await replaceCatalogue(books.world, { regions: [region()], packages: [basePackage()] }, NOW);
});
afterAll(() => books.close());

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
  expect(await keepAnswer(books.world, accountId, 'a key', EARLY)).toBe(true);
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
  expect(results).toContain('accepted');
  for (const refusal of results) expect(['accepted', 'idempotency_keys_pkey']).toContain(refusal);
  expect(await openPurchase(books.world, input, OPEN)).toEqual({ opened: true });
  expect(await balance(input)).toBe(10_000n - PRICE_MINOR);
  await beginKey(books.world, input);
  expect(await keptOf(input)).toMatchObject({ refusal: undefined, answer: EARLY });
});

it('after a later refusal the sent answer stays, and the refusal is stored with it', async () => {
  const input = await answeredEarly(1n);
  for (let again = 0; again < 2; again += 1)
    expect(await openPurchase(books.world, input, OPEN)).toMatchObject({ opened: false });
  expect(await keptOf(input)).toMatchObject({ refusal: { reason: 'INSUFFICIENT_BALANCE' }, answer: EARLY });
  expect(await balance(input)).toBe(1n);
});

it('of two runs, one between its read and its write, the other’s stored result counts', async () => {
  const input = await answeredEarly(10_000n);
  const opening = await books.world.startTransaction().execute();
  expect(await openPurchase(opening, input, OPEN)).toEqual({ opened: true });
  const withdraw = (at: Date | null) =>
    books.owner
      .updateTable('packages')
      .set({ withdrawn_at: at })
      .where('package_code', '=', input.packageCode)
      .execute();
  await withdraw(NOW);
  // It has read a withdrawn package and no purchase, and waits to write its refusal.
  const refusing = refusalOf(openPurchase(books.world, input, OPEN));
  await untilStatementWaits(books.owner);
  await opening.commit().execute();
  expect(await refusing).toBe('idempotency_keys_pkey');
  expect(await keptOf(input)).toMatchObject({ refusal: undefined, answer: EARLY });
  expect(await openPurchase(books.world, input, OPEN)).toEqual({ opened: true });
  expect(await balance(input)).toBe(10_000n - PRICE_MINOR);
  await withdraw(null);
});

it('the row belongs to its own request: another purchase with the same key does not take it', async () => {
  const input = await answeredEarly(10_000n);
  const other = { ...input, transactionId: `txn-${randomUUID()}`.slice(0, 40) };
  expect(await refusalOf(openPurchase(books.world, other, OPEN))).toBe('idempotency_keys_pkey');
  expect(await balance(input)).toBe(10_000n);
});

it('a funding takes its row over in the same way', async () => {
  const input: FundingInput = {
    ...(await answeredEarly(1n)),
    amountMinor: '500',
    currency: 'USD',
    paymentMethod: 'CARD',
    charge: { amountMinor: '500', currency: 'USD', rateIds: [] },
  };
  for (let again = 0; again < 2; again += 1) await openFunding(books.world, input, NOW, { gateway: 'paystack' });
  expect(await keptOf(input)).toMatchObject({ transactionId: input.transactionId, answer: EARLY });
});
