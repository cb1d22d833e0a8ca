/**
 * The end of the time in which an effect may be sent. Begin it before its row is written: then it is over no
 * later than the row's `send_before`.
 */
export interface Fence {
  readonly isOver: () => boolean;
}

/** Measured by a clock that only goes forward, so that a process that was paused knows it. */
export function createFence(withinMs: number, now: () => number = () => performance.now()): Fence {
  const endsAt = now() + withinMs;
  return { isOver: () => now() >= endsAt };
}
