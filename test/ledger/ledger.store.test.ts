/**
 * What the ledger's verbs write, and what they refuse beside the rules that the promises M1, M2 and M4 show
 * in any order.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { ensureWallet, findWallet, transfer, walletAccount } from '../../src/ledger/store/ledger.ts';
import { postHold, voidHold } from '../../src/ledger/store/holds.ts';
import { placeHold } from '../support/money/holds.ts';
import { addMoney, newWallet } from '../support/money/stock.ts';
import { auditBooks, openBooks, refusalOf } from '../support/world/books.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
afterEach(async () => {
  expect(await auditBooks(books.owner)).toEqual([]);
});

const usd = (amountMinor: bigint) => ({ amountMinor, currency: 'USD' as const });
const wallet = (fundsMinor: bigint, currency: 'USD' | 'NGN' = 'USD') =>
  newWallet(books.world, { fundsMinor, currency });
const balance = async (accountId: string) => (await findWallet(books.world, accountId))?.balance.amountMinor;

async function entriesOf(operationKey: string): Promise<Record<string, bigint>> {
  const rows = await books.world
    .selectFrom('ledger_entries')
    .innerJoin('ledger_transactions', 'ledger_transactions.id', 'ledger_entries.ledger_transaction_id')
    .select(['ledger_account_id', 'amount_minor'])
    .where('operation_key', '=', operationKey)
    .execute();
  return Object.fromEntries(rows.map((row) => [row.ledger_account_id, row.amount_minor]));
}

describe('wallets', () => {
  it('are made once by many at the same time, empty, in their own currency', async () => {
    const accountId = `acc-${randomUUID()}`;
    await Promise.all(Array.from({ length: 8 }, () => ensureWallet(books.world, accountId, 'NGN')));
    expect(await findWallet(books.world, accountId)).toEqual({
      balance: { amountMinor: 0n, currency: 'NGN' },
      onHoldMinor: 0n,
      owedMinor: 0n,
      updatedAt: expect.any(Date) as Date,
    });
  });

  it('keep their balance when they are requested again, even in another currency', async () => {
    const accountId = await wallet(500n);
    await ensureWallet(books.world, accountId, 'NGN');
    expect((await findWallet(books.world, accountId))?.balance).toEqual(usd(500n));
  });

  it('are undefined where there is none', async () => {
    expect(await findWallet(books.world, 'acc-unknown')).toBeUndefined();
  });

  it('hold amounts that a double cannot represent', async () => {
    const accountId = await wallet(9_007_199_254_740_993n);
    await addMoney(books.world, accountId, { operationKey: `more:${accountId}`, amountMinor: 2n });
    expect(await balance(accountId)).toBe(9_007_199_254_740_995n);
  });

  it('show when they last changed', async () => {
    const accountId = await wallet(10n);
    const before = (await findWallet(books.world, accountId))!.updatedAt;
    // Two moves within one millisecond would have one time.
    await until(
      () => Promise.resolve(Date.now()),
      (nowMs) => nowMs > before.getTime(),
      { what: 'the next millisecond', everyMs: 1 },
    );
    await placeHold(books.world, { id: `h-${accountId}`, accountId, amount: usd(1n) });
    expect((await findWallet(books.world, accountId))!.updatedAt.getTime()).toBeGreaterThan(before.getTime());
  });
});

it('a transfer may move several currencies, each netting to zero', async () => {
  const [dollars, naira] = [await wallet(100n), await wallet(0n, 'NGN')];
  await transfer(books.world, {
    operationKey: `exchange:${dollars}`,
    kind: 'exchange',
    entries: [
      { account: walletAccount(dollars), currency: 'USD', amountMinor: -100n },
      { account: 'exchange:USD', currency: 'USD', amountMinor: 100n },
      { account: 'exchange:NGN', currency: 'NGN', amountMinor: -160_000n },
      { account: walletAccount(naira), currency: 'NGN', amountMinor: 160_000n },
    ],
  });
  expect([await balance(dollars), await balance(naira)]).toEqual([0n, 160_000n]);
});

it('a transfer under a used key changes nothing, whatever its entries are', async () => {
  const accountId = await wallet(40n);
  expect(await addMoney(books.world, accountId, { amountMinor: 60n })).toBe('already');
  expect(await balance(accountId)).toBe(40n);
});

describe('a hold', () => {
  const held = async () => {
    const accountId = await wallet(100n);
    const id = `h-${accountId}`;
    expect(await placeHold(books.world, { id, accountId, amount: usd(60n) })).toBe('held');
    return { id, accountId };
  };

  it('takes the money at once', async () => {
    const { id, accountId } = await held();
    expect(await balance(accountId)).toBe(40n);
    expect(await entriesOf(`${id}:hold`)).toEqual({ [walletAccount(accountId)]: -60n, 'held:USD': 60n });
  });

  it('in another currency, or without a wallet, is insufficient and writes nothing', async () => {
    const accountId = await wallet(100n);
    const id = `h-${accountId}`;
    const naira = { amountMinor: 1n, currency: 'NGN' };
    expect(await placeHold(books.world, { id, accountId, amount: naira })).toBe('insufficient');
    expect(await placeHold(books.world, { id, accountId: 'acc-unknown', amount: usd(1n) })).toBe(
      'insufficient',
    );
    expect(await entriesOf(`${id}:hold`)).toEqual({});
    // A refusal does not use up the id.
    expect(await placeHold(books.world, { id, accountId, amount: usd(100n) })).toBe('held');
  });

  it('of less than nothing is refused', async () => {
    const accountId = await wallet(100n);
    const hold = placeHold(books.world, { id: `h-${accountId}`, accountId, amount: usd(-5n) });
    expect(await refusalOf(hold)).toBe('holds_amount_minor_check');
    expect(await balance(accountId)).toBe(100n);
  });

  it('that is posted becomes revenue, with its cost unless that is zero', async () => {
    const [first, free] = [await held(), await held()];
    await postHold(books.world, first.id, { supplier: 'esim-access', costUsdE4: 4_321n });
    await postHold(books.world, free.id, { supplier: 'esim-access', costUsdE4: 0n });
    const revenue = { 'held:USD': -60n, 'revenue:USD': 60n };
    expect(await entriesOf(`${first.id}:post`)).toEqual({
      ...revenue,
      'supplier-cost:USD4': 4_321n,
      'supplier-prepaid:esim-access:USD4': -4_321n,
    });
    expect(await entriesOf(`${free.id}:post`)).toEqual(revenue);
    expect(await balance(first.accountId)).toBe(40n);
  });

  it('that is voided gives the money back', async () => {
    const { id, accountId } = await held();
    await voidHold(books.world, id);
    expect(await entriesOf(`${id}:void`)).toEqual({ 'held:USD': -60n, [walletAccount(accountId)]: 60n });
    expect(await balance(accountId)).toBe(100n);
  });
});
