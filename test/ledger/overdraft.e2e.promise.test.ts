/**
 * Promise M2 through the whole service: 64 buyers at once on a wallet that pays for exactly k of them.
 * Exactly k get an eSIM, the others are refused for an insufficient balance, balances are read all the while,
 * and the wallet's history is linearizable.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseMinor } from '../../src/domain/money.ts';
import { auditBooks } from '../support/world/books.ts';
import { newBuyer, untilClosed, type Buyer } from '../support/people/buyer.ts';
import { checkLinearizable, createRecorder } from '../support/money/linearizability.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
import { startStack, type Answer, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { walletModel, type WalletInput, type WalletOutput } from '../support/money/wallet-model.ts';

const ROUNDS = size({ ci: 1, prove: 50 });
const BUYERS = 64;
const READERS = 4;
const PACKAGE = 'SIM-OK';

let stack: Stack;
let price: bigint;
beforeAll(async () => {
  stack = await startStack({
    // Searching for an order takes this process seconds at a time; no caller should wait for that.
    processes: size({ ci: 'in-test', prove: 'own' }),
    env: { SIMWAY_DATABASE_CONNECTIONS: '20' },
  });
  price = minorOf((await (await newBuyer(stack)).buy(PACKAGE)).text, 'price');
});
afterAll(() => stack.close());

/** The digits of a field as they are in the text. */
function minorOf(text: string, field: string): bigint {
  const digits = new RegExp(`"${field}":(-?[\\d.]+)`).exec(text)?.[1];
  const minor = digits === undefined ? undefined : parseMinor(digits);
  if (minor === undefined) throw new Error(`no ${field} in ${text}`);
  return minor;
}

/**
 * Like a careful client: retries with one key after 503 and 409, which say that the purchase is not decided
 * yet.
 */
async function buy(buyer: Buyer, idempotencyKey: string): Promise<'held' | 'insufficient'> {
  const answer = await until(
    () => buyer.buy(PACKAGE, { idempotencyKey }),
    ({ status }) => status !== 503 && status !== 409,
    { everyMs: 500, what: 'an answer to the purchase' },
  );
  return answer.status === 201 ? heldOrNot(answer) : refusedOrNot(answer);
}

/** SUCCESS means paid. PROCESSING may still be refused; its end shows which. */
async function heldOrNot(answer: Answer): Promise<'held' | 'insufficient'> {
  if (answer.body.status === 'SUCCESS') return 'held';
  const row = await untilClosed(stack, answer.body.transactionId);
  if (row.status === 'SUCCESS') return 'held';
  if (row.reason === 'INSUFFICIENT_BALANCE') return 'insufficient';
  throw new Error(`ended ${row.status} ${row.reason ?? ''}`);
}

function refusedOrNot(answer: Answer): 'insufficient' {
  if (answer.status !== 400 || answer.body.error.code !== 'INSUFFICIENT_BALANCE')
    throw new Error(`${answer.status}: ${answer.text}`);
  return 'insufficient';
}

async function round(random: Random): Promise<string | undefined> {
  const k = random.below(BUYERS + 1);
  // A little more than k purchases cost, and never enough for one more.
  const fundsMinor = BigInt(k) * price + BigInt(random.below(Number(price)));
  const recorder = createRecorder<WalletInput, WalletOutput>();
  const buyer = await recordFunding(recorder, fundsMinor);
  let buying = true;
  const readers = Array.from({ length: READERS }, async () => {
    while (buying)
      await recorder.run({ verb: 'read' }, async () => {
        const answer = await until(
          () => buyer.read('/api/wallet/balance'),
          ({ status }) => status !== 503,
        );
        return minorOf(answer.text, 'balance');
      });
  });
  const answers = await Promise.all(
    Array.from({ length: BUYERS }, (_, i) =>
      recorder.run({ verb: 'hold', id: `b${i}`, amountMinor: price }, () => buy(buyer, `b${i}`)),
    ),
  ).finally(() => (buying = false));
  await Promise.all(readers);
  expect(answers.filter((answer) => answer === 'held')).toHaveLength(k);
  expect(await buyer.balanceMinor()).toBe(fundsMinor - BigInt(k) * price);
  const delivered = (await buyer.purchases()).filter((row) => row.status === 'SUCCESS');
  expect(delivered).toHaveLength(k);
  const verdict = checkLinearizable(walletModel, recorder.history);
  return verdict === 'linearizable' ? undefined : `${verdict}: ${JSON.stringify(recorder.history, texts)}`;
}

/** An account without money has no wallet in its history; its funding comes first. */
async function recordFunding(
  recorder: ReturnType<typeof createRecorder<WalletInput, WalletOutput>>,
  fundsMinor: bigint,
): Promise<Buyer> {
  if (fundsMinor === 0n) return newBuyer(stack, { fundsMinor });
  const made = Promise.withResolvers<Buyer>();
  await recorder.run({ verb: 'fund', key: 'start', amountMinor: fundsMinor }, async () => {
    made.resolve(await newBuyer(stack, { fundsMinor }));
    return 'done';
  });
  return made.promise;
}

const texts = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

it(
  `M2: in ${ROUNDS} rounds of ${BUYERS} buyers over HTTP the wallet pays for exactly as many purchases as it can`,
  async () => {
    await withSeed(async (seed) => {
      const random = createRandom(seed);
      for (let i = 0; i < ROUNDS; i += 1) {
        const problem = await round(random);
        if (problem !== undefined) throw new Error(`round ${i} is ${problem}`);
      }
    });
    expect(await auditBooks(stack.owner)).toEqual([]);
  },
  ROUNDS * 120_000,
);
