// Buyers that never stop while a test takes something down: each buys again and again, and retries a request with the same
// Idempotency-Key until it is answered, as docs/API.md tells callers to. Guarantee: nothing an answer says is lost, it is all in the report.
import { expect } from 'vitest';
import { findPurchaseRow, type Buyer } from './buyer.ts';
import { expectSoundBooks } from './invariants.ts';
import type { Answer, Stack } from './stack.ts';
import { until } from './until.ts';

export interface ShoppingReport {
  /** How often each answer came: `201 SUCCESS`, `503 SERVICE_UNAVAILABLE`, `no answer`. */
  readonly answers: Readonly<Record<string, number>>;
  /** The purchases that callers were told of, one for each key. */
  readonly transactionIds: readonly string[];
  readonly buyers: readonly Buyer[];
  /** Keys whose answers named more than one purchase. */
  readonly torn: readonly string[];
  readonly slowestMs: number;
}

export interface Shopping {
  /** How many purchases have been answered so far. */
  done(): number;
  /** Resolves once this many more purchases have been answered. */
  more(count: number): Promise<void>;
  /** Resolves once this many more requests have been told to come back: the outage has been felt. */
  turnedAway(count: number): Promise<void>;
  /** Lets everybody finish the purchase at hand. */
  stop(): Promise<ShoppingReport>;
}

const PAUSE_MS = 100;
/** Nobody waits longer than this for one purchase: a caller that is never answered is a failure. */
const GIVE_UP_MS = 90_000;

export function startShopping(buyers: readonly Buyer[], packageCode = 'SIM-OK'): Shopping {
  const answers = new Map<string, number>();
  const purchases = new Map<string, Set<string>>();
  let stopping = false;
  let slowestMs = 0;

  const buyOnce = async (buyer: Buyer, key: string): Promise<void> => {
    const startedAtMs = performance.now();
    for (;;) {
      const answer = await buyer.buy(packageCode, { idempotencyKey: key }).catch(() => undefined);
      const name = nameOf(answer);
      answers.set(name, (answers.get(name) ?? 0) + 1);
      if (answer?.status === 201) {
        const known = purchases.get(key) ?? new Set();
        purchases.set(key, known.add(answer.body.transactionId));
        slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
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
    done,
    more: (count) => grow(done, count, `${count} more purchases`),
    turnedAway: (count) => grow(away, count, `${count} more callers turned away`),
    stop: async () => {
      stopping = true;
      await all;
      return {
        answers: Object.fromEntries(answers),
        buyers,
        transactionIds: [...purchases.values()].flatMap((ids) => [...ids]),
        torn: [...purchases].filter(([, ids]) => ids.size > 1).map(([key]) => key),
        slowestMs,
      };
    },
  };
}

function nameOf(answer: Answer | undefined): string {
  if (!answer) return 'no answer';
  const { body, status } = answer;
  return `${status} ${status < 300 ? body.status : body.error.code}`;
}

/**
 * What must be true after any outage: every purchase a caller was told of is delivered, none was made beside them, and the books agree.
 * Nothing but "come back later" was ever answered in between.
 */
export async function expectNothingLost(
  stack: Stack,
  report: ShoppingReport,
  options: { readonly closedWithinMs?: number } = {},
): Promise<void> {
  expect(report.torn).toEqual([]);
  expect(Object.keys(report.answers).filter((name) => !COME_BACK_LATER.has(name))).toEqual([]);
  for (const id of report.transactionIds) {
    const row = await until(
      () => findPurchaseRow(stack, id),
      (found) => found !== undefined && found.closed_at !== null,
      { what: `${id} closed`, withinMs: options.closedWithinMs ?? 40_000 },
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
