/** The port's contract on the esim-access adapter over real HTTP to the supplier simulator, with and without signatures. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { createEsimAccessSupplier } from '../../src/vendors/esim-access/supplier.ts';
import { createRedis } from '../../src/platform/redis/connection.ts';
import { createRedisPacer } from '../../src/platform/redis/pacer.ts';
import { createSupplierSimulator } from '../../src/sandbox/supplier/index.ts';
import { describeEsimSupplier } from './esim-supplier-contract.ts';
import type { SupplierControl, SupplierUnderTest } from './esim-supplier-kit.ts';

const TIME_LIMIT_MS = 1500;
const pacer = { takeSlot: () => Promise.resolve(true) };
const clock = { now: () => new Date() };

function controlAt(controlUrl: string): SupplierControl {
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(controlUrl + path, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  return {
    setFaults: async (faults) => {
      await ask('PUT', '/faults', faults);
    },
    clearFaults: async () => {
      await ask('DELETE', '/faults');
    },
    held: async (transactionId) => {
      const held = (await ask(
        'GET',
        `/orders?transactionId=${encodeURIComponent(transactionId)}`,
      )) as unknown[];
      return held.length;
    },
    changeEsim: async (esimTranNo, change) => {
      await ask('PUT', `/esims/${esimTranNo}`, change);
    },
  };
}

async function startSimulator(auth: { secretKey?: string; requireSignature?: boolean }) {
  const dataDir = await mkdtemp(join(tmpdir(), 'simway-supplier-'));
  const simulator = createSupplierSimulator({
    dataDir,
    accessCode: 'code-1',
    activateAfterMs: null,
    ...auth,
  });
  const { url, controlUrl } = await simulator.start();
  return {
    url,
    controlUrl,
    stop: async () => {
      await simulator.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function create(auth: { secretKey?: string; requireSignature?: boolean }): () => Promise<SupplierUnderTest> {
  return async () => {
    const { url, controlUrl, stop } = await startSimulator(auth);
    const sign = auth.requireSignature === true;
    const supplier = createEsimAccessSupplier({
      baseUrl: url,
      accessCode: 'code-1',
      secretKey: auth.secretKey,
      sign,
      pacer,
      clock,
      timeLimitMs: TIME_LIMIT_MS,
    });
    return {
      supplier,
      control: controlAt(controlUrl),
      tooSlowMs: TIME_LIMIT_MS + 500,
      close: async () => {
        supplier.close();
        await stop();
      },
    };
  };
}

describeEsimSupplier('esim-access with the access code alone', create({}));
describeEsimSupplier(
  'esim-access, signed with a secret',
  create({ secretKey: 'secret-1', requireSignature: true }),
);

describe('esim-access at a vendor that wants signatures', () => {
  it.each([
    ['signed with the access code, as newer accounts are', undefined, { sign: true }, 'done'],
    ['not signed', undefined, { sign: false }, 'CREDENTIALS_REFUSED'],
    ['signed with the wrong key', 'secret-1', { sign: true, secretKey: 'secret-2' }, 'CREDENTIALS_REFUSED'],
    ['under a wrong access code', undefined, { sign: true, accessCode: 'code-2' }, 'CREDENTIALS_REFUSED'],
    [
      'signed at a wrong time',
      undefined,
      { sign: true, clock: { now: () => new Date(Date.now() - 3_600_000) } },
      'CREDENTIALS_REFUSED',
    ],
  ])('%s', async (_name, secretKey, options, expected) => {
    const { url, stop } = await startSimulator({
      requireSignature: true,
      ...(secretKey === undefined ? {} : { secretKey }),
    });
    const supplier = createEsimAccessSupplier({
      baseUrl: url,
      accessCode: 'code-1',
      pacer,
      clock,
      ...options,
    });
    try {
      const outcome = await supplier.order({
        transactionId: 'txn-1',
        packageCode: 'SIM-OK',
        costUsdE4: 20_000n,
      });
      expect(outcome.outcome === 'refused' ? outcome.reason : outcome.outcome).toBe(expected);
    } finally {
      supplier.close();
      await stop();
    }
  });
});

describe("the vendor's limit of eight calls a second", () => {
  it('is kept by two clients that share a pace', async () => {
    const { url, controlUrl, stop } = await startSimulator({});
    const clients = [0, 1].map(() => {
      const redis = createRedis({ url: inject('redisUrl') });
      const shared = createRedisPacer({
        redis,
        key: `${inject('runId')}:vendor`,
        requestsPerSecond: 8,
        withoutRedis: { takeSlot: () => Promise.resolve(false) },
      });
      const supplier = createEsimAccessSupplier({
        baseUrl: url,
        accessCode: 'code-1',
        sign: false,
        pacer: shared,
        clock,
      });
      return { redis, supplier };
    });
    try {
      for (const { redis } of clients) expect(await redis.isReady(5000)).toBe(true);
      await controlAt(controlUrl).setFaults({ rateLimit: true });
      const startedAt = performance.now();
      const outcomes = await Promise.all(
        Array.from({ length: 24 }, (_, i) =>
          clients[i % 2]!.supplier.order({
            transactionId: `txn-paced-${i}`,
            packageCode: 'SIM-OK',
            costUsdE4: 20_000n,
          }),
        ),
      );
      // Unpaced, 16 are refused; a busy machine's timers bring some calls of different seconds together.
      expect(outcomes.filter((outcome) => outcome.outcome === 'done').length).toBeGreaterThanOrEqual(14);
      expect(performance.now() - startedAt).toBeLessThan(4000);
    } finally {
      for (const { redis, supplier } of clients) {
        supplier.close();
        redis.close();
      }
      await stop();
    }
  });
});
