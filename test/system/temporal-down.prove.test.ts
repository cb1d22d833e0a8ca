// Temporal restarted, and killed, while buyers keep buying: workflows that were started go on, and refused
// requests are retried.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningTemporal } from '../../src/dev/temporal.ts';
import { ownTemporal, type OwnServer } from '../support/world/own-servers.ts';
import { expectCauseInLog, expectRestartsLoseNothing, startOutage } from '../support/people/shoppers.ts';

let temporal: OwnServer<RunningTemporal>;
let outage: Awaited<ReturnType<typeof startOutage>>;
beforeAll(async () => {
  temporal = await ownTemporal();
  outage = await startOutage({ temporalAddress: temporal.server.address });
}, 120_000);
afterAll(async () => {
  await outage.stack.close();
  await temporal.close();
});

it('after a restart and a kill every caller gets every purchase, once', async () => {
  await expectRestartsLoseNothing(outage, temporal.server);
}, 180_000);

it('without Temporal a buyer is answered 503 with Retry-After, and reads keep working', async () => {
  await temporal.server.stop();
  const [buyer] = outage.buyers;
  const before = await buyer!.purchases();
  const refused = await buyer!.buy('SIM-OK');
  expect(refused.status).toBe(503);
  expect(refused.body).toMatchObject({
    success: false,
    error: { code: 'SERVICE_UNAVAILABLE' },
    statusCode: 503,
  });
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  await expectCauseInLog(outage.stack, refused, /no connection to Temporal/);
  expect((await buyer!.read('/api/esim/my-esims')).status).toBe(200);
  expect((await buyer!.read('/api/wallet/balance')).status).toBe(200);
  await temporal.server.start();
  expect(await buyer!.purchases()).toEqual(before);
}, 60_000);
