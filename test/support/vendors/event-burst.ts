// A burst of the gateway's events: signed, at a steady rate, each sent at its time whether or not earlier
// ones were answered, so that slow answers cannot slow the burst. Lightweight: one process, kept connections,
// nothing parsed. Must not judge the answers.
import { Agent, request } from 'node:http';
import { MAX_CONNECTIONS_PER_ADDRESS } from '../../../src/platform/http/limits.ts';
import { signatureOf } from '../money/payers.ts';

export interface SentEvent {
  readonly body: string;
  /** 0: no answer at all. */
  readonly status: number;
  /** From the time it should have been sent, not from when it was. */
  readonly ms: number;
}

interface Burst {
  readonly url: string;
  readonly perSecond: number;
  readonly count: number;
  /** The event with this number; all must differ. */
  readonly bodyOf: (nth: number) => string;
  /** Called with the number sent so far. */
  readonly onSent?: (sent: number) => void;
}

/**
 * Vendors keep connections and open more when those are busy. Half of what one address may open: one more
 * than the limit would be refused.
 */
const MAX_CONNECTIONS = MAX_CONNECTIONS_PER_ADDRESS / 2;
const TICK_MS = 5;
/** A vendor waits longer than this; here it is long enough to count as a failure. */
const ANSWER_WITHIN_MS = 10_000;

/** Sends all events and answers the result of each, in the order they were sent. */
export async function sendBurst(burst: Burst): Promise<SentEvent[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS });
  const startsAtMs = performance.now();
  const running: Promise<SentEvent>[] = [];
  try {
    while (running.length < burst.count) {
      const due = Math.trunc(((performance.now() - startsAtMs) * burst.perSecond) / 1_000) + 1;
      while (running.length < Math.min(due, burst.count)) {
        const nth = running.length;
        const dueAtMs = startsAtMs + (nth * 1_000) / burst.perSecond;
        running.push(sendOne(agent, burst.url, burst.bodyOf(nth), dueAtMs));
        burst.onSent?.(running.length);
      }
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
    return await Promise.all(running);
  } finally {
    agent.destroy();
  }
}

function sendOne(agent: Agent, url: string, body: string, dueAtMs: number): Promise<SentEvent> {
  return new Promise((resolve) => {
    const end = (status: number): void => resolve({ body, status, ms: performance.now() - dueAtMs });
    const sending = request(url, {
      agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'x-paystack-signature': signatureOf(body),
      },
      timeout: ANSWER_WITHIN_MS,
    });
    sending.on('response', (answer) => {
      answer.resume();
      answer.on('end', () => end(answer.statusCode ?? 0));
      answer.on('error', () => end(0));
    });
    sending.on('timeout', () => sending.destroy());
    sending.on('error', () => end(0));
    sending.end(body);
  });
}

/** The percentile: the value that this share of the figures does not exceed. */
export function percentile(figures: readonly number[], share: number): number {
  const sorted = Float64Array.from(figures).toSorted();
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
