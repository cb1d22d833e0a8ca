/**
 * Sends what is due from its row, without a workflow: first attempts, and whatever no workflow carries. What
 * is slow, failing or to be sent again later is handed over to Temporal. The row decides: a message is leased
 * before it is sent, so any number of processes may dispatch at once. One that dies leaves its leases, which
 * expire.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { withSubject } from '../platform/telemetry/subject.ts';
import { logAttempt, makeAttempt, recordOne, type AttemptDeps, type Attempted } from './attempts.ts';
import type { EndpointLimiter, EndpointLimits, Ending, Permit } from './endpoint-limiter.ts';
import type { WebhookEngine } from './engine.ts';
import {
  failUnsent,
  leaseDue,
  postpone,
  recordDelivered,
  takeBack,
  type Postponed,
  type WebhookDelivery,
} from './store/deliveries.ts';

export interface DispatcherDeps extends AttemptDeps {
  readonly engine: WebhookEngine;
  /** Shared with the deliveries that workflows carry. */
  readonly limiter: EndpointLimiter;
  readonly limits: EndpointLimits;
  readonly onError: (error: unknown) => void;
}

export interface Dispatcher {
  /** Leases nothing more, and ends when every attempt has; those that take longer are given up. */
  stop(graceMs: number): Promise<void>;
}

/** After messages were found, more have often been written meanwhile. They share one statement. */
const BUSY_PAUSE_MS = 50;
/** One walk of an index that is empty then. 345,600 a day for each environment and process. */
const IDLE_PAUSE_MS = 250;
/** While our database fails: later and later, up to this. */
const FAILED_PAUSE_MS = 5_000;
const LEASE_AT_ONCE = 100;
/** Rows of a statement that records, postpones or hands over. */
const BATCH = 200;
/** For messages that Temporal did not take. */
const HAND_OVER_AGAIN_MS = 2_000;

export function startDispatcher(deps: DispatcherDeps): Dispatcher {
  const stopping = new AbortController();
  const attempts = createAttempts(deps);
  const run = async (): Promise<void> => {
    let pauseMs = BUSY_PAUSE_MS;
    while (!stopping.signal.aborted) {
      try {
        const found = await takeTurn(deps, attempts);
        pauseMs = found > 0 ? BUSY_PAUSE_MS : Math.min(pauseMs * 2, IDLE_PAUSE_MS);
      } catch (error) {
        deps.onError(error);
        pauseMs = Math.min(pauseMs * 2, FAILED_PAUSE_MS);
      }
      await pause(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const finished = run();
  return {
    stop: async (graceMs) => {
      stopping.abort();
      await finished;
      await attempts.end(graceMs);
    },
  };
}

/** Leases what is due, and decides where each is attempted. Returns how many were found. */
async function takeTurn(
  { db, limits, limiter, random }: DispatcherDeps,
  attempts: ReturnType<typeof createAttempts>,
): Promise<number> {
  const limit = Math.min(LEASE_AT_ONCE, limits.attempts - attempts.running());
  if (limit <= 0) return 1;
  const due = await leaseDue(db, { limit, perAccount: limits.perEndpoint });
  const closed: string[] = [];
  const waiting: Postponed[] = [];
  for (const delivery of due) {
    const { messageId, accountId, endpoint } = delivery;
    if (!endpoint.isOpen) {
      closed.push(messageId);
      continue;
    }
    const isFailing = endpoint.failingSince !== null;
    const permit = limiter.acquire({ endpointId: endpoint.id, accountId, isFailing, random: random() });
    if (permit.isGranted && permit.isQuick) {
      attempts.begin(delivery, permit);
      continue;
    }
    if (permit.isGranted) permit.release('unused');
    waiting.push({ delivery, waitMs: permit.isGranted ? 0 : permit.waitMs, isHandedOver: !permit.isQuick });
  }
  if (closed.length > 0) await failUnsent(db, closed);
  // On record before it is done, so that no dispatcher finds them meanwhile.
  if (waiting.length > 0) await postpone(db, waiting);
  waiting.filter(({ isHandedOver }) => isHandedOver).forEach(attempts.handOver);
  return due.length;
}

function createAttempts(deps: DispatcherDeps) {
  const { promise: stopped, reject: giveUp } = Promise.withResolvers<never>();
  // Nothing may be under way when it is stopped.
  stopped.catch(() => undefined);
  const running = new Set<Promise<void>>();
  const delivered = inBatches<Attempted>((attempts) => recordAll(deps, attempts), deps.onError);
  const waiting = inBatches<Postponed>((messages) => handOver(deps, messages), deps.onError);
  const attempt = async (delivery: WebhookDelivery, permit: Permit): Promise<void> => {
    let ending: Ending = 'unanswered';
    try {
      const attempted = await makeAttempt(deps, delivery, stopped);
      if (attempted.made.outcome === 'answered') ending = 'answered';
      if (attempted.verdict.status === 'DELIVERED') {
        delivered.add(attempted);
        return;
      }
      const verdict = await recordOne(deps, attempted);
      if (verdict.status === 'PENDING') waiting.add({ delivery, waitMs: verdict.waitMs });
    } finally {
      permit.release(ending);
    }
  };
  return {
    running: () => running.size,
    begin: ({ transactionId, ...delivery }: WebhookDelivery, permit: Permit): void => {
      const work = () => attempt({ transactionId, ...delivery }, permit);
      const ended = withSubject(transactionId === null ? {} : { transactionId }, work)
        .catch(deps.onError)
        .finally(() => running.delete(ended));
      running.add(ended);
    },
    handOver: waiting.add,
    end: async (graceMs: number): Promise<void> => {
      const grace = setTimeout(() => giveUp(new Error('the worker has to stop')), graceMs);
      await Promise.all(running).finally(() => clearTimeout(grace));
      await Promise.all([delivered.idle(), waiting.idle()]);
    },
  };
}

async function recordAll(deps: DispatcherDeps, attempts: readonly Attempted[]): Promise<void> {
  const recorded = await recordDelivered(deps.db, attempts);
  for (const attempted of attempts) {
    const isNew = recorded.has(attempted.delivery.messageId);
    logAttempt(deps, attempted, { isNew, isDisabled: false, verdict: attempted.verdict });
  }
}

/** What Temporal does not take is ours again. The sweep takes back what a process leaves that dies here. */
async function handOver({ db, engine }: DispatcherDeps, messages: readonly Postponed[]): Promise<void> {
  const taken = await engine.handOver(
    messages.map(({ delivery: { messageId, accountId, transactionId }, waitMs }) => ({
      ...{ messageId, accountId, transactionId, waitMs },
    })),
  );
  const left = messages.map(({ delivery }) => delivery.messageId).filter((id) => !taken.includes(id));
  if (left.length > 0) await takeBack(db, left, HAND_OVER_AGAIN_MS);
}

/** Works on what has come together while the batch before was under way. */
function inBatches<Item>(work: (items: readonly Item[]) => Promise<void>, onError: (error: unknown) => void) {
  const waiting: Item[] = [];
  let underWay: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (waiting.length > 0) await work(waiting.splice(0, BATCH)).catch(onError);
    underWay = undefined;
  };
  return {
    add: (item: Item): void => {
      waiting.push(item);
      underWay ??= run();
    },
    idle: () => underWay ?? Promise.resolve(),
  };
}
