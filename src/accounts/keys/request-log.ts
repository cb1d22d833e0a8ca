/**
 * Recent requests of each account, for its developers: the last 1,000 in each environment, 7 days. They are
 * noted in memory and written every few seconds: no request waits for it, and a crash loses the last seconds.
 */
import type { Environment } from '../../domain/account.ts';
import { DAY_MS } from '../../domain/clock.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { NewLoggedRequest } from '../../platform/request-log.ts';
import { startPoller, type Poller } from '../../platform/poller.ts';
import { deleteOldRequests, insertRequests, keepNewestRequests } from '../store/request-log.ts';

const WRITE_INTERVAL_MS = 2_000;
/** Of one account in one environment. */
export const KEPT_REQUESTS = 1_000;
export const KEEP_REQUESTS_MS = 7 * DAY_MS;
/** An account may have this many more until they are deleted. */
const SLACK = 250;
/** Of all accounts, between two writes; some 200 bytes each. */
const MAX_NOTED = 20_000;
const TIDY_INTERVAL_MS = 3_600_000;

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
  const unwritten = createUnwritten();
  /** How many this process has written for each account since it last deleted. */
  const written = new Map<string, { accountId: string; environment: Environment; count: number }>();
  const pollers: Poller[] = [];

  const write = async (): Promise<void> => {
    const batch = unwritten.take();
    if (batch.length === 0) return;
    // What fails to be written is lost: it must not pile up while Postgres is away.
    await insertRequests(
      db,
      batch.flatMap(([, requests]) => requests),
    );
    for (const [name, requests] of batch) {
      const [first] = requests;
      if (!first) continue;
      const { accountId, environment } = first;
      const count = (written.get(name)?.count ?? 0) + requests.length;
      written.set(name, { accountId, environment, count });
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
    note: unwritten.add,
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

/** Of one account in one environment, at most 1,000: after that, each new one overwrites the oldest. */
interface RecentRequests {
  /** Of all that came, overwritten ones too. */
  count: number;
  readonly requests: NewLoggedRequest[];
}

function createUnwritten() {
  /** By account and environment. */
  let unwritten = new Map<string, RecentRequests>();
  let keptCount = 0;
  return {
    add: (request: NewLoggedRequest): void => {
      const name = `${request.environment} ${request.accountId}`;
      const recent = unwritten.get(name) ?? { count: 0, requests: [] };
      const oldest = recent.requests[recent.count % KEPT_REQUESTS];
      if (!oldest && keptCount >= MAX_NOTED) return;
      recent.count += 1;
      // New objects would live for two seconds, and collecting them costs more.
      if (oldest) return void Object.assign(oldest, request);
      recent.requests.push({ ...request });
      unwritten.set(name, recent);
      keptCount += 1;
    },
    /** Those of each account, oldest first. */
    take: (): (readonly [name: string, requests: NewLoggedRequest[]])[] => {
      const taken = Array.from(unwritten, ([name, recent]) => [name, oldestFirst(recent)] as const);
      unwritten = new Map();
      keptCount = 0;
      return taken;
    },
  };
}

function oldestFirst({ count, requests }: RecentRequests): NewLoggedRequest[] {
  const oldest = count % KEPT_REQUESTS;
  return count <= KEPT_REQUESTS ? requests : [...requests.slice(oldest), ...requests.slice(0, oldest)];
}
