/**
 * Recent requests of each account, for its developers. Requests are only noted in memory and written together every few seconds: no request waits for
 * it, and a crash loses the last seconds. What is kept is bounded: the last 1,000 of an account in each environment, 7 days.
 */
import type { Environment } from '../domain/account.ts';
import { DAY_MS } from '../domain/clock.ts';
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
export const KEEP_REQUESTS_MS = 7 * DAY_MS;
/** An account may have this many more until they are deleted: deleting is not needed at every writing. */
const SLACK = 250;
/** Of all accounts, between two writes; some 200 bytes each. */
const MOST_NOTED = 20_000;
const TIDY_INTERVAL_MS = 3_600_000;

export type RequestLog = ReturnType<typeof createRequestLog>;

/** What one account asked in one environment. */
interface Noted {
  readonly accountId: string;
  readonly environment: Environment;
  requests: NewLoggedRequest[];
  /** Rows that this process has written since it last deleted. */
  writtenSinceTidied: number;
}

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
  const accounts = new Map<string, Noted>();
  let notedCount = 0;
  const pollers: Poller[] = [];

  const note = (request: NewLoggedRequest): void => {
    if (notedCount >= MOST_NOTED) return;
    const { accountId, environment } = request;
    const name = `${environment} ${accountId}`;
    let account = accounts.get(name);
    if (!account) {
      account = { accountId, environment, requests: [], writtenSinceTidied: 0 };
      accounts.set(name, account);
    }
    account.requests.push(request);
    notedCount += 1;
    // Older ones would be deleted as soon as they were written.
    if (account.requests.length < 2 * KEPT_REQUESTS) return;
    account.requests = account.requests.slice(-KEPT_REQUESTS);
    notedCount -= KEPT_REQUESTS;
  };

  const write = async (): Promise<void> => {
    const batch: NewLoggedRequest[] = [];
    for (const account of accounts.values()) {
      const newest = account.requests.slice(-KEPT_REQUESTS);
      account.requests = [];
      account.writtenSinceTidied += newest.length;
      batch.push(...newest);
    }
    notedCount = 0;
    if (batch.length === 0) return;
    // What fails to be written is lost: it must not pile up while Postgres is away.
    await insertRequests(db, batch);
    for (const [name, { accountId, environment, writtenSinceTidied }] of accounts) {
      if (writtenSinceTidied < SLACK) continue;
      accounts.delete(name);
      await keepNewestRequests(db, { accountId, environment, keep: KEPT_REQUESTS });
    }
  };

  const tidyAll = async (): Promise<void> => {
    await deleteOldRequests(db, new Date(Date.now() - KEEP_REQUESTS_MS));
    await tidy();
  };

  return {
    note,
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
