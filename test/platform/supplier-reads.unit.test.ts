/**
 * How long a reader waits for the supplier: one second once, then not at all for a while; late answers still
 * take effect.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createSupplierReadBreaker,
  inTime,
  orUndefined,
  type CircuitBreaker,
} from '../../src/platform/circuit-breaker.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const answerAfter = <T>(ms: number, value: T) =>
  new Promise<T>((resolve) => setTimeout(() => resolve(value), ms));
const newBreaker = (): CircuitBreaker => createSupplierReadBreaker();

/** The result of waiting for a check of this length, whether it ran at all, and how long the wait took. */
async function waitFor(breaker: CircuitBreaker, checkMs: number) {
  const startedAtMs = Date.now();
  const check = vi.fn(() => answerAfter(checkMs, 'fresh'));
  const waiting = orUndefined(breaker.run(check)).then((value) => ({ value, ms: Date.now() - startedAtMs }));
  await vi.advanceTimersByTimeAsync(1_000);
  return { ...(await waiting), asked: check.mock.calls.length === 1 };
}

describe('a reader', () => {
  it('gets an answer that comes within a second', async () => {
    const breaker = newBreaker();
    expect(await waitFor(breaker, 900)).toEqual({ value: 'fresh', ms: 900, asked: true });
    expect(await waitFor(breaker, 900)).toEqual({ value: 'fresh', ms: 900, asked: true });
  });

  it('waits a second once, and checks pause for ten more', async () => {
    const breaker = newBreaker();
    expect(await waitFor(breaker, 60_000)).toEqual({ value: undefined, ms: 1_000, asked: true });
    for (let second = 0; second < 9; second += 1)
      expect(await waitFor(breaker, 0)).toEqual({ value: undefined, ms: 0, asked: false });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await waitFor(breaker, 10)).toEqual({ value: 'fresh', ms: 10, asked: true });
    expect(await waitFor(breaker, 10)).toEqual({ value: 'fresh', ms: 10, asked: true });
  });

  it('runs one check after the pause, and a supplier that still hangs starts another pause', async () => {
    const breaker = newBreaker();
    await waitFor(breaker, 60_000);
    await vi.advanceTimersByTimeAsync(10_000);
    const checks = await Promise.all([waitFor(breaker, 60_000), waitFor(breaker, 0), waitFor(breaker, 0)]);
    expect(checks).toMatchObject([
      { asked: true, value: undefined },
      { asked: false, ms: 0 },
      { asked: false, ms: 0 },
    ]);
    expect(await waitFor(breaker, 0)).toMatchObject({ asked: false });
  });

  it('pauses even if another check was quick meanwhile', async () => {
    const breaker = newBreaker();
    await Promise.all([waitFor(breaker, 60_000), waitFor(breaker, 999)]);
    expect(await waitFor(breaker, 0)).toMatchObject({ asked: false });
  });

  it('gets the error of a check that fails in time, and may check again at once', async () => {
    const breaker = newBreaker();
    await expect(breaker.run(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await waitFor(breaker, 0)).toMatchObject({ value: 'fresh', asked: true });
  });
});

describe('a late answer', () => {
  it('still takes effect, and its failure is ignored', async () => {
    const done = vi.fn();
    const failed = answerAfter(2_000, null).then(() => {
      done();
      throw new Error('too late to matter');
    });
    const answer = inTime(failed, 1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await answer).toEqual({ late: true, value: undefined });
    expect(done).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(done).toHaveBeenCalledOnce();
  });

  it('leaves no timer when the answer came in time', async () => {
    expect(await inTime(Promise.resolve(1), 1_000)).toEqual({ late: false, value: 1 });
    expect(vi.getTimerCount()).toBe(0);
  });
});
