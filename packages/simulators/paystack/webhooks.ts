/** An event is stored with what caused it, then posted, signed, until it is answered with 200. */
import {
  createPool,
  DELAY_MS,
  hmacHex,
  MAX_SENT_AT_ONCE,
  postJson,
  REORDER_GAP_MS,
  REORDER_WAIT_MS,
  type WebhookMode,
} from '../kit/events.ts';
import type { FaultBoard } from '../kit/control.ts';
import type { GatewayFaults } from './faults.ts';
import type { DeliveryRow, Storage } from './storage.ts';
import { iso, TO_BYTES } from './wire.ts';

export type WebhookEmitter = ReturnType<typeof createWebhookEmitter>;

/** Writes events, with the deliveries that the faults call for. */
export function createWebhookEmitter(options: {
  now: () => number;
  storage: Storage;
  faults: FaultBoard<GatewayFaults>;
  wake: () => void;
}) {
  const { now, storage, faults, wake } = options;
  const { events, deliveries } = storage;
  const { meta } = storage.database;
  const urls = () => JSON.parse(meta.read('webhookUrls') ?? '[]') as string[];
  /** Deliveries that wait for the next event to overtake them. */
  let overtakable: number[] = [];

  const deliver = (eventId: number, dueAtMs = now(), state: 'waiting' | 'dropped' = 'waiting'): number[] =>
    urls().map((url) => deliveries.add({ eventId, url, state, dueAtMs, attempts: [] }).id);
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
      for (const id of overtakable) {
        const delivery = deliveries.get(id);
        if (delivery?.state === 'waiting') deliveries.put({ ...delivery, dueAtMs: now() + REORDER_GAP_MS });
      }
      overtakable = [];
    },
  };
  return {
    urls,
    saveUrls: (wanted: readonly string[]) => meta.write('webhookUrls', JSON.stringify(wanted)),
    /** `reference` is for the log; `isSilent` drops the event whatever the faults say. */
    emit: (event: string, reference: string, data: object, isSilent = false): void => {
      const { webhooks, webhookBytes } = faults.current;
      const body = TO_BYTES[webhookBytes]({ event, data });
      const { id } = events.add({ event, reference, body, createdAtMs: now() });
      modes[isSilent ? 'drop' : webhooks](id);
      wake();
    },
    resend: (eventId: number): boolean => {
      if (events.get(eventId) === undefined) return false;
      deliver(eventId);
      wake();
      return true;
    },
  };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const QUICK_TRIES = 4;

/** `test`: hourly for 10 hours, as the documentation says; `live`: four tries, then hourly for 72 hours. */
export function retryDelayMs(schedule: GatewayFaults['retries'], tries: number): number | null {
  if (schedule === 'live' && tries < QUICK_TRIES) return 3 * MINUTE_MS;
  const hourlyTries = schedule === 'live' ? tries - QUICK_TRIES + 1 : tries;
  return hourlyTries <= (schedule === 'test' ? 10 : 72) ? HOUR_MS : null;
}

const TIMEOUT_MS = 30_000;
const MAX_TAKEN_AT_ONCE = 200;

export type WebhookSender = ReturnType<typeof createWebhookSender>;

/** Posts what is due. At least once, over restarts too. */
export function createWebhookSender(options: {
  now: () => number;
  storage: Storage;
  secretKey: string;
  faults: FaultBoard<GatewayFaults>;
  onSettled: () => void;
}) {
  const { now, secretKey } = options;
  const { database, events, deliveries } = options.storage;
  const stopping = new AbortController();
  const pool = createPool(MAX_SENT_AT_ONCE, stopping.signal);
  const sending = new Set<Promise<void>>();

  /** What is due, oldest first; all of it is taken and will be settled. */
  const takeDue = () =>
    deliveries
      .list({ state: 'waiting', dueAtMs: { to: now() } }, { by: 'dueAtMs', limit: MAX_TAKEN_AT_ONCE })
      .map((delivery) => deliveries.put({ ...delivery, state: 'sending' }));
  const settle = (delivery: DeliveryRow, startedAtMs: number, status: number | null) => {
    const attempts = [...delivery.attempts, { at: iso(startedAtMs), status }];
    const delayMs = status === 200 ? null : retryDelayMs(options.faults.current.retries, attempts.length);
    const state = delayMs !== null ? 'waiting' : status === 200 ? 'delivered' : 'failed';
    deliveries.put({ ...delivery, state, dueAtMs: startedAtMs + (delayMs ?? 0), attempts });
    options.onSettled();
  };
  const send = async (delivery: DeliveryRow): Promise<void> => {
    const startedAtMs = now();
    const body = events.get(delivery.eventId)?.body ?? '';
    const status = await postJson(delivery.url, body, {
      headers: { 'x-paystack-signature': hmacHex('sha512', secretKey, body) },
      timeoutMs: TIMEOUT_MS,
      stopping: stopping.signal,
    });
    // Not settled, it is sent again after the next start.
    if (!stopping.signal.aborted) settle(delivery, startedAtMs, status);
  };
  return {
    /** What an earlier process had taken and did not settle waits again. */
    takeBack: (): void => {
      for (const delivery of deliveries.list({ state: 'sending' }))
        deliveries.put({ ...delivery, state: 'waiting' });
    },
    run: () => {
      if (stopping.signal.aborted) return;
      for (const delivery of database.transact(takeDue)) {
        const sent = new Promise<void>((resolve) => pool(() => send(delivery).finally(resolve)));
        sending.add(sent);
        void sent.finally(() => sending.delete(sent));
      }
    },
    idle: async () => {
      while (sending.size > 0 && !stopping.signal.aborted) await Promise.all(sending);
    },
    nextAtMs: () => deliveries.find({ state: 'waiting' }, { by: 'dueAtMs' })?.dueAtMs ?? null,
    stop: () => stopping.abort(),
  };
}
