/** What the budget of an API key allows, decided with the hold of each purchase and read from its holds. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { KeyBudget } from '../../src/accounts/keys/budget-rules.ts';
import { findBreach, findBudget, replaceBudget } from '../../src/accounts/store/budgets.ts';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { makeId } from '../../src/domain/ids.ts';
import { ensureWallet, findWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { openPurchase, type OpenOptions } from '../../src/purchases/store/opening.ts';
import { basePackage, purchaseInput, region } from '../support/money/facts.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { placeHold } from '../support/money/holds.ts';
import { auditBooks, openBooks, untilStatementWaits } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const NOW = new Date();
const OPEN: OpenOptions = { now: NOW, keepRefusal: () => false };
const PRICE_MINOR = 1_250n;

const books = await forFile(openBooks());
await replaceCatalogue(
  books.world,
  { supplier: 'esim-access', regions: [region()], packages: [basePackage()] },
  NOW,
);
afterEach(async () => {
  expect(await auditBooks(books.owner)).toEqual([]);
});

const NO_LIMIT: KeyBudget = {
  dailyAmountMinor: null,
  orderAmountMinor: null,
  maxPriceMinor: null,
  maxPurchases: null,
  countries: null,
};

interface Key {
  readonly keyId: string;
  readonly accountId: string;
}

async function keyWith(limits: Partial<KeyBudget>): Promise<Key> {
  const accountId = `acc-${randomUUID()}`;
  await ensureWallet(books.world, accountId, 'USD');
  const amount = { amountMinor: 1_000_000n, currency: 'USD' };
  await fundWallet(books.world, { operationKey: `fund:${accountId}`, accountId, amount, reason: 'a test' });
  const key = { keyId: makeId('key', randomUUID().replaceAll('-', '')), accountId };
  await limit(key, limits);
  return key;
}

const limit = (key: Key, limits: Partial<KeyBudget>) =>
  replaceBudget(books.world, { ...key, changedBy: 'ada@example.com' }, { ...NO_LIMIT, ...limits });

const leftOf = async ({ keyId }: Key) => (await findBudget(books.world, keyId))?.left;

const inputOf = (key: Key, given: Partial<PurchaseInput> = {}): PurchaseInput =>
  purchaseInput({ transactionId: `txn-${randomUUID()}`.slice(0, 40), ...key, ...given });

/** `paid`, or what the caller reads of the refusal. */
async function buy(key: Key, given: Partial<PurchaseInput> = {}): Promise<string> {
  const answer = await openPurchase(books.world, inputOf(key, given), OPEN);
  if (answer.stage !== 'failed') return answer.stage;
  return `${answer.refusal.reason}: ${answer.refusal.shown ?? ''}`;
}

describe('the budget of a key', () => {
  it('is used up by the amount of a day and then refuses, saying what is left', async () => {
    const key = await keyWith({ dailyAmountMinor: 2n * PRICE_MINOR + 100n });
    expect([await buy(key), await buy(key)]).toEqual(['paid', 'paid']);
    expect(await buy(key)).toBe(
      'KEY_BUDGET_EXCEEDED: dailyAmount is USD 26.00, and USD 1.00 of it is left until midnight UTC; ' +
        'a member of the account can change the limits of this key in the dashboard',
    );
    expect(await leftOf(key)).toEqual({ dailyAmountMinor: 100n, purchases: null });
    const wallet = await findWallet(books.world, key.accountId);
    expect(wallet?.balance.amountMinor).toBe(1_000_000n - 2n * PRICE_MINOR);
  });

  it('bounds the number of purchases over its whole life', async () => {
    const key = await keyWith({ maxPurchases: 1 });
    expect(await buy(key)).toBe('paid');
    await begunDaysAgo(key, 40);
    expect(await buy(key)).toContain('maxPurchases is 1, and 0 of them are left');
  });

  it('begins anew each day in UTC, by the clock of the database', async () => {
    const key = await keyWith({ dailyAmountMinor: PRICE_MINOR });
    expect(await buy(key)).toBe('paid');
    expect(await buy(key)).toContain('KEY_BUDGET_EXCEEDED');
    await begunDaysAgo(key, 1);
    // Our own clock may be anywhere.
    const later = await openPurchase(books.world, inputOf(key), { ...OPEN, now: new Date(0) });
    expect(later.stage).toBe('paid');
    expect(await buy(key)).toContain('KEY_BUDGET_EXCEEDED');
  });

  it('gets the share of a voided purchase back', async () => {
    const key = await keyWith({ dailyAmountMinor: PRICE_MINOR, maxPurchases: 1 });
    const input = inputOf(key);
    expect(await openPurchase(books.world, input, OPEN)).toMatchObject({ stage: 'paid' });
    expect(await buy(key)).toContain('KEY_BUDGET_EXCEEDED');
    await failPurchase(books.world, input.transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
    expect(await leftOf(key)).toEqual({ dailyAmountMinor: PRICE_MINOR, purchases: 1 });
    expect(await buy(key)).toBe('paid');
  });

  it('bounds each order and each price', async () => {
    expect(await buy(await keyWith({ orderAmountMinor: PRICE_MINOR }))).toBe('paid');
    expect(await buy(await keyWith({ orderAmountMinor: PRICE_MINOR - 1n }))).toContain(
      'orderAmount is USD 12.49, and this order costs more',
    );
    expect(await buy(await keyWith({ maxPriceMinor: PRICE_MINOR }))).toBe('paid');
    expect(await buy(await keyWith({ maxPriceMinor: PRICE_MINOR - 1n }))).toContain('maxPrice is USD 12.49');
  });

  it('takes packages whose countries are all in the list', async () => {
    expect(await buy(await keyWith({ countries: ['GH', 'NG'] }))).toBe('paid');
    expect(await buy(await keyWith({ countries: ['GH'] }))).toContain('countries is GH, and this package');
    const { keyId } = await keyWith({ countries: ['GH', 'NG'] });
    const order = { totalMinor: 1n, dearestMinor: 1n, purchases: 0 };
    const breachOf = (countries: string[]) => findBreach(books.world, keyId, { ...order, countries });
    expect(await breachOf(['NG', 'GH'])).toBeNull();
    expect(await breachOf(['NG', 'KE'])).toMatchObject({ limit: 'countries', of: 'GH, NG' });
    // Nobody knows where such a package works.
    expect(await breachOf([])).toMatchObject({ limit: 'countries' });
  });

  it('pays from the wallet alone', async () => {
    const charge = { gateway: 'paystack', amountMinor: '1250', currency: 'USD', rateIds: [] } as const;
    const byCard = { paymentMethod: 'CARD', charge } as const;
    expect(await buy(await keyWith({ maxPurchases: 5 }), byCard)).toContain('pays from the wallet alone');
    const free = await keyWith({ maxPurchases: 5 });
    await replaceBudget(books.world, { ...free, changedBy: 'ada@example.com' }, null);
    expect(await buy(free, byCard)).toBe('awaiting-payment');
  });

  it('counts for the next purchase when it is changed, what was used included', async () => {
    const key = await keyWith({ dailyAmountMinor: 10n * PRICE_MINOR });
    expect(await buy(key)).toBe('paid');
    await limit(key, { dailyAmountMinor: PRICE_MINOR });
    expect(await buy(key)).toContain('USD 0.00 of it is left');
    await limit(key, { dailyAmountMinor: 2n * PRICE_MINOR });
    expect(await buy(key)).toBe('paid');
  });

  it('is judged by purchases one after another, and lowered while one waits', async () => {
    const key = await keyWith({ maxPurchases: 3 });
    const waiting: Promise<string>[] = [];
    await books.owner.transaction().execute(async (trx) => {
      await sql`select from wallets where account_id = ${key.accountId} for update`.execute(trx);
      waiting.push(buy(key), buy(key));
      await untilStatementWaits(books.owner, 2);
      await limit(key, { maxPurchases: 1 });
    });
    const answers = await Promise.all(waiting);
    expect(answers.filter((answer) => answer === 'paid')).toHaveLength(1);
  });

  it('answers a repeated step with what it opened, though its own hold has used the budget up', async () => {
    const key = await keyWith({ maxPurchases: 1 });
    const input = inputOf(key);
    for (let run = 0; run < 2; run += 1)
      expect(await openPurchase(books.world, input, OPEN)).toMatchObject({ stage: 'paid' });
  });

  it('never passes with 64 at once', async () => {
    const key = await keyWith({ dailyAmountMinor: 10n * PRICE_MINOR + 1n });
    const answers = await Promise.all(Array.from({ length: 64 }, () => buy(key)));
    expect(answers.filter((answer) => answer === 'paid')).toHaveLength(10);
    expect(await leftOf(key)).toEqual({ dailyAmountMinor: 1n, purchases: null });
  });

  it('is no concern of members and of other keys', async () => {
    const key = await keyWith({ maxPurchases: 1 });
    expect(await buy(key)).toBe('paid');
    const { transactionId, accountId } = inputOf(key);
    const asMember = purchaseInput({ transactionId, accountId });
    expect(await openPurchase(books.world, asMember, OPEN)).toMatchObject({ stage: 'paid' });
    const other = { ...key, keyId: makeId('key', randomUUID().replaceAll('-', '')) };
    expect(await buy(other)).toBe('paid');
    expect(await leftOf(key)).toEqual({ dailyAmountMinor: null, purchases: 0 });
  });

  it('cannot be freed by giving a hold to another key or day', async () => {
    const key = await keyWith({ maxPurchases: 1 });
    const amount = { amountMinor: 1n, currency: 'USD' };
    await placeHold(books.world, {
      id: `txn-${randomUUID()}`,
      accountId: key.accountId,
      amount,
      keyId: key.keyId,
    });
    for (const change of [sql`key_id = null`, sql`created_at = now() - interval '2 days'`])
      await expect(
        sql`update holds set ${change} where key_id = ${key.keyId}`.execute(books.owner),
      ).rejects.toThrow('exactly once');
  });
});

/** As only the owner of the database can, with the guards off. */
async function begunDaysAgo({ keyId }: Key, days: number): Promise<void> {
  await books.owner.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`update holds set created_at = created_at - ${days} * interval '1 day' where key_id = ${keyId}`.execute(
      trx,
    );
  });
}
