/**
 * Posts what is due, signed, and tries again on the vendor's schedule. Guarantee: at least once, over restarts too; only 200 counts; never
 * throws. Must not follow redirects.
 */
import { createHmac } from 'node:crypto';
import type { Database } from '../../support/database.ts';
import { createPool } from '../../support/pool.ts';
import type { Attempt } from '../storage/rows.ts';
import type { DueDelivery, WebhookStore } from '../storage/webhooks.ts';
import { iso } from '../wire.ts';
import { retryDelayMs, type RetrySchedule } from './schedule.ts';

const TIMEOUT_MS = 30_000;
const MOST_AT_ONCE = 16;

export interface CourierOptions {
  now: () => number;
  database: Database;
  store: WebhookStore;
  secretKey: string;
  schedule: () => RetrySchedule;
  /** A delivery was settled, so that something else may be due. */
  onSettled: () => void;
}

export interface Courier {
  /** Takes up what an earlier process left. */
  start(): void;
  /** Begins to send all that is due. */
  run(): void;
  /** Resolves when nothing is being sent. */
  idle(): Promise<void>;
  nextAtMs(): number | null;
  stop(): void;
}

/** Lower-case hex of HMAC-SHA512 over the exact bytes, with the secret key. */
export function signatureOf(secretKey: string, body: string | Buffer): string {
  return createHmac('sha512', secretKey).update(body).digest('hex');
}

/** The status that was answered; null for none. */
async function post(url: string, body: Buffer, signature: string, stopping: AbortSignal) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-paystack-signature': signature },
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}

/** A courier that has not been started. */
export function createCourier(options: CourierOptions): Courier {
  const { now, database, store, secretKey } = options;
  const stopping = new AbortController();
  const pool = createPool(MOST_AT_ONCE, stopping.signal);
  const sending = new Set<Promise<void>>();

  const settle = (delivery: DueDelivery, startedAtMs: number, status: number | null) => {
    const before = JSON.parse(delivery.attempts) as Attempt[];
    const attempts = [...before, { at: iso(startedAtMs), status }];
    const delayMs = status === 200 ? null : retryDelayMs(options.schedule(), attempts.length);
    if (delayMs !== null) store.settle(delivery.id, 'waiting', startedAtMs + delayMs, attempts);
    else store.settle(delivery.id, status === 200 ? 'delivered' : 'failed', startedAtMs, attempts);
    options.onSettled();
  };
  const send = async (delivery: DueDelivery): Promise<void> => {
    const body = Buffer.from(delivery.body);
    const startedAtMs = now();
    const status = await post(delivery.url, body, signatureOf(secretKey, body), stopping.signal);
    // Not settled, it is sent again by whoever starts next.
    if (!stopping.signal.aborted) settle(delivery, startedAtMs, status);
  };
  const enqueue = (delivery: DueDelivery) => {
    const sent = new Promise<void>((resolve) => pool(() => send(delivery).finally(resolve)));
    sending.add(sent);
    void sent.finally(() => sending.delete(sent));
  };
  return {
    start: () => store.takeBack(),
    run: () => {
      if (stopping.signal.aborted) return;
      for (const delivery of database.transact(() => store.takeDue(now()))) enqueue(delivery);
    },
    idle: async () => {
      while (sending.size > 0 && !stopping.signal.aborted) await Promise.all(sending);
    },
    nextAtMs: store.nextDueAtMs,
    stop: () => stopping.abort(),
  };
}
