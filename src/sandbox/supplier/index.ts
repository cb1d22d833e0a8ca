/**
 * The supplier simulator: composes storage, catalogue, faults, webhooks and the two HTTP servers.
 * Guarantee: what it answered survives a restart on the same data folder. Must not import anything of the product.
 */
import { createApiHandler } from './api-server.ts';
import { createCatalogue } from './catalogue/catalogue.ts';
import type { SupplierContext } from './context.ts';
import { createControlHandler } from './control/server.ts';
import { createFaultBoard } from './faults.ts';
import { listen, type RunningServer } from './http.ts';
import { createNumberSeries } from './numbers.ts';
import { activationCodeOf } from './operations/query.ts';
import { releaseOrders } from './operations/order.ts';
import { createQrFiles } from './qr-files.ts';
import { createStats } from './stats.ts';
import { createAccountStore } from './storage/account.ts';
import { openDatabase, type Database } from './storage/database.ts';
import { createOrderStore } from './storage/orders.ts';
import { createWebhookDesk } from './webhooks/desk.ts';
import { createWebhookSender } from './webhooks/sender.ts';

export interface SupplierSimulatorOptions {
  /** Folder of the simulator's own storage; made when missing. */
  dataDir: string;
  accessCode: string;
  /** Key of signed requests; null or absent: the access code. */
  secretKey?: string | null;
  /** With a secret set, take the access code as key too. */
  acceptEitherKey?: boolean;
  requireSignature?: boolean;
  host?: string;
  port?: number;
  controlPort?: number;
  /** How long allocation takes by default; the fault `allocationMs` changes it. */
  allocationMs?: number;
  /** How long after allocation a new eSIM goes into use; null: never by itself. */
  activateAfterMs?: number | null;
  /** Host of QR addresses; `self`: served by this simulator. */
  publicHost?: string;
  smdpHost?: string;
  /** Balance of a new data folder, USD x 10,000. */
  balance?: number;
  /** Seed of the fault dice. */
  seed?: number;
  now?: () => number;
  /** One line about a bug of the simulator itself. */
  log?: (line: string) => void;
}

export interface SupplierSimulator {
  /** Listens on both ports; rejects when one is taken. */
  start(): Promise<{ url: string; controlUrl: string }>;
  /** Drains for at most `drainMs` and closes everything; safe to call twice. */
  stop(drainMs?: number): Promise<void>;
}

const DEFAULT_BALANCE = 100_000_000_000;
const DEFAULT_DRAIN_MS = 2000;

function newest(database: Database, column: string, table: string): string | undefined {
  const row = database.sql.prepare(`SELECT max(${column}) AS newest FROM ${table}`).get();
  return (row?.['newest'] as string | null | undefined) ?? undefined;
}

function buildContext(options: SupplierSimulatorOptions, database: Database, url: () => string) {
  const now = options.now ?? Date.now;
  const orders = createOrderStore(database);
  const account = createAccountStore(database, options.balance ?? DEFAULT_BALANCE);
  const faults = createFaultBoard({
    allocationMs: options.allocationMs ?? 0,
    seed: options.seed ?? 1,
    load: () => account.readMeta('faults'),
    save: (json) => account.writeMeta('faults', json),
    onNeverAllocateOff: () => releaseOrders(context, orders.heldOrders('fault')),
  });
  const desk = createWebhookDesk({ now, orders, account, faults, sender: createWebhookSender() });
  const publicHost = options.publicHost ?? 'qr.sandbox.example';
  const qrBase = /^https?:/.test(publicHost) ? publicHost.replace(/\/+$/, '') : `https://${publicHost}`;
  const topUpNo = newest(database, 'topUpEsimTranNo', 'topups') ?? '';
  const esimNo = newest(database, 'esimTranNo', 'esims') ?? '';
  const lastTranNo = topUpNo > esimNo ? topUpNo : esimNo;
  const context: SupplierContext = {
    now,
    catalogue: createCatalogue(),
    database,
    orders,
    account,
    faults,
    nextOrderNo: createNumberSeries(newest(database, 'orderNo', 'orders')?.slice(1), 0),
    nextTranNo: createNumberSeries(lastTranNo === '' ? undefined : lastTranNo, 11),
    activateAfterMs: options.activateAfterMs === undefined ? 5000 : options.activateAfterMs,
    smdpHost: options.smdpHost ?? 'rsp.sandbox.example',
    qrBaseUrl: () => (publicHost === 'self' ? `${url()}/qr` : qrBase),
    webhooks: desk,
  };
  return { context, desk };
}

/** A simulator that has not been started. */
export function createSupplierSimulator(options: SupplierSimulatorOptions): SupplierSimulator {
  const host = options.host ?? '127.0.0.1';
  const log = options.log ?? (() => undefined);
  let isClosed = false;
  const onBug = (error: unknown) => {
    // A request that outlived the drain finds the storage closed.
    if (isClosed) return;
    const what = error instanceof Error ? error.stack : 'not an error';
    log(JSON.stringify({ level: 'error', msg: 'simulator bug', error: what }));
  };
  let stop: ((drainMs: number) => Promise<void>) | undefined;

  const start = async () => {
    if (stop !== undefined) throw new Error('the simulator is running');
    isClosed = false;
    const database = openDatabase(options.dataDir);
    let api: RunningServer | undefined;
    const { context, desk } = buildContext(options, database, () => api?.url ?? '');
    const stats = createStats();
    const serveFile = createQrFiles((tranNo) => activationCodeOf(context, tranNo), context.orders);
    const auth = {
      accessCode: options.accessCode,
      secretKey: options.secretKey ?? null,
      acceptEitherKey: options.acceptEitherKey ?? false,
      requireSignature: options.requireSignature ?? false,
    };
    try {
      const handler = createApiHandler({ context, auth, stats, onBug, serveFile });
      api = await listen(handler, { host, port: options.port ?? 0 });
      const controlAddress = { host, port: options.controlPort ?? 0 };
      const control = await listen(createControlHandler(context, stats, onBug), controlAddress);
      desk.start();
      const running = api;
      stop = async (drainMs) => {
        await Promise.all([running.close(drainMs), control.close(drainMs)]);
        desk.stop();
        isClosed = true;
        database.close();
      };
      return { url: api.url, controlUrl: control.url };
    } catch (error) {
      await api?.close(0);
      database.close();
      throw error;
    }
  };
  return {
    start,
    stop: async (drainMs = DEFAULT_DRAIN_MS) => {
      const stopping = stop;
      stop = undefined;
      await stopping?.(drainMs);
    },
  };
}
