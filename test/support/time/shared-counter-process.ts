// One of several processes that share a rate limiter and a pacer through Redis: connects, reports that, waits
// for the start, works, reports. Controlled by its parent over IPC; ends with it.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { createRedis } from '../../../src/platform/redis/connection.ts';
import { createRedisPacer, createInProcessPacer } from '../../../src/platform/redis/pacer.ts';
import { createRedisRateLimiter } from '../../../src/platform/redis/rate-limiter.ts';

export type CounterReport = Awaited<ReturnType<typeof work>>;

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    prefix: { type: 'string', default: '' },
    limit: { type: 'string', default: '0' },
    requests: { type: 'string', default: '0' },
    rate: { type: 'string', default: '8' },
    slots: { type: 'string', default: '0' },
  },
});
const AT_ONCE = 15;

async function work() {
  const limiter = createRedisRateLimiter({ redis, keyPrefix: values.prefix });
  const pacer = createRedisPacer({
    redis,
    key: `${values.prefix}pace`,
    requestsPerSecond: Number(values.rate),
    withoutRedis: createInProcessPacer({ requestsPerSecond: 1 }),
  });
  let allowed = 0;
  const requests = Number(values.requests);
  for (let sent = 0; sent < requests; sent += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, requests - sent) }, async () =>
      limiter.consume('account-1', Number(values.limit)),
    );
    allowed += (await Promise.all(batch)).filter((verdict) => verdict.allowed).length;
  }
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  const slotTimesMs = await Promise.all(
    Array.from({ length: Number(values.slots) }, async () =>
      (await pacer.takeSlot(30_000)) ? Date.now() : 0,
    ),
  );
  return {
    allowed,
    refused: requests - allowed,
    /** When slots were given, milliseconds since the epoch. */
    slotTimesMs,
    /** The longest time that its event loop was held up: `slotTimesMs` may be that much too late. */
    lateMs: delays.max / 1e6,
    /** How often Redis did not answer in time, and the process counted for itself. */
    standIns,
  };
}

const connection = createRedis({ url: values.url });
let standIns = 0;
const redis: typeof connection = {
  ...connection,
  attempt: (call, standIn) =>
    connection.attempt(call, () => {
      standIns += 1;
      return standIn();
    }),
};
if (!(await redis.isReady(10_000))) throw new Error('no Redis');
process.once('message', () => {
  void work().then((report) => {
    redis.close();
    process.send?.(report, () => process.disconnect());
  });
});
process.send?.('ready');
