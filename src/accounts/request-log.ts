/**
 * Recent requests of each account, for its developers. Requests are only noted in memory and written together every few seconds: no request waits for
 * it, and a crash loses the last seconds. What is kept is bounded: the last 1,000 of an account in each environment, 7 days.
 */
import type { Environment } from '../domain/account.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { startPoller, type Poller } from '../platform/poller.ts';
import {
  deleteOldRequests,
  insertRequests,
  keepNewestRequests,
  type NewLoggedRequest,
} from './store/request-log.ts';

const WRITE_INTERVAL_MS = 2_000;
/** Of one account in one environment. */
export const KEPT_REQUESTS = 1_000;
export const KEEP_REQUESTS_MS = 7 * 24 * 3_600_000;
/** An account may have this many more until they are deleted: deleting is not needed at every writing. */
const SLACK = 250;
/** Some 200 bytes each, between two writings; more than a process answers in that time. */
const MOST_NOTED = 20_000;
const TIDY_INTERVAL_MS = 3_600_000;

export type RequestLog = ReturnType<typeof createRequestLog>;

export function createRequestLog({
  db,
  onError,
  tidy = () => Promise.resolve(),
  writeEveryMs = WRITE_INTERVAL_MS,
}: {
  readonly db: AccountsDb;
  readonly onError: (error: unknown) => void;
  /** Runs beside the deleting of old requests, once an hour. */
  readonly tidy?: () => Promise<void>;
  /** For tests. */
  readonly writeEveryMs?: number;
}) {
  let noted: NewLoggedRequest[] = [];
  /** How many this process has written for each account since it last deleted. */
  const written = new Map<string, { accountId: string; environment: Environment; count: number }>();
  const pollers: Poller[] = [];

  const write = async (): Promise<void> => {
    if (noted.length === 0) return;
    const batch = noted;
    noted = [];
    // What fails to be written is lost: it must not pile up while Postgres is away.
    await insertRequests(db, batch);
    for (const { accountId, environment } of batch) {
      const name = `${environment} ${accountId}`;
      const account = written.get(name) ?? { accountId, environment, count: 0 };
      account.count += 1;
      written.set(name, account);
    }
    for (const [name, { accountId, environment, count }] of written) {
      if (count < SLACK) continue;
      written.delete(name);
      await keepNewestRequests(db, { accountId, environment, keep: KEPT_REQUESTS });
    }
  };

  const tidyAll = async (): Promise<void> => {
    await deleteOldRequests(db, new Date(Date.now() - KEEP_REQUESTS_MS));
    await tidy();
  };

  return {
    note: (request: NewLoggedRequest): void => {
      if (noted.length < MOST_NOTED) noted.push(request);
    },
    start: (): void => {
      pollers.push(
        startPoller(write, writeEveryMs, onError),
        startPoller(tidyAll, TIDY_INTERVAL_MS, onError),
      );
    },
    /** Writes what is noted. */
    stop: async (): Promise<void> => {
      await Promise.all(pollers.map((poller) => poller.stop()));
      await write().catch(onError);
    },
  };
}
