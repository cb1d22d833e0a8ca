import { KEEP_GATEWAY_EVENTS_MS, KEEP_KEYS_MS, KEEP_RATES_MS } from '../src/platform/database/retention.ts';
import { forgetRates } from '../src/catalogue/store/rates.ts';
import { forgetGatewayEvents } from '../src/payments/store/gateway-events.ts';
import { forgetOldKeys } from '../src/platform/idempotency/store.ts';
import type { OpsActivities } from '../workflows/contract.ts';
import type { ActivityDeps } from './deps.ts';
import { findLateMoney } from './payments/late-money.ts';
import { refreshRates } from './catalogue/refresh-rates.ts';
import { claimForUsageRefresh, keepUsage } from '../src/esims/store/esims.ts';
import { syncCatalogue } from './catalogue/sync-catalogue.ts';

/** Well within the activity's two minutes; the search for late payments waits for it. The next run deletes what is left. */
const DELETE_FOR_MS = 45_000;

/** The scheduled jobs. Each may run twice, or at once in two processes, without harm. */
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
    forgetOldKeys: () => deleteOldRows(deps),
  };
}

/** Workflows know this activity as `forgetOldKeys`: at first it deleted nothing else. */
async function deleteOldRows({ db, clock }: ActivityDeps): Promise<string> {
  const now = clock.now().getTime();
  const isOver = () => clock.now().getTime() > now + DELETE_FOR_MS;
  const keys = await forgetOldKeys(db, new Date(now - KEEP_KEYS_MS), isOver);
  const events = await forgetGatewayEvents(db, new Date(now - KEEP_GATEWAY_EVENTS_MS), isOver);
  const rates = await forgetRates(db, new Date(now - KEEP_RATES_MS), isOver);
  return `${keys} keys, ${events} gateway events and ${rates} rates forgotten`;
}

/** The supplier's limit for one call. */
const USAGE_BATCH = 10;

/** 20 calls to the supplier, so that purchases keep most of its 8 requests a second. */
const MAX_USAGE_PER_RUN = 200;

const USAGE_OLDER_THAN_MS = 15 * 60_000;

/** Claims each batch just before its call, so that a run that is cut short leaves the rest to the next run. */
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
