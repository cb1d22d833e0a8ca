/** What is due later is stored, and sent after a restart too. Does nothing while no URL is saved. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createAlarm } from '../../kit/clock.ts';
import type { FaultBoard } from '../../kit/control.ts';
import {
  createPool,
  DELAY_MS,
  MAX_SENT_AT_ONCE,
  postJson,
  REORDER_GAP_MS,
  REORDER_WAIT_MS,
  type WebhookMode,
} from '../../kit/events.ts';
import { momentsOf, withState, type Moment } from '../esim-state.ts';
import type { SupplierFaults, EsimRow, EventKind, Storage } from '../storage.ts';
import * as messages from './messages.ts';
import { type WireWebhook } from './messages.ts';

const MAX_DUE_AT_ONCE = 200;

/** The messages about a moment: the eSIM as it was then, even if that was long ago. */
function momentMessages(row: EsimRow, { kind, atMs }: Moment, nowMs: number): messages.WireWebhook[] {
  const esim = withState(row, atMs);
  switch (kind) {
    case 'IN_USE':
      return [...messages.installation(esim, 'RELEASED', nowMs), messages.esimStatus(esim, nowMs)];
    case 'VALIDITY':
      return [messages.validityUsage(esim, nowMs)];
    case 'EXPIRED':
      return [messages.esimStatus(esim, nowMs)];
  }
}

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

/** The messages of what happened to an eSIM within the last `byMs` of its own time, in order. */
export function passedMessages(row: EsimRow, byMs: number, nowMs: number): messages.WireWebhook[] {
  return momentsOf(row)
    .filter(({ atMs }) => atMs <= nowMs && atMs + byMs > nowMs)
    .flatMap((moment) => momentMessages(row, moment, nowMs));
}

export type WebhookScheduler = ReturnType<typeof createWebhookScheduler>;

export function createWebhookScheduler(options: {
  now: () => number;
  storage: Storage;
  faults: FaultBoard<SupplierFaults>;
  sender: WebhookSender;
}) {
  const { now, storage, faults, sender } = options;
  const { agenda, esims, orders } = storage;
  const { meta } = storage.database;
  const url = () => meta.read('webhook') ?? '';
  /** Leaves once the caller's transaction is over, one message after the other. */
  const send = (batch: messages.WireWebhook[]) => {
    const target = url();
    if (target === '' || batch.length === 0) return;
    setImmediate(() => sender.send(target, batch, faults.current.webhooks));
  };
  const plan = (kind: EventKind, target: string, atMs: number) => {
    agenda.plan(kind, target, atMs);
    alarm.wake();
  };
  const planMoments = (row: EsimRow, afterMs: number) => {
    for (const { kind, atMs } of momentsOf(row)) if (atMs > afterMs) plan(kind, row.esimTranNo, atMs);
  };
  const allocated = (orderNo: string): messages.WireWebhook[] => {
    const order = orders.get(orderNo);
    if (order?.allocatedAtMs == null || order.allocatedAtMs > now()) return [];
    for (const row of esims.list({ orderNo })) planMoments(row, Number.NEGATIVE_INFINITY);
    return [messages.orderStatus(order, now())];
  };
  const lived = (kind: Moment['kind'], tranNo: string): messages.WireWebhook[] => {
    const row = esims.get(tranNo);
    const moment = row && momentsOf(row).find((one) => one.kind === kind);
    return moment && moment.atMs <= now() ? momentMessages(row, moment, now()) : [];
  };
  /** What is due is sent in one batch for each eSIM and order, so that it arrives in order. */
  const sendDue = () => {
    const batches = new Map<string, messages.WireWebhook[]>();
    for (const { id, kind, target } of agenda.due(now(), MAX_DUE_AT_ONCE)) {
      agenda.drop(id);
      const due = kind === 'ALLOCATED' ? allocated(target) : lived(kind, target);
      batches.set(target, [...(batches.get(target) ?? []), ...due]);
    }
    for (const batch of batches.values()) send(batch);
  };
  const alarm = createAlarm({ now, nextAtMs: agenda.nextAtMs, run: sendDue });
  return {
    sendDue,
    url,
    orderPlanned: (orderNo: string, allocatedAtMs: number | null): void => {
      if (allocatedAtMs !== null && url() !== '') plan('ALLOCATED', orderNo, allocatedAtMs);
    },
    /** `batch`: the messages, where the two rows do not show them. */
    esimChanged: (
      before: EsimRow,
      after: EsimRow,
      batch: messages.WireWebhook[] = changeMessages(before, after, now()),
    ): void => {
      agenda.dropAfter(after.esimTranNo, now());
      if (url() === '') return;
      send(batch);
      planMoments(after, now());
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

const TRY_AFTER_MS = [0, 500, 2000] as const;
const TIMEOUT_MS = 5000;

/** Turns pairs of batches round: the first waits until the second has been sent, or a second has passed. */
function createReorder(later: (waitMs: number, work: () => void) => void): (enqueue: () => void) => void {
  let heldBack: (() => void) | null = null;
  return (enqueue) => {
    if (heldBack !== null) {
      enqueue();
      later(REORDER_GAP_MS, heldBack);
      return;
    }
    const release = () => {
      if (heldBack !== release) return;
      heldBack = null;
      enqueue();
    };
    heldBack = release;
    later(REORDER_WAIT_MS, release);
  };
}

type WebhookSender = ReturnType<typeof createWebhookSender>;

/** A sender with its own timers; `stop` drops what was not sent yet. */
export function createWebhookSender() {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (waitMs: number) => sleep(waitMs, undefined, { ref: false, signal });
  const later = (waitMs: number, work: () => void) => void pause(waitMs).then(work, () => undefined);
  const pool = createPool(MAX_SENT_AT_ONCE, signal);
  const reorder = createReorder(later);
  const post = async (url: string, message: WireWebhook): Promise<boolean> => {
    const status = await postJson(url, JSON.stringify(message), { timeoutMs: TIMEOUT_MS, stopping: signal });
    return status !== null && status >= 200 && status < 300;
  };
  const deliver = async (url: string, messages: WireWebhook[]) => {
    for (const message of messages) {
      for (const waitMs of TRY_AFTER_MS) {
        if (waitMs > 0) await pause(waitMs).catch(() => undefined);
        if (await post(url, message)) break;
      }
    }
  };
  return {
    post,
    send: (url: string, messages: WireWebhook[], mode: WebhookMode): void => {
      if (signal.aborted || mode === 'drop') return;
      const enqueue = (batch: WireWebhook[]) => pool(() => deliver(url, batch));
      if (mode === 'delay') later(DELAY_MS, () => enqueue(messages));
      else if (mode === 'reorder') reorder(() => enqueue(messages.toReversed()));
      else enqueue(mode === 'duplicate' ? messages.flatMap((each) => [each, each]) : messages);
    },
    stop: () => stopping.abort(),
  };
}
