/**
 * Promise M2 at the ledger: 64 buyers at once on a wallet that pays for exactly k of them, and exactly k buy.
 * Meanwhile others read the balance, release holds, post them, fund and retry, and the whole history of the
 * wallet must be linearizable.
 */
import { expect, it } from 'vitest';
import { ensureWallet, findWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { HoldConflict, postHold, voidHold } from '../../src/ledger/store/holds.ts';
import { placeHold } from '../support/money/holds.ts';
import { auditBooks, openBooks, type Books } from '../support/world/books.ts';
import { checkLinearizable, createRecorder } from '../support/money/linearizability.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
import { walletModel, type WalletInput, type WalletOutput } from '../support/money/wallet-model.ts';
import { forFile } from '../support/world/for-file.ts';

const ROUNDS = size({ ci: 30, prove: 1_000 });
const BUYERS = 64;
const CONNECTIONS = 32;

const books: Books = await forFile(openBooks({ maxConnections: CONNECTIONS }));

const usd = (amountMinor: bigint) => ({ amountMinor, currency: 'USD' as const });

/** One wallet's verbs, every call recorded. */
async function openWallet(accountId: string) {
  const { world } = books;
  await ensureWallet(world, accountId, 'USD');
  const recorder = createRecorder<WalletInput, WalletOutput>();
  const orConflict = async (answer: Promise<WalletOutput>): Promise<WalletOutput> => {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof HoldConflict) return 'conflict';
      throw error;
    }
  };
  return {
    history: recorder.history,
    fund: (key: string, amountMinor: bigint) =>
      recorder.run({ verb: 'fund', key, amountMinor }, () =>
        fundWallet(world, {
          operationKey: `${accountId}:${key}`,
          accountId,
          amount: usd(amountMinor),
          reason: 'a test',
        }),
      ),
    hold: (id: string, amountMinor: bigint) =>
      recorder.run({ verb: 'hold', id, amountMinor }, () =>
        placeHold(world, { id: `${accountId}:${id}`, accountId, amount: usd(amountMinor) }),
      ),
    post: (id: string) =>
      recorder.run({ verb: 'post', id }, () =>
        orConflict(postHold(world, `${accountId}:${id}`, { supplier: 'esim-access', costUsdE4: 1n })),
      ),
    void: (id: string) =>
      recorder.run({ verb: 'void', id }, () => orConflict(voidHold(world, `${accountId}:${id}`))),
    read: () =>
      recorder.run({ verb: 'read' }, async () => (await findWallet(world, accountId))!.balance.amountMinor),
  };
}

type Wallet = Awaited<ReturnType<typeof openWallet>>;

/** Exactly k of 64 buy; some buyers try twice, and some only read. */
async function buyersAtOnce(wallet: Wallet, random: Random, price: bigint): Promise<void> {
  const k = random.below(BUYERS + 1);
  // A little more than k purchases cost, and never enough for one more.
  await wallet.fund('start', BigInt(k) * price + BigInt(random.below(Number(price))));
  const asked = Array.from({ length: BUYERS }, (_, i) => wallet.hold(`b${i}`, price));
  const again = Array.from({ length: 8 }, () => wallet.hold(`b${random.below(BUYERS)}`, price));
  const readers = Array.from({ length: 8 }, () => wallet.read());
  const answers = await Promise.all(asked);
  const repeated = await Promise.all(again);
  // A buyer who tries twice may succeed in the second call, and at most once in total.
  const served = [...answers, ...repeated].filter((answer) => answer === 'held').length;
  expect(served).toBe(k);
  for (const balance of await Promise.all(readers)) expect((balance as bigint) >= 0n).toBe(true);
}

/**
 * Holds are released and posted while others buy, fund and read: random, and checked by the history alone.
 */
async function anythingAtOnce(wallet: Wallet, random: Random, price: bigint): Promise<void> {
  const acts = Array.from({ length: 40 }, (_, i) => (): Promise<unknown> => {
    const old = `b${random.below(BUYERS)}`;
    switch (random.below(6)) {
      case 0:
        return wallet.post(old);
      case 1:
        return wallet.void(old);
      case 2:
        return wallet.fund(`more ${random.below(3)}`, price);
      case 3:
        return wallet.read();
      default:
        return wallet.hold(`c${i % 16}`, price);
    }
  });
  // Eight callers, one call at a time each, as fast as answers come.
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let act = acts.pop(); act !== undefined; act = acts.pop()) await act();
    }),
  );
}

it(`M2: in ${ROUNDS} rounds of ${BUYERS} buyers the wallet pays for exactly as many purchases as it can`, async () => {
  await withSeed(async (seed) => {
    const random = createRandom(seed);
    for (let round = 0; round < ROUNDS; round += 1) {
      const wallet = await openWallet(`round-${round}`);
      const price = BigInt(1 + random.below(5_000));
      await buyersAtOnce(wallet, random, price);
      await anythingAtOnce(wallet, random, price);
      const verdict = checkLinearizable(walletModel, wallet.history);
      if (verdict !== 'linearizable') throw new Error(`round ${round} is ${verdict}: ${storyOf(wallet)}`);
    }
  });
  expect(await auditBooks(books.owner)).toEqual([]);
});

/** The history in readable form, for a failure. */
function storyOf(wallet: Wallet): string {
  const text = (value: unknown): string =>
    JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? `${inner}` : inner));
  return wallet.history
    .toSorted((a, b) => a.calledAt - b.calledAt)
    .map(
      ({ input, calledAt, returned }) =>
        `\n${calledAt}-${returned?.at ?? '?'} ${text(input)} → ${text(returned?.output)}`,
    )
    .join('');
}
