/**
 * Who may be called now. Every endpoint and every account has so many attempts at once in a worker, and slow endpoints fewer, so that
 * whoever hangs or is flooded holds up only itself. Nobody waits in here: whoever finds no room is told when to come back, one after the
 * other, at about the pace that its endpoint answers.
 */
export interface EndpointLimits {
  /** Attempts at once, all endpoints together. */
  readonly attempts: number;
  readonly perEndpoint: number;
  readonly perAccount: number;
}

export interface Permit {
  readonly endpointId: string;
  readonly accountId: string;
  /** Its last attempt on record failed: where nothing else is known of the endpoint, it begins as a slow one. */
  readonly isFailing: boolean;
  /** From 0 up to and without 1. */
  readonly random: number;
}

/** How an attempt ended. Any answer within the time limit is one; `unused`: no attempt was made. */
export type Ending = 'answered' | 'unanswered' | 'unused';

export interface Place {
  /** Nothing bad is known of the endpoint. */
  readonly isQuick: boolean;
  readonly leave: (ending: Ending) => void;
}

export type Entered =
  ({ readonly hasRoom: true } & Place) | { readonly hasRoom: false; readonly waitMs: number };

export interface EndpointLimiter {
  enter(visit: Permit): Entered;
}

/** An answer that took longer is a slow one: honest receivers take a message in and answer at once. */
const SLOW_MS = 1_000;
/** What a failing endpoint of which nothing else is known is taken to need: it counts as slow until it has answered at once, twice. */
const DOUBTED_MS = 2 * SLOW_MS;
/** Enough to see that a slow endpoint has recovered. */
const SLOW_AT_ONCE = 2;
/** All slow endpoints together hold no more than this part of the places, however many they are. */
const SLOW_PARTS = 4;
/** Of these, half are for those that do answer: the dead ones can be many. */
const SILENT_PARTS = 2 * SLOW_PARTS;
/** How much the newest attempt counts in what an endpoint's attempts usually take. */
const NEWEST_WEIGHT = 0.3;
/** Coming back costs a little work too, so not sooner. */
const MIN_WAIT_MS = 50;
/**
 * And not later, with a quarter more by chance: half an hour. An endpoint may recover at any time, and half an hour is what a message that
 * was tried waits for its fourth attempt as well. A thousand that wait come back less than once a second.
 */
const MAX_WAIT_MS = 24 * 60_000;
/** An endpoint that was not called for so long may have recovered: it begins anew. */
const FORGET_AFTER_MS = 10 * 60_000;

interface Lane {
  /** When each attempt that is under way began, the oldest first. */
  readonly startedAtMs: Set<{ readonly atMs: number }>;
  usuallyMs: number;
  /** Whether the last attempt that ended was answered. */
  answers: boolean;
  /** Until when places are promised to those who were told to come back. */
  promisedUntilMs: number;
  leftAtMs: number;
}

/** Makes the lanes of one world in one process. `nowMs` never goes back. */
export function createEndpointLimiter(
  limits: EndpointLimits,
  nowMs: () => number = () => performance.now(),
): EndpointLimiter {
  const lanes = new Map<string, Lane>();
  const ofAccount = new Map<string, number>();
  let total = 0;

  const placesOf = (lane: Lane, atMs: number): number =>
    isSlow(lane, atMs) ? Math.min(SLOW_AT_ONCE, limits.perEndpoint) : limits.perEndpoint;
  const hasRoom = (lane: Lane, accountId: string, atMs: number): boolean =>
    total < limits.attempts &&
    lane.startedAtMs.size < placesOf(lane, atMs) &&
    (ofAccount.get(accountId) ?? 0) < limits.perAccount &&
    (!isSlow(lane, atMs) || hasShare(lane, lanes.values(), limits.attempts, atMs));
  const take = (lane: Lane, accountId: string, atMs: number): Place['leave'] => {
    const place = { atMs };
    lane.startedAtMs.add(place);
    total += 1;
    ofAccount.set(accountId, (ofAccount.get(accountId) ?? 0) + 1);
    return (ending) => {
      if (!lane.startedAtMs.delete(place)) return;
      total -= 1;
      const others = (ofAccount.get(accountId) ?? 1) - 1;
      if (others > 0) ofAccount.set(accountId, others);
      else ofAccount.delete(accountId);
      if (ending !== 'unused') learn(lane, place.atMs, nowMs(), ending);
    };
  };

  return {
    enter: ({ endpointId, accountId, isFailing, random }) => {
      const atMs = nowMs();
      forgetIdle(lanes, atMs);
      const lane = lanes.get(endpointId) ?? newLane(isFailing);
      // To the end: whoever came longest ago stands first.
      lanes.delete(endpointId);
      lanes.set(endpointId, lane);
      if (!hasRoom(lane, accountId, atMs))
        return { hasRoom: false, waitMs: comeBackIn(lane, placesOf(lane, atMs), atMs, random) };
      const isQuick = !isFailing && !isSlow(lane, atMs);
      return { hasRoom: true, isQuick, leave: take(lane, accountId, atMs) };
    },
  };
}

function newLane(isFailing: boolean): Lane {
  return {
    startedAtMs: new Set(),
    usuallyMs: isFailing ? DOUBTED_MS : 0,
    answers: false,
    promisedUntilMs: 0,
    leftAtMs: 0,
  };
}

/** How long the oldest attempt under way has been waited for; one that hangs tells sooner than what past ones took. */
function waitedMs({ startedAtMs }: Lane, atMs: number): number {
  const [oldest] = startedAtMs;
  return oldest === undefined ? 0 : atMs - oldest.atMs;
}

function isSlow(lane: Lane, atMs: number): boolean {
  return Math.max(lane.usuallyMs, waitedMs(lane, atMs)) > SLOW_MS;
}

/** Whether the places of slow endpoints leave one for this one. Those that answer have theirs, whatever the silent ones hold. */
function hasShare(lane: Lane, all: Iterable<Lane>, attempts: number, atMs: number): boolean {
  const held = { answering: 0, silent: 0 };
  for (const other of all)
    if (isSlow(other, atMs)) held[other.answers ? 'answering' : 'silent'] += other.startedAtMs.size;
  const half = Math.max(1, attempts / SILENT_PARTS);
  if (!lane.answers) return held.silent < half;
  return held.answering < half || held.answering + held.silent < attempts / SLOW_PARTS;
}

function learn(lane: Lane, startedAtMs: number, endedAtMs: number, ending: Ending): void {
  const wasSlow = isSlow(lane, endedAtMs);
  lane.usuallyMs += (endedAtMs - startedAtMs - lane.usuallyMs) * NEWEST_WEIGHT;
  lane.answers = ending === 'answered';
  lane.leftAtMs = endedAtMs;
  // What was promised at the pace of before keeps nobody from the places that there are now.
  if (wasSlow && !isSlow(lane, endedAtMs)) lane.promisedUntilMs = endedAtMs;
}

/** Each who is turned away gets a later turn than the one before, and none the very same moment. */
function comeBackIn(lane: Lane, places: number, atMs: number, random: number): number {
  const turnMs = Math.max(MIN_WAIT_MS, lane.usuallyMs, waitedMs(lane, atMs)) / places;
  const aheadMs = Math.max(0, lane.promisedUntilMs - atMs);
  // Whoever is told the longest wait will ask again: its turn is not counted.
  if (aheadMs < MAX_WAIT_MS) lane.promisedUntilMs = atMs + aheadMs + turnMs;
  const waitMs = Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, aheadMs + turnMs));
  return Math.trunc(waitMs * (1 + random / 4));
}

function forgetIdle(lanes: Map<string, Lane>, atMs: number): void {
  for (const [endpointId, lane] of lanes) {
    if (lane.startedAtMs.size > 0 || atMs - Math.max(lane.leftAtMs, lane.promisedUntilMs) < FORGET_AFTER_MS)
      return;
    lanes.delete(endpointId);
  }
}
