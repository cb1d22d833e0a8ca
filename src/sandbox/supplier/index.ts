/** The supplier simulator. What it answered survives a restart on the same data folder. */
import { openDatabase, type Database } from '../support/database.ts';
import { createFaultBoard, isOff } from '../support/faults.ts';
import { createStats } from '../support/http.ts';
import { createSimulator, type Simulator, type SimulatorOptions } from '../support/simulator.ts';
import { createApiHandler } from './api-server.ts';
import { createCatalogue, type Catalogue } from './catalogue/catalogue.ts';
import type { SupplierContext } from './context.ts';
import { createSupplierControl } from './control/server.ts';
import { FAULTS } from './faults.ts';
import { createNumberSeries } from './numbers.ts';
import { activationCodeOf } from './operations/query.ts';
import { releaseOrders } from './operations/order.ts';
import { createQrFiles } from './qr-files.ts';
import { createAccountStore, createOrderStore, newestNumbers } from './storage/store.ts';
import { TABLES } from './storage/tables.ts';
import { createWebhookScheduler } from './webhooks/scheduler.ts';
import { createWebhookSender } from './webhooks/sender.ts';

export interface SupplierSimulatorOptions extends SimulatorOptions {
  accessCode: string;
  /** Key of signed requests; null or absent: the access code. */
  secretKey?: string | null;
  /** With a secret set, take the access code as key too. */
  acceptEitherKey?: boolean;
  requireSignature?: boolean;
  /** How long allocation takes by default; the fault `allocationMs` changes it. */
  allocationMs?: number;
  /** How long after allocation a new eSIM goes into use; null: never by itself. */
  activateAfterMs?: number | null;
  /** Host of QR addresses; `self`: served by this simulator. */
  publicHost?: string;
  smdpHost?: string;
  /** Balance of a new data folder, USD x 10,000. */
  balance?: number;
  /** Codes of the countries and regions that it sells in beside the magic packages; all when absent. */
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

function buildContext(options: SupplierSimulatorOptions, database: Database, url: () => string) {
  const { now = Date.now, publicHost = 'qr.sandbox.example' } = options;
  const { meta } = database;
  const orders = createOrderStore(database);
  const account = createAccountStore(database, options.balance ?? 100_000_000_000);
  const faults = createFaultBoard({
    defaults: FAULTS.parse({ allocationMs: options.allocationMs }),
    seed: options.seed ?? 1,
    meta,
    onSet: ({ neverAllocate }) => {
      if (neverAllocate === undefined || !isOff(neverAllocate)) return;
      releaseOrders(context, orders.heldOrders('fault'));
    },
  });
  const qrBase = /^https?:/.test(publicHost) ? publicHost.replace(/\/+$/, '') : `https://${publicHost}`;
  const { orderNo, tranNo } = newestNumbers(database);
  const context: SupplierContext = {
    now,
    catalogue: catalogueOf(options.locations),
    database,
    orders,
    account,
    faults,
    nextOrderNo: createNumberSeries(orderNo?.slice(1), 0),
    nextTranNo: createNumberSeries(tranNo, 11),
    activateAfterMs: options.activateAfterMs === undefined ? 5000 : options.activateAfterMs,
    smdpHost: options.smdpHost ?? 'rsp.sandbox.example',
    qrBaseUrl: () => (publicHost === 'self' ? `${url()}/qr` : qrBase),
    webhooks: createWebhookScheduler({ now, orders, account, meta, faults, sender: createWebhookSender() }),
  };
  return context;
}

/** A simulator that has not been started. */
export function createSupplierSimulator(options: SupplierSimulatorOptions): Simulator {
  return createSimulator(options, ({ url, onBug }) => {
    const database = openDatabase(options.dataDir, 'supplier.sqlite', TABLES);
    const context = buildContext(options, database, url);
    const stats = createStats();
    const serveFile = createQrFiles((tranNo) => activationCodeOf(context, tranNo), context.orders);
    const auth = {
      accessCode: options.accessCode,
      secretKey: options.secretKey ?? null,
      acceptEitherKey: options.acceptEitherKey ?? false,
      requireSignature: options.requireSignature ?? false,
    };
    return {
      api: createApiHandler({ context, auth, stats, onBug, serveFile }),
      control: createSupplierControl(context, stats, onBug),
      onListening: () => context.webhooks.start(),
      close: () => {
        context.webhooks.stop();
        database.close();
      },
    };
  });
}
