/** How long a reader waits for the supplier: one second once, then nothing for a while; late answers still do their work. */
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

/** What waiting for a look of so many milliseconds came to, whether it was made at all, and how long it took. */
async function waitFor(breaker: CircuitBreaker, lookMs: number) {
  const startedAtMs = Date.now();
  const look = vi.fn(() => answerAfter(lookMs, 'fresh'));
  const waiting = orUndefined(breaker.run(look)).then((value) => ({ value, ms: Date.now() - startedAtMs }));
  await vi.advanceTimersByTimeAsync(1_000);
  return { ...(await waiting), asked: look.mock.calls.length === 1 };
}

describe('a reader', () => {
  it('gets what is back within a second', async () => {
    const breaker = newBreaker();
    expect(await waitFor(breaker, 900)).toEqual({ value: 'fresh', ms: 900, asked: true });
    expect(await waitFor(breaker, 900)).toEqual({ value: 'fresh', ms: 900, asked: true });
  });

  it('waits a second once, and looks rest for ten more', async () => {
    const breaker = newBreaker();
    expect(await waitFor(breaker, 60_000)).toEqual({ value: undefined, ms: 1_000, asked: true });
    for (let second = 0; second < 9; second += 1)
      expect(await waitFor(breaker, 0)).toEqual({ value: undefined, ms: 0, asked: false });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await waitFor(breaker, 10)).toEqual({ value: 'fresh', ms: 10, asked: true });
    expect(await waitFor(breaker, 10)).toEqual({ value: 'fresh', ms: 10, asked: true });
  });

  it('asks alone after a rest, and a supplier that still hangs lets looks rest again', async () => {
    const breaker = newBreaker();
    await waitFor(breaker, 60_000);
    await vi.advanceTimersByTimeAsync(10_000);
    const looks = await Promise.all([waitFor(breaker, 60_000), waitFor(breaker, 0), waitFor(breaker, 0)]);
    expect(looks).toMatchObject([
      { asked: true, value: undefined },
      { asked: false, ms: 0 },
      { asked: false, ms: 0 },
    ]);
    expect(await waitFor(breaker, 0)).toMatchObject({ asked: false });
  });

  it('is not kept from resting by a look that was quick meanwhile', async () => {
    const breaker = newBreaker();
    await Promise.all([waitFor(breaker, 60_000), waitFor(breaker, 999)]);
    expect(await waitFor(breaker, 0)).toMatchObject({ asked: false });
  });

  it('hears of a look that fails in time, and may look again at once', async () => {
    const breaker = newBreaker();
    await expect(breaker.run(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await waitFor(breaker, 0)).toMatchObject({ value: 'fresh', asked: true });
  });
});

describe('what is late', () => {
  it('goes on, and a failure then is nobody’s', async () => {
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

  it('leaves no timer where the answer came in time', async () => {
    expect(await inTime(Promise.resolve(1), 1_000)).toEqual({ late: false, value: 1 });
    expect(vi.getTimerCount()).toBe(0);
  });
});
