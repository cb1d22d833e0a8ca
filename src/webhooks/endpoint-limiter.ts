export interface EndpointLimits {
  /** Concurrent attempts of a worker, over all endpoints. */
  readonly attempts: number;
  readonly perEndpoint: number;
  readonly perAccount: number;
}

/** How an attempt ended. Any answer within the time limit is `answered`; `unused`: no attempt was made. */
export type Ending = 'answered' | 'unanswered' | 'unused';

export interface Permit {
  readonly release: (ending: Ending) => void;
}

export type Acquired =
  ({ readonly isGranted: true } & Permit) | { readonly isGranted: false; readonly waitMs: number };

/**
 * Limits concurrent attempts per endpoint, account and worker, slow endpoints more than others, so that a
 * slow or flooded endpoint delays only itself. Never queues: a refused caller gets a time to retry, each a
 * later one, at about the pace at which the endpoint answers.
 */
export interface EndpointLimiter {
  acquire(request: {
    readonly endpointId: string;
    readonly accountId: string;
    /** Its last recorded attempt failed: an endpoint that this worker does not know starts as slow. */
    readonly isFailing: boolean;
    /** In [0, 1). */
    readonly random: number;
  }): Acquired;
}

/** Slower answers count as slow: receivers should store a message and answer at once. */
const SLOW_MS = 1_000;
/**
 * Assumed for a failing endpoint that is not known: it counts as slow until two or three quick answers.
 */
const FAILING_START_MS = 2 * SLOW_MS;
/** Enough to see that a slow endpoint has recovered. */
const PERMITS_WHEN_SLOW = 2;
/** All slow endpoints together get at most a quarter of a worker's attempts. */
const SLOW_SHARE = 1 / 4;
/** Half of that is for slow endpoints that do answer, since there can be many dead ones. */
const SILENT_SHARE = SLOW_SHARE / 2;
/** Endpoints that have not answered, the last time or ever, may all turn out to be silent. */
const UNANSWERED_SHARE = 1 / 2;
/** Weight of the newest attempt in the average duration. */
const NEWEST_WEIGHT = 0.3;
/** A retry costs a little work. */
const MIN_WAIT_MS = 50;
/**
 * With up to a quarter added at random: half an hour, as the wait before a fourth attempt. A thousand waiting
 * messages retry less than once a second.
 */
const MAX_WAIT_MS = 24 * 60_000;
/** An endpoint that was not called for so long may have recovered. */
const FORGET_AFTER_MS = 10 * 60_000;

interface EndpointState {
  /** Start of each running attempt, oldest first. */
  readonly running: Set<{ readonly startedAtMs: number }>;
  averageMs: number;
  wasAnswered: boolean;
  /** Until when future permits are promised to refused callers. */
  promisedUntilMs: number;
  releasedAtMs: number;
}

/** One per environment and process. `nowMs` must be monotonic. */
export function createEndpointLimiter(
  limits: EndpointLimits,
  nowMs: () => number = () => performance.now(),
): EndpointLimiter {
  const endpoints = new Map<string, EndpointState>();
  const runningOfAccount = new Map<string, number>();
  let running = 0;

  const permitsOf = (endpoint: EndpointState, atMs: number): number =>
    isSlow(endpoint, atMs) ? Math.min(PERMITS_WHEN_SLOW, limits.perEndpoint) : limits.perEndpoint;
  const isFree = (endpoint: EndpointState, accountId: string, atMs: number): boolean =>
    running < limits.attempts &&
    endpoint.running.size < permitsOf(endpoint, atMs) &&
    (runningOfAccount.get(accountId) ?? 0) < limits.perAccount &&
    (endpoint.wasAnswered || unansweredIn(endpoints.values()) < limits.attempts * UNANSWERED_SHARE) &&
    (!isSlow(endpoint, atMs) || hasSlowShare(endpoint, endpoints.values(), limits.attempts, atMs));
  const grant = (endpoint: EndpointState, accountId: string, startedAtMs: number): Permit['release'] => {
    const attempt = { startedAtMs };
    endpoint.running.add(attempt);
    running += 1;
    runningOfAccount.set(accountId, (runningOfAccount.get(accountId) ?? 0) + 1);
    return (ending) => {
      if (!endpoint.running.delete(attempt)) return;
      running -= 1;
      const others = (runningOfAccount.get(accountId) ?? 1) - 1;
      if (others > 0) runningOfAccount.set(accountId, others);
      else runningOfAccount.delete(accountId);
      if (ending !== 'unused') learn(endpoint, startedAtMs, nowMs(), ending);
    };
  };

  return {
    acquire: ({ endpointId, accountId, isFailing, random }) => {
      const atMs = nowMs();
      forgetIdle(endpoints, atMs);
      const endpoint = endpoints.get(endpointId) ?? newEndpoint(isFailing);
      // Keeps the map ordered by last use, the oldest first.
      endpoints.delete(endpointId);
      endpoints.set(endpointId, endpoint);
      if (!isFree(endpoint, accountId, atMs))
        return { isGranted: false, waitMs: retryIn(endpoint, permitsOf(endpoint, atMs), atMs, random) };
      return { isGranted: true, release: grant(endpoint, accountId, atMs) };
    },
  };
}

function newEndpoint(isFailing: boolean): EndpointState {
  return {
    running: new Set(),
    averageMs: isFailing ? FAILING_START_MS : 0,
    wasAnswered: false,
    promisedUntilMs: 0,
    releasedAtMs: 0,
  };
}

/** How long the oldest running attempt takes so far: it shows a hanging endpoint sooner than the average. */
function oldestMs({ running }: EndpointState, atMs: number): number {
  const [oldest] = running;
  return oldest === undefined ? 0 : atMs - oldest.startedAtMs;
}

function isSlow(endpoint: EndpointState, atMs: number): boolean {
  return Math.max(endpoint.averageMs, oldestMs(endpoint, atMs)) > SLOW_MS;
}

/** Running attempts at endpoints whose last one, if any, was not answered. */
function unansweredIn(all: Iterable<EndpointState>): number {
  let count = 0;
  for (const { wasAnswered, running } of all) if (!wasAnswered) count += running.size;
  return count;
}

/** Endpoints that answer keep their half, however many attempts the silent ones hold. */
function hasSlowShare(
  endpoint: EndpointState,
  all: Iterable<EndpointState>,
  attempts: number,
  atMs: number,
): boolean {
  const held = { answering: 0, silent: 0 };
  for (const other of all)
    if (isSlow(other, atMs)) held[other.wasAnswered ? 'answering' : 'silent'] += other.running.size;
  const half = Math.max(1, attempts * SILENT_SHARE);
  if (!endpoint.wasAnswered) return held.silent < half;
  return held.answering < half || held.answering + held.silent < attempts * SLOW_SHARE;
}

function learn(endpoint: EndpointState, startedAtMs: number, endedAtMs: number, ending: Ending): void {
  const wasSlow = isSlow(endpoint, endedAtMs);
  endpoint.averageMs += (endedAtMs - startedAtMs - endpoint.averageMs) * NEWEST_WEIGHT;
  endpoint.wasAnswered = ending === 'answered';
  endpoint.releasedAtMs = endedAtMs;
  // Promises made at the slow pace must not delay callers now.
  if (wasSlow && !isSlow(endpoint, endedAtMs)) endpoint.promisedUntilMs = endedAtMs;
}

/** Each refused caller gets a later turn than the one before, spread at random. */
function retryIn(endpoint: EndpointState, permits: number, atMs: number, random: number): number {
  const turnMs = Math.max(MIN_WAIT_MS, endpoint.averageMs, oldestMs(endpoint, atMs)) / permits;
  const aheadMs = Math.max(0, endpoint.promisedUntilMs - atMs);
  // A caller with the longest wait will have to ask again: no turn is promised to it.
  if (aheadMs < MAX_WAIT_MS) endpoint.promisedUntilMs = atMs + aheadMs + turnMs;
  const waitMs = Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, aheadMs + turnMs));
  return Math.trunc(waitMs * (1 + random / 4));
}

function forgetIdle(endpoints: Map<string, EndpointState>, atMs: number): void {
  for (const [endpointId, { running, releasedAtMs, promisedUntilMs }] of endpoints) {
    if (running.size > 0 || atMs - Math.max(releasedAtMs, promisedUntilMs) < FORGET_AFTER_MS) return;
    endpoints.delete(endpointId);
  }
}
