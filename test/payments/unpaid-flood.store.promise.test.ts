/**
 * A merchant's loop that opens 100 checkouts a minute and pays none, with a moved clock: a day under `npm run
 * prove`, an hour here. Real rows, the real limit and the real monitor; the gateway is a list in memory.
 * Another account, whose events are all lost, is not affected.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { insertAccount } from '../../src/accounts/store/accounts.ts';
import { MINUTE_MS } from '../../src/domain/clock.ts';
import { chargeReference, DEFAULT_UNPAID_LIMITS } from '../../src/payments/rules.ts';
import { saveInstructions, countUnpaid } from '../../src/payments/store/payments.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { closeUnpaid } from '../../src/purchases/store/purchases.ts';
import { openBooks } from '../support/world/books.ts';
import { newAccount, purchaseInput } from '../support/money/facts.ts';
import { stockCatalogue } from '../support/money/stock.ts';
import { createMonitored } from './monitored.support.ts';
import { size } from '../support/time/size.ts';
import { forFile } from '../support/world/for-file.ts';

const START_MS = Date.parse('2026-03-01T10:00:00.000Z');
const MINUTES = size({ ci: 60, prove: 24 * 60 });
const CHECKOUTS_A_MINUTE = 100;
/** All refusals are alike, and leave nothing behind. */
const REFUSED_A_MINUTE = size({ ci: 3, prove: CHECKOUTS_A_MINUTE });
const PAID_AFTER_MS = 3 * MINUTE_MS;
/** The worst of all methods: its payments count for half an hour. */
const TRANSFER_MS = 30 * MINUTE_MS;
const LIMIT = DEFAULT_UNPAID_LIMITS.STANDARD;
const GATEWAY_BOUND_PER_SECOND = 30;

const books = await forFile(openBooks({ maxConnections: 4 }));
await stockCatalogue(books.world, new Date(START_MS));

async function newBuyer(): Promise<string> {
  const account = newAccount({ plan: 'STANDARD', email: `${randomUUID()}@test.example` });
  await insertAccount(books.accounts, account);
  return account.id;
}

interface Checkout {
  readonly reference: string;
  readonly openedAtMs: number;
  readonly expiresAtMs: number;
  readonly paidAtMs: number;
}

/** The gateway, the clock and the buyers. */
function openShop() {
  /** Counts by minute. */
  const requests = new Map<number, number>();
  const open = new Map<string, Checkout>();
  const found: number[] = [];
  const count = (): void => {
    const minute = Math.trunc((monitored.now() - START_MS) / MINUTE_MS);
    requests.set(minute, (requests.get(minute) ?? 0) + 1);
  };
  const monitored = createMonitored(books.world, {
    startMs: START_MS,
    paidCharges: (fromMs, toMs, nowMs) => {
      const paid = [...open.values()].filter(
        ({ openedAtMs, paidAtMs }) => openedAtMs >= fromMs && openedAtMs < toMs && paidAtMs <= nowMs,
      );
      const references = paid.map(({ reference }) => reference);
      return { references, count: references.length, total: references.length, isLast: true };
    },
    isPaid: (reference, nowMs) => (open.get(reference)?.paidAtMs ?? Infinity) <= nowMs,
    onFound: async ({ transactionId: reference }, nowMs) => {
      found.push(nowMs - open.get(reference)!.paidAtMs);
      await sql`
        with booked as (update payments set received_minor = 100 where reference = ${reference})
        update purchases set status = 'PROCESSING' where transaction_id = ${reference}`.execute(books.owner);
    },
    onRequest: count,
  });
  return {
    requests,
    found,
    breakList: monitored.breakList,
    watchUntil: (untilMs: number) => monitored.watchUntil(untilMs),
    /** What the API and the purchase's first steps do; false when refused. */
    checkout: async (accountId: string, paidAfterMs: number): Promise<boolean> => {
      if ((await countUnpaid(books.world, accountId, LIMIT)) >= LIMIT) return false;
      const input = purchaseInput({
        transactionId: `txn-${randomUUID()}`,
        accountId,
        paymentMethod: 'BANK_TRANSFER',
        charge: { gateway: 'paystack', amountMinor: '100', currency: 'NGN', rateIds: [] },
      });
      const nowMs = monitored.now();
      const now = new Date(nowMs);
      const opened = await openPurchase(books.world, input, {
        now,
        keepRefusal: () => false,
      });
      if (opened.stage === 'failed') return false;
      const expiresAtMs = nowMs + TRANSFER_MS;
      const reference = chargeReference(input.transactionId, 1);
      count();
      await saveInstructions(books.world, reference, { kind: 'redirect', paymentUrl: 'https://pay.example' });
      await sql`
        update payments set created_at = ${now}, expires_at = ${new Date(expiresAtMs)}
         where reference = ${reference}`.execute(books.owner);
      open.set(reference, { reference, openedAtMs: nowMs, expiresAtMs, paidAtMs: nowMs + paidAfterMs });
      return true;
    },
    /** What workflows do when the time to pay is over: a last check, and the end. */
    endExpired: async (): Promise<void> => {
      for (const { reference, expiresAtMs, paidAtMs } of open.values()) {
        if (expiresAtMs > monitored.now()) continue;
        count();
        open.delete(reference);
        if (paidAtMs === Infinity) await closeUnpaid(books.world, reference, 'PAYMENT_EXPIRED');
      }
    },
  };
}

/** A minute of the loop; answers how many were opened. */
async function openMany(shop: ReturnType<typeof openShop>, accountId: string): Promise<number> {
  let opened = 0;
  for (let asked = 0; asked < CHECKOUTS_A_MINUTE && asked - opened < REFUSED_A_MINUTE; asked += 1)
    if (await shop.checkout(accountId, Infinity)) opened += 1;
  return opened;
}

it('a loop of 100 checkouts a minute does not affect other accounts', async () => {
  const [flood, honest] = [await newBuyer(), await newBuyer()];
  const shop = openShop();
  let opened = 0;
  for (let minute = 0; minute < MINUTES; minute += 1) {
    await shop.endExpired();
    opened += await openMany(shop, flood);
    if (minute % 2 === 0) expect(await shop.checkout(honest, PAID_AFTER_MS)).toBe(true);
    await shop.watchUntil(START_MS + (minute + 1) * MINUTE_MS);
  }
  const busiest = Math.max(...shop.requests.values()) / 60;
  const slowestMs = Math.max(...shop.found);
  const { rows } = await sql<{ purchases: number; payments: number }>`
    select (select count(*)::int from purchases where account_id = ${flood}) as purchases,
           (select count(*)::int from payments where account_id = ${flood}) as payments`.execute(books.owner);
  console.log(
    `${opened} of ${MINUTES * CHECKOUTS_A_MINUTE} checkouts opened; ${busiest.toFixed(1)} requests a second in the busiest minute; ` +
      `${shop.found.length} payments of the other account found after ${(slowestMs / 1000).toFixed(0)} s at most`,
  );
  // A hundred in every half hour, and no other row of it.
  const most = LIMIT * Math.ceil((MINUTES * MINUTE_MS) / TRANSFER_MS);
  expect(rows[0]).toEqual({ purchases: opened, payments: opened });
  expect(opened).toBeLessThanOrEqual(most);
  expect(await countUnpaid(books.world, flood, 10 * LIMIT)).toBeLessThanOrEqual(LIMIT);
  expect(busiest).toBeLessThanOrEqual(GATEWAY_BOUND_PER_SECOND);
  expect(shop.found.length).toBeGreaterThanOrEqual(MINUTES / 2 - 3);
  expect(slowestMs).toBeLessThanOrEqual(60_000);

  // The same without the gateway's list: every account has its turn.
  shop.breakList();
  const before = shop.found.length;
  const endMs = START_MS + MINUTES * MINUTE_MS;
  await shop.endExpired();
  await openMany(shop, flood);
  expect(await shop.checkout(honest, PAID_AFTER_MS)).toBe(true);
  await shop.watchUntil(endMs + PAID_AFTER_MS + 2 * MINUTE_MS);
  expect(shop.found.length - before).toBeGreaterThanOrEqual(1);
  expect(Math.max(...shop.found.slice(before))).toBeLessThanOrEqual(2 * MINUTE_MS);
});
