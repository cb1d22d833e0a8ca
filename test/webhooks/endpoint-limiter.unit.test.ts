// Limits by endpoint, account and process; slow endpoints get fewer permits, silent ones fewer still; refused
// callers get a time to retry.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createEndpointLimiter,
  type Ending,
  type Acquired,
  type EndpointLimits,
  type EndpointLimiter,
} from '../../src/webhooks/endpoint-limiter.ts';
import { seedOfRun } from '../support/time/size.ts';

const LIMITS: EndpointLimits = { attempts: 40, perEndpoint: 10, perAccount: 25 };
const HANGS_MS = 15_000;

function limiterAt(limits: Partial<EndpointLimits> = {}): {
  limiter: EndpointLimiter;
  pass: (ms: number) => void;
} {
  let nowMs = 0;
  const limiter = createEndpointLimiter({ ...LIMITS, ...limits }, () => nowMs);
  return { limiter, pass: (ms) => void (nowMs += ms) };
}

interface Coming {
  readonly account?: string;
  readonly isFailing?: boolean;
  readonly random?: number;
}

const acquire = (limiter: EndpointLimiter, endpointId: string, coming: Coming = {}): Acquired =>
  limiter.acquire({
    endpointId,
    accountId: coming.account ?? endpointId,
    isFailing: coming.isFailing ?? false,
    random: coming.random ?? 0,
  });

/** Endpoints that have answered once. */
function answering(limiter: EndpointLimiter, endpoints: readonly string[]): void {
  for (const endpoint of endpoints) {
    const first = acquire(limiter, endpoint);
    if (first.isGranted) first.release('answered');
  }
}

type Release = (ending?: Ending) => void;

/** Acquires permits until none is left; returns how to release them. */
function fill(limiter: EndpointLimiter, endpoint: string, coming?: Coming): Release[] {
  const releases: Release[] = [];
  for (;;) {
    const acquired = acquire(limiter, endpoint, coming);
    if (!acquired.isGranted) return releases;
    releases.push((ending = 'unanswered') => acquired.release(ending));
  }
}

const releaseAll = (releases: readonly Release[], ending?: Ending): void =>
  releases.forEach((release) => release(ending));

/** One attempt of this length, if there is a permit. */
function attempt(
  { limiter, pass }: ReturnType<typeof limiterAt>,
  endpoint: string,
  ms: number,
  ending: Ending,
): void {
  const acquired = acquire(limiter, endpoint);
  pass(ms);
  if (acquired.isGranted) acquired.release(ending);
}

describe('permits', () => {
  it('are limited by endpoint', () => {
    const { limiter } = limiterAt();
    expect(fill(limiter, 'a')).toHaveLength(10);
    expect(fill(limiter, 'b')).toHaveLength(10);
  });

  it('are limited by account, however many endpoints it has', () => {
    const { limiter } = limiterAt();
    answering(limiter, ['a', 'b', 'c', 'd', 'e']);
    expect(
      ['a', 'b', 'c', 'd'].map((endpoint) => fill(limiter, endpoint, { account: 'one' }).length),
    ).toEqual([10, 10, 5, 0]);
    expect(fill(limiter, 'e', { account: 'other' })).toHaveLength(10);
  });

  it('are limited in total', () => {
    const { limiter } = limiterAt();
    answering(limiter, ['a', 'b', 'c', 'd', 'e']);
    const taken = ['a', 'b', 'c', 'd', 'e'].map((endpoint) => fill(limiter, endpoint).length);
    expect(taken).toEqual([10, 10, 10, 10, 0]);
  });

  it('are half for endpoints that have not answered yet, which may all turn out to be silent', () => {
    const { limiter } = limiterAt();
    answering(limiter, ['known']);
    expect(['a', 'b', 'c'].map((endpoint) => fill(limiter, endpoint).length)).toEqual([10, 10, 0]);
    expect(fill(limiter, 'known')).toHaveLength(10);
  });

  it('are available again, once, to the next caller after a release', () => {
    const { limiter } = limiterAt();
    const [first] = fill(limiter, 'a');
    first?.();
    first?.();
    expect(fill(limiter, 'a')).toHaveLength(1);
  });
});

describe('a slow endpoint', () => {
  it('has two permits as soon as one of its attempts hangs', () => {
    const { limiter, pass } = limiterAt();
    const releases = fill(limiter, 'a');
    pass(1_001);
    releaseAll(releases.slice(0, 8));
    expect(fill(limiter, 'a')).toHaveLength(0);
    releases[8]?.();
    expect(fill(limiter, 'a')).toHaveLength(1);
  });

  it('keeps two after its attempts timed out, and gets the others back once it answers quickly', () => {
    const made = limiterAt();
    const hanging = fill(made.limiter, 'a');
    made.pass(HANGS_MS);
    releaseAll(hanging);
    expect(fill(made.limiter, 'a').map((release) => release())).toHaveLength(2);
    for (let quick = 0; quick < 12; quick += 1) attempt(made, 'a', 10, 'answered');
    expect(fill(made.limiter, 'a')).toHaveLength(10);
  });

  it('and all other slow ones together hold a quarter of the permits, the silent ones half of that', () => {
    const made = limiterAt({ attempts: 40 });
    const names = (what: string) => Array.from({ length: 30 }, (_, index) => `${what}-${index}`);
    const takenBy = (what: string): number =>
      names(what).reduce((sum, name) => sum + fill(made.limiter, name).length, 0);
    for (const name of names('silent')) attempt(made, name, 5_000, 'unanswered');
    for (const name of names('late')) attempt(made, name, 5_000, 'answered');
    expect(takenBy('silent')).toBe(5);
    expect(takenBy('late')).toBe(5);
    expect(fill(made.limiter, 'quick')).toHaveLength(10);
  });

  it('that answers keeps its permits, even if many healthy ones fell silent while holding more than theirs', () => {
    const made = limiterAt({ attempts: 40, perEndpoint: 5 });
    attempt(made, 'late', 5_000, 'answered');
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) fill(made.limiter, name);
    made.pass(1_001);
    expect(fill(made.limiter, 'late')).toHaveLength(2);
    expect(fill(made.limiter, 'g', { isFailing: true })).toHaveLength(0);
  });

  it('is one that is failing, if nothing else is known, until it has answered quickly twice', () => {
    const made = limiterAt();
    expect(fill(made.limiter, 'a', { isFailing: true }).map((release) => release('unused'))).toHaveLength(2);
    attempt(made, 'a', 10, 'answered');
    expect(fill(made.limiter, 'a').map((release) => release('unused'))).toHaveLength(2);
    attempt(made, 'a', 10, 'answered');
    expect(fill(made.limiter, 'a')).toHaveLength(10);
    // Many of them cannot take all permits when a worker begins.
    const names = Array.from({ length: 20 }, (_, index) => `dead-${index}`);
    expect(names.flatMap((name) => fill(made.limiter, name, { isFailing: true }))).toHaveLength(5);
  });

  it('is forgotten when it was not called for ten minutes', () => {
    const { limiter, pass } = limiterAt();
    const hanging = fill(limiter, 'a');
    pass(HANGS_MS);
    releaseAll(hanging);
    pass(10 * 60_000 + 1);
    expect(fill(limiter, 'a')).toHaveLength(10);
  });
});

describe('a caller without a permit', () => {
  const waitOf = (limiter: EndpointLimiter, random = 0): number => {
    const acquired = acquire(limiter, 'a', { random });
    if (acquired.isGranted) throw new Error('there is room');
    return acquired.waitMs;
  };

  it('gets a later time than the one before, at the pace of the endpoint', () => {
    const { limiter, pass } = limiterAt();
    const hanging = fill(limiter, 'a');
    pass(HANGS_MS);
    releaseAll(hanging);
    fill(limiter, 'a');
    const waits = [waitOf(limiter), waitOf(limiter), waitOf(limiter)];
    expect(waits[0]).toBeGreaterThan(1_000);
    expect(waits[1]! - waits[0]!).toBeGreaterThan(1_000);
    expect(waits[2]! - waits[1]!).toBeGreaterThan(1_000);
  });

  it('waits about as long as the attempts in progress have hung, even if none of them has ended', () => {
    const { limiter, pass } = limiterAt();
    fill(limiter, 'a');
    pass(8_000);
    expect(waitOf(limiter)).toBeGreaterThanOrEqual(4_000);
  });

  it('gets new times once the endpoint has recovered', () => {
    const made = limiterAt();
    const hanging = fill(made.limiter, 'a');
    made.pass(HANGS_MS);
    for (let asked = 0; asked < 500; asked += 1) waitOf(made.limiter);
    expect(waitOf(made.limiter)).toBeGreaterThan(20 * 60_000);
    releaseAll(hanging);
    for (let quick = 0; quick < 12; quick += 1) attempt(made, 'a', 10, 'answered');
    fill(made.limiter, 'a');
    expect(waitOf(made.limiter)).toBeLessThan(100);
  });

  it('waits between a twentieth of a second and half an hour', () => {
    fc.assert(
      fc.property(fc.nat({ max: 600 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (before, random) => {
        const { limiter, pass } = limiterAt({ perEndpoint: 1 });
        const [release] = fill(limiter, 'a');
        pass(HANGS_MS);
        release?.();
        fill(limiter, 'a');
        for (let asked = 0; asked < before; asked += 1) waitOf(limiter);
        const waitMs = waitOf(limiter, random);
        expect(waitMs).toBeGreaterThanOrEqual(50);
        expect(waitMs).toBeLessThanOrEqual(30 * 60_000);
      }),
      { seed: seedOfRun(), numRuns: 100 },
    );
  });
});

it('the limits are never exceeded, whatever callers come and go', () => {
  const step = fc.record({
    endpoint: fc.nat({ max: 7 }),
    ms: fc.nat({ max: 3_000 }),
    releases: fc.nat({ max: 3 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { limiter, pass } = limiterAt({ attempts: 12, perEndpoint: 4, perAccount: 6 });
      const inside: { endpoint: number; release: (ending: Ending) => void }[] = [];
      const count = (is: (endpoint: number) => boolean) =>
        inside.filter(({ endpoint }) => is(endpoint)).length;
      for (const { endpoint, ms, releases } of steps) {
        for (const { release } of inside.splice(0, releases)) release('answered');
        pass(ms);
        const account = endpoint % 3;
        const acquired = acquire(limiter, String(endpoint), { account: String(account) });
        if (acquired.isGranted) inside.push({ endpoint, release: acquired.release });
        expect(inside.length).toBeLessThanOrEqual(12);
        expect(count((one) => one === endpoint)).toBeLessThanOrEqual(4);
        expect(count((one) => one % 3 === account)).toBeLessThanOrEqual(6);
      }
      for (const { release } of inside.splice(0)) release('answered');
      expect(acquire(limiter, 'new').isGranted).toBe(true);
    }),
    { seed: seedOfRun() },
  );
});
