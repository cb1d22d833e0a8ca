/** Decides which webhooks are due. What is due later is stored, and sent after a restart too. Does nothing while no URL is saved. */
import type { Database } from '../../support/database.ts';
import type { FaultBoard } from '../../support/faults.ts';
import { createAlarm } from '../../support/sending.ts';
import { withState, type FoundEsim } from '../esim-state.ts';
import type { SupplierFaults } from '../faults.ts';
import type { AccountStore, OrderStore } from '../storage/store.ts';
import type { DueEventRow, EsimRow } from '../storage/tables.ts';
import * as messages from './messages.ts';
import type { WebhookSender } from './sender.ts';

const DAY_MS = 86_400_000;

type Kind = DueEventRow['kind'];

/** When a planned moment comes: read the eSIM as it is now, then send, or plan anew. */
function createDueHandlers(
  { now, orders }: { now: () => number; orders: OrderStore },
  send: (batch: messages.WireWebhook[]) => void,
  plan: (kind: Kind, target: string, atMs: number) => void,
): Record<Kind, (target: string) => void> {
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
        if (row.activatesAtMs !== null) plan('IN_USE', row.esimTranNo, row.activatesAtMs);
        else plan('EXPIRED', row.esimTranNo, withState(row, now()).state.expiresAtMs);
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

/** The messages about a change of one eSIM. */
function changeMessages(before: EsimRow, after: EsimRow, nowMs: number): messages.WireWebhook[] {
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

export type WebhookScheduler = ReturnType<typeof createWebhookScheduler>;

export function createWebhookScheduler(options: {
  now: () => number;
  orders: OrderStore;
  account: AccountStore;
  meta: Database['meta'];
  faults: FaultBoard<SupplierFaults>;
  sender: WebhookSender;
}) {
  const { now, orders, account, meta, faults, sender } = options;
  const url = () => meta.read('webhook') ?? '';
  /** Leaves once the caller's transaction is over. */
  const send = (batch: messages.WireWebhook[]) => {
    const target = url();
    if (target === '' || batch.length === 0) return;
    setImmediate(() => sender.send(target, batch, faults.current.webhooks));
  };
  const plan = (kind: Kind, target: string, atMs: number) => {
    account.addEvent({ kind, target, atMs });
    alarm.wake();
  };
  const handlers = createDueHandlers({ now, orders }, send, plan);
  const alarm = createAlarm({
    now,
    nextAtMs: account.nextEventAtMs,
    run: () => {
      for (const event of account.dueEvents(now())) {
        account.dropEvent(event.id);
        handlers[event.kind](event.target);
      }
    },
  });
  return {
    /** Empty when none is saved. */
    url,
    /** An order was taken or freed. */
    orderPlanned: (orderNo: string, allocatedAtMs: number | null): void => {
      if (allocatedAtMs !== null && url() !== '') plan('ALLOCATED', orderNo, allocatedAtMs);
    },
    /** A call or the control interface changed an eSIM. */
    esimChanged: (before: EsimRow, after: EsimRow): void => {
      if (url() === '') return;
      send(changeMessages(before, after, now()));
      const startsAtMs = after.activatesAtMs;
      if (startsAtMs !== null && startsAtMs !== before.activatesAtMs && startsAtMs > now()) {
        plan('IN_USE', after.esimTranNo, startsAtMs);
      }
    },
    /** Posts a health check; resolves to whether the address answered with 2xx. */
    checkHealth: (candidate: string) => sender.post(candidate, messages.checkHealth(now())),
    saveUrl: (saved: string): void => meta.write('webhook', saved),
    start: alarm.wake,
    stop: () => {
      alarm.stop();
      sender.stop();
    },
  };
}
