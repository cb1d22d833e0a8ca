// Postgres restarted, and killed, while buyers keep buying: callers are asked to retry later, and nothing is
// lost or done twice.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningPostgres } from '../../src/dev/postgres.ts';
import { ownPostgres, type OwnServer } from '../support/world/own-servers.ts';
import { expectCauseInLog, expectRestartsLoseNothing, startOutage } from '../support/people/shoppers.ts';

let postgres: OwnServer<RunningPostgres>;
let outage: Awaited<ReturnType<typeof startOutage>>;
beforeAll(async () => {
  postgres = await ownPostgres();
  outage = await startOutage({ databaseUrl: postgres.server.url });
}, 120_000);
afterAll(async () => {
  await outage.stack.close();
  await postgres.close();
});

it('after a restart and a kill every caller gets every purchase, once', async () => {
  await expectRestartsLoseNothing(outage, postgres.server);
}, 120_000);

it('without Postgres a read is answered 503 with Retry-After, and the log line of that request names the cause', async () => {
  const [buyer] = outage.buyers;
  await postgres.server.stop();
  const refused = await buyer!.read('/api/wallet/balance');
  await postgres.server.start();
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  await expectCauseInLog(outage.stack, refused, /ECONNREFUSED|terminat/);
});
