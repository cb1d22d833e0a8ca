/**
 * The gateway simulator: composes storage, faults, agenda, webhooks, the hosted page and the two HTTP servers.
 * Guarantee: what it answered and what it owes survives a restart on the same data folder. Must not import anything of the product.
 */
import { createMeta, openDatabase, type Database } from '../support/database.ts';
import { createFaultBoard } from '../support/fault-board.ts';
import type { RunningServer } from '../support/http.ts';
import {
  createSimulator,
  type Simulator,
  type SimulatorFrame,
  type SimulatorOptions,
} from '../support/simulator.ts';
import { createStats } from '../support/stats.ts';
import { createAgenda, type AgendaDeeds } from './agenda.ts';
import { createApiHandler } from './api-server.ts';
import { createCheckout } from './checkout/server.ts';
import { createClock } from './clock.ts';
import type { GatewayContext } from './context.ts';
import { createGatewayControl } from './control/server.ts';
import { decline, expire, receive, reverse } from './deeds/charge.ts';
import { openDispute, releaseRefunds, stepRefund } from './deeds/refund.ts';
import { isUnreachable, noFaults } from './faults.ts';
import { createPulse, type Pulse } from './pulse.ts';
import { CURRENCIES, type Country, type Currency, type Integration } from './rules.ts';
import { SCHEMA } from './storage/schema.ts';
import { createAgendaStore, createDomainStore } from './storage/agenda.ts';
import { createRefundStore } from './storage/refunds.ts';
import type { TransactionRow } from './storage/rows.ts';
import { createTransactionStore } from './storage/transactions.ts';
import { createWebhookStore } from './storage/webhooks.ts';
import { createCourier } from './webhooks/courier.ts';
import { createWebhookDesk } from './webhooks/desk.ts';
import type { RetrySchedule } from './webhooks/schedule.ts';

export interface GatewaySimulatorOptions extends SimulatorOptions {
  /** The key of API calls and of webhook signatures; `sk_live_` in front makes the domain live. */
  secretKey: string;
  /** Where webhooks go; absent: where they went before. */
  webhookUrls?: readonly string[];
  /** Where browsers reach the API's server; absent: its own address. */
  publicUrl?: string;
  /** Where the integration is at home: NG has transfer accounts in NGN, KE in KES. */
  bankCountry?: Country;
  /** What it may charge in, the default first. */
  currencies?: readonly Currency[];
  merchant?: string;
  /** How long each step of a refund takes; the fault `refundDelayMs` changes it. */
  refundDelayMs?: number;
  /** The pace of scenarios. */
  scenarioMs?: number;
  retries?: RetrySchedule;
}

function integrationOf(options: GatewaySimulatorOptions): Integration {
  return {
    country: options.bankCountry ?? 'NG',
    currencies: options.currencies ?? CURRENCIES,
    merchant: options.merchant ?? 'Sandbox Merchant',
    domain: options.secretKey.startsWith('sk_live_') ? 'live' : 'test',
  };
}

/** What the agenda does; nothing to a charge that is gone or whose money was given back. */
function deedsOf(context: GatewayContext): AgendaDeeds {
  const toCharge = (deed: (row: TransactionRow, data: Record<string, unknown>) => unknown) => {
    return (target: number, data: Record<string, unknown>) => {
      const row = context.transactions.byId(target);
      if (row !== undefined && row.status !== 'reversed') deed(row, data);
    };
  };
  return {
    pay: toCharge((row, data) => receive(context, row, data)),
    decline: toCharge((row, { reason }) => {
      if (row.paidAtMs === null) decline(context, row, String(reason));
    }),
    expire: toCharge((row) => expire(context, row)),
    reverse: toCharge((row) => {
      if (row.status === 'success') reverse(context, row);
    }),
    dispute: toCharge((row) => {
      if (row.status === 'success') openDispute(context, row, row.received - row.givenBack);
    }),
    refund: (target) => stepRefund(context, target),
  };
}

function assemble(options: GatewaySimulatorOptions, database: Database, frame: SimulatorFrame) {
  const meta = createMeta(database);
  const clock = createClock(options.now ?? Date.now, meta);
  const agendaStore = createAgendaStore(database);
  const webhooks = createWebhookStore(database);
  const seed = options.seed ?? 1;
  const wake = () => pulse.wake();
  const faults = createFaultBoard({
    defaults: noFaults({
      refundDelayMs: options.refundDelayMs ?? 300,
      retries: options.retries ?? 'test',
    }),
    seed,
    load: () => meta.read('faults'),
    save: (json) => meta.write('faults', json),
    onSet: ({ refund }) => {
      if (refund !== undefined && refund !== 'pending') releaseRefunds(context);
    },
  });
  const desk = createWebhookDesk({ now: clock.now, store: webhooks, meta, faults, wake });
  const context: GatewayContext = {
    now: clock.now,
    integration: integrationOf(options),
    database,
    meta,
    transactions: createTransactionStore(database),
    refunds: createRefundStore(database),
    domains: createDomainStore(database),
    faults,
    webhooks: desk,
    plan: (kind, target, atMs, data = {}) => {
      agendaStore.insert(kind, target, atMs, data);
      wake();
    },
    scenarioMs: options.scenarioMs ?? 1000,
    seed,
    pageUrl: (accessCode) =>
      `${options.publicUrl?.replace(/\/+$/, '') ?? frame.url()}/checkout/${accessCode}`,
  };
  const agenda = createAgenda({
    clock,
    database,
    store: agendaStore,
    deeds: deedsOf(context),
    onBug: frame.onBug,
  });
  const courier = createCourier({
    now: clock.now,
    database,
    store: webhooks,
    secretKey: options.secretKey,
    schedule: () => faults.current.retries,
    onSettled: wake,
  });
  const pulse: Pulse = createPulse({ clock, agenda, courier });
  return { context, clock, webhooks, desk, agenda, courier, pulse };
}

/** A simulator that has not been started. */
export function createGatewaySimulator(options: GatewaySimulatorOptions): Simulator {
  return createSimulator(options, (frame) => {
    const { onBug } = frame;
    const database = openDatabase(options.dataDir, 'gateway.sqlite', SCHEMA);
    const { context, clock, webhooks, desk, agenda, courier, pulse } = assemble(options, database, frame);
    const { webhookUrls = [] } = options;
    if (webhookUrls.length > 0) desk.saveUrls(webhookUrls);
    const stats = createStats();
    const { runDue } = agenda;
    let server: RunningServer | undefined;
    const applyReach = async () => server?.setListening(!isUnreachable(context.faults.current));
    const checkout = createCheckout(context);
    return {
      api: createApiHandler({
        context,
        secretKey: options.secretKey,
        stats,
        runDue,
        onBug,
        checkout,
      }),
      control: createGatewayControl({
        context,
        webhooks,
        desk,
        clock,
        stats,
        runDue,
        advance: pulse.advance,
        applyReach,
        onBug,
      }),
      onListening: async (api) => {
        server = api;
        courier.start();
        pulse.wake();
        await applyReach();
      },
      close: () => {
        pulse.stop();
        courier.stop();
        database.close();
      },
    };
  });
}
