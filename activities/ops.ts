/** The scheduled chores: catalogue, exchange rates, usage, old keys. Each may run twice or at once in two processes without harm. */
import { ApplicationFailure } from '@temporalio/activity';
import { SupplierUnavailable } from '../src/ports/esim-supplier.ts';
import { countPackages, replaceCatalogue } from '../src/store/catalogue.ts';
import { findUnseenEsims, keepUsage } from '../src/store/esims.ts';
import { forgetOldKeys } from '../src/store/idempotency.ts';
import type { OpsActivities } from '../workflows/contract.ts';
import type { ActivityDeps } from './deps.ts';
import { findLateMoney } from './late-money.ts';
import { refreshRates } from './refresh-rates.ts';

/** A catalogue that lost more than half of its packages at once is a broken answer, not a withdrawal. */
const SMALLEST_SHARE = 2;
/** The supplier answers usage for ten eSIMs a call. */
const USAGE_BATCH = 10;
/** Per run: 20 calls to the supplier, so that purchases keep most of its 8 requests a second. */
const MAX_USAGE_PER_RUN = 200;
const USAGE_OLDER_THAN_MS = 15 * 60_000;
/** decisions.md: answers are kept 30 days. */
const KEEP_KEYS_MS = 30 * 24 * 3_600_000;

export function createOpsActivities(
  deps: ActivityDeps,
): Omit<OpsActivities, 'reconcile' | 'handOverDue' | 'disableFailing' | 'sendNotices' | 'tidyWebhooks'> {
  const { db, supplier, clock } = deps;
  let syncedAtMs = 0;
  return {
    syncCatalogue: async ({ unlessSyncedWithinMs }) => {
      if (clock.now().getTime() - syncedAtMs < unlessSyncedWithinMs) return 'synced a moment ago';
      const line = await syncCatalogue(deps);
      syncedAtMs = clock.now().getTime();
      return line;
    },
    refreshRates: () => refreshRates(deps),
    refreshUsage: async () => {
      const before = new Date(clock.now().getTime() - USAGE_OLDER_THAN_MS);
      const rows = await findUnseenEsims(db, { before, limit: MAX_USAGE_PER_RUN });
      for (let from = 0; from < rows.length; from += USAGE_BATCH) {
        const batch = rows.slice(from, from + USAGE_BATCH);
        await keepUsage(db, await supplier.usage(batch.map((row) => row.esim_tran_no)));
      }
      return `${rows.length} eSIMs looked up`;
    },
    findLateMoney: () => findLateMoney(deps),
    applyInbox: async () => `${await deps.applyInbox()} gateway events applied`,
    forgetOldKeys: async () => {
      const forgotten = await forgetOldKeys(db, new Date(clock.now().getTime() - KEEP_KEYS_MS));
      return `${forgotten} keys forgotten`;
    },
  };
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
