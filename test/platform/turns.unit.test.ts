import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTurns } from '../../src/platform/turns.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const OPTIONS = { atOnce: 2, passedOnAfterMs: 250, withinMs: 5_000, maxWaiting: 3 };

/** Asks for turns, and notes the order in which they are granted or refused. */
function watch(options = OPTIONS) {
  const turns = createTurns(options);
  const seen: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (name: string, key = 'one') =>
    void turns.take(key).then((end) => {
      seen.push(end ? name : `not ${name}`);
      if (end) ends.set(name, end);
    });
  return {
    ask,
    seen,
    end: (name: string) => ends.get(name)?.(),
    settle: () => vi.advanceTimersByTimeAsync(0),
  };
}

it('grants as many at once as agreed, then each that ends passes its turn to the one who waits longest', async () => {
  const { ask, seen, end, settle } = watch();
  for (const name of ['a', 'b', 'c', 'd']) ask(name);
  await settle();
  expect(seen).toEqual(['a', 'b']);
  end('b');
  end('b');
  await settle();
  expect(seen).toEqual(['a', 'b', 'c']);
  end('a');
  await settle();
  expect(seen).toEqual(['a', 'b', 'c', 'd']);
});

it('keeps no key waiting for another', async () => {
  const { ask, seen, settle } = watch();
  for (const name of ['a', 'b', 'c']) ask(name);
  ask('x', 'other');
  await settle();
  expect(seen).toEqual(['a', 'b', 'x']);
});

it('passes on the turn of long work, once', async () => {
  const { ask, seen, end, settle } = watch({ ...OPTIONS, atOnce: 1 });
  for (const name of ['a', 'b', 'c']) ask(name);
  await vi.advanceTimersByTimeAsync(250);
  expect(seen).toEqual(['a', 'b']);
  end('a');
  await settle();
  expect(seen).toEqual(['a', 'b']);
});

it('turns away who is one too many, and who waited too long', async () => {
  const { ask, seen, settle } = watch({ ...OPTIONS, passedOnAfterMs: 60_000 });
  for (const name of ['a', 'b']) ask(name);
  await settle();
  for (const name of ['c', 'd', 'e', 'f']) ask(name);
  await settle();
  expect(seen).toEqual(['a', 'b', 'not f']);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(seen).toEqual(['a', 'b', 'not f', 'not c', 'not d', 'not e']);
});

it('grants again to a key whose turns were all over, or whose waiting gave up', async () => {
  const { ask, seen, end, settle } = watch({ ...OPTIONS, atOnce: 1, passedOnAfterMs: 60_000 });
  ask('a');
  ask('b');
  await vi.advanceTimersByTimeAsync(5_000);
  end('a');
  ask('c');
  await settle();
  expect(seen).toEqual(['a', 'not b', 'c']);
  end('c');
  ask('d');
  await settle();
  expect(seen).toEqual(['a', 'not b', 'c', 'd']);
});

describe('while another key has work too', () => {
  it('grants half as many at once, to both, until two seconds after the last of the other', async () => {
    const { ask, seen, end, settle } = watch({ ...OPTIONS, passedOnAfterMs: 60_000, maxWaiting: 9 });
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) ask(name);
    ask('x', 'other');
    ask('y', 'other');
    await settle();
    expect(seen).toEqual(['a', 'b', 'x']);
    end('a');
    await settle();
    expect(seen).toEqual(['a', 'b', 'x']);
    end('b');
    await settle();
    expect(seen).toEqual(['a', 'b', 'x', 'c']);
    await vi.advanceTimersByTimeAsync(1_999);
    end('c');
    await settle();
    expect(seen).toEqual(['a', 'b', 'x', 'c', 'd']);
    await vi.advanceTimersByTimeAsync(1);
    end('d');
    await settle();
    expect(seen).toEqual(['a', 'b', 'x', 'c', 'd', 'e', 'f']);
  });

  it('lets nobody pass those who wait when the other is gone', async () => {
    const { ask, seen, settle } = watch({ ...OPTIONS, passedOnAfterMs: 60_000 });
    ask('x', 'other');
    ask('a');
    ask('b');
    await vi.advanceTimersByTimeAsync(2_000);
    ask('c');
    await settle();
    expect(seen).toEqual(['x', 'a', 'b']);
  });

  it('knows that others have work when its own was the last, and the one before it too', async () => {
    const { ask, seen, settle } = watch({ ...OPTIONS, atOnce: 3, passedOnAfterMs: 60_000 });
    ask('x', 'other');
    ask('y', 'third');
    for (const name of ['a', 'b', 'c']) ask(name);
    await settle();
    expect(seen).toEqual(['x', 'y', 'a', 'b']);
  });

  it('turns nobody away for a full line once there is a turn', async () => {
    const { ask, seen, settle } = watch({ ...OPTIONS, passedOnAfterMs: 60_000, maxWaiting: 1 });
    ask('x', 'other');
    ask('a');
    await settle();
    ask('b');
    await vi.advanceTimersByTimeAsync(2_000);
    ask('c');
    await settle();
    expect(seen).toEqual(['x', 'a', 'b']);
  });

  it('passes on the turn of long work after half the time', async () => {
    const { ask, seen } = watch();
    ask('x', 'other');
    for (const name of ['a', 'b']) ask(name);
    await vi.advanceTimersByTimeAsync(124);
    expect(seen).toEqual(['x', 'a']);
    await vi.advanceTimersByTimeAsync(1);
    expect(seen).toEqual(['x', 'a', 'b']);
  });
});
