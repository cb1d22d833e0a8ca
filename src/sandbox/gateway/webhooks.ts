/** The gateway's webhooks: an event is stored with what caused it, then posted, signed, until it is answered with 200. */
import { createHmac } from 'node:crypto';
import type { Database } from '../support/database.ts';
import type { FaultBoard, WebhookMode } from '../support/faults.ts';
import { createPool, postJson } from '../support/sending.ts';
import type { GatewayFaults } from './faults.ts';
import type { DueDelivery, Stores } from './storage/store.ts';
import type { Attempt } from './storage/tables.ts';
import { iso, toBytes } from './wire.ts';

const DELAY_MS = 3000;
/** How long the first of a pair waits for the second. */
const REORDER_WAIT_MS = 1000;
/** How far behind the second the first then comes. */
const REORDER_GAP_MS = 50;

export type WebhookEmitter = ReturnType<typeof createWebhookEmitter>;

/** Writes events, with the deliveries that the faults call for. */
export function createWebhookEmitter(options: {
  now: () => number;
  store: Stores['webhooks'];
  meta: Database['meta'];
  faults: FaultBoard<GatewayFaults>;
  /** Something is due. */
  wake: () => void;
}) {
  const { now, store, meta, faults, wake } = options;
  const urls = () => JSON.parse(meta.read('webhookUrls') ?? '[]') as string[];
  /** Deliveries that wait for the next event to overtake them. */
  let overtakable: number[] = [];

  const deliver = (eventId: number, dueAtMs = now(), state: 'waiting' | 'dropped' = 'waiting'): number[] =>
    urls().map((url) => store.insertDelivery({ eventId, url, state, dueAtMs, attempts: '[]' }));
  const modes: Record<WebhookMode, (eventId: number) => void> = {
    deliver: (eventId) => void deliver(eventId),
    drop: (eventId) => void deliver(eventId, now(), 'dropped'),
    duplicate: (eventId) => {
      deliver(eventId);
      deliver(eventId);
    },
    delay: (eventId) => void deliver(eventId, now() + DELAY_MS),
    reorder: (eventId) => {
      if (overtakable.length === 0) {
        overtakable = deliver(eventId, now() + REORDER_WAIT_MS);
        return;
      }
      deliver(eventId);
      for (const id of overtakable) store.move(now() + REORDER_GAP_MS, id);
      overtakable = [];
    },
  };
  return {
    urls,
    saveUrls: (wanted: readonly string[]) => meta.write('webhookUrls', JSON.stringify(wanted)),
    /** `reference` is for the log; `isSilent` drops the event whatever the faults say. */
    emit: (event: string, data: object, about: { reference: string; isSilent?: boolean }): void => {
      const { webhooks, webhookBytes } = faults.current;
      const body = toBytes({ event, data }, webhookBytes);
      const eventId = store.insertEvent({ event, reference: about.reference, body, createdAtMs: now() });
      modes[about.isSilent === true ? 'drop' : webhooks](eventId);
      wake();
    },
    /** Sends an event once more, the same bytes; false when there is none. */
    resend: (eventId: number): boolean => {
      if (store.eventById(eventId) === undefined) return false;
      deliver(eventId);
      wake();
      return true;
    },
  };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const QUICK_TRIES = 4;

/**
 * The wait after attempt number `tries` (from 1); null after the last. `test`: hourly for 10 hours, as the documentation says of test mode;
 * `test-72h`: hourly for 72 hours, as one description of it has it; `live`: four tries three minutes apart, then hourly for 72 hours.
 */
export function retryDelayMs(schedule: GatewayFaults['retries'], tries: number): number | null {
  if (schedule === 'live' && tries < QUICK_TRIES) return 3 * MINUTE_MS;
  const hourlyTries = schedule === 'live' ? tries - QUICK_TRIES + 1 : tries;
  return hourlyTries <= (schedule === 'test' ? 10 : 72) ? HOUR_MS : null;
}

const TIMEOUT_MS = 30_000;
const MAX_AT_ONCE = 16;

export type WebhookSender = ReturnType<typeof createWebhookSender>;

/** Posts what is due. At least once, over restarts too. */
export function createWebhookSender(options: {
  now: () => number;
  database: Database;
  store: Stores['webhooks'];
  secretKey: string;
  faults: FaultBoard<GatewayFaults>;
  /** A delivery was settled, so something else may be due. */
  onSettled: () => void;
}) {
  const { now, database, store, secretKey } = options;
  const stopping = new AbortController();
  const pool = createPool(MAX_AT_ONCE, stopping.signal);
  const sending = new Set<Promise<void>>();

  const settle = (delivery: DueDelivery, startedAtMs: number, status: number | null) => {
    const before = JSON.parse(delivery.attempts) as Attempt[];
    const attempts = [...before, { at: iso(startedAtMs), status }];
    const delayMs = status === 200 ? null : retryDelayMs(options.faults.current.retries, attempts.length);
    const state = delayMs !== null ? 'waiting' : status === 200 ? 'delivered' : 'failed';
    store.settle(state, startedAtMs + (delayMs ?? 0), JSON.stringify(attempts), delivery.id);
    options.onSettled();
  };
  const send = async (delivery: DueDelivery): Promise<void> => {
    const startedAtMs = now();
    const status = await postJson(delivery.url, delivery.body, {
      headers: {
        'x-paystack-signature': createHmac('sha512', secretKey).update(delivery.body).digest('hex'),
      },
      timeoutMs: TIMEOUT_MS,
      stopping: stopping.signal,
    });
    // Not settled, it is sent again after the next start.
    if (!stopping.signal.aborted) settle(delivery, startedAtMs, status);
  };
  return {
    run: () => {
      if (stopping.signal.aborted) return;
      for (const delivery of database.transact(() => store.takeDue(now()))) {
        const sent = new Promise<void>((resolve) => pool(() => send(delivery).finally(resolve)));
        sending.add(sent);
        void sent.finally(() => sending.delete(sent));
      }
    },
    /** Resolves when nothing is being sent. */
    idle: async () => {
      while (sending.size > 0 && !stopping.signal.aborted) await Promise.all(sending);
    },
    nextAtMs: store.nextDueAtMs,
    stop: () => stopping.abort(),
  };
}
