/** The scheduled chores: catalogue, exchange rates, usage, old keys. Each may run twice or at once in two processes without harm. */
import { ApplicationFailure } from '@temporalio/activity';
import {
  KEEP_GATEWAY_EVENTS_MS,
  KEEP_KEYS_MS,
  KEEP_RATES_MS,
} from '../src/platform/database/retention-periods.ts';
import { SupplierUnavailable } from '../src/catalogue/port.ts';
import { countPackages, replaceCatalogue } from '../src/catalogue/store/catalogue.ts';
import { keepUsage, claimForUsageRefresh } from '../src/esims/store/esims.ts';
import { forgetOldKeys } from '../src/platform/idempotency/store.ts';
import { forgetGatewayEvents, forgetRates } from '../src/platform/database/retention.ts';
import type { OpsActivities } from '../workflows/contract.ts';
import type { ActivityDeps } from './deps.ts';
import { findLateMoney } from './payments/late-money.ts';
import { refreshRates } from './catalogue/refresh-rates.ts';

/** A catalogue that lost more than half of its packages at once is a broken answer, not a withdrawal. */
const SMALLEST_SHARE = 2;
/** The supplier answers usage for ten eSIMs a call. */
const USAGE_BATCH = 10;
/** Per run: 20 calls to the supplier, so that purchases keep most of its 8 requests a second. */
const MAX_USAGE_PER_RUN = 200;
const USAGE_OLDER_THAN_MS = 15 * 60_000;
/** Well within the activity's two minutes, and money that came late waits for this to end. What is left is the next run's. */
const FORGETS_FOR_MS = 45_000;

export function createOpsActivities(
  deps: ActivityDeps,
): Omit<OpsActivities, 'reconcile' | 'handOverDue' | 'disableFailing' | 'sendNotices' | 'tidyWebhooks'> {
  const { clock } = deps;
  let syncedAtMs = 0;
  return {
    syncCatalogue: async ({ unlessSyncedWithinMs }) => {
      if (clock.now().getTime() - syncedAtMs < unlessSyncedWithinMs) return 'synced a moment ago';
      const line = await syncCatalogue(deps);
      syncedAtMs = clock.now().getTime();
      return line;
    },
    refreshRates: () => refreshRates(deps),
    refreshUsage: () => refreshUsage(deps),
    findLateMoney: () => findLateMoney(deps),
    applyInbox: async () => `${await deps.applyInbox()} gateway events applied`,
    forgetOldKeys: () => forgetOld(deps),
  };
}

/** Its name in workflows is that of the first thing it forgot. */
async function forgetOld({ db, clock }: ActivityDeps): Promise<string> {
  const now = clock.now().getTime();
  const isOver = () => clock.now().getTime() > now + FORGETS_FOR_MS;
  const keys = await forgetOldKeys(db, new Date(now - KEEP_KEYS_MS), isOver);
  const events = await forgetGatewayEvents(db, new Date(now - KEEP_GATEWAY_EVENTS_MS), isOver);
  const rates = await forgetRates(db, new Date(now - KEEP_RATES_MS), isOver);
  return `${keys} keys, ${events} gateway events and ${rates} rates forgotten`;
}

/** Each batch is taken when it is its turn, so that a run which is cut short leaves the rest to the next one. */
async function refreshUsage({ db, supplier, clock }: ActivityDeps): Promise<string> {
  const before = new Date(clock.now().getTime() - USAGE_OLDER_THAN_MS);
  let asked = 0;
  while (asked < MAX_USAGE_PER_RUN) {
    const esimTranNos = await claimForUsageRefresh(db, { before, now: clock.now(), limit: USAGE_BATCH });
    if (esimTranNos.length === 0) break;
    await keepUsage(db, await supplier.usage(esimTranNos));
    asked += esimTranNos.length;
  }
  return `${asked} eSIMs looked up`;
}

async function syncCatalogue({ db, supplier, clock, events }: ActivityDeps): Promise<string> {
  const startedAt = clock.now();
  const catalogue = await supplier.catalogue().catch((error: unknown) => {
    if (error instanceof SupplierUnavailable && !error.retryable) {
      throw ApplicationFailure.nonRetryable(error.message, error.name);
    }
    throw error;
  });
  const known = await countPackages(db);
  if (catalogue.packages.length * SMALLEST_SHARE < known || catalogue.packages.length === 0) {
    const reason = `the supplier lists ${catalogue.packages.length} packages where ${known} were on sale`;
    events.catalogueSyncRefused({ reason });
    throw ApplicationFailure.nonRetryable(reason, 'CatalogueTooSmall');
  }
  const change = await replaceCatalogue(db, catalogue, startedAt);
  events.catalogueSynced({
    regions: catalogue.regions.length,
    packages: catalogue.packages.length,
    ...change,
    ms: clock.now().getTime() - startedAt.getTime(),
  });
  return `${catalogue.packages.length} packages in ${catalogue.regions.length} regions; ${change.added} new, ${change.repriced} repriced, ${change.changed} changed, ${change.withdrawn} withdrawn`;
}
