/**
 * The monitor of unpaid payments, with a moved clock: its requests to the gateway in a day of 100,000
 * payments and 300,000 checkouts, and how soon it finds money without an event. Real rows and the real
 * monitor; the gateway is a list in memory, and workflows book at once.
 */
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/domain/clock.ts';
import { type PaidCharges } from '../../src/payments/port.ts';
import { openBooks } from '../support/world/books.ts';
import { createMonitored, pace } from './monitored.support.ts';
import { createRandom, size, withSeed } from '../support/time/size.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks({ maxConnections: 4 }));
const NOW = new Date('2026-03-01T10:00:00.000Z');
const PAID_A_DAY = 100_000;
const CHECKOUTS_A_DAY = 300_000;
/** A page is paid a few minutes after it was opened. */
const PAID_AFTER_MS = 3 * 60_000;
/** The part of all money that has no event. */
const LOST_EVENTS = 0.1;
const PER_PAGE = 100;
/** With four days behind it, a hundred pages of each hour are read for the first time. */
const FIRST_ROUND_MS = size({ ci: 5 * 60_000, prove: 30 * 60_000 });

interface Checkout {
  readonly reference: string;
  readonly accountId: string;
  readonly openedAtMs: number;
  /** Infinity: never. */
  readonly paidAtMs: number;
  readonly isToldOf: boolean;
}

beforeEach(async () => {
  await books.owner.deleteFrom('gateway_windows').execute();
  await books.owner.deleteFrom('payments').execute();
});

describe('a day of 100,000 payments and 300,000 checkouts', () => {
  it('takes 6 requests a second in total, and money without an event is found within a minute', async () => {
    await withSeed(async (seed) => {
      const hours = size({ ci: { before: 8, watched: 0.5 }, prove: { before: 96, watched: 1.5 } });
      const startMs = NOW.getTime();
      const checkouts = checkoutsOf(
        seed,
        startMs - hours.before * HOUR_MS,
        startMs + hours.watched * HOUR_MS,
      );
      const shop = await openShop(checkouts, startMs);
      // The first round reads every window once, with all its pages, and is not counted.
      await shop.watchUntil(startMs + FIRST_ROUND_MS);
      const [readBefore, checksBefore] = [shop.lists(), shop.singleChecks()];
      await shop.watchUntil(startMs + hours.watched * HOUR_MS);

      const readerPerSecond =
        (shop.lists() - readBefore) / ((hours.watched * HOUR_MS - FIRST_ROUND_MS) / 1000);
      const eventsPerSecond = PAID_A_DAY / 86_400;
      // Every unpaid checkout is checked once when its time is over.
      const endsPerSecond = (CHECKOUTS_A_DAY - PAID_A_DAY) / 86_400;
      const inAll = readerPerSecond + eventsPerSecond + endsPerSecond;
      const delays = shop.foundAfterMs(startMs + FIRST_ROUND_MS).toSorted((a, b) => a - b);
      console.log(
        `the list ${readerPerSecond.toFixed(2)} + events ${eventsPerSecond.toFixed(2)} + ends ${endsPerSecond.toFixed(2)} = ${inAll.toFixed(2)} requests a second; ` +
          `${delays.length} found after ${(delays.at(Math.trunc(delays.length / 2))! / 1000).toFixed(0)} s (median), ${(delays.at(-1)! / 1000).toFixed(0)} s (most)`,
      );
      expect(shop.singleChecks() - checksBefore, 'no single checks while the list works').toBe(0);
      expect(inAll).toBeLessThanOrEqual(6);
      expect(delays.length).toBeGreaterThan(0);
      expect(delays.at(-1)).toBeLessThanOrEqual(60_000);
    });
  });
});

describe('20,000 open payments', () => {
  const OPEN = 20_000;
  const open = (paidAtMs: (index: number) => number): Checkout[] =>
    Array.from({ length: OPEN }, (_, index) => ({
      reference: `txn-${index}`,
      // Half of them belong to one account.
      accountId: `acc-${index % 2 === 0 ? 0 : index % 500}`,
      openedAtMs: NOW.getTime() - HOUR_MS + Math.trunc((index * HOUR_MS) / OPEN),
      paidAtMs: paidAtMs(index),
      isToldOf: false,
    }));

  it('of which 500 are paid without events are all found within a minute by the list', async () => {
    const paidAtMs = (index: number): number =>
      index % 40 === 0 ? NOW.getTime() + 60_000 + index : Number.POSITIVE_INFINITY;
    const shop = await openShop(open(paidAtMs), NOW.getTime());
    await shop.watchUntil(NOW.getTime() + 180_000);
    expect(shop.foundAfterMs()).toHaveLength(500);
    expect(Math.max(...shop.foundAfterMs())).toBeLessThanOrEqual(60_000);
    expect(shop.singleChecks()).toBe(0);
  });

  it('are checked individually while the list is down, at most four a second, and every account has its turn', async () => {
    const shop = await openShop(
      open(() => Number.POSITIVE_INFINITY),
      NOW.getTime(),
    );
    shop.breakList();
    await shop.watchUntil(NOW.getTime() + 300_000);
    const seconds = (300_000 - pace.behindMs) / 1000;
    expect(shop.singleChecks()).toBeGreaterThan(seconds);
    expect(shop.singleChecks()).toBeLessThanOrEqual(seconds * 4 + 20);
    const { rows } = await sql<{ accounts: number; most: number }>`
      select count(*)::int as accounts, max(checks)::int as most
        from (select account_id, count(*) as checks from payments where checked_at is not null group by account_id) checked`.execute(
      books.owner,
    );
    expect(rows[0]!.accounts, 'of 251').toBe(251);
    // One account has ten thousand of them, and no more checks than its turns.
    expect(rows[0]!.most).toBeLessThanOrEqual(6);
  });
});

function checkoutsOf(seed: number, fromMs: number, toMs: number): Checkout[] {
  const random = createRandom(seed);
  const share = (): number => (random.below(1_000_000) + 1) / 1_000_001;
  const count = Math.trunc(((toMs - fromMs) * CHECKOUTS_A_DAY) / DAY_MS);
  return Array.from({ length: count }, (_, index) => {
    const openedAtMs = fromMs + Math.trunc(((toMs - fromMs) * index) / count);
    const isPaid = share() < PAID_A_DAY / CHECKOUTS_A_DAY;
    return {
      reference: `txn-${index}`,
      accountId: `acc-${index % 200}`,
      openedAtMs,
      // Nearly all within two hours: later ones are checked less often.
      paidAtMs: isPaid
        ? openedAtMs + Math.min(-Math.log(share()) * PAID_AFTER_MS, HOUR_MS)
        : Number.POSITIVE_INFINITY,
      isToldOf: share() >= LOST_EVENTS,
    };
  });
}

/** A gateway, rows and a clock, with the monitor in front of them; the time is `startMs`. */
async function openShop(checkouts: readonly Checkout[], startMs: number) {
  const requests = { list: 0, check: 0 };
  const found: { readonly atMs: number; readonly afterMs: number }[] = [];
  const byReference = new Map(checkouts.map((checkout) => [checkout.reference, checkout]));
  await insertPayments(checkouts, startMs);
  const reported = checkouts
    .filter(({ isToldOf, paidAtMs }) => isToldOf && paidAtMs > startMs && paidAtMs !== Infinity)
    .toSorted((a, b) => a.paidAtMs - b.paidAtMs);
  let reportedSoFar = 0;
  const sendEvents = async (): Promise<void> => {
    const first = reportedSoFar;
    while (reportedSoFar < reported.length && reported[reportedSoFar]!.paidAtMs <= monitored.now())
      reportedSoFar += 1;
    await book(reported.slice(first, reportedSoFar).map(({ reference }) => reference));
  };
  const monitored = createMonitored(books.world, {
    startMs,
    paidCharges: (fromMs, toMs, nowMs, page) => pageOf(checkouts, [fromMs, toMs], nowMs, page),
    isPaid: (reference, nowMs) => byReference.get(reference)!.paidAtMs <= nowMs,
    onFound: async ({ transactionId }, nowMs) => {
      found.push({ atMs: nowMs, afterMs: nowMs - byReference.get(transactionId)!.paidAtMs });
      await book([transactionId]);
    },
    onRequest: (what) => (requests[what] += 1),
  });
  return {
    lists: () => requests.list,
    singleChecks: () => requests.check,
    /** The time from payment to detection, for those found from then on. */
    foundAfterMs: (sinceMs = 0) => found.filter(({ atMs }) => atMs >= sinceMs).map(({ afterMs }) => afterMs),
    breakList: monitored.breakList,
    watchUntil: (untilMs: number) => monitored.watchUntil(untilMs, sendEvents),
  };
}

function pageOf(
  checkouts: readonly Checkout[],
  [fromMs, toMs]: readonly [number, number],
  nowMs: number,
  page: number,
): PaidCharges {
  const firstAt = (timeMs: number): number => {
    let [low, high] = [0, checkouts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (checkouts[middle]!.openedAtMs < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const paid = checkouts.slice(firstAt(fromMs), firstAt(toMs)).filter(({ paidAtMs }) => paidAtMs <= nowMs);
  const rows = paid.toReversed().slice((page - 1) * PER_PAGE, page * PER_PAGE);
  return {
    references: rows.map(({ reference }) => reference),
    count: rows.length,
    total: paid.length,
    isLast: page * PER_PAGE >= paid.length,
  };
}

/** Earlier payments exist from the beginning, booked if paid. */
async function insertPayments(checkouts: readonly Checkout[], startMs: number): Promise<void> {
  const BATCH = 10_000;
  for (let from = 0; from < checkouts.length; from += BATCH) {
    const batch = checkouts.slice(from, from + BATCH);
    await sql`
      insert into payments (gateway, reference, transaction_id, attempt, purpose, account_id, method, status, charge_minor, charge_currency, price_minor,
                            price_currency, expires_at, received_minor, credited_minor, created_at)
      select 'paystack', reference, reference, 1, 'purchase', account_id, 'CARD', 'OPEN', 100, 'USD', 100,
             'USD', created_at + interval '1 day', case when is_booked then 100 else 0 end, case when is_booked then 100 else 0 end, created_at
        from unnest(${batch.map(({ reference }) => reference)}::text[], ${batch.map(({ accountId }) => accountId)}::text[],
                    ${batch.map(({ openedAtMs }) => new Date(openedAtMs))}::timestamptz[],
                    ${batch.map(({ paidAtMs }) => paidAtMs <= startMs)}::boolean[]) as made (reference, account_id, created_at, is_booked)`.execute(
      books.owner,
    );
  }
  await sql`analyze payments`.execute(books.owner);
}

async function book(references: readonly string[]): Promise<void> {
  if (references.length === 0) return;
  await sql`update payments set received_minor = 100, credited_minor = 100 where reference = any(${[...references]})`.execute(
    books.owner,
  );
}
