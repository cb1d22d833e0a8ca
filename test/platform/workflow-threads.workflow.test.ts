// The threads that workflows run in are prepared: calls into their sandbox start no watchdog (docs/decisions/0017).
import { once } from 'node:events';
import workerThreads from 'node:worker_threads';
import { afterEach, expect, inject, it } from 'vitest';
import { bundleWorkflows } from '../../src/platform/temporal/bundle.ts';
import { startWorkers } from '../../src/platform/temporal/workers.ts';

const { Worker: Thread } = workerThreads;
afterEach(() => {
  workerThreads.Worker = Thread;
});

/** What startWorkers hands to a thread; it is stopped there, before anything polls. */
async function optionsOfThreads(): Promise<workerThreads.WorkerOptions | undefined> {
  let seen: workerThreads.WorkerOptions | undefined;
  class Seen extends Error {}
  workerThreads.Worker = class extends Thread {
    constructor(_file: string | URL, options?: workerThreads.WorkerOptions) {
      seen = options;
      super('', { eval: true });
      throw new Seen();
    }
  };
  const starting = startWorkers({
    address: inject('temporalAddress'),
    namespace: 'default',
    activities: { orders: {}, supplier: {}, gateway: {}, webhooks: {}, ops: {} },
    queues: ['orders'],
    bundle: await bundleWorkflows(),
    identity: 'test',
    webhookAttempts: 1,
    shutdownGraceMs: 1_000,
    maxCachedWorkflows: 10,
  });
  await expect(starting).rejects.toThrow(Seen);
  return seen;
}

it('startWorkers prepares the threads it makes, and leaves those of others alone', async () => {
  const { execArgv = [] } = (await optionsOfThreads()) ?? {};
  expect(execArgv).toEqual([expect.stringMatching(/^--import=file:.*workflow-threads\.ts$/)]);
  // Node refuses a limit of 0; a call that takes it has dropped it.
  const probe = `
    import { createContext, Script } from 'node:vm';
    import { parentPort } from 'node:worker_threads';
    const call = () => { try { return new Script('6 * 7').runInContext(createContext({}), { timeout: 0 }); } catch (e) { return e.code; } };
    parentPort.postMessage(call());`;
  const answerOf = async (options: workerThreads.WorkerOptions): Promise<unknown> => {
    const thread = new Thread(new URL(`data:text/javascript,${encodeURIComponent(probe)}`), options);
    return ((await once(thread, 'message')) as unknown[])[0];
  };
  expect(await answerOf({ execArgv })).toBe(42);
  expect(await answerOf({ execArgv: [] })).toBe('ERR_OUT_OF_RANGE');
});
