/**
 * Who may be called now. Every endpoint and every account has so many attempts at once in a worker, and slow endpoints fewer, so that
 * whoever hangs or is flooded holds up only itself. Nobody waits in here: whoever finds no room is told when to come back, one after the
 * other, at about the pace that its endpoint answers.
 */
export interface LaneLimits {
  /** Attempts at once, all endpoints together. */
  readonly attempts: number;
  readonly perEndpoint: number;
  readonly perAccount: number;
}

export type Entered =
  | { readonly hasRoom: true; readonly leave: () => void }
  | { readonly hasRoom: false; readonly waitMs: number };

export interface Lanes {
  /** `random` is a number from 0 up to and without 1. */
  enter(endpointId: string, accountId: string, random: number): Entered;
}

/** An answer that took longer is a slow one: honest receivers take a message in and answer at once. */
const SLOW_MS = 1_000;
/** Enough to see that a slow endpoint has recovered. */
const SLOW_AT_ONCE = 2;
/** All slow endpoints together hold no more than this part of the places, however many they are. */
const SLOW_PARTS = 4;
/** How much the newest attempt counts in what an endpoint's attempts usually take. */
const NEWEST_WEIGHT = 0.3;
/** Coming back costs a little work too, so not sooner; and not later, since an endpoint may recover. */
const MIN_WAIT_MS = 50;
const MAX_WAIT_MS = 60_000;
/** An endpoint that was not called for so long may have recovered: it begins anew. */
const FORGET_AFTER_MS = 10 * 60_000;

interface Lane {
  /** When each attempt that is under way began. */
  readonly startedAtMs: Set<{ readonly atMs: number }>;
  usuallyMs: number;
  /** Until when places are promised to those who were told to come back. */
  promisedUntilMs: number;
  leftAtMs: number;
}

/** Makes the lanes of one world in one process. `nowMs` never goes back. */
export function createLanes(limits: LaneLimits, nowMs: () => number = () => performance.now()): Lanes {
  const lanes = new Map<string, Lane>();
  const ofAccount = new Map<string, number>();
  let total = 0;

  const isSlow = (lane: Lane, atMs: number): boolean => {
    const [oldest] = lane.startedAtMs;
    return lane.usuallyMs > SLOW_MS || (oldest !== undefined && atMs - oldest.atMs > SLOW_MS);
  };
  const slowTotal = (atMs: number): number => {
    let held = 0;
    for (const lane of lanes.values()) if (isSlow(lane, atMs)) held += lane.startedAtMs.size;
    return held;
  };
  const placesOf = (lane: Lane, atMs: number): number =>
    isSlow(lane, atMs) ? Math.min(SLOW_AT_ONCE, limits.perEndpoint) : limits.perEndpoint;
  const hasRoom = (lane: Lane, accountId: string, atMs: number): boolean =>
    total < limits.attempts &&
    lane.startedAtMs.size < placesOf(lane, atMs) &&
    (ofAccount.get(accountId) ?? 0) < limits.perAccount &&
    (!isSlow(lane, atMs) || slowTotal(atMs) < Math.max(1, limits.attempts / SLOW_PARTS));

  return {
    enter: (endpointId, accountId, random) => {
      const atMs = nowMs();
      forgetIdle(lanes, atMs);
      const lane = lanes.get(endpointId) ?? newLane();
      // To the end: whoever came longest ago stands first.
      lanes.delete(endpointId);
      lanes.set(endpointId, lane);
      if (!hasRoom(lane, accountId, atMs))
        return { hasRoom: false, waitMs: comeBackIn(lane, placesOf(lane, atMs), atMs, random) };
      const place = { atMs };
      lane.startedAtMs.add(place);
      total += 1;
      ofAccount.set(accountId, (ofAccount.get(accountId) ?? 0) + 1);
      return {
        hasRoom: true,
        leave: () => {
          if (!lane.startedAtMs.delete(place)) return;
          const leftAtMs = nowMs();
          lane.usuallyMs += (leftAtMs - atMs - lane.usuallyMs) * NEWEST_WEIGHT;
          lane.leftAtMs = leftAtMs;
          total -= 1;
          const others = (ofAccount.get(accountId) ?? 1) - 1;
          if (others > 0) ofAccount.set(accountId, others);
          else ofAccount.delete(accountId);
        },
      };
    },
  };
}

function newLane(): Lane {
  return { startedAtMs: new Set(), usuallyMs: 0, promisedUntilMs: 0, leftAtMs: 0 };
}

/** Each who is turned away gets a later turn than the one before, and none the very same moment. */
function comeBackIn(lane: Lane, places: number, atMs: number, random: number): number {
  const turnMs = Math.max(MIN_WAIT_MS, lane.usuallyMs) / places;
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
