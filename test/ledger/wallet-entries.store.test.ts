/**
 * What changed a wallet's balance: after random purchases, fundings, refunds and withdrawals by eight writers
 * at once, and at every check meanwhile, the entries are the ledger's, add up to the balance, and each
 * balance is one that the wallet had.
 */
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '../../src/domain/account.ts';
import {
  ensureWallet,
  findWallet,
  fundWallet,
  transfer,
  walletAccount,
} from '../../src/ledger/store/ledger.ts';
import { placePaidHold } from '../../src/ledger/store/holds.ts';
import { readWalletEntries, type WalletEntry } from '../../src/ledger/store/wallet-entries.ts';
import { exportWalletEntries, listWalletEntries } from '../../src/ledger/wallet-entries.ts';
import { WALLET_ENTRY_KINDS } from '../../src/ledger/wallet-entry-rules.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { markPaid } from '../../src/purchases/store/payment-bookings.ts';
import { profileItem, settlePurchase } from '../../src/purchases/store/purchases.ts';
import { nameOfRefusal, openBooks, untilStatementWaits, type Books } from '../support/world/books.ts';
import { explain, rowsReadBy } from '../support/world/explain.ts';
import { profileFacts, purchaseInput } from '../support/money/facts.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { newWallet, stockCatalogue } from '../support/money/stock.ts';
import { createRandom, seedOfRun, type Random } from '../support/time/size.ts';
import { UNBOUNDED } from '../support/money/unpaid.ts';
import { forFile } from '../support/world/for-file.ts';

const ROUNDS = 600;
const WRITERS = 8;
const ACCOUNTS = ['acc-a', 'acc-b', 'acc-c'];
const PRICE_MINOR = 1_250n;

const seed = seedOfRun();

const books: Books = await forFile(openBooks({ maxConnections: 14, statementTimeoutMs: 60_000 }));

const usd = (amountMinor: bigint) => ({ amountMinor, currency: 'USD' });
const principalOf = (id: string) => ({ account: { id, currency: 'USD' } }) as Principal;

beforeAll(async () => {
  await stockCatalogue(books.world, new Date(0));
  for (const accountId of ACCOUNTS) await newWallet(books.world, { accountId, fundsMinor: 50_000n });
});

const fund = (accountId: string, amountMinor: bigint, operationKey: string) =>
  fundWallet(books.world, { operationKey, accountId, amount: usd(amountMinor), reason: 'Ada of finance' });

async function buy(random: Random, id: string, accountId: string): Promise<void> {
  const fromWallet = random.below(4) > 0;
  const transactionId = `txn-${id}`;
  const paymentMethod = fromWallet ? 'WALLET' : 'CARD';
  const input = purchaseInput({ transactionId, accountId, paymentMethod });
  const options = { now: new Date(), gateway: 'paystack', keepRefusal: () => false, unpaidLimits: UNBOUNDED };
  const { stage } = await openPurchase(books.world, input, options);
  if (stage === 'failed') return;
  if (!fromWallet)
    await books.world.transaction().execute(async (trx) => {
      await placePaidHold(trx, { id: transactionId, accountId, amount: usd(PRICE_MINOR) });
      await markPaid(trx, transactionId);
    });
  const end = random.below(3);
  if (end === 0) return;
  if (end === 1 && fromWallet) {
    await failPurchase(books.world, transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
    return;
  }
  const facts = profileFacts({ esimTranNo: `tran-${id}`, iccid: `8944${id.padStart(15, '0')}` });
  await settlePurchase(books.world, transactionId, profileItem(facts, new Date(0), {}));
}

/** Money moved as payments, refunds and operators move it. */
async function move(random: Random, id: string, accountId: string): Promise<void> {
  const amountMinor = BigInt(1 + random.below(5_000));
  const [kind, sign, other] = (
    [
      ['payment-received', 1n, 'gateway-clearing:paystack:USD'],
      ['payment-received-late', 1n, 'gateway-clearing:paystack:USD'],
      ['refund-credited', 1n, 'suspense:USD'],
      ['credit-wallet', 1n, 'revenue:USD'],
      ['return', 1n, 'revenue:USD'],
      ['refund-to-source', -1n, 'suspense:USD'],
      ['disputed', -1n, 'suspense:USD'],
      ['something-new', -1n, 'suspense:USD'],
    ] as const
  )[random.below(8)]!;
  await transfer(books.world, {
    operationKey: `move:${id}`,
    kind,
    reason: 'Ada of finance said so',
    entries: [
      { account: other, ...usd(-sign * amountMinor) },
      { account: walletAccount(accountId), ...usd(sign * amountMinor) },
    ],
  }).catch((error: unknown) => {
    // The wallet may have less.
    if (nameOfRefusal(error) !== 'wallet_never_below_zero') throw error;
  });
}

const allEntries = (db: WorldDb, accountId: string): Promise<WalletEntry[]> =>
  readWalletEntries(db, { accountId, limit: 100_000 });

/** In one snapshot: compares the entries with the wallet, the ledger, and the money on hold. */
async function expectExplained(accountId: string): Promise<number> {
  return books.world
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const [newestFirst, wallet] = [await allEntries(trx, accountId), await findWallet(trx, accountId)];
      const entries = newestFirst.toReversed();
      let balance = 0n;
      let at = 0;
      for (const [index, entry] of entries.entries()) {
        balance += entry.amountMinor;
        expect([entry.id, entry.balanceAfterMinor], `seed ${seed}`).toEqual([`entry-${index + 1}`, balance]);
        expect(balance >= 0n && entry.at.getTime() >= at, `seed ${seed}`).toBe(true);
        at = entry.at.getTime();
      }
      expect(balance, `seed ${seed}`).toBe(wallet?.balance.amountMinor);
      const held = entries.filter((entry) => entry.holdStatus === 'HELD');
      const onHold = held.reduce((sum, entry) => sum - entry.amountMinor, 0n);
      expect(onHold, `seed ${seed}`).toBe(wallet?.onHoldMinor);
      const { rows } = await sql<{ amount_minor: bigint }>`
        select amount_minor from ledger_entries where ledger_account_id = ${walletAccount(accountId)}`.execute(
        trx,
      );
      const sorted = (amounts: bigint[]) => amounts.toSorted((a, b) => Number(a - b));
      expect(sorted(entries.map((entry) => entry.amountMinor))).toEqual(
        sorted(rows.map((row) => row.amount_minor)),
      );
      return entries.length;
    });
}

describe('after random changes by eight writers', () => {
  let checks = 0;
  beforeAll(async () => {
    let started = 0;
    let writing = WRITERS;
    const write = async (writer: number): Promise<void> => {
      const random = createRandom(seed + writer);
      while (started < ROUNDS) {
        const id = String((started += 1));
        const accountId = ACCOUNTS[random.below(ACCOUNTS.length)]!;
        await (random.below(3) > 0 ? buy(random, id, accountId) : move(random, id, accountId));
        if (random.below(20) === 0) await fund(accountId, 2_000n, `more:${id}`);
      }
      writing -= 1;
    };
    const check = async (): Promise<void> => {
      for (; writing > 0; checks += 1) await expectExplained(ACCOUNTS[checks % ACCOUNTS.length]!);
    };
    await Promise.all([...Array.from({ length: WRITERS }, (_, writer) => write(writer)), check()]);
  }, 120_000);

  it.each(ACCOUNTS)('every change of %s is explained, at the end and at every check before', async (id) => {
    expect(await expectExplained(id)).toBeGreaterThan(50);
    expect(checks).toBeGreaterThan(5);
  });

  it('every kind of entry appears, and no text by an operator', async () => {
    const entries = (await Promise.all(ACCOUNTS.map((id) => allEntries(books.world, id)))).flat();
    expect(new Set(entries.map((entry) => entry.kind))).toEqual(new Set(WALLET_ENTRY_KINDS));
    expect(JSON.stringify(entries.map((entry) => entry.description))).not.toContain('Ada');
  });

  it('pages by cursor and by filter contain every entry once', async () => {
    const random = createRandom(seed);
    const accountId = ACCOUNTS[0]!;
    const all = await allEntries(books.world, accountId);
    const times = [all[10]!.at, all.at(-10)!.at].toSorted((a, b) => a.getTime() - b.getTime());
    const [from, to] = times as [Date, Date];
    for (const kind of [undefined, ...WALLET_ENTRY_KINDS])
      for (const between of [{}, { from }, { to }, { from, to }]) {
        const expected = all.filter(
          (entry) =>
            (kind === undefined || entry.kind === kind) &&
            (!('from' in between) || entry.at >= between.from!) &&
            (!('to' in between) || entry.at < between.to!),
        );
        const paged: WalletEntry[] = [];
        for (let after: bigint | undefined, hasMore = true; hasMore;) {
          const query = { ...between, kind, after, limit: 1 + random.below(40) };
          const page = await listWalletEntries({ db: books.world }, principalOf(accountId), query);
          paged.push(...page.entries);
          hasMore = page.hasMore;
          after = BigInt(page.entries.at(-1)?.id.slice('entry-'.length) ?? 0);
        }
        expect(paged.map((entry) => entry.id)).toEqual(expected.map((entry) => entry.id));
      }
  });

  it('the CSV has a line for each entry, and its amounts add up to the balance', async () => {
    const { csv, next } = await exportWalletEntries({ db: books.world }, principalOf('acc-b'), {});
    expect(next).toBeUndefined();
    const [header, ...lines] = csv.trimEnd().split('\r\n');
    expect(header).toBe(
      'id,at,kind,amount,currency,balanceAfter,holdStatus,transactionId,packageName,description,reference,metadata',
    );
    const cents = lines.map((line) => BigInt(line.split(',')[3]!.replace('.', '')));
    const wallet = await findWallet(books.world, 'acc-b');
    expect(cents.reduce((sum, amount) => sum + amount, 0n)).toBe(wallet?.balance.amountMinor);
    expect(lines).toHaveLength((await allEntries(books.world, 'acc-b')).length);
  });
});

it('a change that waited for another comes after it, even if its row in the ledger is older', async () => {
  const accountId = 'acc-order';
  await ensureWallet(books.world, accountId, 'USD');
  await fund(accountId, 100n, 'order:1');
  const [locked, slow] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const holding = books.world.transaction().execute(async (trx) => {
    await sql`select from wallets where account_id = ${accountId} for no key update`.execute(trx);
    locked.resolve(undefined);
    await slow.promise;
    const amount = usd(7n);
    await fundWallet(trx, { operationKey: 'order:3', accountId, amount, reason: 'third' });
  });
  await locked.promise;
  // Its entry is numbered by the ledger before it gets the wallet.
  const waiting = fund(accountId, 5n, 'order:2');
  await untilStatementWaits(books.owner);
  slow.resolve(undefined);
  await Promise.all([holding, waiting]);
  const entries = await allEntries(books.world, accountId);
  expect(entries.map((entry) => [entry.amountMinor, entry.balanceAfterMinor])).toEqual([
    [5n, 112n],
    [7n, 107n],
    [100n, 100n],
  ]);
});

it('one statement adds the entries of several wallets, and of one wallet twice', async () => {
  const wallets = ['acc-several-1', 'acc-several-2'];
  for (const accountId of wallets) await ensureWallet(books.world, accountId, 'USD');
  for (const round of [1, 2])
    await transfer(books.world, {
      operationKey: `several:${round}`,
      kind: 'fund',
      entries: [
        { account: 'funding:USD', ...usd(-60n) },
        { account: walletAccount('acc-several-1'), ...usd(30n) },
        { account: walletAccount('acc-several-1'), ...usd(-10n) },
        { account: walletAccount('acc-several-2'), ...usd(40n) },
      ],
    });
  const balances = async (accountId: string) =>
    (await allEntries(books.world, accountId)).map((entry) => entry.balanceAfterMinor);
  expect(await balances('acc-several-1')).toEqual([40n, 50n, 20n, 30n]);
  expect(await balances('acc-several-2')).toEqual([80n, 40n]);
});

it('an entry exactly at a limit is in what begins there, and not in what ends there', async () => {
  const accountId = 'acc-limit';
  await ensureWallet(books.world, accountId, 'USD');
  const limit = new Date('2026-03-02T00:00:00.000Z');
  await sql`
    insert into wallet_entries (account_id, entry_number, at, booked_at, kind, ledger_kind, amount_minor, balance_after_minor)
    select ${accountId}, n, ${limit}::timestamptz + (n - 2) * interval '1 ms', now(), 'FUNDING', 'fund', 1, n from generate_series(1, 3) n`.execute(
    books.owner,
  );
  const numbers = async (between: { from?: Date; to?: Date }) =>
    (await readWalletEntries(books.world, { accountId, limit: 9, ...between })).map((entry) => entry.id);
  expect(await numbers({ from: limit })).toEqual(['entry-3', 'entry-2']);
  expect(await numbers({ to: limit })).toEqual(['entry-1']);
});

it("only the ledger's trigger writes an entry", async () => {
  const tried = [
    books.world.deleteFrom('wallet_entries').execute(),
    books.world.updateTable('wallet_entries').set({ amount_minor: 1n }).execute(),
  ];
  const refused = await Promise.all(tried.map((one) => one.then(() => 'accepted', nameOfRefusal)));
  expect(refused).toEqual(['permission denied', 'permission denied']);
});

describe('with a million entries in one wallet', () => {
  const BIG = 'acc-big';
  const MILLION = 1_000_000;
  beforeAll(async () => {
    await ensureWallet(books.world, BIG, 'USD');
    // Not through the ledger: only the reading is measured.
    await sql`
      insert into wallet_entries (account_id, entry_number, at, booked_at, kind, ledger_kind, transaction_id, amount_minor, balance_after_minor)
      select ${BIG}, n, timestamptz '2026-01-01' + n * interval '20 seconds', timestamptz '2026-01-01' + n * interval '20 seconds', case when n % 100000 = 0 then 'CREDIT' else 'HOLD' end, 'hold', 'txn-' || n, -1, ${MILLION} - n
        from generate_series(1, ${MILLION}) n`.execute(books.owner);
    await sql`analyze wallet_entries`.execute(books.owner);
  }, 120_000);

  it.each([
    ['the newest', {}],
    ['behind a cursor in the middle', { after: 500_000n }],
    ['of a rare kind', { kind: 'CREDIT' }],
    [
      'of a rare kind, in a few days',
      { kind: 'CREDIT', from: new Date('2026-03-01'), to: new Date('2026-03-05') },
    ],
    ['of a day long ago', { from: new Date('2026-01-03'), to: new Date('2026-01-04') }],
    ['before everything', { to: new Date('2025-01-01') }],
  ] as const)('a page is one statement and reads about as many rows as it shows: %s', async (_, filters) => {
    const { statements, scans } = await explain(books, (db) =>
      readWalletEntries(db, { accountId: BIG, limit: 21, ...filters }),
    );
    expect(statements).toBe(1);
    const entries = scans.filter((scan) => scan['Relation Name'] === 'wallet_entries');
    expect(entries.every((scan) => scan['Index Name'] !== undefined)).toBe(true);
    expect(rowsReadBy(entries)).toBeLessThanOrEqual(21 + 2);
  });
});
