/**
 * Counting ahead: each place is given once, with few calls under load, none unused at the end of a window,
 * and none lost when load ends.
 */
import { describe, expect, it } from 'vitest';
import { createCountAhead } from '../../src/platform/redis/rate-limiter.ts';
import { until } from '../support/time/until.ts';

const WINDOW_MS = 60_000;

/** A shared counter that answers in the next turn, and records its calls. */
function sharedCounter() {
  let points = 0;
  const calls: number[] = [];
  const back: number[] = [];
  return {
    calls,
    back,
    points: () => points,
    process: () =>
      createCountAhead({
        count: async (_bucket, more) => {
          calls.push(more);
          points += more;
          const consumedPoints = points;
          await new Promise((resolve) => setImmediate(resolve));
          return { consumedPoints, msBeforeNext: WINDOW_MS };
        },
        giveBack: (_bucket, fewer) => {
          back.push(fewer);
          points -= fewer;
          return Promise.resolve();
        },
      }),
  };
}

type Place = ReturnType<typeof createCountAhead>;

async function inSequence(place: Place, requests: number, limit: number): Promise<number[]> {
  const places: number[] = [];
  for (let index = 0; index < requests; index += 1) places.push((await place('b', limit)).consumedPoints);
  return places;
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

describe('places counted ahead', () => {
  it('are given in order, each once, with far fewer calls than requests', async () => {
    const counter = sharedCounter();
    expect(await inSequence(counter.process(), 2_000, 1_000_000)).toEqual(upTo(2_000));
    expect(counter.calls.length).toBeLessThan(500);
    expect(Math.max(...counter.calls)).toBeLessThanOrEqual(257);
  });

  it('are shared by several processes, and none is given twice', async () => {
    const counter = sharedCounter();
    const all = await Promise.all(
      Array.from({ length: 4 }, () => inSequence(counter.process(), 500, 1_000_000)),
    );
    const places = all.flat();
    expect(new Set(places).size).toBe(2_000);
  });

  it('are counted individually under a small limit, and in one call for concurrent requests', async () => {
    const counter = sharedCounter();
    const place = counter.process();
    expect(await inSequence(place, 100, 100)).toEqual(upTo(100));
    expect(counter.calls).toEqual(Array.from({ length: 100 }, () => 1));
    const together = await Promise.all(Array.from({ length: 10 }, async () => place('b', 100)));
    expect(together.map(({ consumedPoints }) => consumedPoints)).toEqual(
      Array.from({ length: 10 }, (_, index) => 101 + index),
    );
    expect(counter.calls.at(-1)).toBe(10);
  });

  it('are only a small share of what the window has left, and none at its end', async () => {
    const counter = sharedCounter();
    const limit = 3_000;
    const places = await inSequence(counter.process(), limit, limit);
    expect(places).toEqual(upTo(limit));
    expect(Math.max(...counter.calls)).toBeLessThanOrEqual(1 + Math.trunc(limit / 256));
    expect(counter.calls.slice(-200)).toEqual(Array.from({ length: 200 }, () => 1));
    expect(counter.points()).toBe(limit);
  });

  it('are returned when no request uses them', async () => {
    const counter = sharedCounter();
    const place = counter.process();
    await inSequence(place, 700, 1_000_000);
    await until(
      () => counter.points(),
      (points) => points === 700,
    );
    expect(counter.back).toHaveLength(1);
  });
});
