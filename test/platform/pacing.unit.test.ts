/**
 * The arithmetic of pacing under random arrivals, and the breaker that keeps a hanging dependency from
 * blocking all callers.
 */
import { stat } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCircuitBreaker, type CircuitBreakerOptions } from '../../src/platform/circuit-breaker.ts';
import { paceOf, takeFrom, takeSteadily } from '../../src/platform/redis/pacer.ts';

/** Requests a second; and for each call how much later it comes, and how long it may wait. */
const RATE_AND_ARRIVALS = [
  fc.integer({ min: 1, max: 12 }),
  fc.array(fc.tuple(fc.nat({ max: 700 }), fc.nat({ max: 4000 })), { maxLength: 80 }),
] as const;

describe('slots', () => {
  it('never exceed n in any window, never come out of order, and never later than needed', () => {
    fc.assert(
      fc.property(...RATE_AND_ARRIVALS, (rate, arrivals) => {
        const pace = paceOf(rate);
        const granted: number[] = [];
        const all: number[] = [];
        let nowMs = 1000;
        for (const [laterMs, withinMs] of arrivals) {
          nowMs += laterMs;
          const atMs = takeFrom(granted, nowMs, withinMs, pace);
          const earliest = Math.max(nowMs, (all.at(-pace.calls) ?? -Infinity) + pace.windowMs);
          expect(atMs).toBe(earliest - nowMs <= withinMs ? earliest : null);
          if (atMs !== null) all.push(atMs);
        }
        expect(all).toEqual([...all].sort((a, b) => a - b));
        for (let i = pace.calls; i < all.length; i += 1) {
          expect(all[i]! - all[i - pace.calls]!).toBeGreaterThanOrEqual(pace.windowMs);
        }
        expect(granted.length).toBeLessThanOrEqual(pace.calls);
      }),
    );
  });

  it('at a steady pace are a burst of n and then one a pause, never later than needed', () => {
    fc.assert(
      fc.property(...RATE_AND_ARRIVALS, (rate, arrivals) => {
        const pace = paceOf(rate);
        const pauseMs = pace.windowMs / pace.calls;
        const state = { freeMs: 0 };
        const all: number[] = [];
        let nowMs = 1000;
        for (const [laterMs, withinMs] of arrivals) {
          nowMs += laterMs;
          const atMs = takeSteadily(state, nowMs, withinMs, pace);
          // As late as a burst before any earlier grant allows.
          const earliest = Math.max(
            nowMs,
            ...all.map((before, index) => before + (all.length - index + 1 - pace.calls) * pauseMs),
          );
          if (atMs === null) expect(earliest + 1 - nowMs).toBeGreaterThan(withinMs);
          else {
            expect(atMs).toBeCloseTo(earliest, 3);
            all.push(atMs);
          }
        }
      }),
    );
  });

  it.each([
    [8, { calls: 8, windowMs: 1100 }],
    [2.5, { calls: 2, windowMs: 900 }],
    [0.5, { calls: 1, windowMs: 2100 }],
  ])('%s a second', (rate, pace) => {
    expect(paceOf(rate)).toEqual(pace);
  });
});

describe('breaker', () => {
  /** A breaker whose caller has a fallback for everything but an answer. */
  const breakerWith = (options: Partial<CircuitBreakerOptions> = {}) => {
    const breaker = createCircuitBreaker({ deadlineMs: 30, failuresToOpen: 2, openForMs: 80, ...options });
    return {
      run: (call: () => Promise<string>, instead: () => string) => breaker.run(call).catch(instead),
    };
  };
  const hang = (): Promise<string> => new Promise(() => undefined);
  const answer = (): Promise<string> => Promise.resolve('answer');
  const fail = (): Promise<string> => Promise.reject(new Error('no'));
  const standIn = (): string => 'stand-in';

  it('returns the call’s answer, and the fallback for a call that fails, throws or hangs', async () => {
    const breaker = breakerWith({ failuresToOpen: 100 });
    const throws = (): Promise<string> => {
      throw new Error('at once');
    };
    expect(await breaker.run(answer, standIn)).toBe('answer');
    for (const call of [fail, hang, throws]) expect(await breaker.run(call, standIn)).toBe('stand-in');
    expect(await breaker.run(answer, standIn)).toBe('answer');
  });

  it('opens after several failures in a row, sends one probe at a time, and closes when one succeeds', async () => {
    const changes: string[] = [];
    const breaker = breakerWith({ onChange: (state) => changes.push(state) });
    await breaker.run(fail, standIn);
    await breaker.run(answer, standIn);
    await breaker.run(fail, standIn);
    expect(changes).toEqual([]);
    await breaker.run(fail, standIn);
    expect(changes).toEqual(['open']);

    let calls = 0;
    const counted = (call: () => Promise<string>) => () => {
      calls += 1;
      return call();
    };
    expect(await breaker.run(counted(answer), standIn)).toBe('stand-in');
    expect(calls).toBe(0);
    await expect.poll(() => breaker.run(counted(hang), standIn).then(() => calls), { interval: 10 }).toBe(1);
    expect(await breaker.run(counted(answer), standIn)).toBe('stand-in');

    const together = () =>
      Promise.all(Array.from({ length: 10 }, () => breaker.run(counted(answer), standIn)));
    await expect.poll(together, { interval: 10 }).toContain('answer');
    expect(calls).toBe(2);
    expect(changes).toEqual(['open', 'closed']);
    expect(await together()).toEqual(Array<string>(10).fill('answer'));
  });

  it('does not count a pause of this process as a failure of the call', async () => {
    const breaker = breakerWith({ deadlineMs: 20 });
    const askAndPause = (resolve: (outcome: string) => void): void => {
      void breaker.run(() => stat(import.meta.dirname).then(() => 'answer'), standIn).then(resolve);
      const until = performance.now() + 80;
      while (performance.now() < until);
    };
    // After immediates come timers and only then arrived data: the deadline is seen before the answer.
    const outcome = new Promise<string>((resolve) => setImmediate(() => askAndPause(resolve)));
    expect(await outcome).toBe('answer');
  });
});
