/**
 * The ledger's verbs on a real Postgres: what each does, that a repeat changes nothing, and what happens when
 * two disagree.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  ensureWallet,
  findWallet,
  fundWallet,
  transfer,
  walletAccount,
} from '../../src/ledger/store/ledger.ts';
import { HoldConflict, postHold, voidHold } from '../../src/ledger/store/holds.ts';
import { placeHold } from '../support/money/holds.ts';
import { auditBooks, openBooks, refusalOf, type Books } from '../support/world/books.ts';
import { until } from '../support/time/until.ts';

let books: Books;
beforeAll(async () => {
  books = await openBooks();
});
afterEach(async () => {
  expect(await auditBooks(books.owner)).toEqual([]);
});
afterAll(() => books.close());

const usd = (amountMinor: bigint) => ({ amountMinor, currency: 'USD' as const });

async function wallet(fundsMinor = 1_000n, currency: 'USD' | 'NGN' = 'USD'): Promise<string> {
  const accountId = `acc-${randomUUID()}`;
  await ensureWallet(books.world, accountId, currency);
  const amount = { amountMinor: fundsMinor, currency };
  if (fundsMinor > 0n)
    await fundWallet(books.world, { operationKey: `fund:${accountId}`, accountId, amount, reason: 'a test' });
  return accountId;
}

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
  it('are made once, empty, in their own currency', async () => {
    const accountId = await wallet(0n, 'NGN');
    await ensureWallet(books.world, accountId, 'NGN');
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

  it('are made once by many at the same time', async () => {
    const accountId = `acc-${randomUUID()}`;
    await Promise.all(Array.from({ length: 8 }, () => ensureWallet(books.world, accountId, 'USD')));
    expect(await balance(accountId)).toBe(0n);
  });

  it('are undefined where there is none', async () => {
    expect(await findWallet(books.world, 'acc-unknown')).toBeUndefined();
  });

  it('hold amounts that a double cannot represent', async () => {
    const accountId = await wallet(9_007_199_254_740_993n);
    expect(await balance(accountId)).toBe(9_007_199_254_740_993n);
    await fundWallet(books.world, {
      operationKey: `more:${accountId}`,
      accountId,
      amount: usd(2n),
      reason: 'a test',
    });
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

describe('transfer', () => {
  it('books its entries once, even if other entries come later under the same key', async () => {
    const [from, to] = [await wallet(100n), await wallet(0n)];
    const move = (amountMinor: bigint) =>
      transfer(books.world, {
        operationKey: `move:${from}`,
        kind: 'move',
        reason: 'a test',
        entries: [
          { account: walletAccount(from), currency: 'USD', amountMinor: -amountMinor },
          { account: walletAccount(to), currency: 'USD', amountMinor },
        ],
      });
    expect([await move(40n), await move(40n), await move(60n)]).toEqual(['done', 'already', 'already']);
    expect([await balance(from), await balance(to)]).toEqual([60n, 40n]);
  });

  it('is done by exactly one of many at the same time', async () => {
    const accountId = await wallet(0n);
    const request = { operationKey: `once:${accountId}`, accountId, amount: usd(7n), reason: 'a test' };
    const results = await Promise.all(Array.from({ length: 16 }, () => fundWallet(books.world, request)));
    expect(results.toSorted()).toEqual([...Array<string>(15).fill('already'), 'done']);
    expect(await balance(accountId)).toBe(7n);
  });

  it('may move several currencies, each netting to zero', async () => {
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

  it.each([
    ['unbalanced entries', 'ledger_nets_to_zero', [-5n, 6n], 'USD'],
    ['an overdraft', 'wallet_never_below_zero', [-101n, 101n], 'USD'],
    ['a zero entry', 'ledger_entry_not_zero', [0n, 0n], 'USD'],
    ['another currency than the accounts have', 'ledger_entry_in_the_accounts_currency', [-5n, 5n], 'NGN'],
  ] as const)('is refused completely with %s', async (_name, constraint, [out, into], currency) => {
    const accountId = await wallet(100n);
    const operationKey = `bad:${accountId}`;
    const refused = transfer(books.world, {
      operationKey,
      kind: 'move',
      entries: [
        { account: walletAccount(accountId), currency, amountMinor: out },
        { account: 'suspense:USD', currency, amountMinor: into },
      ],
    });
    expect(await refusalOf(refused)).toBe(constraint);
    expect(await balance(accountId)).toBe(100n);
    // The key was not used up: the right transfer still goes through.
    const good = { operationKey, accountId, amount: usd(1n), reason: 'a test' };
    expect(await fundWallet(books.world, good)).toBe('done');
  });

  it('is refused for an account that does not exist', async () => {
    const lost = {
      operationKey: `lost:${randomUUID()}`,
      accountId: 'acc-unknown',
      amount: usd(1n),
      reason: 'x',
    };
    expect(await refusalOf(fundWallet(books.world, lost))).toBe('ledger_entry_in_the_accounts_currency');
  });
});

describe('placeHold', () => {
  it('takes the money at once', async () => {
    const accountId = await wallet(100n);
    const id = `h-${accountId}`;
    expect(await placeHold(books.world, { id, accountId, amount: usd(100n) })).toBe('held');
    expect(await balance(accountId)).toBe(0n);
    expect(await entriesOf(`${id}:hold`)).toEqual({ [walletAccount(accountId)]: -100n, 'held:USD': 100n });
  });

  it('places one hold when called twice, even if the wallet could not pay for a second', async () => {
    const accountId = await wallet(100n);
    const hold = { id: `h-${accountId}`, accountId, amount: usd(100n) };
    expect([await placeHold(books.world, hold), await placeHold(books.world, hold)]).toEqual([
      'held',
      'already',
    ]);
    expect(await balance(accountId)).toBe(0n);
  });

  it('succeeds for exactly one of many calls with the same id', async () => {
    const accountId = await wallet(100n);
    const hold = { id: `h-${accountId}`, accountId, amount: usd(60n) };
    const results = await Promise.all(Array.from({ length: 16 }, () => placeHold(books.world, hold)));
    expect(results.toSorted()).toEqual([...Array<string>(15).fill('already'), 'held']);
    expect(await balance(accountId)).toBe(40n);
  });

  it.each([
    ['one minor unit more than there is', usd(101n)],
    ['another currency', { amountMinor: 1n, currency: 'NGN' }],
  ])('is insufficient for %s, and writes nothing', async (_name, amount) => {
    const accountId = await wallet(100n);
    const id = `h-${accountId}`;
    expect(await placeHold(books.world, { id, accountId, amount })).toBe('insufficient');
    expect(await balance(accountId)).toBe(100n);
    expect(await entriesOf(`${id}:hold`)).toEqual({});
    // A refusal does not use up the id.
    expect(await placeHold(books.world, { id, accountId, amount: usd(100n) })).toBe('held');
  });

  it('is insufficient without a wallet', async () => {
    const hold = { id: `h-${randomUUID()}`, accountId: 'acc-unknown', amount: usd(1n) };
    expect(await placeHold(books.world, hold)).toBe('insufficient');
  });

  it.each([0n, -5n])('refuses an amount of %s', async (amountMinor) => {
    const accountId = await wallet(100n);
    const hold = placeHold(books.world, { id: `h-${accountId}`, accountId, amount: usd(amountMinor) });
    expect(await refusalOf(hold)).toBe('holds_amount_minor_check');
    expect(await balance(accountId)).toBe(100n);
  });
});

describe('postHold and voidHold', () => {
  async function held(amountMinor = 60n): Promise<{ id: string; accountId: string }> {
    const accountId = await wallet(100n);
    const id = `h-${accountId}`;
    await placeHold(books.world, { id, accountId, amount: usd(amountMinor) });
    return { id, accountId };
  }

  it('turn the hold into revenue and book the cost (post)', async () => {
    const { id, accountId } = await held();
    expect(await postHold(books.world, id, { supplier: 'esim-access', costUsdE4: 4_321n })).toBe('posted');
    expect(await entriesOf(`${id}:post`)).toEqual({
      'held:USD': -60n,
      'revenue:USD': 60n,
      'supplier-cost:USD4': 4_321n,
      'supplier-prepaid:esim-access:USD4': -4_321n,
    });
    expect(await balance(accountId)).toBe(40n);
  });

  it('book no cost when the cost is zero (post)', async () => {
    const { id } = await held();
    expect(await postHold(books.world, id, { supplier: 'esim-access', costUsdE4: 0n })).toBe('posted');
    expect(await entriesOf(`${id}:post`)).toEqual({ 'held:USD': -60n, 'revenue:USD': 60n });
  });

  it('give the money back (void)', async () => {
    const { id, accountId } = await held();
    expect(await voidHold(books.world, id)).toBe('voided');
    expect(await entriesOf(`${id}:void`)).toEqual({ 'held:USD': -60n, [walletAccount(accountId)]: 60n });
    expect(await balance(accountId)).toBe(100n);
  });

  it('do the same once when called twice', async () => {
    const [first, second] = [await held(), await held()];
    expect([
      await postHold(books.world, first.id, { supplier: 'esim-access', costUsdE4: 1n }),
      await postHold(books.world, first.id, { supplier: 'esim-access', costUsdE4: 2n }),
    ]).toEqual(['posted', 'already']);
    expect([await voidHold(books.world, second.id), await voidHold(books.world, second.id)]).toEqual([
      'voided',
      'already',
    ]);
    expect(await balance(second.accountId)).toBe(100n);
  });

  it('answer the second call with a conflict when it wants the other outcome', async () => {
    const [first, second] = [await held(), await held()];
    await postHold(books.world, first.id, { supplier: 'esim-access', costUsdE4: 0n });
    await expect(voidHold(books.world, first.id)).rejects.toThrow(HoldConflict);
    await voidHold(books.world, second.id);
    await expect(
      postHold(books.world, second.id, { supplier: 'esim-access', costUsdE4: 0n }),
    ).rejects.toThrow(/should be POSTED but is VOIDED/);
    expect([await balance(first.accountId), await balance(second.accountId)]).toEqual([40n, 100n]);
  });

  it('void nothing without a hold, and refuse to post', async () => {
    expect(await voidHold(books.world, 'h-none')).toBe('already');
    await expect(postHold(books.world, 'h-none', { supplier: 'esim-access', costUsdE4: 0n })).rejects.toThrow(
      /should be POSTED but is absent/,
    );
  });

  it('prevent a closed hold from being placed again', async () => {
    const { id, accountId } = await held();
    await voidHold(books.world, id);
    expect(await placeHold(books.world, { id, accountId, amount: usd(60n) })).toBe('already');
    expect(await balance(accountId)).toBe(100n);
  });

  it('leave nothing behind in a transaction that rolls back', async () => {
    const { id, accountId } = await held();
    const rolledBack = books.world.transaction().execute(async (trx) => {
      await voidHold(trx, id);
      await sql`select 1 / 0`.execute(trx);
    });
    await expect(rolledBack).rejects.toThrow('division by zero');
    expect(await balance(accountId)).toBe(40n);
    expect(await voidHold(books.world, id)).toBe('voided');
  });
});
