/** When each key was last used, for people who look for unused keys. Requests only note it in memory. */
import type { AccountsDb } from '../platform/database/tables.ts';
import { startPoller, type Poller } from '../platform/poller.ts';
import { writeLastUses } from './store/accounts.ts';

/** One statement writes the keys of this time. */
const WRITE_INTERVAL_MS = 5 * 60_000;

export function createKeyUses({
  db,
  onError,
  writeUsesEveryMs = WRITE_INTERVAL_MS,
}: {
  readonly db: AccountsDb;
  readonly onError: (error: unknown) => void;
  /** For tests. */
  readonly writeUsesEveryMs?: number;
}) {
  let used = new Set<string>();
  let poller: Poller | undefined;

  /** All of them get the time of the writing, which is late by one interval at most. */
  const write = async (): Promise<void> => {
    if (used.size === 0) return;
    const written = used;
    used = new Set();
    try {
      await writeLastUses(db, [...written]);
    } catch (error) {
      for (const keyId of written) used.add(keyId);
      throw error;
    }
  };

  return {
    note: (keyId: string): void => {
      used.add(keyId);
    },
    start: (): void => {
      poller = startPoller(write, writeUsesEveryMs, onError);
    },
    stop: async (): Promise<void> => {
      await poller?.stop();
      await write().catch(onError);
    },
  };
}
