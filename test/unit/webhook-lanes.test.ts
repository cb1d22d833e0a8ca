// Who may be called now: limits by endpoint, account and process; slow endpoints fewer places; turns for those who find no room.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLanes, type LaneLimits, type Lanes } from '../../activities/webhook-lanes.ts';
import { seedOfRun } from '../support/size.ts';

const LIMITS: LaneLimits = { attempts: 40, perEndpoint: 10, perAccount: 25 };
const HANGS_MS = 15_000;

function lanesAt(limits: Partial<LaneLimits> = {}): { lanes: Lanes; pass: (ms: number) => void } {
  let nowMs = 0;
  const lanes = createLanes({ ...LIMITS, ...limits }, () => nowMs);
  return { lanes, pass: (ms) => void (nowMs += ms) };
}

/** Takes places until there is none; answers how to leave them. */
function fill(lanes: Lanes, endpoint: string, account = endpoint): (() => void)[] {
  const leaves: (() => void)[] = [];
  for (;;) {
    const entered = lanes.enter(endpoint, account, 0);
    if (!entered.hasRoom) return leaves;
    leaves.push(entered.leave);
  }
}

const leaveAll = (leaves: readonly (() => void)[]): void => leaves.forEach((leave) => leave());

describe('room', () => {
  it('is for so many at an endpoint', () => {
    const { lanes } = lanesAt();
    expect(fill(lanes, 'a')).toHaveLength(10);
    expect(fill(lanes, 'b')).toHaveLength(10);
  });

  it('is for so many of an account, however many endpoints it has', () => {
    const { lanes } = lanesAt();
    expect(['a', 'b', 'c', 'd'].map((endpoint) => fill(lanes, endpoint, 'one').length)).toEqual([
      10, 10, 5, 0,
    ]);
    expect(fill(lanes, 'e', 'other')).toHaveLength(10);
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
    const { lanes, pass } = lanesAt();
    const hanging = fill(lanes, 'a');
    pass(HANGS_MS);
    leaveAll(hanging);
    expect(fill(lanes, 'a').map((leave) => leave())).toHaveLength(2);
    for (let quick = 0; quick < 12; quick += 1) {
      const entered = lanes.enter('a', 'a', 0);
      pass(10);
      if (entered.hasRoom) entered.leave();
    }
    expect(fill(lanes, 'a')).toHaveLength(10);
  });

  it('and all others together hold a quarter of the places', () => {
    const { lanes, pass } = lanesAt({ attempts: 40 });
    const names = Array.from({ length: 30 }, (_, index) => `slow-${index}`);
    for (const name of names) {
      const entered = lanes.enter(name, name, 0);
      pass(HANGS_MS);
      if (entered.hasRoom) entered.leave();
    }
    expect(names.map((name) => fill(lanes, name).length).reduce((sum, taken) => sum + taken)).toBe(10);
    expect(fill(lanes, 'quick')).toHaveLength(10);
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

describe('whoever finds no room', () => {
  const waitOf = (lanes: Lanes, random = 0): number => {
    const entered = lanes.enter('a', 'a', random);
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

  it('waits between a twentieth of a second and a minute and a quarter, never the very same time', () => {
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
        expect(waitMs).toBeLessThanOrEqual(75_000);
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
      const inside: { endpoint: number; leave: () => void }[] = [];
      const count = (is: (endpoint: number) => boolean) =>
        inside.filter(({ endpoint }) => is(endpoint)).length;
      for (const { endpoint, ms, leaves } of steps) {
        for (const { leave } of inside.splice(0, leaves)) leave();
        pass(ms);
        const account = endpoint % 3;
        const entered = lanes.enter(String(endpoint), String(account), 0);
        if (entered.hasRoom) inside.push({ endpoint, leave: entered.leave });
        expect(inside.length).toBeLessThanOrEqual(12);
        expect(count((one) => one === endpoint)).toBeLessThanOrEqual(4);
        expect(count((one) => one % 3 === account)).toBeLessThanOrEqual(6);
      }
      for (const { leave } of inside.splice(0)) leave();
      expect(lanes.enter('new', 'new', 0).hasRoom).toBe(true);
    }),
    { seed: seedOfRun() },
  );
});
