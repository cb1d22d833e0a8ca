import type { Fence } from '../domain/fence.ts';

/** Uses a monotonic clock, so that a paused process notices. `now` in milliseconds. */
export function createFence(withinMs: number, now: () => number = () => performance.now()): Fence {
  const endsAt = now() + withinMs;
  return { isOver: () => now() >= endsAt };
}
