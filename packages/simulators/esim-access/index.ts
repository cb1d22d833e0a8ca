/** The supplier simulator. What it answered survives a restart on the same data folder. */
import { createFaultBoard, isOff } from '../kit/control.ts';
import { createStats } from '../kit/server.ts';
import { createSimulator, type Simulator, type SimulatorOptions } from '../kit/simulator.ts';
import { createApiApp, type AuthOptions } from './api-server.ts';
import { createCatalogue, type Catalogue } from './catalogue.ts';
import type { SupplierContext } from './context.ts';
import { FAULTS, openStorage, type Storage } from './storage.ts';
import { createSupplierControl } from './control/server.ts';
import { createNumberSeries } from './numbers.ts';
import { releaseOrders } from './operations/purchase.ts';
import { createWebhookScheduler, createWebhookSender } from './webhooks/scheduler.ts';

export interface EsimAccessSimulatorOptions extends SimulatorOptions, AuthOptions {
  /** How long allocation takes by default; the fault `allocationMs` changes it. */
  allocationMs?: number;
  /** How long after allocation a new eSIM goes into use; null: never by itself. */
  activateAfterMs?: number | null;
  publicHost?: string;
  smdpHost?: string;
  /** Balance of a new data folder, USD x 10,000. */
  balance?: number;
  locations?: readonly string[];
}

/** A catalogue never changes, so all simulators of a process that sell in the same locations share one. */
const catalogues = new Map<string, Catalogue>();

function catalogueOf(locations: readonly string[] | undefined): Catalogue {
  const key = locations?.join() ?? 'all';
  const catalogue = catalogues.get(key) ?? createCatalogue(locations);
  catalogues.set(key, catalogue);
  return catalogue;
}

function buildContext(options: EsimAccessSimulatorOptions, storage: Storage, url: () => string) {
  const { now = Date.now, publicHost = 'qr.sandbox.example' } = options;
  const faults = createFaultBoard({
    defaults: FAULTS.parse({ allocationMs: options.allocationMs }),
    seed: options.seed ?? 1,
    meta: storage.database.meta,
    onSet: ({ neverAllocate }) => {
      if (neverAllocate === undefined || !isOff(neverAllocate)) return;
      releaseOrders(context, storage.orders.list({ heldBy: 'fault' }));
    },
  });
  const qrBase = /^https?:/.test(publicHost) ? publicHost.replace(/\/+$/, '') : `https://${publicHost}`;
  const newest = { isNewestFirst: true };
  const orderNo = storage.orders.find({}, newest)?.orderNo;
  const topUpNo = storage.topUps.find({}, newest)?.topUpEsimTranNo ?? '';
  const [, tranNo] = [storage.esims.find({}, newest)?.esimTranNo ?? '', topUpNo].sort();
  const context: SupplierContext = {
    now,
    catalogue: catalogueOf(options.locations),
    storage,
    faults,
    nextOrderNo: createNumberSeries(orderNo?.slice(1), 0),
    nextTranNo: createNumberSeries(tranNo, 11),
    activateAfterMs: options.activateAfterMs ?? null,
    smdpHost: options.smdpHost ?? 'rsp.sandbox.example',
    qrBaseUrl: () => (publicHost === 'self' ? `${url()}/qr` : qrBase),
    webhooks: createWebhookScheduler({ now, storage, faults, sender: createWebhookSender() }),
  };
  return context;
}

export function createEsimAccessSimulator(options: EsimAccessSimulatorOptions): Simulator {
  return createSimulator(options, ({ url, onBug }) => {
    const storage = openStorage(options.dataDir, options.balance ?? 100_000_000_000);
    const context = buildContext(options, storage, url);
    const stats = createStats();
    return {
      api: createApiApp({ context, auth: options, stats, onBug }),
      control: createSupplierControl(context, stats, onBug),
      onListening: () => context.webhooks.start(),
      close: () => {
        context.webhooks.stop();
        storage.database.close();
      },
    };
  });
}
