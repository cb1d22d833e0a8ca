/** A time limit on sending an effect, by a monotonic clock: a process that was paused cannot act on an old decision. */
export interface Fence {
  /** The effect may not be sent any more. */
  readonly isOver: () => boolean;
}

/** Make it before the row of the effect is written: then it is over before the row's `send_before`. */
export function createFence(withinMs: number, now = () => performance.now()): Fence {
  const endsAt = now() + withinMs;
  return { isOver: () => now() >= endsAt };
}
