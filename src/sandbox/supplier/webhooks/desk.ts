/**
 * Decides which webhooks are due. Guarantee: free of charge while no URL is saved; what is due later is kept in storage and told
 * after a restart too. Must not change orders or eSIMs.
 */
import type { FaultBoard } from '../../support/fault-board.ts';
import type { WebhookDesk } from '../context.ts';
import type { SupplierFaults } from '../faults.ts';
import { withState, type FoundEsim } from '../operations/find-esim.ts';
import type { AccountStore } from '../storage/account.ts';
import type { OrderStore } from '../storage/orders.ts';
import type { DueEventRow, EsimRow } from '../storage/rows.ts';
import type { WireWebhook } from '../wire.ts';
import * as messages from './messages.ts';
import type { WebhookSender } from './sender.ts';

const DAY_MS = 86_400_000;
const LONGEST_SLEEP_MS = 60_000;

export interface WebhookDeskOptions {
  now: () => number;
  orders: OrderStore;
  account: AccountStore;
  faults: FaultBoard<SupplierFaults>;
  sender: WebhookSender;
}

type Kind = DueEventRow['kind'];

interface DueWork {
  now: () => number;
  orders: OrderStore;
  send: (batch: WireWebhook[]) => void;
  plan: (kind: Kind, target: string, atMs: number) => void;
}

/** What to do when a planned moment comes: look at the eSIM as it is now, tell or plan anew. */
function createDueHandlers({ now, orders, send, plan }: DueWork): Record<Kind, (target: string) => void> {
  const found = (tranNo: string): FoundEsim | undefined => {
    const row = orders.esimByTranNo(tranNo);
    return row === undefined ? undefined : withState(row, now());
  };
  return {
    ALLOCATED: (orderNo) => {
      const order = orders.orderByNo(orderNo);
      if (order?.allocatedAtMs == null || order.allocatedAtMs > now()) return;
      send([messages.orderStatus(order, now())]);
      for (const row of orders.esimsOfOrder(orderNo)) {
        const esim = withState(row, now());
        if (row.activatesAtMs !== null) plan('IN_USE', row.esimTranNo, row.activatesAtMs);
        else plan('EXPIRED', row.esimTranNo, esim.state.expiresAtMs);
      }
    },
    IN_USE: (tranNo) => {
      const esim = found(tranNo);
      if (esim === undefined || esim.state.activatedAtMs === null || esim.row.forcedStatus !== null) return;
      send(messages.installation(esim, now()));
      if (esim.row.totalDuration > 1) plan('VALIDITY', tranNo, esim.state.expiresAtMs - DAY_MS);
      plan('EXPIRED', tranNo, esim.state.expiresAtMs);
    },
    VALIDITY: (tranNo) => {
      const esim = found(tranNo);
      if (esim === undefined || !/^(IN_USE|USED_UP)$/.test(esim.state.esimStatus)) return;
      const dueAtMs = esim.state.expiresAtMs - DAY_MS;
      if (dueAtMs > now()) plan('VALIDITY', tranNo, dueAtMs);
      else send([messages.validityUsage(esim, now())]);
    },
    EXPIRED: (tranNo) => {
      const esim = found(tranNo);
      if (esim === undefined || esim.row.forcedStatus !== null) return;
      if (esim.state.expiresAtMs > now()) plan('EXPIRED', tranNo, esim.state.expiresAtMs);
      else send([messages.esimStatus(esim, now())]);
    },
  };
}

/** The messages that a change of one eSIM is worth. */
function changeMessages(before: EsimRow, after: EsimRow, nowMs: number): WireWebhook[] {
  const [was, is] = [withState(before, nowMs).state, withState(after, nowMs)];
  const { smdpStatus, esimStatus } = is.state;
  const batch = messages.dataUsage(is, { usage: before.orderUsage, total: before.totalVolume }, nowMs);
  if (was.smdpStatus !== smdpStatus && smdpStatus !== 'RELEASED') {
    batch.unshift(messages.smdpEvent(is, { smdpStatus, esimStatus }, nowMs));
  }
  if (was.esimStatus !== esimStatus && esimStatus !== 'GOT_RESOURCE') {
    batch.push(messages.esimStatus(is, nowMs));
  }
  return batch;
}

/** The desk, with `start` to take up what an earlier process left and `stop`. */
export function createWebhookDesk(
  options: WebhookDeskOptions,
): WebhookDesk & { start(): void; stop(): void } {
  const { now, orders, account, faults, sender } = options;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const url = () => {
    const saved = account.meta.read('webhook');
    return saved === undefined || saved === '' ? null : saved;
  };
  /** Leaves once the caller's transaction is over. */
  const send = (batch: WireWebhook[]) => {
    const target = url();
    if (target === null || batch.length === 0) return;
    setImmediate(() => sender.send(target, batch, faults.current.webhooks));
  };
  const plan = (kind: Kind, target: string, atMs: number) => {
    account.addEvent(kind, target, atMs);
    setImmediate(arm);
  };
  const handlers = createDueHandlers({ now, orders, send, plan });
  const run = () => {
    if (isStopped) return;
    for (const event of account.dueEvents(now())) {
      account.dropEvent(event.id);
      handlers[event.kind](event.target);
    }
    arm();
  };
  function arm(): void {
    if (isStopped) return;
    clearTimeout(timer);
    const atMs = account.nextEventAtMs();
    if (atMs === null) return;
    timer = setTimeout(run, Math.min(LONGEST_SLEEP_MS, Math.max(1, atMs - now())));
    timer.unref();
  }
  return {
    url,
    orderPlanned: (orderNo, allocatedAtMs) => {
      if (allocatedAtMs !== null && url() !== null) plan('ALLOCATED', orderNo, allocatedAtMs);
    },
    esimChanged: (before, after) => {
      if (url() === null) return;
      send(changeMessages(before, after, now()));
      const startsAtMs = after.activatesAtMs;
      if (startsAtMs !== null && startsAtMs !== before.activatesAtMs && startsAtMs > now()) {
        plan('IN_USE', after.esimTranNo, startsAtMs);
      }
    },
    checkHealth: (candidate) => sender.post(candidate, messages.checkHealth(now())),
    saveUrl: (saved) => account.meta.write('webhook', saved),
    start: arm,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
      sender.stop();
    },
  };
}
