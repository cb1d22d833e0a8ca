/**
 * Recent requests of each account, for its developers. Requests are only noted in memory and written together every few seconds: no request waits for
 * it, and a crash loses the last seconds. What is kept is bounded: the last 1,000 of an account in each environment, 7 days.
 */
import type { Environment } from '../../domain/account.ts';
import { DAY_MS } from '../../domain/clock.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { startPoller, type Poller } from '../../platform/poller.ts';
import {
  deleteOldRequests,
  insertRequests,
  keepNewestRequests,
  type NewLoggedRequest,
} from '../store/request-log.ts';

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
  const noted = createNoted();
  /** How many this process has written for each account since it last deleted. */
  const written = new Map<string, { accountId: string; environment: Environment; count: number }>();
  const pollers: Poller[] = [];

  const write = async (): Promise<void> => {
    const batch = noted.take();
    if (batch.length === 0) return;
    // What fails to be written is lost: it must not pile up while Postgres is away.
    await insertRequests(db, batch.flat());
    for (const newest of batch) {
      const [first] = newest;
      if (!first) continue;
      const { accountId, environment } = first;
      const name = `${environment} ${accountId}`;
      const count = (written.get(name)?.count ?? 0) + newest.length;
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
    note: noted.note,
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

/** The newest of an account in one environment, and how many it made. Once all places are taken, the next one takes that of the oldest. */
interface Newest {
  count: number;
  readonly requests: NewLoggedRequest[];
}

type ByAccount = Map<string, Newest>;

/** Requests that are not written yet. */
function createNoted() {
  let noted: Readonly<Record<Environment, ByAccount>> = { live: new Map(), test: new Map() };
  let notedCount = 0;

  const newestOf = ({ environment, accountId }: NewLoggedRequest): Newest => {
    const known = noted[environment].get(accountId);
    if (known) return known;
    const first = { count: 0, requests: [] };
    noted[environment].set(accountId, first);
    return first;
  };

  return {
    note: (request: NewLoggedRequest): void => {
      const newest = newestOf(request);
      const oldest = newest.requests[newest.count % KEPT_REQUESTS];
      if (!oldest && notedCount >= MOST_NOTED) return;
      newest.count += 1;
      // In place of the oldest, which is not written: a flood of new objects would be kept just long enough to be costly to collect.
      if (oldest) {
        Object.assign(oldest, request);
        return;
      }
      newest.requests.push({ ...request });
      notedCount += 1;
    },
    /** Those of each account, oldest first. */
    take: (): NewLoggedRequest[][] => {
      const taken = [...noted.live.values(), ...noted.test.values()].map(oldestFirst);
      noted = { live: new Map(), test: new Map() };
      notedCount = 0;
      return taken;
    },
  };
}

function oldestFirst({ count, requests }: Newest): NewLoggedRequest[] {
  const oldest = count % KEPT_REQUESTS;
  return count <= KEPT_REQUESTS ? requests : [...requests.slice(oldest), ...requests.slice(0, oldest)];
}
