import type { Fence } from '../domain/fence.ts';

/** Measured by a clock that only goes forward, so that a process that was paused knows it. `now` in milliseconds. */
export function createFence(withinMs: number, now: () => number = () => performance.now()): Fence {
  const endsAt = now() + withinMs;
  return { isOver: () => now() >= endsAt };
}
