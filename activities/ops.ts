import { KEEP_GATEWAY_EVENTS_MS, KEEP_KEYS_MS, KEEP_RATES_MS } from '../src/platform/database/retention.ts';
import { forgetRates } from '../src/catalogue/store/rates.ts';
import { forgetGatewayEvents } from '../src/payments/store/gateway-events.ts';
import { forgetOldKeys } from '../src/platform/idempotency/store.ts';
import type { OpsActivities } from '../workflows/contract.ts';
import type { ActivityDeps } from './deps.ts';
import { findLateMoney } from './payments/late-money.ts';
import { refreshRates } from './catalogue/refresh-rates.ts';
import { refreshUsage } from './esims/refresh-usage.ts';
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
