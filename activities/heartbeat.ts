/**
 * Signs of life from steps that cross the network: a task lost on its way to a worker, or whose worker died, is noticed within seconds by
 * their absence instead of at the end of its time limit. A step that ends within the first beat sends none.
 */
import { heartbeat } from '@temporalio/activity';

const BEAT_MS = 1_000;

/** Wraps every activity of a set, so that each beats while it runs. */
export function withSignsOfLife<T extends object>(activities: T): T {
  return Object.fromEntries(
    Object.entries(activities as Record<string, (...args: unknown[]) => Promise<unknown>>).map(
      ([name, activity]) => [
        name,
        async (...args: unknown[]) => {
          const beats = setInterval(heartbeat, BEAT_MS);
          try {
            return await activity(...args);
          } finally {
            clearInterval(beats);
          }
        },
      ],
    ),
  ) as T;
}
