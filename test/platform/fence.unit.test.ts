// The time in which an effect may be sent, by a clock that only goes forward.
import { expect, it } from 'vitest';
import { createFence } from '../../src/platform/fence.ts';

it('is over from its end on, and not before', () => {
  let now = 1_000;
  const fence = createFence(3_000, () => now);
  expect(fence.isOver()).toBe(false);
  now = 3_999;
  expect(fence.isOver()).toBe(false);
  now = 4_000;
  expect(fence.isOver()).toBe(true);
});

it('goes by time that has passed, not by the time of day', () => {
  expect(createFence(60_000).isOver()).toBe(false);
  expect(createFence(0).isOver()).toBe(true);
});
