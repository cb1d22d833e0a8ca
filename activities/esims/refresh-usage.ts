import type { ActivityDeps } from '../deps.ts';
import { claimForUsageRefresh, keepUsage } from '../../src/esims/store/esims.ts';

/** The supplier's limit for one call. */
const USAGE_BATCH = 10;

/** 20 calls to the supplier, so that purchases keep most of its 8 requests a second. */
const MAX_USAGE_PER_RUN = 200;

const USAGE_OLDER_THAN_MS = 15 * 60_000;

/** Claims each batch just before its call, so that a run that is cut short leaves the rest to the next run. */
export async function refreshUsage({ db, supplier, clock }: ActivityDeps): Promise<string> {
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
