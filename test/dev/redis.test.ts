// The embedded Redis: on loopback, without persistence, restartable on its port; null where it is not
// installed.
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startRedis, type RunningRedis } from '../../src/dev/redis.ts';
import { startTestRedis } from '../support/world/services.ts';
import { rememberingLog, runs, testFolder } from './support.ts';

const folder = await testFolder();
const log = rememberingLog();

async function withClient<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    client.disconnect();
  }
}

async function start(name: string): Promise<RunningRedis> {
  const redis = await startTestRedis(join(folder, name));
  onTestFinished(() => redis.stop());
  return redis;
}

test('Redis starts empty again on the same port after a restart and after a crash', async () => {
  const redis = await start('again');
  for (const again of [() => redis.restart(), () => redis.kill().then(() => redis.start())]) {
    const { pid } = redis;
    await withClient(redis.url, (client) => client.set('key', 'value'));
    await again();
    expect(await runs(pid)).toBe(false);
    expect(await withClient(redis.url, (client) => client.get('key'))).toBeNull();
  }
  await redis.stop();
  await expect(withClient(redis.url, (client) => client.ping())).rejects.toThrow();
});

test('Redis listens on loopback only', async () => {
  const redis = await start('closed');
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.internal === false && address.family === 'IPv4');
  expect(await withClient(redis.url, (client) => client.config('GET', 'bind'))).toEqual([
    'bind',
    '127.0.0.1',
  ]);
  if (outside !== undefined) {
    await expect(
      withClient(redis.url.replace('127.0.0.1', outside.address), (it) => it.ping()),
    ).rejects.toThrow();
  }
});

test('startRedis says that the port is taken, and does not use another program on it', async () => {
  const first = await start('first');
  const port = Number(new URL(first.url).port);
  const second = startRedis({
    dataDir: join(folder, 'second'),
    log,
    pathEnv: '',
    port,
    program: await programOf(first),
  });
  await expect(second).rejects.toThrow('Address already in use');
});

test('startRedis returns null if there is no redis-server', async () => {
  expect(await startRedis({ dataDir: join(folder, 'none'), log, pathEnv: join(folder, 'empty') })).toBeNull();
});

async function programOf(redis: RunningRedis): Promise<string> {
  const info = await withClient(redis.url, (client) => client.info('server'));
  return /^executable:(.+)\r$/m.exec(info)![1]!;
}
