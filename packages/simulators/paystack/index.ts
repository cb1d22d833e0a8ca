/** The gateway simulator. What it answered and what it owes survives a restart on the same data folder. */
import { createAlarm, createClock, type Clock } from '../kit/clock.ts';
import { createFaultBoard } from '../kit/control.ts';
import { createStats, type RunningServer } from '../kit/server.ts';
import {
  createSimulator,
  type Simulator,
  type SimulatorFrame,
  type SimulatorOptions,
} from '../kit/simulator.ts';
import { expire, decline, receive, reverse } from './actions/charge.ts';
import { openDispute, releaseRefunds, stepRefund } from './actions/refund.ts';
import { createApiApp } from './api-server.ts';
import type { GatewayContext } from './context.ts';
import { openStorage, type PlannedKind, type Storage, type TransactionRow } from './storage.ts';
import { createGatewayControl } from './control/server.ts';
import { FAULTS, isUnreachable, type GatewayFaults } from './faults.ts';
import { CURRENCIES, type Country, type Currency } from './rules.ts';
import { createWebhookEmitter, createWebhookSender, type WebhookSender } from './webhooks.ts';

export interface PaystackSimulatorOptions extends SimulatorOptions {
  /** The key of API calls and of webhook signatures; `sk_live_` in front makes the domain live. */
  secretKey: string;
  /** Where webhooks go; absent: where they went before. */
  webhookUrls?: readonly string[];
  publicUrl?: string;
  /** Home of the integration: NG has transfer accounts in NGN, KE in KES. */
  bankCountry?: Country;
  /** What it may charge in, the default first. */
  currencies?: readonly Currency[];
  merchant?: string;
  /** How long each step of a refund takes; the fault `refundDelayMs` changes it. */
  refundDelayMs?: number;
  scenarioMs?: number;
  retries?: GatewayFaults['retries'];
}

type AgendaHandlers = Record<PlannedKind, (target: number, data: Record<string, unknown>) => void>;

/** Each item once, in one transaction, as of the moment it was planned for. */
function createRunDue(
  clock: Clock,
  { agenda, database }: Storage,
  handlers: AgendaHandlers,
  onBug: (error: unknown) => void,
) {
  return (): void => {
    for (;;) {
      const [item] = agenda.due(clock.now(), 1);
      if (item === undefined) return;
      const run = () => {
        agenda.drop(item.id);
        handlers[item.kind](item.target, item.data);
      };
      try {
        clock.at(item.atMs, () => database.transact(run));
      } catch (error) {
        // Kept, it would block everything after it.
        agenda.drop(item.id);
        onBug(error);
      }
    }
  };
}

function createTimer(clock: Clock, { agenda }: Storage, runDue: () => void, sender: WebhookSender) {
  let isStopped = false;
  let skipping: Promise<void> = Promise.resolve();
  const nextAtMs = (): number | null => {
    const moments = [agenda.nextAtMs(), sender.nextAtMs()].filter((atMs) => atMs !== null);
    return moments.length === 0 ? null : Math.min(...moments);
  };
  const run = () => {
    runDue();
    sender.run();
  };
  const alarm = createAlarm({ now: clock.now, nextAtMs, run });
  const skip = async (byMs: number): Promise<void> => {
    const untilMs = clock.now() + byMs;
    for (;;) {
      run();
      await sender.idle();
      const atMs = nextAtMs();
      if (isStopped) return;
      if (atMs === null || atMs > untilMs) break;
      clock.skipTo(atMs);
    }
    clock.skipTo(untilMs);
    run();
    alarm.wake();
  };
  return {
    wake: alarm.wake,
    /** Skips this much time and does all that was due in it, in order and each at its own moment. */
    advance: (byMs: number): Promise<void> => {
      skipping = skipping.then(() => skip(byMs));
      return skipping;
    },
    stop: () => {
      isStopped = true;
      alarm.stop();
    },
  };
}

/** What the agenda does; nothing to a charge that is gone or whose money was given back. */
function agendaHandlers(context: GatewayContext): AgendaHandlers {
  const toCharge = (act: (row: TransactionRow, data: Record<string, unknown>) => unknown) => {
    return (target: number, data: Record<string, unknown>) => {
      const row = context.transactions.get(target);
      if (row !== undefined && row.status !== 'reversed') act(row, data);
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

function assemble(options: PaystackSimulatorOptions, storage: Storage, { url, onBug }: SimulatorFrame) {
  const { meta } = storage.database;
  const { secretKey, seed = 1 } = options;
  const clock = createClock(options.now ?? Date.now, meta);
  const { now } = clock;
  const wake = () => timer.wake();
  const { refundDelayMs, retries } = options;
  const faults = createFaultBoard({
    defaults: FAULTS.parse({ refundDelayMs, retries }),
    seed,
    meta,
    onSet: ({ refund }) => {
      if (refund !== undefined && refund !== 'pending') releaseRefunds(context);
    },
  });
  const context: GatewayContext = {
    now,
    integration: {
      country: options.bankCountry ?? 'NG',
      currencies: options.currencies ?? CURRENCIES,
      merchant: options.merchant ?? 'Sandbox Merchant',
      domain: secretKey.startsWith('sk_live_') ? 'live' : 'test',
    },
    ...storage,
    faults,
    webhooks: createWebhookEmitter({ now, storage, faults, wake }),
    plan: (kind, target, atMs, data = {}) => {
      storage.agenda.plan(kind, target, atMs, data);
      wake();
    },
    scenarioMs: options.scenarioMs ?? 1000,
    seed,
    pageUrl: (accessCode) => `${options.publicUrl?.replace(/\/+$/, '') ?? url()}/checkout/${accessCode}`,
  };
  const runDue = createRunDue(clock, storage, agendaHandlers(context), onBug);
  const sender = createWebhookSender({ now, storage, secretKey, faults, onSettled: wake });
  const timer = createTimer(clock, storage, runDue, sender);
  return { context, clock, runDue, sender, timer };
}

export function createPaystackSimulator(options: PaystackSimulatorOptions): Simulator {
  return createSimulator(options, (frame) => {
    const storage = openStorage(options.dataDir);
    const { context, clock, runDue, sender, timer } = assemble(options, storage, frame);
    const { webhookUrls = [], secretKey } = options;
    if (webhookUrls.length > 0) context.webhooks.saveUrls(webhookUrls);
    const stats = createStats();
    let server: RunningServer | undefined;
    const applyReach = async () => server?.setListening(!isUnreachable(context.faults.current));
    const shared = { context, stats, runDue, onBug: frame.onBug };
    return {
      api: createApiApp({ ...shared, secretKey }),
      control: createGatewayControl({ ...shared, clock, advance: timer.advance, applyReach }),
      onListening: async (api) => {
        server = api;
        sender.takeBack();
        timer.wake();
        await applyReach();
      },
      close: () => {
        timer.stop();
        sender.stop();
        storage.database.close();
      },
    };
  });
}
