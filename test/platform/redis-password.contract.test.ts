/**
 * A Redis with a password: everything that we use of it works with the right one; with a wrong one the error
 * is reported and the service works without Redis.
 */
import { rm } from 'node:fs/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { composeRedisServices } from '../../src/app/composition/redis-services.ts';
import type { Config, Secrets, WorldConfig } from '../../src/app/config/config.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { startTestRedis } from '../support/world/services.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import { until } from '../support/time/until.ts';

const PASSWORD = 'right/p@ss:word';

const folder = await makeTestFolder();
const server = await startTestRedis(folder);
const admin = new Redis(server.url);
// One user with the permissions we need and no others: no other key, no administration.
await admin.call(
  'acl',
  'setuser',
  'simway',
  'on',
  `>${PASSWORD}`,
  '~simway:*',
  '+@all',
  '-@admin',
  '-@dangerous',
  '+info',
);
await admin.config('SET', 'requirepass', PASSWORD);
afterAll(async () => {
  admin.disconnect();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const lines: string[] = [];
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  lines.length = 0;
  for (const services of opened.splice(0)) await services.close();
});

function services(userInfo: string) {
  const logger = createLogger({
    level: 'info',
    destination: { write: (line) => lines.push(line) },
  });
  const redisUrl = server.url.replace('redis://', `redis://${userInfo}`);
  const made = composeRedisServices({ namespacePrefix: 'simway' } as Config, { redisUrl } as Secrets, logger);
  opened.push(made);
  return made;
}

const supplied = {
  environment: 'live',
  supplier: { requestsPerSecond: 100, shareWithoutRedis: 1 },
} as unknown as WorldConfig;

const encoded = encodeURIComponent(PASSWORD);

describe.each([
  ['a password', `:${encoded}@`],
  ['a user and a password', `simway:${encoded}@`],
])('with %s', (name, userInfo) => {
  it('limits and paces are counted in Redis', async () => {
    const { check, rateLimiter, supplierPacers, monitorPacerFor } = services(userInfo);
    await until(check, ({ detail }) => detail === undefined, { what: 'Redis' });
    const bucket = name.replaceAll(' ', '-');
    await rateLimiter.consume(bucket, 10);
    expect(await admin.get(`simway:limit::${bucket}`)).toBe('1');
    await admin.del('simway:pace:live:supplier-one', 'simway:pace:live:gateway-another-monitor');
    expect(await supplierPacers('one', supplied).orders.takeSlot(1_000)).toBe(true);
    expect(await monitorPacerFor('another', 'live').takeSlot(1_000)).toBe(true);
    expect(await admin.llen('simway:pace:live:supplier-one')).toBe(1);
    expect(await admin.llen('simway:pace:live:gateway-another-monitor')).toBe(1);
  });
});

describe.each([
  ['a wrong password', ':wrong-guess@', 'WRONGPASS'],
  ['an unknown user', `unknown:wrong-guess@`, 'WRONGPASS'],
  ['no password', '', 'NOAUTH'],
])('with %s', (_name, userInfo, problem) => {
  it('readiness and one log line say why, and limits and paces work in the process', async () => {
    const { check, rateLimiter, supplierPacers } = services(userInfo);
    const { ok, detail } = await until(check, (one) => one.detail?.includes(problem) === true, {
      what: problem,
    });
    expect(ok).toBe(true);
    expect(detail).toContain('limits are per process');
    const verdicts = [];
    for (let count = 0; count < 3; count += 1) verdicts.push(await rateLimiter.consume('alone', 2));
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(await supplierPacers('one', supplied).orders.takeSlot(1_000)).toBe(true);
    expect(lines.filter((line) => line.includes('Redis is out of reach'))).toHaveLength(1);
    expect(lines.join()).toContain(problem);
    expect([...lines, detail].join()).not.toContain('wrong-guess');
  });
});
