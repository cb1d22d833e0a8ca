/**
 * A batch while workers, and once the API, are killed: every row is bought exactly once, result, ledger and
 * supplier agree, and each traveller gets one e-mail. 40 rows in `npm test`, 500 in `npm run prove`.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { startMailServer, type MailServer } from '../support/people/mail-server.ts';
import { makeMembers } from '../support/people/members.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
import { startStack, type Stack, type SupplierOrder } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

const ROWS = size({ ci: 40, prove: 500 });
const KILLS = size({ ci: 1, prove: 8 });
const PRICE_MINOR = 230n;
const FUNDS_MINOR = 1_000_000n;
/** One row in ten is refused by the supplier. */
const isSoldOut = (row: number): boolean => row % 10 === 9;
/** Every third row is for a traveller with an address, some of them sold out. */
const travellerOf = (row: number): string | undefined =>
  row % 3 === 0 ? `traveller-${row}@example.com` : undefined;

let mail: MailServer;
let stack: Stack;
beforeAll(async () => {
  mail = await startMailServer();
  stack = await startStack({
    processes: 'own',
    timings: { answerWithinMs: 4_000, checkMaxMs: 300, inFlightGraceMs: 500 },
    env: {
      SIMWAY_SMTP_URL: mail.url,
      SIMWAY_MAIL_FROM: 'esims@simway.example',
    },
  });
}, 120_000);
afterAll(async () => {
  await stack.close();
  await mail.close();
});

interface Row {
  readonly reference: string;
  readonly transactionId: string;
  readonly status: string;
  readonly reason: string;
  readonly esimId: string;
  readonly emailStatus: string;
}

async function allRows(buyer: Buyer, batchId: string): Promise<Row[]> {
  const pages = await Promise.all(
    Array.from({ length: Math.ceil(ROWS / 100) }, (_, page) =>
      buyer.read(`/api/esim/orders/batch/${batchId}?limit=100&page=${page + 1}`),
    ),
  );
  return pages.flatMap(({ body }) => body.data.items as Row[]);
}

const countDelivered = async (buyer: Buyer): Promise<number> =>
  (await buyer.purchases()).filter(({ status }) => status === 'SUCCESS').length;

const supplierOrders = async (): Promise<SupplierOrder[]> =>
  (await fetch(`${stack.supplierControlUrl}/orders?limit=10000`)).json() as Promise<SupplierOrder[]>;

/** Kills the worker at times spread over the batch, each time once it has bought some more. */
async function killAlong(buyer: Buyer, random: Random): Promise<void> {
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await until(
      () => countDelivered(buyer),
      (count) => count >= Math.trunc((ROWS * 0.8 * kill) / (KILLS + 1)),
      { what: `a part of the batch before kill ${kill}` },
    );
    await pause(random.below(150));
    await stack.children.worker!.kill();
    if (kill === 1) {
      await stack.children.api!.kill();
      await stack.startApi();
    }
    await stack.startWorker();
  }
}

/** A sender killed after sending leaves a copy, with the same Message-ID (docs/decisions/0059-batches.md). */
async function expectEmails(buyer: Buyer, result: readonly Row[]): Promise<void> {
  const mailsTo = Map.groupBy(mail.mails, ({ to }) => to.join());
  const due = [...result.entries()].filter(([row]) => travellerOf(row) !== undefined && !isSoldOut(row));
  expect([...mailsTo.keys()].toSorted()).toEqual(due.map(([row]) => travellerOf(row)!).toSorted());
  for (const [row, { transactionId, esimId }] of due) {
    const mails = mailsTo.get(travellerOf(row)!) ?? [];
    expect([...new Set(mails.map(({ headers }) => headers['message-id']))]).toEqual([
      `<install-${transactionId}@simway.example>`,
    ]);
    const [install, details] = await Promise.all([
      buyer.read(`/api/esim/${esimId}/install`),
      buyer.read(`/api/esim/${esimId}`),
    ]);
    const { installUrl } = install.body as unknown as { readonly installUrl: string };
    // The details show the code to its owner even if the eSIM is in use.
    const { matchingId } = details.body as unknown as { readonly matchingId: string };
    expect([installUrl, matchingId]).toEqual([
      expect.stringContaining('/i/'),
      expect.stringMatching(/^.{8,}$/),
    ]);
    for (const { headers, body: text } of mails) {
      expect(text).toContain(installUrl);
      expect(`${JSON.stringify(headers)}${text}`).not.toMatch(/LPA:/i);
      expect(text).not.toContain(matchingId);
    }
  }
}

it(`buys each of ${ROWS} rows once even if workers are killed, and result, ledger and supplier agree`, async () => {
  await withSeed(async (seed) => {
    const random = createRandom(seed);
    const buyer = await newBuyer(stack, { fundsMinor: FUNDS_MINOR });
    const rows = Array.from({ length: ROWS }, (_, row) => ({
      reference: `booking-${row}`,
      packageCode: isSoldOut(row) ? 'SIM-OUT-OF-STOCK' : 'SIM-OK',
      email: travellerOf(row),
    }));
    const travellers = rows.flatMap(({ email }) => (email === undefined ? [] : [email]));
    await makeMembers(stack, buyer.account.accountId, travellers);
    const order = {
      key: buyer.account.apiKey,
      body: { rows },
      headers: { 'Idempotency-Key': `batch-${seed}` },
    };
    const accepted = await stack.call('POST', '/api/esim/orders/batch', order);
    expect(accepted.status, accepted.text).toBe(202);
    const { batchId } = accepted.body.data;
    const startedAtMs = performance.now();

    await killAlong(buyer, random);
    const completed = await until(
      () => buyer.read(`/api/esim/orders/batch/${batchId}`),
      ({ body }) => body.data.status === 'COMPLETED' && body.data.completedAt !== '',
      { what: 'the batch completed', withinMs: 240_000 },
    );
    const tookMs = Math.round(performance.now() - startedAtMs);
    const failed = rows.filter((_, row) => isSoldOut(row)).length;
    const succeeded = ROWS - failed;
    expect(completed.body.data.counts).toEqual({ rows: ROWS, queued: 0, processing: 0, succeeded, failed });

    const result = await allRows(buyer, batchId);
    expect(result.map(({ reference }) => reference)).toEqual(rows.map(({ reference }) => reference));
    result.forEach(({ status, reason }, row) =>
      expect([row, status, reason]).toEqual(
        isSoldOut(row) ? [row, 'FAILED', 'PACKAGE_UNAVAILABLE'] : [row, 'SUCCESS', ''],
      ),
    );
    const purchases = await buyer.purchases();
    const bought = result.filter(({ status }) => status === 'SUCCESS').map((row) => row.transactionId);
    const delivered = purchases.filter(({ status }) => status === 'SUCCESS').map((row) => row.transaction_id);
    expect(bought.toSorted()).toEqual(delivered.toSorted());
    const orders = await supplierOrders();
    expect(orders.map(({ transactionId }) => transactionId).toSorted()).toEqual(bought.toSorted());
    expect(new Set(result.map(({ esimId }) => esimId).filter(Boolean)).size).toBe(purchases.length);
    expect(await buyer.balanceMinor()).toBe(FUNDS_MINOR - PRICE_MINOR * BigInt(succeeded));
    const counts = await expectSoundBooks(stack);
    expect(counts).toMatchObject({ open: 0, success: succeeded });

    const emailed = await until(
      () => allRows(buyer, batchId),
      (all) => all.every(({ emailStatus }) => emailStatus !== 'WAITING'),
      { what: 'no waiting e-mail' },
    );
    expect(emailed.map(({ emailStatus }) => emailStatus)).toEqual(
      rows.map(({ email }, row) => (email === undefined ? '' : isSoldOut(row) ? 'NOT_SENT' : 'SENT')),
    );
    await expectEmails(buyer, emailed);

    const again = await stack.call('POST', '/api/esim/orders/batch', order);
    expect([again.status, again.text]).toEqual([202, accepted.text]);
    console.log(`${ROWS} rows, ${KILLS} kills: ${tookMs} ms, ${orders.length} orders at the supplier`);
  });
}, 420_000);
