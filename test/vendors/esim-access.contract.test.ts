/**
 * The contract of the eSIM supplier on the eSIM Access client over real HTTP to the supplier simulator, which
 * checks every signature.
 */
import { OPEN } from '../support/time/fences.ts';
import { afterAll, describe, expect, inject, it } from 'vitest';
import {
  createEsimAccessSupplier,
  type EsimAccessOptions,
  type EsimAccessSupplier,
} from '../../src/vendors/esim-access/supplier.ts';
import { createRedis } from '../../src/platform/redis/connection.ts';
import { createRedisPacer } from '../../src/platform/redis/pacer.ts';
import {
  ACCESS_CODE,
  startSimulator,
  stopAll,
  type TestSimulator,
} from '../simulators/supplier-simulator.support.ts';
import { describeEsimSupplier } from './esim-supplier-contract.ts';
import type { SupplierControl } from './esim-supplier-kit.ts';
import { OF_ACCOUNT } from './outcomes.ts';

const TIME_LIMIT_MS = 10_000;
const SHORT_TIME_LIMIT_MS = 200;
const pacer = { takeSlot: () => Promise.resolve(true) };
const clock = { now: () => new Date() };

afterAll(stopAll);

const start = (options: Parameters<typeof startSimulator>[0] = {}) =>
  startSimulator({ now: Date.now, activateAfterMs: null, ...options });

function controlOf({ control }: TestSimulator): SupplierControl {
  const request = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await control(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  };
  return {
    setFaults: (faults) => request('PUT', '/faults', faults),
    clearFaults: () => request('DELETE', '/faults'),
    held: async (transactionId) => {
      const held = await request('GET', `/orders?transactionId=${encodeURIComponent(transactionId)}`);
      return (held as unknown[]).length;
    },
    changeEsim: (esimTranNo, change) => request('PUT', `/esims/${esimTranNo}`, change),
  };
}

const clientOf = ({ url }: TestSimulator, options: Partial<EsimAccessOptions> = {}) =>
  createEsimAccessSupplier({ baseUrl: url, accessCode: ACCESS_CODE, sign: false, pacer, clock, ...options });
const order = (nth = 1) =>
  ({ ...OF_ACCOUNT, transactionId: `txn-${nth}`, packageCode: 'SIM-OK', costUsdE4: 20_000n }) as const;

describeEsimSupplier('the eSIM Access client with signatures', async () => {
  const secretKey = 'secret-1';
  const simulator = await start({ secretKey, requireSignature: true });
  const [supplier, withShortTimeout] = [TIME_LIMIT_MS, SHORT_TIME_LIMIT_MS].map((timeLimitMs) =>
    clientOf(simulator, { secretKey, sign: true, timeLimitMs }),
  ) as [EsimAccessSupplier, EsimAccessSupplier];
  return {
    supplier,
    withShortTimeout,
    control: controlOf(simulator),
    tooSlowMs: SHORT_TIME_LIMIT_MS + 300,
    close: async () => {
      supplier.close();
      withShortTimeout.close();
      await simulator.stop();
    },
  };
});

describe('the eSIM Access client, its signatures', () => {
  const anHourAgo = { now: () => new Date(Date.now() - 3_600_000) };

  it.each([
    ['without a signature, where none is required', 'done', { requireSignature: false }, { sign: false }],
    ['signed with the access code, where there is no secret', 'done', {}, {}],
    ['without a signature', 'CREDENTIALS_REFUSED', {}, { sign: false }],
    ['signed with another secret', 'CREDENTIALS_REFUSED', { secretKey: 'one' }, { secretKey: 'another' }],
    ['with another access code', 'CREDENTIALS_REFUSED', {}, { accessCode: 'another-code' }],
    ['from a machine whose clock is an hour late', 'done', {}, { clock: anHourAgo }],
  ])('an order %s ends as %s', async (_name, expected, auth, options) => {
    const simulator = await start({ requireSignature: true, ...auth });
    const supplier = clientOf(simulator, { sign: true, ...options });
    const outcome = await supplier.order(order(), OPEN);
    supplier.close();
    expect(outcome.outcome === 'refused' ? outcome.reason : outcome.outcome).toBe(expected);
  });
});

describe("the vendor's limit of eight calls a second", () => {
  it('is kept by two clients that share a pacer', async () => {
    const simulator = await start();
    const clients = [0, 1].map(() => {
      const redis = createRedis({ url: inject('redisUrl') });
      const shared = createRedisPacer({
        redis,
        key: `${inject('runId')}:vendor`,
        requestsPerSecond: 8,
        withoutRedis: { takeSlot: () => Promise.resolve(false) },
      });
      return { redis, supplier: clientOf(simulator, { pacer: shared }) };
    });
    try {
      for (const { redis } of clients) expect(await redis.isReady(5000)).toBe(true);
      await controlOf(simulator).setFaults({ rateLimit: true });
      const startedAt = performance.now();
      const outcomes = await Promise.all(
        Array.from({ length: 24 }, (_, i) => clients[i % 2]!.supplier.order(order(i), OPEN)),
      );
      // Without the pacer 16 are refused. On a busy machine, timers bring some calls of different seconds
      // together.
      expect(outcomes.filter((outcome) => outcome.outcome === 'done').length).toBeGreaterThanOrEqual(14);
      expect(performance.now() - startedAt).toBeLessThan(4000);
    } finally {
      for (const { redis, supplier } of clients) {
        supplier.close();
        redis.close();
      }
    }
  });
});
