/** How simulators send their events. */
import { createHmac } from 'node:crypto';
import type { z } from 'zod';
import { oneOf } from './control.ts';

export const WEBHOOK_MODE = oneOf(['deliver', 'drop', 'duplicate', 'reorder', 'delay']);
export type WebhookMode = z.output<typeof WEBHOOK_MODE>;

export const DELAY_MS = 3000;
/** How long under `reorder` the first of a pair waits for the second. */
export const REORDER_WAIT_MS = 1000;
/** How far behind the second the first then comes. */
export const REORDER_GAP_MS = 50;
/** Of one simulator. */
export const MAX_SENT_AT_ONCE = 16;

export function hmacHex(hash: 'sha256' | 'sha512', key: string, ...parts: (string | Buffer)[]): string {
  const hmac = createHmac(hash, key);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
}

/** The status that was answered; null for none. Never throws, and does not follow redirects. */
export async function postJson(
  url: string,
  body: string,
  options: { headers?: Record<string, string>; timeoutMs: number; stopping: AbortSignal },
): Promise<number | null> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...options.headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([options.stopping, AbortSignal.timeout(options.timeoutMs)]),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}

/** Runs jobs in order of arrival, at most `most` at once, until stopped. A job must not reject. */
export function createPool(most: number, stopping: AbortSignal): (job: () => Promise<void>) => void {
  const waiting: (() => Promise<void>)[] = [];
  let running = 0;
  const pump = () => {
    while (running < most && !stopping.aborted) {
      const next = waiting.shift();
      if (next === undefined) return;
      running += 1;
      void next().finally(() => {
        running -= 1;
        pump();
      });
    }
  };
  return (job) => {
    waiting.push(job);
    pump();
  };
}
