// Who may be called now: limits by endpoint, account and process; slow endpoints fewer places, silent ones fewer still; turns for those who
// find no room.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createEndpointLimiter,
  type Ending,
  type Entered,
  type EndpointLimits,
  type EndpointLimiter,
} from '../../activities/webhooks/endpoint-limiter.ts';
import { seedOfRun } from '../support/size.ts';

const LIMITS: EndpointLimits = { attempts: 40, perEndpoint: 10, perAccount: 25 };
const HANGS_MS = 15_000;

function lanesAt(limits: Partial<EndpointLimits> = {}): {
  lanes: EndpointLimiter;
  pass: (ms: number) => void;
} {
  let nowMs = 0;
  const lanes = createEndpointLimiter({ ...LIMITS, ...limits }, () => nowMs);
  return { lanes, pass: (ms) => void (nowMs += ms) };
}

interface Coming {
  readonly account?: string;
  readonly isFailing?: boolean;
  readonly random?: number;
}

const enter = (lanes: EndpointLimiter, endpointId: string, coming: Coming = {}): Entered =>
  lanes.enter({
    endpointId,
    accountId: coming.account ?? endpointId,
    isFailing: coming.isFailing ?? false,
    random: coming.random ?? 0,
  });

type Leave = (ending?: Ending) => void;

/** Takes places until there is none; answers how to leave them. */
function fill(lanes: EndpointLimiter, endpoint: string, coming?: Coming): Leave[] {
  const leaves: Leave[] = [];
  for (;;) {
    const entered = enter(lanes, endpoint, coming);
    if (!entered.hasRoom) return leaves;
    leaves.push((ending = 'unanswered') => entered.leave(ending));
  }
}

const leaveAll = (leaves: readonly Leave[], ending?: Ending): void =>
  leaves.forEach((leave) => leave(ending));

/** One attempt that takes so long, if there is room. */
function attempt(
  { lanes, pass }: ReturnType<typeof lanesAt>,
  endpoint: string,
  ms: number,
  ending: Ending,
): void {
  const entered = enter(lanes, endpoint);
  pass(ms);
  if (entered.hasRoom) entered.leave(ending);
}

describe('room', () => {
  it('is for so many at an endpoint', () => {
    const { lanes } = lanesAt();
    expect(fill(lanes, 'a')).toHaveLength(10);
    expect(fill(lanes, 'b')).toHaveLength(10);
  });

  it('is for so many of an account, however many endpoints it has', () => {
    const { lanes } = lanesAt();
    expect(['a', 'b', 'c', 'd'].map((endpoint) => fill(lanes, endpoint, { account: 'one' }).length)).toEqual([
      10, 10, 5, 0,
    ]);
    expect(fill(lanes, 'e', { account: 'other' })).toHaveLength(10);
  });

  it('is for so many in all', () => {
    const { lanes } = lanesAt();
    const taken = ['a', 'b', 'c', 'd', 'e'].map((endpoint) => fill(lanes, endpoint).length);
    expect(taken).toEqual([10, 10, 10, 10, 0]);
  });

  it('is there again for whoever comes when somebody has left, once', () => {
    const { lanes } = lanesAt();
    const [first] = fill(lanes, 'a');
    first?.();
    first?.();
    expect(fill(lanes, 'a')).toHaveLength(1);
  });
});

describe('a slow endpoint', () => {
  it('has two places as soon as one of its attempts hangs', () => {
    const { lanes, pass } = lanesAt();
    const leaves = fill(lanes, 'a');
    pass(1_001);
    leaveAll(leaves.slice(0, 8));
    expect(fill(lanes, 'a')).toHaveLength(0);
    leaves[8]?.();
    expect(fill(lanes, 'a')).toHaveLength(1);
  });

  it('keeps two after its attempts timed out, and gets the rest back once it answers at once', () => {
    const made = lanesAt();
    const hanging = fill(made.lanes, 'a');
    made.pass(HANGS_MS);
    leaveAll(hanging);
    expect(fill(made.lanes, 'a').map((leave) => leave())).toHaveLength(2);
    for (let quick = 0; quick < 12; quick += 1) attempt(made, 'a', 10, 'answered');
    expect(fill(made.lanes, 'a')).toHaveLength(10);
  });

  it('and all others together hold a quarter of the places, the silent ones half of that', () => {
    const made = lanesAt({ attempts: 40 });
    const names = (what: string) => Array.from({ length: 30 }, (_, index) => `${what}-${index}`);
    const takenBy = (what: string): number =>
      names(what).reduce((sum, name) => sum + fill(made.lanes, name).length, 0);
    for (const name of names('silent')) attempt(made, name, 5_000, 'unanswered');
    for (const name of names('late')) attempt(made, name, 5_000, 'answered');
    expect(takenBy('silent')).toBe(5);
    expect(takenBy('late')).toBe(5);
    expect(fill(made.lanes, 'quick')).toHaveLength(10);
  });

  it('that answers has its places, though many that were well fell silent with more than theirs', () => {
    const made = lanesAt({ attempts: 40, perEndpoint: 5 });
    attempt(made, 'late', 5_000, 'answered');
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) fill(made.lanes, name);
    made.pass(1_001);
    expect(fill(made.lanes, 'late')).toHaveLength(2);
    expect(fill(made.lanes, 'g', { isFailing: true })).toHaveLength(0);
  });

  it('is one that is failing and of which nothing else is known, until it has answered at once, twice', () => {
    const made = lanesAt();
    expect(fill(made.lanes, 'a', { isFailing: true }).map((leave) => leave('unused'))).toHaveLength(2);
    attempt(made, 'a', 10, 'answered');
    expect(fill(made.lanes, 'a').map((leave) => leave('unused'))).toHaveLength(2);
    attempt(made, 'a', 10, 'answered');
    expect(fill(made.lanes, 'a')).toHaveLength(10);
    // Many of them cannot take all places when a worker begins.
    const names = Array.from({ length: 20 }, (_, index) => `dead-${index}`);
    expect(names.flatMap((name) => fill(made.lanes, name, { isFailing: true }))).toHaveLength(5);
  });

  it('begins anew when it was not called for ten minutes', () => {
    const { lanes, pass } = lanesAt();
    const hanging = fill(lanes, 'a');
    pass(HANGS_MS);
    leaveAll(hanging);
    pass(10 * 60_000 + 1);
    expect(fill(lanes, 'a')).toHaveLength(10);
  });
});

describe('an endpoint is quick', () => {
  const isQuick = (entered: Entered): boolean => entered.hasRoom && entered.isQuick;

  it('while nothing bad is known of it', () => {
    const made = lanesAt();
    const first = enter(made.lanes, 'a');
    expect(isQuick(first)).toBe(true);
    expect(isQuick(enter(made.lanes, 'b', { isFailing: true }))).toBe(false);
    made.pass(1_001);
    expect(isQuick(enter(made.lanes, 'a'))).toBe(false);
    if (first.hasRoom) first.leave('answered');
    expect(isQuick(enter(made.lanes, 'a', { isFailing: true }))).toBe(false);
  });
});

describe('whoever finds no room', () => {
  const waitOf = (lanes: EndpointLimiter, random = 0): number => {
    const entered = enter(lanes, 'a', { random });
    if (entered.hasRoom) throw new Error('there is room');
    return entered.waitMs;
  };

  it('gets a later turn than the one before, at the pace of the endpoint', () => {
    const { lanes, pass } = lanesAt();
    const hanging = fill(lanes, 'a');
    pass(HANGS_MS);
    leaveAll(hanging);
    fill(lanes, 'a');
    const waits = [waitOf(lanes), waitOf(lanes), waitOf(lanes)];
    expect(waits[0]).toBeGreaterThan(1_000);
    expect(waits[1]! - waits[0]!).toBeGreaterThan(1_000);
    expect(waits[2]! - waits[1]!).toBeGreaterThan(1_000);
  });

  it('waits about as long as the attempts under way have hung, though none of them has ended', () => {
    const { lanes, pass } = lanesAt();
    fill(lanes, 'a');
    pass(8_000);
    expect(waitOf(lanes)).toBeGreaterThanOrEqual(4_000);
  });

  it('is promised turns anew once the endpoint has recovered', () => {
    const made = lanesAt();
    const hanging = fill(made.lanes, 'a');
    made.pass(HANGS_MS);
    for (let asked = 0; asked < 500; asked += 1) waitOf(made.lanes);
    expect(waitOf(made.lanes)).toBeGreaterThan(20 * 60_000);
    leaveAll(hanging);
    for (let quick = 0; quick < 12; quick += 1) attempt(made, 'a', 10, 'answered');
    fill(made.lanes, 'a');
    expect(waitOf(made.lanes)).toBeLessThan(100);
  });

  it('waits between a twentieth of a second and half an hour', () => {
    fc.assert(
      fc.property(fc.nat({ max: 600 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (before, random) => {
        const { lanes, pass } = lanesAt({ perEndpoint: 1 });
        const [leave] = fill(lanes, 'a');
        pass(HANGS_MS);
        leave?.();
        fill(lanes, 'a');
        for (let asked = 0; asked < before; asked += 1) waitOf(lanes);
        const waitMs = waitOf(lanes, random);
        expect(waitMs).toBeGreaterThanOrEqual(50);
        expect(waitMs).toBeLessThanOrEqual(30 * 60_000);
      }),
      { seed: seedOfRun(), numRuns: 100 },
    );
  });
});

it('never lets in more than its limits, whoever comes and goes', () => {
  const step = fc.record({
    endpoint: fc.nat({ max: 7 }),
    ms: fc.nat({ max: 3_000 }),
    leaves: fc.nat({ max: 3 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { lanes, pass } = lanesAt({ attempts: 12, perEndpoint: 4, perAccount: 6 });
      const inside: { endpoint: number; leave: (ending: Ending) => void }[] = [];
      const count = (is: (endpoint: number) => boolean) =>
        inside.filter(({ endpoint }) => is(endpoint)).length;
      for (const { endpoint, ms, leaves } of steps) {
        for (const { leave } of inside.splice(0, leaves)) leave('answered');
        pass(ms);
        const account = endpoint % 3;
        const entered = enter(lanes, String(endpoint), { account: String(account) });
        if (entered.hasRoom) inside.push({ endpoint, leave: entered.leave });
        expect(inside.length).toBeLessThanOrEqual(12);
        expect(count((one) => one === endpoint)).toBeLessThanOrEqual(4);
        expect(count((one) => one % 3 === account)).toBeLessThanOrEqual(6);
      }
      for (const { leave } of inside.splice(0)) leave('answered');
      expect(enter(lanes, 'new').hasRoom).toBe(true);
    }),
    { seed: seedOfRun() },
  );
});
