/**
 * Where events begin: their bytes are written once, and how they travel is decided. Guarantee: an event is kept together with what caused
 * it, and its deliveries are there after a restart. Must not post anything itself.
 */
import type { FaultBoard, WebhookMode } from '../../support/fault-board.ts';
import type { Meta } from '../../support/database.ts';
import type { WebhookDesk } from '../context.ts';
import type { GatewayFaults } from '../faults.ts';
import type { WebhookStore } from '../storage/webhooks.ts';
import { toBytes } from '../wire.ts';

const DELAY_MS = 3000;
/** How long the first of a pair waits for the second. */
const REORDER_WAIT_MS = 1000;
/** How far behind the second the first then comes. */
const REORDER_GAP_MS = 50;

export interface WebhookDeskOptions {
  now: () => number;
  store: WebhookStore;
  meta: Meta;
  faults: FaultBoard<GatewayFaults>;
  /** Something is due. */
  wake: () => void;
}

export type GatewayDesk = WebhookDesk & {
  urls(): string[];
  saveUrls(urls: readonly string[]): void;
  /** Sends an event once more, the same bytes; false when there is none. */
  resend(eventId: number): boolean;
};

/** The desk. */
export function createWebhookDesk(options: WebhookDeskOptions): GatewayDesk {
  const { now, store, meta, faults, wake } = options;
  const urls = () => JSON.parse(meta.read('webhookUrls') ?? '[]') as string[];
  /** Deliveries that wait for the next event to overtake them. */
  let overtakable: number[] = [];

  const deliver = (eventId: number, dueAtMs: number): number[] =>
    urls().map((url) => store.insertDelivery({ eventId, url, state: 'waiting', dueAtMs, attempts: '[]' }));
  const drop = (eventId: number) => {
    for (const url of urls()) {
      store.insertDelivery({ eventId, url, state: 'dropped', dueAtMs: now(), attempts: '[]' });
    }
  };
  const reorder = (eventId: number) => {
    if (overtakable.length === 0) {
      overtakable = deliver(eventId, now() + REORDER_WAIT_MS);
      return;
    }
    deliver(eventId, now());
    for (const id of overtakable) store.move(id, now() + REORDER_GAP_MS);
    overtakable = [];
  };
  const ways: Record<WebhookMode, (eventId: number) => void> = {
    deliver: (eventId) => void deliver(eventId, now()),
    drop,
    duplicate: (eventId) => {
      deliver(eventId, now());
      deliver(eventId, now());
    },
    delay: (eventId) => void deliver(eventId, now() + DELAY_MS),
    reorder,
  };
  return {
    urls,
    saveUrls: (wanted) => meta.write('webhookUrls', JSON.stringify(wanted)),
    emit: (event, data, { reference, isSilent }) => {
      const { webhooks, webhookBytes } = faults.current;
      const body = toBytes({ event, data }, webhookBytes);
      const eventId = store.insertEvent({ event, reference, body, createdAtMs: now() });
      ways[isSilent === true ? 'drop' : webhooks](eventId);
      wake();
    },
    resend: (eventId) => {
      if (store.eventById(eventId) === undefined) return false;
      deliver(eventId, now());
      wake();
      return true;
    },
  };
}
