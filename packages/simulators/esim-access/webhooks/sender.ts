/**
 * Posts webhooks to the saved URL: best effort, a few attempts, and the disorder that the faults ask for.
 * Never throws.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createPool,
  DELAY_MS,
  MAX_SENT_AT_ONCE,
  postJson,
  REORDER_GAP_MS,
  REORDER_WAIT_MS,
  type WebhookMode,
} from '../../kit/events.ts';
import type { WireWebhook } from './messages.ts';

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

export type WebhookSender = ReturnType<typeof createWebhookSender>;

/** A sender with its own timers; `stop` drops what was not sent yet. */
export function createWebhookSender() {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (waitMs: number) => sleep(waitMs, undefined, { ref: false, signal });
  const later = (waitMs: number, work: () => void) => void pause(waitMs).then(work, () => undefined);
  const pool = createPool(MAX_SENT_AT_ONCE, signal);
  const reorder = createReorder(later);
  /** One POST; true when answered with 2xx. */
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
    /** Sends messages one after the other, in the background. */
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
