/**
 * What all processes share through Redis: request limits and the paces of vendors; or per process without it.
 * Nothing that is sold is read from it.
 */
import { LRUCache } from 'lru-cache';
import type { Environment } from '../../domain/account.ts';
import type { Config, Secrets, WorldConfig } from '../config/config.ts';
import type { ReadinessCheck } from '../../platform/http/admin.ts';
import type { Pacer } from '../../platform/rate-limiter.ts';
import { createRedis } from '../../platform/redis/connection.ts';
import {
  createEndingPacer,
  createInProcessPacer,
  createPartPacer,
  createRedisPacer,
  createUnlimitedPacer,
} from '../../platform/redis/pacer.ts';
import { createRedisRateLimiter, createInProcessRateLimiter } from '../../platform/redis/rate-limiter.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';

/**
 * The gateway names no limit of its own. Reading its list for 100,000 payments and 300,000 checkouts a day
 * takes 1.6 a second (docs/CAPACITY.md).
 */
const MONITOR_REQUESTS_PER_SECOND = 4;

/**
 * What reads of the supplier may take of its allowance, so that purchases have the rest: a page that is read
 * often shows what was known before, but an order cannot be answered from stored data.
 */
const READS_PART = 2 / 8;
/** Of the same allowance, inside the part of reads: schedules and reconciliation. */
const BACKGROUND_PART = 1 / 8;
/**
 * Of the same, also inside the part of reads: operators' checks. One person may ask for more of them a second
 * than the supplier takes.
 */
const CHECKS_PART = 1 / 8;

/**
 * Purchases that all batches may begin, a second, for each request of the supplier's allowance: a purchase
 * takes two requests where all goes well, so batches take half of it and leave half to those who wait for
 * their answer.
 */
const BATCH_PART = 1 / 4;
/** The same for the batches of one account: its buyers have more than half of its orders. */
const ONE_ACCOUNTS_BATCH_PART = 1 / 8;

/**
 * Effects for one account a second (orders, top-ups, cancellations, revocations), for each request of the
 * supplier's allowance, and as many questions about its orders and eSIMs: together five eighths of it. What
 * is left is enough for another account's purchase.
 */
const ONE_ACCOUNTS_PART = 5 / 16;

/** What the requests for one account may take of the gateway's bound, and what reconciliation may. */
const ONE_ACCOUNTS_PAYMENTS_PART = 1 / 4;
const RECONCILIATION_PART = 1 / 4;
/** A pacer is a few hundred bytes. One that is forgotten has been idle for longer than its window. */
const MAX_ACCOUNT_PACERS = 10_000;

/** How long readiness waits for Redis to answer. */
const CHECK_WITHIN_MS = 200;

const UNLIMITED = createUnlimitedPacer();

interface Paced {
  readonly requestsPerSecond: number;
  /** The part of the pace that each process takes while Redis is away. */
  readonly shareWithoutRedis: number;
}

/** undefined: there is no limit. */
function pacedOf(vendor: {
  readonly requestsPerSecond: number | null;
  readonly shareWithoutRedis: number;
}): Paced | undefined {
  const { requestsPerSecond, shareWithoutRedis } = vendor;
  return requestsPerSecond === null ? undefined : { requestsPerSecond, shareWithoutRedis };
}

/** `share`: the part of the pace that this process takes while Redis is away. */
const pacerFactory =
  (redis: ReturnType<typeof createRedis> | undefined, namespacePrefix: string) =>
  (name: string, requestsPerSecond: number, share = 1, isSteady = false): Pacer => {
    if (!redis) return createInProcessPacer({ requestsPerSecond, isSteady });
    const withoutRedis = createInProcessPacer({ requestsPerSecond: requestsPerSecond * share, isSteady });
    return createRedisPacer({
      redis,
      // What is kept for a steady pace has another form.
      key: `${namespacePrefix}:${isSteady ? 'steady-pace' : 'pace'}:${name}`,
      requestsPerSecond,
      isSteady,
      withoutRedis,
    });
  };

/** Parts of a pace. */
function partsOf(pacer: ReturnType<typeof pacerFactory>) {
  /** `part` of the pace, for work that must leave the rest to others. */
  const partOf = (
    whole: Pacer,
    name: string,
    { requestsPerSecond, shareWithoutRedis }: Paced,
    part: number,
    isSteady = false,
  ) => createPartPacer({ part: pacer(name, requestsPerSecond * part, shareWithoutRedis, isSteady), whole });
  /** The same part for each account, at a steady pace. */
  const partOfAccounts = (whole: Pacer, name: string, paced: Paced, part: number) => {
    const accounts = new LRUCache<string, Pacer>({
      max: MAX_ACCOUNT_PACERS,
      memoMethod: (accountId) => partOf(whole, `${name}:${accountId}`, paced, part, true),
    });
    return (accountId: string): Pacer => accounts.memo(accountId);
  };
  return { partOf, partOfAccounts };
}

export type RedisServices = ReturnType<typeof composeRedisServices>;

export function composeRedisServices(
  { namespacePrefix }: Config,
  { redisUrl: url }: Secrets,
  logger: Logger,
) {
  const log = logger.child({ part: 'redis' });
  const redis = url === undefined ? undefined : createRedis({ url, logger: log });
  const pacer = pacerFactory(redis, namespacePrefix);
  const backgroundEnds = new AbortController();
  const inBackground = (whole: Pacer): Pacer => createEndingPacer(whole, backgroundEnds.signal);
  const { partOf, partOfAccounts } = partsOf(pacer);
  return {
    rateLimiter: redis
      ? createRedisRateLimiter({ redis, keyPrefix: `${namespacePrefix}:limit:` })
      : createInProcessRateLimiter(),
    /** A supplier's allowance by kind of work. All accounts together may take the whole. */
    supplierPacers: (
      supplierName: string,
      { environment, supplier }: WorldConfig,
      counted = (whole: Pacer): Pacer => whole,
    ) => {
      const paced = pacedOf(supplier);
      if (!paced) {
        const background = inBackground(UNLIMITED);
        const ofAccount = (): Pacer => UNLIMITED;
        const accounts = { effectsOf: ofAccount, questionsOf: ofAccount };
        return { orders: UNLIMITED, ...accounts, reads: UNLIMITED, background, checks: UNLIMITED };
      }
      const name = `${environment}:supplier-${supplierName}`;
      const orders = pacer(name, paced.requestsPerSecond, paced.shareWithoutRedis);
      const reads = partOf(orders, `${name}-reads`, paced, READS_PART);
      const inReads = (work: string, part: number) => partOf(reads, `${name}-${work}`, paced, part);
      const background = inBackground(inReads('background', BACKGROUND_PART));
      // Counted by itself: an alert is raised when the whole is used up, not when one account's part is.
      const whole = counted(orders);
      const effectsOf = partOfAccounts(whole, `${name}-effects`, paced, ONE_ACCOUNTS_PART);
      const questionsOf = partOfAccounts(whole, `${name}-questions`, paced, ONE_ACCOUNTS_PART);
      return { orders, effectsOf, questionsOf, reads, background, checks: inReads('checks', CHECKS_PART) };
    },
    /** What an account's batches may begin; a purchase of theirs takes its requests from those of orders. */
    batchPacer: ({ environment, supplier }: WorldConfig): ((accountId: string) => Pacer) => {
      const paced = pacedOf(supplier);
      if (!paced) return () => UNLIMITED;
      const { requestsPerSecond, shareWithoutRedis } = paced;
      const name = `${environment}:batches`;
      const all = pacer(name, requestsPerSecond * BATCH_PART, shareWithoutRedis);
      return partOfAccounts(all, name, paced, ONE_ACCOUNTS_BATCH_PART);
    },
    /** The bound on what we send to a gateway, and the parts of it. */
    gatewayPacers: (gatewayName: string, { environment, gateway }: WorldConfig) => {
      const paced = gateway && pacedOf(gateway);
      if (!paced) return { all: UNLIMITED, account: () => UNLIMITED, reconciliation: UNLIMITED };
      const name = `${environment}:gateway-${gatewayName}`;
      const all = pacer(name, paced.requestsPerSecond, paced.shareWithoutRedis);
      return {
        all,
        account: partOfAccounts(all, name, paced, ONE_ACCOUNTS_PAYMENTS_PART),
        reconciliation: partOf(all, `${name}-reconciliation`, paced, RECONCILIATION_PART),
      };
    },
    /** How often the payment monitor may call a gateway, all processes together. */
    monitorPacerFor: (gatewayName: string, environment: Environment) =>
      pacer(`${environment}:gateway-${gatewayName}-monitor`, MONITOR_REQUESTS_PER_SECOND),
    /** Never fails readiness: everything continues without Redis. */
    check: async (): Promise<ReadinessCheck> => {
      if (await redis?.isReady(CHECK_WITHIN_MS)) return { name: 'redis', ok: true };
      const why = redis ? (redis.problem() ?? 'not reachable') : 'not configured';
      return { name: 'redis', ok: true, detail: `${why}, limits are per process` };
    },
    /**
     * Call it first when a process stops: background work that waits for a slot gives up, and other processes
     * continue with it.
     */
    endBackground: (): void => backgroundEnds.abort(),
    close: (): Promise<void> => Promise.resolve(redis?.close()),
  };
}
