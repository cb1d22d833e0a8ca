/**
 * The supplier simulator: composes storage, catalogue, faults, webhooks and the two HTTP servers.
 * Guarantee: what it answered survives a restart on the same data folder. Must not import anything of the product.
 */
import { isOff } from '../support/checks.ts';
import { openDatabase, type Database } from '../support/database.ts';
import { createFaultBoard } from '../support/fault-board.ts';
import { createSimulator, type Simulator, type SimulatorOptions } from '../support/simulator.ts';
import { createStats } from '../support/stats.ts';
import { createApiHandler } from './api-server.ts';
import { createCatalogue } from './catalogue/catalogue.ts';
import type { SupplierContext } from './context.ts';
import { createSupplierControl } from './control/server.ts';
import { noFaults } from './faults.ts';
import { createNumberSeries } from './numbers.ts';
import { activationCodeOf } from './operations/query.ts';
import { releaseOrders } from './operations/order.ts';
import { createQrFiles } from './qr-files.ts';
import { createAccountStore } from './storage/account.ts';
import { createOrderStore } from './storage/orders.ts';
import { SCHEMA } from './storage/schema.ts';
import { createWebhookDesk } from './webhooks/desk.ts';
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
}

const DEFAULT_BALANCE = 100_000_000_000;

function newest(database: Database, column: string, table: string): string | undefined {
  const row = database.sql.prepare(`SELECT max(${column}) AS newest FROM ${table}`).get();
  return (row?.['newest'] as string | null | undefined) ?? undefined;
}

function buildContext(options: SupplierSimulatorOptions, database: Database, url: () => string) {
  const now = options.now ?? Date.now;
  const orders = createOrderStore(database);
  const account = createAccountStore(database, options.balance ?? DEFAULT_BALANCE);
  const faults = createFaultBoard({
    defaults: noFaults(options.allocationMs ?? 0),
    seed: options.seed ?? 1,
    load: () => account.meta.read('faults'),
    save: (json) => account.meta.write('faults', json),
    onSet: ({ neverAllocate }) => {
      if (neverAllocate === undefined || !isOff(neverAllocate)) return;
      releaseOrders(context, orders.heldOrders('fault'));
    },
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
export function createSupplierSimulator(options: SupplierSimulatorOptions): Simulator {
  return createSimulator(options, ({ url, onBug }) => {
    const database = openDatabase(options.dataDir, 'supplier.sqlite', SCHEMA);
    const { context, desk } = buildContext(options, database, url);
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
      onListening: () => desk.start(),
      close: () => {
        desk.stop();
        database.close();
      },
    };
  });
}
