/**
 * Sends what is due from its row, without a workflow. What has to wait for long, since an attempt failed or
 * a slow endpoint has no room, is handed over to Temporal with its wait. The row decides: a message is leased
 * before it is sent, so any number of processes may dispatch at once. One that dies leaves its leases, which
 * expire.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { withSubject, type Subject } from '../platform/telemetry/subject.ts';
import { untilAborted } from '../platform/until-aborted.ts';
import {
  acquirePermit,
  logAttempt,
  makeAttempt,
  prepare,
  recordOne,
  type AttemptDeps,
  type Attempted,
} from './attempts.ts';
import type { EndpointLimits, Ending, Permit } from './endpoint-limiter.ts';
import type { HandedOver, WebhookEngine } from './engine.ts';
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
  readonly limits: EndpointLimits;
  /** `messages`: how many it concerns. */
  readonly onError: (error: unknown, messages: number) => void;
}

export interface Dispatcher {
  /** Leases nothing more, and ends when every attempt has; those that take longer are given up. */
  stop(graceMs: number): Promise<void>;
}

/** After messages were found, more have often been written meanwhile. They share one statement. */
const BUSY_PAUSE_MS = 50;
/** One walk of an index. 345,600 a day for each environment and process. */
const IDLE_PAUSE_MS = 250;
/** While our database fails: later and later, up to this. */
const FAILED_PAUSE_MS = 5_000;
const LEASE_AT_ONCE = 100;
/** Rows of a statement that records, postpones or hands over. */
const BATCH = 200;
/** Kept for Temporal. More are on record as handed over, and the sweep takes them back once they are late. */
const MAX_TO_HAND_OVER = 1_000;
/** A message that cannot be signed, or its body not be read: the key may come back. */
const UNREADY_WAIT_MS = 60_000;
/** Before attempts are recorded again, while their leases last. After that they are made again. */
const RECORD_PAUSES_MS = [200, 1_000] as const;

export function startDispatcher(deps: DispatcherDeps): Dispatcher {
  const stopping = new AbortController();
  const attempts = createAttempts(deps);
  let after = '';
  const turn = async (): Promise<number> => {
    const found = await takeTurn(deps, attempts, after);
    ({ after } = found);
    return found.count;
  };
  const run = async (): Promise<void> => {
    let pauseMs = BUSY_PAUSE_MS;
    while (!stopping.signal.aborted) {
      const beganAtMs = performance.now();
      try {
        pauseMs = (await turn()) > 0 ? BUSY_PAUSE_MS : Math.min(pauseMs * 2, IDLE_PAUSE_MS);
      } catch (error) {
        deps.onError(error, 0);
        pauseMs = Math.min(pauseMs * 2, FAILED_PAUSE_MS);
      }
      // A slow database gets half of the time for others.
      const restMs = Math.max(pauseMs, performance.now() - beganAtMs);
      await pause(restMs, undefined, { signal: stopping.signal }).catch(() => undefined);
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

/** Leases what is due at endpoints whose ids follow `after`, and begins it. */
async function takeTurn(
  deps: DispatcherDeps,
  attempts: ReturnType<typeof createAttempts>,
  after: string,
): Promise<{ readonly count: number; readonly after: string }> {
  const { db, limits, handOverFromMs } = deps;
  const limit = Math.min(LEASE_AT_ONCE, limits.attempts - attempts.running());
  // Full: as soon as an attempt has ended, there is more to do.
  if (limit <= 0) return { count: 1, after };
  const leased = await leaseDue(db, { after, limit, perEndpoint: limits.perEndpoint });
  const closed: string[] = [];
  const refused: Postponed[] = [];
  for (const delivery of leased.due) {
    if (!delivery.endpoint.isOpen) {
      closed.push(delivery.messageId);
      continue;
    }
    const permit = acquirePermit(deps, delivery);
    if (permit.isGranted) attempts.begin(delivery, permit);
    else refused.push({ delivery, waitMs: permit.waitMs, isHandedOver: permit.waitMs >= handOverFromMs });
  }
  if (closed.length > 0) await failUnsent(db, closed);
  // On record before it is done, so that no dispatcher finds them meanwhile.
  if (refused.length > 0) await postpone(db, refused);
  for (const { delivery, waitMs, isHandedOver } of refused)
    if (isHandedOver) attempts.handOver(delivery, waitMs);
  return { count: leased.due.length, after: leased.after };
}

interface Unended {
  readonly delivery: WebhookDelivery;
  readonly error: unknown;
  readonly wasSent: boolean;
}

function createAttempts(deps: DispatcherDeps) {
  const { onError } = deps;
  const graceIsOver = new AbortController();
  const untilGraceIsOver = untilAborted(graceIsOver.signal);
  const running = new Set<Promise<void>>();
  const delivered = inBatches<Attempted>((attempts) => recordAll(deps, attempts), onError);
  const unended = inBatches<Unended>((attempts) => postponeUnready(deps, attempts), onError);
  const forTemporal = inBatches<HandedOver>((messages) => handOver(deps, messages), onError);
  const handOverLater = (delivery: WebhookDelivery, waitMs: number): void => {
    const { messageId, accountId, transactionId, requestId } = delivery;
    if (forTemporal.size() < MAX_TO_HAND_OVER)
      forTemporal.add({ messageId, accountId, transactionId, requestId, waitMs });
  };
  const attempt = async (delivery: WebhookDelivery, permit: Permit): Promise<void> => {
    let ending: Ending = 'unused';
    try {
      const message = await prepare(deps, delivery);
      ending = 'unanswered';
      const attempted = await makeAttempt(deps, delivery, message, untilGraceIsOver);
      if (attempted.made.outcome === 'answered') ending = 'answered';
      if (attempted.verdict.status === 'DELIVERED') {
        delivered.add(attempted);
        return;
      }
      const verdict = await recordOne(deps, attempted);
      if (verdict.status === 'PENDING' && verdict.isHandedOver) handOverLater(delivery, verdict.waitMs);
    } catch (error) {
      if (error instanceof GivenUp) return;
      unended.add({ delivery, error, wasSent: ending !== 'unused' });
    } finally {
      permit.release(ending);
    }
  };
  return {
    running: () => running.size,
    begin: (delivery: WebhookDelivery, permit: Permit): void => {
      const work = () => attempt(delivery, permit);
      const ended = withSubject(subjectOf(delivery), work).finally(() => running.delete(ended));
      running.add(ended);
    },
    handOver: handOverLater,
    end: async (graceMs: number): Promise<void> => {
      const grace = setTimeout(() => graceIsOver.abort(new GivenUp()), graceMs);
      await Promise.all(running).finally(() => clearTimeout(grace));
      // On record as handed over: the sweep takes them back.
      forTemporal.drop();
      await Promise.all([delivered.idle(), unended.idle(), forTemporal.idle()]);
    },
  };
}

const subjectOf = ({ transactionId, requestId }: WebhookDelivery): Subject => ({
  ...(requestId === null ? {} : { requestId }),
  ...(transactionId === null ? {} : { transactionId }),
});

/** The worker has to stop. The message is sent again when its lease ends. */
class GivenUp extends Error {}

async function recordAll(deps: DispatcherDeps, attempts: readonly Attempted[]): Promise<void> {
  const recorded = await recordWithRetries(deps, attempts);
  for (const attempted of attempts) {
    const isNew = recorded.has(attempted.delivery.messageId);
    const { verdict } = attempted;
    withSubject(subjectOf(attempted.delivery), () =>
      logAttempt(deps, attempted, { isNew, isDisabled: false, verdict }),
    );
  }
}

/** Recording is safe to repeat: each attempt has a number. */
async function recordWithRetries(
  { db }: DispatcherDeps,
  attempts: readonly Attempted[],
): Promise<ReadonlySet<string>> {
  for (const pauseMs of RECORD_PAUSES_MS)
    try {
      return await recordDelivered(db, attempts);
    } catch {
      await pause(pauseMs);
    }
  return recordDelivered(db, attempts);
}

/** One line for all of them. Those that were sent and not recorded are sent again when their leases end. */
async function postponeUnready({ db, onError }: DispatcherDeps, attempts: readonly Unended[]): Promise<void> {
  onError(attempts[0]?.error, attempts.length);
  const unready = attempts.filter(({ wasSent }) => !wasSent);
  const waitMs = UNREADY_WAIT_MS;
  if (unready.length > 0)
    await postpone(
      db,
      unready.map(({ delivery }) => ({ delivery, waitMs })),
    );
}

/** What Temporal does not take is ours again. The sweep takes back what a process leaves that dies here. */
async function handOver({ db, engine }: DispatcherDeps, messages: readonly HandedOver[]): Promise<void> {
  const taken = new Set(await engine.handOver(messages));
  const left = messages.map(({ messageId }) => messageId).filter((id) => !taken.has(id));
  if (left.length > 0) await takeBack(db, left);
}

/** Works on what has come together while the batch before was under way. */
function inBatches<Item>(
  work: (items: readonly Item[]) => Promise<void>,
  onError: DispatcherDeps['onError'],
) {
  const waiting: Item[] = [];
  let underWay: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      await work(batch).catch((error: unknown) => onError(error, batch.length));
    }
    underWay = undefined;
  };
  return {
    add: (item: Item): void => {
      waiting.push(item);
      // Its items belong to different purchases.
      underWay ??= withSubject({}, run);
    },
    size: () => waiting.length,
    drop: (): void => void waiting.splice(0),
    idle: () => underWay ?? Promise.resolve(),
  };
}
