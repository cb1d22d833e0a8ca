/**
 * The contract of the eSIM supplier on the eSIM Access client over real HTTP to the supplier simulator, with
 * and without signatures.
 */
import { OPEN } from '../support/time/fences.ts';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { createEsimAccessSupplier } from '../../src/vendors/esim-access/supplier.ts';
import { createRedis } from '../../src/platform/redis/connection.ts';
import { createRedisPacer } from '../../src/platform/redis/pacer.ts';
import {
  ACCESS_CODE,
  startSimulator,
  stopAll,
  type TestSimulator,
} from '../simulators/supplier-simulator.support.ts';
import { describeEsimSupplier } from './esim-supplier-contract.ts';
import type { SupplierControl, SupplierUnderTest } from './esim-supplier-kit.ts';

const TIME_LIMIT_MS = 10_000;
const SHORT_TIME_LIMIT_MS = 200;
const pacer = { takeSlot: () => Promise.resolve(true) };
const clock = { now: () => new Date() };

afterAll(stopAll);

interface Auth {
  readonly secretKey?: string;
  readonly requireSignature?: boolean;
}

const start = (auth: Auth = {}) => startSimulator({ now: Date.now, activateAfterMs: null, ...auth });

function controlOf({ control }: TestSimulator): SupplierControl {
  const request = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await control(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  };
  return {
    setFaults: async (faults) => {
      await request('PUT', '/faults', faults);
    },
    clearFaults: async () => {
      await request('DELETE', '/faults');
    },
    held: async (transactionId) => {
      const held = await request('GET', `/orders?transactionId=${encodeURIComponent(transactionId)}`);
      return (held as unknown[]).length;
    },
    changeEsim: async (esimTranNo, change) => {
      await request('PUT', `/esims/${esimTranNo}`, change);
    },
  };
}

function create(auth: Auth): () => Promise<SupplierUnderTest> {
  return async () => {
    const simulator = await start(auth);
    const sign = auth.requireSignature === true;
    const clientWithin = (timeLimitMs: number) =>
      createEsimAccessSupplier({
        baseUrl: simulator.url,
        accessCode: ACCESS_CODE,
        secretKey: auth.secretKey,
        sign,
        pacer,
        clock,
        timeLimitMs,
      });
    const supplier = clientWithin(TIME_LIMIT_MS);
    const withShortTimeout = clientWithin(SHORT_TIME_LIMIT_MS);
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
  };
}

describeEsimSupplier('the eSIM Access client with the access code alone', create({}));
describeEsimSupplier(
  'the eSIM Access client with signatures',
  create({ secretKey: 'secret-1', requireSignature: true }),
);

describe('the eSIM Access client at a supplier that requires signatures', () => {
  const anHourAgo = { now: () => new Date(Date.now() - 3_600_000) };

  it.each([
    ['signed with the access code, where there is no secret', 'done', undefined, { sign: true }],
    ['without a signature', 'CREDENTIALS_REFUSED', undefined, { sign: false }],
    ['signed with another secret', 'CREDENTIALS_REFUSED', 'secret-1', { sign: true, secretKey: 'secret-2' }],
    [
      'with another access code',
      'CREDENTIALS_REFUSED',
      undefined,
      { sign: true, accessCode: 'another-code' },
    ],
    ['from a machine whose clock is an hour late', 'done', undefined, { sign: true, clock: anHourAgo }],
  ])('an order %s ends as %s', async (_name, expected, secretKey, options) => {
    const simulator = await start({
      requireSignature: true,
      ...(secretKey === undefined ? {} : { secretKey }),
    });
    const supplier = createEsimAccessSupplier({
      baseUrl: simulator.url,
      accessCode: ACCESS_CODE,
      pacer,
      clock,
      ...options,
    });
    try {
      const outcome = await supplier.order(
        {
          transactionId: 'txn-1',
          packageCode: 'SIM-OK',
          costUsdE4: 20_000n,
        },
        OPEN,
      );
      expect(outcome.outcome === 'refused' ? outcome.reason : outcome.outcome).toBe(expected);
    } finally {
      supplier.close();
      await simulator.stop();
    }
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
      const supplier = createEsimAccessSupplier({
        baseUrl: simulator.url,
        accessCode: ACCESS_CODE,
        sign: false,
        pacer: shared,
        clock,
      });
      return { redis, supplier };
    });
    try {
      for (const { redis } of clients) expect(await redis.isReady(5000)).toBe(true);
      await controlOf(simulator).setFaults({ rateLimit: true });
      const startedAt = performance.now();
      const outcomes = await Promise.all(
        Array.from({ length: 24 }, (_, i) =>
          clients[i % 2]!.supplier.order(
            {
              transactionId: `txn-paced-${i}`,
              packageCode: 'SIM-OK',
              costUsdE4: 20_000n,
            },
            OPEN,
          ),
        ),
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
      await simulator.stop();
    }
  });
});
