/**
 * Promise M4, the wallet's part: a hold is posted or voided exactly once, in whatever order this is
 * attempted. Three ways: every sequence of attempts up to a depth against a model; every interleaving of
 * three transactions, each of which acts and then commits or rolls back; and random schedules of many
 * attempts at once, all on one purchase.
 */
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { HoldConflict, postHold, voidHold } from '../../src/ledger/store/holds.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import { auditBooks, openBooks, type Books } from '../support/world/books.ts';
import { purchaseInput } from '../support/money/facts.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { newWallet, stockCatalogue } from '../support/money/stock.ts';
import { placeHold } from '../support/money/holds.ts';
import { runConcurrently } from '../support/time/concurrency.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
import { forFile } from '../support/world/for-file.ts';

const DEPTH = size({ ci: 3, prove: 6 });
const SCHEDULES = size({ ci: 150, prove: 100_000 });
/** Out of the 5,760 interleavings; all of them in full size. */
const EVERY_NTH_INTERLEAVING = size({ ci: 59, prove: 1 });
const CONCURRENCY = 6;

const books: Books = await forFile(openBooks({ maxConnections: 4 * CONCURRENCY }));

const NOW = new Date('2026-03-01T10:00:00.000Z');
const PRICE = 1_250n;

beforeAll(() => stockCatalogue(books.world, NOW));

/** Post and void change holds and leave the purchase as it was, so the two may differ. */
const HOLDS_WITHOUT_PURCHASES = ['an open purchase has no open hold, or a closed one has'];

const ACTIONS = ['post', 'void', 'settle', 'fail'] as const;
type Action = (typeof ACTIONS)[number];
type Answer = 'did it' | 'already' | 'conflict';

const endOf = (end: 'posted' | 'voided' | 'already'): Answer => (end === 'already' ? end : 'did it');

async function act(db: WorldDb, action: Action, id: string): Promise<Answer> {
  try {
    switch (action) {
      case 'post':
        return endOf(await postHold(db, id, { supplier: 'esim-access', costUsdE4: 5n }));
      case 'void':
        return endOf(await voidHold(db, id));
      case 'settle':
        await settlePurchase(db, id);
        return 'did it';
      case 'fail':
        await failPurchase(db, id, { reason: 'OUT_OF_STOCK', detail: '' });
        return 'did it';
    }
  } catch (error) {
    if (error instanceof HoldConflict) return 'conflict';
    throw error;
  }
}

/** Parallel purchases must not wait for one wallet. */
const newBuyer = () => newWallet(books.world, { fundsMinor: 10n ** 12n });

let purchases = 0;
async function openOne(accountId: string): Promise<string> {
  const transactionId = `txn-${(purchases += 1)}`;
  const input = purchaseInput({ transactionId, accountId });
  await openPurchase(books.world, input, { now: NOW, keepRefusal: () => false });
  return transactionId;
}

interface HoldStatus {
  readonly hold: string;
  readonly purchase: string;
  /** How the hold was closed in the ledger. */
  readonly bookings: string;
}

async function statusOf(ids: readonly string[]): Promise<Map<string, HoldStatus>> {
  const { rows } = await sql<HoldStatus & { id: string }>`
    select h.id, h.status as hold, coalesce(p.status, 'none') as purchase,
           (select string_agg(kind, ' ' order by t.id) from ledger_transactions t where t.transaction_id = h.id) as bookings
      from holds h left join purchases p on p.transaction_id = h.id where h.id = any(${[...ids]})`.execute(
    books.world,
  );
  return new Map(rows.map(({ id, ...status }) => [id, status]));
}

const OPEN: HoldStatus = { hold: 'HELD', purchase: 'PROCESSING', bookings: 'hold' };

/** An attempt's effect on a purchase, and its answer. */
function expected(now: HoldStatus, action: Action): { next: HoldStatus; answer: Answer } {
  const posts = action === 'post' || action === 'settle';
  const wanted = posts ? 'POSTED' : 'VOIDED';
  if (now.hold !== 'HELD' && now.hold !== wanted) return { next: now, answer: 'conflict' };
  const closed: HoldStatus =
    now.hold === 'HELD' ? { ...now, hold: wanted, bookings: `hold ${posts ? 'post' : 'void'}` } : now;
  if (action === 'post' || action === 'void')
    return { next: closed, answer: now.hold === 'HELD' ? 'did it' : 'already' };
  const purchase = now.purchase === 'PROCESSING' ? (posts ? 'SUCCESS' : 'FAILED') : now.purchase;
  return { next: { ...closed, purchase }, answer: 'did it' };
}

/** Runs jobs several at a time, each with a buyer that no other has meanwhile; returns how many. */
async function runAll<T>(jobs: readonly T[], run: (job: T, accountId: string) => Promise<void>) {
  const free = await Promise.all(Array.from({ length: CONCURRENCY }, newBuyer));
  await runConcurrently(jobs, CONCURRENCY, async (job) => {
    const accountId = free.pop()!;
    await run(job, accountId).finally(() => free.push(accountId));
  });
  return jobs.length;
}

function* sequences(depth: number): Generator<readonly Action[]> {
  if (depth === 0) {
    yield [];
    return;
  }
  for (const before of sequences(depth - 1)) for (const action of ACTIONS) yield [...before, action];
}

describe('attempts in sequence', () => {
  it(`close the hold by the first of any ${DEPTH}, and by no other`, async () => {
    const done = await runAll([...sequences(DEPTH)], async (actions, accountId) => {
      const id = await openOne(accountId);
      let now = OPEN;
      const steps: string[] = [];
      for (const action of actions) {
        const { next, answer } = expected(now, action);
        const said = await act(books.world, action, id);
        steps.push(`${action}: ${said}`);
        if (said !== answer) throw new Error(`${steps.join(', ')} – the last should be ${answer}`);
        now = next;
        // Shorter sequences are the beginnings of longer ones.
        const found = (await statusOf([id])).get(id);
        expect(found, steps.join(', ')).toEqual(now);
      }
    });
    expect(done).toBe(4 ** DEPTH);
    expect(await auditBooks(books.owner, { except: HOLDS_WITHOUT_PURCHASES })).toEqual([]);
  });
});

interface Actor {
  readonly action: 'post' | 'void';
  readonly commits: boolean;
}

/** All orders of two steps of each of three actors: act, then commit or roll back. */
function* orders(left: readonly [number, number, number] = [2, 2, 2]): Generator<number[]> {
  if (left.every((steps) => steps === 0)) yield [];
  for (const [actor, steps] of left.entries()) {
    if (steps === 0) continue;
    const rest = left.map((count, i) => (i === actor ? count - 1 : count)) as [number, number, number];
    for (const later of orders(rest)) yield [actor, ...later];
  }
}

function* interleavings(): Generator<{
  readonly actors: readonly Actor[];
  readonly order: readonly number[];
}> {
  const all: Actor[] = (['post', 'void'] as const).flatMap((action) =>
    [true, false].map((commits) => ({ action, commits })),
  );
  let n = 0;
  for (const order of orders())
    for (const first of all)
      for (const second of all)
        for (const third of all)
          if ((n += 1) % EVERY_NTH_INTERLEAVING === 0) yield { actors: [first, second, third], order };
}

/** An open transaction: acts, then waits for the test to end it. */
function openTransaction(id: string, { action, commits }: Actor) {
  const mayEnd = Promise.withResolvers<undefined>();
  const backend = Promise.withResolvers<number>();
  const rollback = new Error('rolled back');
  const start = Promise.withResolvers<undefined>();
  const acted = Promise.withResolvers<Answer>();
  const ended = books.world
    .transaction()
    .execute(async (trx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
      backend.resolve(rows[0]!.pid);
      await start.promise;
      acted.resolve(await act(trx, action, id));
      await mayEnd.promise;
      if (!commits) throw rollback;
    })
    .catch((error: unknown) => {
      if (error === rollback) return;
      acted.reject(error);
      throw error;
    });
  return {
    pid: backend.promise,
    acted: acted.promise,
    ended,
    act: () => start.resolve(undefined),
    end: () => mayEnd.resolve(undefined),
  };
}

/**
 * Resolves when every transaction has finished its step or waits for a lock, so nothing more happens on its
 * own.
 */
async function untilQuiet(transactions: readonly OpenTransaction[]): Promise<void> {
  for (const { doing, pid } of transactions) {
    const settled = { yet: false };
    const mark = (): void => {
      settled.yet = true;
    };
    doing.then(mark, mark);
    for (;;) {
      const { rows } = await sql<{ blocked: boolean }>`
        select cardinality(pg_blocking_pids(${pid})) > 0 as blocked`.execute(books.owner);
      if (settled.yet || rows[0]?.blocked === true) break;
    }
  }
}

interface OpenTransaction {
  readonly pid: number;
  /** Settles when the last step is done. */
  readonly doing: Promise<unknown>;
}

describe('three transactions at once', () => {
  it('close the hold once in every order of their steps, by one that commits, if any does', async () => {
    const done = await runAll([...interleavings()], async ({ actors, order }, accountId) => {
      const id = `hold-${(purchases += 1)}`;
      await placeHold(books.world, { id, accountId, amount: { amountMinor: PRICE, currency: 'USD' } });
      const running = actors.map((actor) => openTransaction(id, actor));
      const pids = await Promise.all(running.map((it) => it.pid));
      const open = new Map<number, OpenTransaction>();
      for (const actor of order) {
        const transaction = running[actor]!;
        const pid = pids[actor]!;
        if (open.has(actor)) {
          transaction.end();
          open.set(actor, { pid, doing: transaction.ended });
        } else {
          transaction.act();
          open.set(actor, { pid, doing: transaction.acted });
        }
        await untilQuiet([...open.values()]);
      }
      await Promise.all(running.map((it) => it.ended));
      const answers = await Promise.all(running.map((it) => it.acted));
      checkThree(
        actors,
        answers,
        (await statusOf([id])).get(id)!,
        JSON.stringify({ actors, order, answers }),
      );
    });
    expect(done).toBe(Math.trunc(5_760 / EVERY_NTH_INTERLEAVING));
    expect(await auditBooks(books.owner, { except: HOLDS_WITHOUT_PURCHASES })).toEqual([]);
  });
});

function checkThree(
  actors: readonly Actor[],
  answers: readonly Answer[],
  found: HoldStatus,
  steps: string,
): void {
  const winners = actors.filter((actor, i) => actor.commits && answers[i] === 'did it');
  if (winners.length > 1) throw new Error(`closed twice: ${steps}`);
  const kept = winners[0]?.action;
  const wanted = kept === undefined ? 'HELD' : kept === 'post' ? 'POSTED' : 'VOIDED';
  if (found.hold !== wanted || found.bookings !== (kept === undefined ? 'hold' : `hold ${kept}`))
    throw new Error(`is ${JSON.stringify(found)}, should be ${wanted}: ${steps}`);
  // No attempt waits in vain: it is refused or repeated only against an end that was committed.
  if (kept === undefined && answers.some((answer) => answer !== 'did it'))
    throw new Error(`gave up: ${steps}`);
}

describe('attempts at random moments', () => {
  /** Two to eight attempts on one purchase, each starting at a random moment. */
  async function schedule(random: Random, accountId: string): Promise<void> {
    const id = await openOne(accountId);
    const attempts = Array.from({ length: 2 + random.below(7) }, () => ({
      action: random.pick(ACTIONS),
      after: random.below(6),
    }));
    const answers = await Promise.all(
      attempts.map(async ({ action, after }) => {
        for (let turn = 0; turn < after; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        return act(books.world, action, id);
      }),
    );
    const found = (await statusOf([id])).get(id)!;
    const problem = problemOf(
      attempts.map(({ action }) => action),
      answers,
      found,
    );
    if (problem !== undefined) throw new Error(`${problem}: ${JSON.stringify({ attempts, answers, found })}`);
  }

  it(`end each of ${SCHEDULES} purchases in one way, in whatever order they arrive`, async () => {
    await withSeed(async (seed) => {
      const random = createRandom(seed);
      const seeds = Array.from({ length: SCHEDULES }, () => random.below(2 ** 31));
      const done = await runAll(seeds, (own, accountId) => schedule(createRandom(own), accountId));
      expect(done).toBe(SCHEDULES);
    });
    expect(await auditBooks(books.owner, { except: HOLDS_WITHOUT_PURCHASES })).toEqual([]);
  });
});

/** What contradicts a single end, in words. */
function problemOf(
  actions: readonly Action[],
  answers: readonly Answer[],
  found: HoldStatus,
): string | undefined {
  const posted = found.hold === 'POSTED';
  if (found.hold === 'HELD') return 'the hold is still open';
  if (found.bookings !== `hold ${posted ? 'post' : 'void'}`) return 'booked otherwise than the hold says';
  const loser = posted ? ['void', 'fail'] : ['post', 'settle'];
  for (const [i, action] of actions.entries()) {
    const lost = loser.includes(action);
    if (lost !== (answers[i] === 'conflict')) return `${action} answered ${answers[i] ?? 'nothing'}`;
  }
  const closings = actions.filter(
    (action, i) => (action === 'post' || action === 'void') && answers[i] === 'did it',
  );
  if (closings.length > 1) return 'two attempts closed the hold';
  const closer = posted ? 'settle' : 'fail';
  const purchase = actions.includes(closer) ? (posted ? 'SUCCESS' : 'FAILED') : 'PROCESSING';
  if (found.purchase !== purchase) return `the purchase should be ${purchase}`;
  return undefined;
}
