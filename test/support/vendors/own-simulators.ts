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

interface OwnSimulator {
  readonly url: string;
  readonly controlUrl: string;
}

interface OwnSupplier extends OwnSimulator {
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
}

/** The supplier, on the same ports and data when it is started again. */
export async function ownSupplier(
  options: Partial<EsimAccessSimulatorOptions> | undefined,
  closers: Closers,
): Promise<OwnSupplier> {
  const dataDir = await makeTestFolder();
  closers.push(() => rm(dataDir, { recursive: true, force: true }));
  const make = (ports: Partial<EsimAccessSimulatorOptions>) =>
    createEsimAccessSimulator({
      dataDir,
      accessCode: 'test-access',
      activateAfterMs: 300,
      ...options,
      ...ports,
    });
  let simulator = make({});
  closers.push(() => simulator.stop());
  const { url, controlUrl } = await simulator.start();
  return {
    url,
    controlUrl,
    stop: () => simulator.stop(),
    start: async (): Promise<void> => {
      simulator = make({ port: Number(new URL(url).port), controlPort: Number(new URL(controlUrl).port) });
      await simulator.start();
    },
  };
}

/** The payment gateway, which sends its events to the API on this port. */
export async function ownGateway(
  options: Partial<PaystackSimulatorOptions> | undefined,
  apiPort: number,
  closers: Closers,
): Promise<OwnSimulator> {
  const dataDir = await makeTestFolder();
  closers.push(() => rm(dataDir, { recursive: true, force: true }));
  const simulator = createPaystackSimulator({
    dataDir,
    secretKey: 'sk_test_simulator',
    webhookUrls: [`http://127.0.0.1:${apiPort}/webhooks/paystack/test`],
    refundDelayMs: 50,
    scenarioMs: 200,
    ...options,
  });
  closers.push(() => simulator.stop());
  return simulator.start();
}
