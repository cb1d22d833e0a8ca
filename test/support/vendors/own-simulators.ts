// The vendors' simulators of one stack, in the test's own process, with their data in their own folder.
// Guarantees that the folder is removed when the process ends in any way; the rest ends with the closers.
import { rm } from 'node:fs/promises';
import {
  createPaystackSimulator,
  type PaystackSimulatorOptions,
} from '../../../packages/simulators/paystack/index.ts';
import {
  createEsimAccessSimulator,
  type EsimAccessSimulatorOptions,
} from '../../../packages/simulators/esim-access/index.ts';
import { makeTestFolder } from '../world/test-folder.ts';

/**
 * What the supplier sells in beside the magic packages: 2 countries and a region are read in a fortieth of
 * the time that all take.
 */
export const FEW_LOCATIONS = ['FR', 'NG', 'EU-42'];

type Closers = (() => Promise<unknown>)[];

/** A folder of a simulator's own, removed by the closers. */
async function ownFolder(closers: Closers): Promise<string> {
  const dataDir = await makeTestFolder();
  closers.push(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}

/** The supplier, on the same ports and data when it is started again. */
export async function ownSupplier(
  options: Partial<EsimAccessSimulatorOptions> | undefined,
  closers: Closers,
) {
  const own = { accessCode: 'test-access', activateAfterMs: 300, ...options };
  const dataDir = await ownFolder(closers);
  let simulator = createEsimAccessSimulator({ dataDir, ...own });
  closers.push(() => simulator.stop());
  const { url, controlUrl } = await simulator.start();
  return {
    url,
    controlUrl,
    stop: () => simulator.stop(),
    start: async (): Promise<void> => {
      const [port, controlPort] = [url, controlUrl].map((each) => Number(new URL(each).port));
      simulator = createEsimAccessSimulator({ dataDir, ...own, port: port!, controlPort: controlPort! });
      await simulator.start();
    },
  };
}

/** The payment gateway, which sends its events to the API on this port. */
export async function ownGateway(
  options: Partial<PaystackSimulatorOptions> | undefined,
  apiPort: number,
  closers: Closers,
) {
  const simulator = createPaystackSimulator({
    dataDir: await ownFolder(closers),
    secretKey: 'sk_test_simulator',
    webhookUrls: [`http://127.0.0.1:${apiPort}/webhooks/paystack/test`],
    refundDelayMs: 50,
    scenarioMs: 200,
    ...options,
  });
  closers.push(() => simulator.stop());
  return simulator.start();
}
