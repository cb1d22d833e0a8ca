/** Tells a valid key that this process has not met yet from a guess, so that guesses from an address lock out no neighbour behind it. */
import { setTimeout as pause } from 'node:timers/promises';

/** How often unknown keys, from addresses with too many failures, may make us look for keys that were made since the last poll. */
const LOOK_FOR_NEW_KEYS_MS = 250;

/** Called before Postgres is asked about what may be a guess. What it throws ends the request, unless the key was made a moment ago. */
export type BeforeAsking = () => Promise<void>;

/** `poll` reads what changed, and calls `note`. */
export function createIssuedKeys({
  poll,
  onError,
}: {
  readonly poll: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}) {
  /** SHA-256 of every valid key, about 100 bytes each. */
  const valid = new Set<string>();
  let soon: Promise<void> | undefined;
  /** One poll for all that wait for it, and a pause before the next: guesses cannot make it more. */
  const pollSoon = (): Promise<void> => {
    soon ??= pause(LOOK_FOR_NEW_KEYS_MS)
      .then(poll)
      .catch(onError)
      .finally(() => (soon = undefined));
    return soon;
  };
  return {
    note: (sha256Hex: string, isValid: boolean): void => {
      if (isValid) valid.add(sha256Hex);
      else valid.delete(sha256Hex);
    },
    /** Counts what may be a guess. A valid key is never counted. */
    admit: async (sha256Hex: string, beforeAsking: BeforeAsking): Promise<void> => {
      if (valid.has(sha256Hex)) return;
      try {
        await beforeAsking();
      } catch (tooMany) {
        await pollSoon();
        if (!valid.has(sha256Hex)) throw tooMany;
      }
    },
  };
}
