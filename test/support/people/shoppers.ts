// Buyers that never stop while a test takes something down: each buys again and again, and retries a request
// with the same Idempotency-Key until it is answered, as docs/API.md asks callers to. Guarantee: the report
// contains everything that answers said.
import { expect } from 'vitest';
import { findPurchaseRow, newBuyer, type Buyer } from './buyer.ts';
import { expectSoundBooks } from '../money/invariants.ts';
import { startStack, type Answer, type Stack, type StackOptions } from '../world/stack.ts';
import { until } from '../time/until.ts';

interface ShoppingReport {
  /** How often each answer came: `201 SUCCESS`, `503 SERVICE_UNAVAILABLE`, `no answer`. */
  readonly answers: Readonly<Record<string, number>>;
  /** The purchases named in answers, one for each key. */
  readonly transactionIds: readonly string[];
  readonly buyers: readonly Buyer[];
  /** Keys whose answers named more than one purchase. */
  readonly torn: readonly string[];
}

const PAUSE_MS = 100;
/** A caller that waits longer than this for one purchase is a failure. */
const GIVE_UP_MS = 90_000;

export function startShopping(buyers: readonly Buyer[]) {
  const answers = new Map<string, number>();
  const purchases = new Map<string, Set<string>>();
  let stopping = false;

  const buyOnce = async (buyer: Buyer, key: string): Promise<void> => {
    const startedAtMs = performance.now();
    for (;;) {
      const answer = await buyer.buy('SIM-OK', { idempotencyKey: key }).catch(() => undefined);
      const name = nameOf(answer);
      answers.set(name, (answers.get(name) ?? 0) + 1);
      if (answer?.status === 201) {
        const known = purchases.get(key) ?? new Set();
        purchases.set(key, known.add(answer.body.transactionId));
        return;
      }
      if (performance.now() - startedAtMs > GIVE_UP_MS) throw new Error(`${key} was never answered: ${name}`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const shop = async (buyer: Buyer): Promise<void> => {
    for (let count = 0; !stopping; count += 1) await buyOnce(buyer, `${buyer.account.accountId}-${count}`);
  };
  const all = Promise.all(buyers.map(shop));
  all.catch(() => undefined);
  const done = (): number => purchases.size;
  const away = (): number =>
    [...answers].reduce((sum, [name, count]) => (name.startsWith('201') ? sum : sum + count), 0);
  const grow = async (counter: () => number, by: number, what: string): Promise<void> => {
    const wanted = counter() + by;
    await Promise.race([until(counter, (now) => now >= wanted, { what, withinMs: GIVE_UP_MS }), all]);
  };
  return {
    /** Resolves once this many more purchases have been answered. */
    more: (count: number) => grow(done, count, `${count} more purchases`),
    /** Resolves once this many more requests have been refused, so that the outage has been noticed. */
    turnedAway: (count: number) => grow(away, count, `${count} more callers turned away`),
    /** Waits for the purchases in progress. */
    stop: async () => {
      stopping = true;
      await all;
      return {
        answers: Object.fromEntries(answers),
        buyers,
        transactionIds: [...purchases.values()].flatMap((ids) => [...ids]),
        torn: [...purchases].filter(([, ids]) => ids.size > 1).map(([key]) => key),
      };
    },
  };
}

/** A stack of processes of its own on this server, which logs warnings, and the buyers on it. */
export async function startOutage(
  on: Pick<StackOptions, 'databaseUrl' | 'temporalAddress'>,
): Promise<{ readonly stack: Stack; readonly buyers: readonly Buyer[] }> {
  const stack = await startStack({
    processes: 'own',
    ...on,
    timings: { answerWithinMs: 4_000, checkMaxMs: 300 },
    env: {
      SIMWAY_LOG_LEVEL: 'warn',
    },
  });
  return { stack, buyers: await newBuyers(stack) };
}

export const newBuyers = (stack: Stack): Promise<Buyer[]> =>
  Promise.all(Array.from({ length: 4 }, () => newBuyer(stack)));

/**
 * Restarts the server, then kills it, while buyers keep buying: every purchase in their answers is made once.
 */
export async function expectRestartsLoseNothing(
  { stack, buyers }: { readonly stack: Stack; readonly buyers: readonly Buyer[] },
  server: Readonly<Record<'start' | 'stop' | 'kill', () => Promise<unknown>>>,
): Promise<void> {
  const shopping = startShopping(buyers);
  await shopping.more(4);
  for (const end of [server.stop, server.kill]) {
    await end();
    await shopping.turnedAway(4);
    await server.start();
    await shopping.more(4);
  }
  const report = await shopping.stop();
  expect(report.transactionIds.length).toBeGreaterThanOrEqual(12);
  await expectNothingLost(stack, report);
}

/** The log line of the answer's request names the cause, which the caller does not see. */
export async function expectCauseInLog(stack: Stack, answer: Answer, cause: RegExp): Promise<void> {
  const requestId = String(answer.headers.get('X-Request-Id'));
  // Lines are written in batches.
  const line = await until(
    () =>
      stack.children.api
        ?.tail()
        .split('\n')
        .find((one) => one.includes(requestId)),
    (found) => found !== undefined,
    { what: `a log line of request ${requestId}` },
  );
  expect(JSON.parse(line!)).toMatchObject({
    status: answer.status,
    cause: expect.stringMatching(cause) as string,
  });
  expect(answer.text).not.toMatch(cause);
}

function nameOf(answer: Answer | undefined): string {
  if (!answer) return 'no answer';
  const { body, status } = answer;
  return `${status} ${status < 300 ? body.status : body.error.code}`;
}

/**
 * What must be true after any outage: every purchase in an answer is delivered, there are no others, and the
 * books agree. Nothing but "come back later" was ever answered in between.
 */
export async function expectNothingLost(stack: Stack, report: ShoppingReport): Promise<void> {
  expect(report.torn).toEqual([]);
  expect(Object.keys(report.answers).filter((name) => !COME_BACK_LATER.has(name))).toEqual([]);
  for (const id of report.transactionIds) {
    const row = await until(
      () => findPurchaseRow(stack, id),
      (found) => found !== undefined && found.closed_at !== null,
      { what: `${id} closed` },
    );
    expect(row?.status).toBe('SUCCESS');
  }
  expect(await expectSoundBooks(stack)).toMatchObject({ open: 0, failed: 0 });
  expect(await purchasesOf(stack, report.buyers)).toEqual(report.transactionIds.toSorted());
}

/** Every purchase of these buyers under one of the keys they shopped with. */
async function purchasesOf(stack: Stack, buyers: readonly Buyer[]): Promise<string[]> {
  const accounts = buyers.map(({ account }) => account.accountId);
  const rows = await stack.owner
    .selectFrom('purchases')
    .select('transaction_id')
    .where('account_id', 'in', accounts)
    .execute();
  return rows.map((row) => row.transaction_id).toSorted();
}

const COME_BACK_LATER: ReadonlySet<string> = new Set([
  '201 SUCCESS',
  '201 PROCESSING',
  '409 IDEMPOTENCY_KEY_IN_USE',
  '503 SERVICE_UNAVAILABLE',
  'no answer',
]);
