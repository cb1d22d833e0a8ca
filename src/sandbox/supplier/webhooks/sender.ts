/**
 * Posts webhooks to the saved URL: best effort, a few tries, bounded concurrency, and the disorder that the fault board asks for.
 * Guarantee: never throws, never blocks an operation. Must not follow redirects.
 */
import type { WebhookMode } from '../../support/fault-board.ts';
import { createPool } from '../../support/pool.ts';
import type { WireWebhook } from '../wire.ts';

const TRY_AFTER_MS = [0, 500, 2000] as const;
const TIMEOUT_MS = 5000;
const DELAY_MS = 3000;
const REORDER_WAIT_MS = 1000;
const MOST_AT_ONCE = 16;

export interface WebhookSender {
  /** One POST; true when answered with 2xx. */
  post(url: string, message: WireWebhook): Promise<boolean>;
  /** Sends messages one after the other, in the background. */
  send(url: string, messages: WireWebhook[], mode: WebhookMode): void;
  stop(): void;
}

async function postOnce(url: string, message: WireWebhook, stopping: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(message),
      redirect: 'manual',
      signal: AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** Turns pairs of batches round: the first waits until the second has been sent, or a second has passed. */
function createReorder(later: (waitMs: number, work: () => void) => void): (enqueue: () => void) => void {
  let heldBack: (() => void) | null = null;
  return (enqueue) => {
    if (heldBack !== null) {
      enqueue();
      later(50, heldBack);
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

/** A sender with its own timers; `stop` drops what was not sent yet. */
export function createWebhookSender(): WebhookSender {
  const stopping = new AbortController();
  const { signal } = stopping;
  const later = (waitMs: number, work: () => void) => {
    const timer = setTimeout(() => {
      if (!signal.aborted) work();
    }, waitMs);
    timer.unref();
  };
  const pause = (waitMs: number) => new Promise<void>((resolve) => later(waitMs, resolve));
  const pool = createPool(MOST_AT_ONCE, signal);
  const reorder = createReorder(later);
  const post = (url: string, message: WireWebhook) => postOnce(url, message, signal);
  const deliver = async (url: string, messages: WireWebhook[]) => {
    for (const message of messages) {
      for (const waitMs of TRY_AFTER_MS) {
        if (waitMs > 0) await pause(waitMs);
        if (await post(url, message)) break;
      }
    }
  };
  return {
    post,
    send: (url, messages, mode) => {
      if (signal.aborted || mode === 'drop') return;
      const enqueue = (batch: WireWebhook[]) => pool(() => deliver(url, batch));
      if (mode === 'delay') later(DELAY_MS, () => enqueue(messages));
      else if (mode === 'reorder') reorder(() => enqueue(messages.toReversed()));
      else enqueue(mode === 'duplicate' ? messages.flatMap((each) => [each, each]) : messages);
    },
    stop: () => stopping.abort(),
  };
}
