// Temporal restarted, and killed, while buyers go on buying: what it was told before it still knows, and what it was not is told again.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningTemporal } from '../../src/dev/temporal.ts';
import { newBuyer, type Buyer } from '../support/buyer.ts';
import { expectCauseInLog } from '../support/own-log.ts';
import { ownTemporal, type OwnServer } from '../support/own-servers.ts';
import { expectNothingLost, startShopping } from '../support/shoppers.ts';
import { startStack, type Stack } from '../support/stack.ts';

let temporal: OwnServer<RunningTemporal>;
let stack: Stack;
let buyers: Buyer[];
beforeAll(async () => {
  temporal = await ownTemporal();
  stack = await startStack({
    processes: 'own',
    temporalAddress: temporal.server.address,
    env: {
      SIMWAY_TEST_TIMINGS: JSON.stringify({ answerWithinMs: 4_000, lookMaxMs: 300 }),
      SIMWAY_LOG_LEVEL: 'warn',
    },
  });
  buyers = await Promise.all(Array.from({ length: 4 }, () => newBuyer(stack)));
}, 120_000);
afterAll(async () => {
  await stack.close();
  await temporal.close();
});

it('restarted in order, then killed: everybody gets every purchase, once', async () => {
  const shopping = startShopping(buyers);
  await shopping.more(4);
  await temporal.server.stop();
  await shopping.turnedAway(4);
  await temporal.server.start();
  await shopping.more(4);
  await temporal.server.kill();
  await shopping.turnedAway(4);
  await temporal.server.start();
  await shopping.more(4);
  const report = await shopping.stop();
  expect(report.transactionIds.length).toBeGreaterThanOrEqual(12);
  await expectNothingLost(stack, report);
}, 180_000);

it('without Temporal a buyer is told to come back, and reads go on', async () => {
  await temporal.server.stop();
  const [buyer] = buyers;
  const before = await buyer!.purchases();
  const refused = await buyer!.buy('SIM-OK');
  expect(refused.status).toBe(503);
  expect(refused.body).toMatchObject({
    success: false,
    error: { code: 'SERVICE_UNAVAILABLE' },
    statusCode: 503,
  });
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  await expectCauseInLog(stack, refused, /no connection to Temporal/);
  expect((await buyer!.read('/api/esim/my-esims')).status).toBe(200);
  expect((await buyer!.read('/api/wallet/balance')).status).toBe(200);
  await temporal.server.start();
  expect(await buyer!.purchases()).toEqual(before);
}, 60_000);
