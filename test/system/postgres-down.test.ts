// Postgres restarted, and killed, while buyers go on buying: callers are told to come back, and nothing is lost or done twice.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningPostgres } from '../../src/dev/postgres.ts';
import { newBuyer, type Buyer } from '../support/buyer.ts';
import { expectCauseInLog } from '../support/own-log.ts';
import { ownPostgres, type OwnServer } from '../support/own-servers.ts';
import { expectNothingLost, startShopping } from '../support/shoppers.ts';
import { startStack, type Stack } from '../support/stack.ts';

let postgres: OwnServer<RunningPostgres>;
let stack: Stack;
let buyers: Buyer[];
beforeAll(async () => {
  postgres = await ownPostgres();
  stack = await startStack({
    processes: 'own',
    databaseUrl: postgres.server.url,
    env: {
      SIMWAY_TEST_TIMINGS: JSON.stringify({ answerWithinMs: 4_000, lookMaxMs: 300 }),
      SIMWAY_LOG_LEVEL: 'warn',
    },
  });
  buyers = await Promise.all(Array.from({ length: 4 }, () => newBuyer(stack)));
}, 120_000);
afterAll(async () => {
  await stack.close();
  await postgres.close();
});

it('restarted in order, then killed: everybody gets every purchase, once', async () => {
  const shopping = startShopping(buyers);
  await shopping.more(4);
  await postgres.server.stop();
  await shopping.turnedAway(4);
  await postgres.server.start();
  await shopping.more(4);
  await postgres.server.kill();
  await shopping.turnedAway(4);
  await postgres.server.start();
  await shopping.more(4);
  const report = await shopping.stop();
  expect(report.transactionIds.length).toBeGreaterThanOrEqual(12);
  await expectNothingLost(stack, report);
}, 120_000);

it('without Postgres a reader is told to come back, and the log of that request says why', async () => {
  const [buyer] = buyers;
  await postgres.server.stop();
  const refused = await buyer!.read('/api/wallet/balance');
  await postgres.server.start();
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  await expectCauseInLog(stack, refused, /ECONNREFUSED|terminat/);
}, 60_000);
