/**
 * Promise G1 during an outage: an event is acknowledged only once it is stored. Without Temporal it is stored
 * and applied later by the inbox's schedule; without Postgres it is refused, and the gateway sends it again.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningPostgres } from '../../src/dev/postgres.ts';
import type { RunningTemporal } from '../../src/dev/temporal.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { ownPostgres, ownTemporal, type OwnServer } from '../support/world/own-servers.ts';
import { dropped, eventsOf, postEvent } from '../support/money/payers.ts';
import { atGateway, buyThroughGateway, gatewayFaults, untilStatus } from '../support/money/payments.ts';
import { startStack, type Stack, type TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

/** Only an event triggers our check early. */
const NEVER_MS = 3_600_000;
/** The inbox is read every 30 s. */
const APPLIED_WITHIN_MS = 75_000;

let postgres: OwnServer<RunningPostgres>;
let temporal: OwnServer<RunningTemporal>;
let stack: Stack;
let account: TestAccount;
beforeAll(async () => {
  [postgres, temporal] = await Promise.all([ownPostgres(), ownTemporal()]);
  stack = await startStack({
    processes: 'own',
    databaseUrl: postgres.server.url,
    temporalAddress: temporal.server.address,
    timings: { pollFirstMs: NEVER_MS, pollMaxMs: NEVER_MS },
  });
  account = await stack.account({ fundsMinor: 0n });
}, 120_000);
afterAll(async () => {
  await stack.close();
  await Promise.all([postgres.close(), temporal.close()]);
});

const untilEventApplied = (reference: string) =>
  until(
    () =>
      stack.world
        .selectFrom('gateway_events')
        .select(['applied_at', 'note'])
        .where('reference', '=', reference)
        .execute(),
    (rows) => rows.length > 0 && rows.every((row) => row.applied_at !== null),
    { what: 'the event applied', withinMs: APPLIED_WITHIN_MS, everyMs: 500 },
  );

it('while Temporal is down an event is stored at once, and the inbox applies it once when Temporal is back', async () => {
  await gatewayFaults(stack, { webhooks: 'drop' });
  const orders = await Promise.all([1, 2, 3].map(() => buyThroughGateway(stack, account)));
  await temporal.server.stop();
  for (const { reference } of orders) {
    await atGateway(stack, reference, 'pay');
    const [sent] = await eventsOf(stack, reference);
    for (let times = 0; times < 3; times += 1) {
      const startedAtMs = performance.now();
      const answer = await postEvent(stack, sent!.body);
      expect([answer.status, answer.text]).toEqual([200, '{"received":true}']);
      expect(performance.now() - startedAtMs, 'acknowledged without waiting for Temporal').toBeLessThan(
        3_000,
      );
    }
  }
  const kept = await stack.world.selectFrom('gateway_events').selectAll().execute();
  expect(kept.map((row) => row.reference).toSorted()).toEqual(
    orders.map((order) => order.reference).toSorted(),
  );
  expect(kept.filter((row) => row.applied_at !== null)).toEqual([]);
  // The process's own queue is lost: only the inbox has the event.
  await stack.children.api!.kill();
  await temporal.server.start();
  await stack.startApi();
  for (const { reference, transactionId } of orders) {
    expect(await untilEventApplied(reference)).toMatchObject([{ note: 'checked' }]);
    await untilStatus(stack, transactionId, 'SUCCESS');
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  }
  expect(await dropped(stack)).toEqual([]);
  await expectSoundBooks(stack);
}, 180_000);

it('while Postgres is down an event is not acknowledged, so it comes again', async () => {
  await gatewayFaults(stack, { webhooks: 'deliver' });
  const bought = await buyThroughGateway(stack, account);
  await postgres.server.stop();
  await atGateway(stack, bought.reference, 'pay');
  const [sent] = await eventsOf(stack, bought.reference);
  const refused = await postEvent(stack, sent!.body);
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect((await postEvent(stack, sent!.body, { key: 'sk_test_other' })).status).toBe(401);
  expect(await firstTry(bought.reference), 'the gateway’s own attempt was not acknowledged either').toBe(503);
  await postgres.server.start();
  // The gateway's next attempt is an hour later.
  await fetch(`${stack.gatewayControlUrl}/clock`, {
    method: 'POST',
    body: JSON.stringify({ advanceMs: NEVER_MS }),
  });
  await untilEventApplied(bought.reference);
  await untilStatus(stack, bought.transactionId, 'SUCCESS');
  expect(await dropped(stack)).toEqual([]);
  await expectSoundBooks(stack);
}, 120_000);

/** Our answer to the gateway's first attempt. */
async function firstTry(reference: string): Promise<number | undefined> {
  type EventDeliveries = { deliveries: { attempts: { status?: number | null }[] }[] };
  const attempts = await until(
    async () => {
      const events = (await eventsOf(stack, reference)) as unknown as EventDeliveries[];
      return events[0]?.deliveries[0]?.attempts ?? [];
    },
    (made) => made.length > 0,
    { what: 'the gateway’s first attempt' },
  );
  return attempts[0]?.status ?? undefined;
}
