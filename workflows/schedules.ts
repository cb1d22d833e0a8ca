import { proxyActivities } from '@temporalio/workflow';
import type { OpsActivities } from './contract.ts';
import { disableFailing, handOverDue, sendNotices } from './webhooks/steps.ts';

const ops = proxyActivities<OpsActivities>({
  startToCloseTimeout: '2m',
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts: 5 },
});

/** Each answers with one line for the Temporal UI. */
export const syncCatalogue = (): Promise<string> => ops.syncCatalogue({ unlessSyncedWithinMs: 0 });
export const refreshRates = (): Promise<string> => ops.refreshRates();
export const refreshUsage = (): Promise<string> => ops.refreshUsage();
export const tidyWebhooks = (): Promise<string> => ops.tidyWebhooks();
export const applyInbox = (): Promise<string> => ops.applyInbox();

/**
 * Starts deliveries that a crash or an outage left behind, disables failing endpoints, and e-mails their
 * owners.
 */
export async function sweepWebhooks(): Promise<string> {
  return [await handOverDue(), await disableFailing(), await sendNotices()].join('; ');
}

/**
 * Deletes old rows, and has late money and what is stuck checked. The activity wakes the workflows, so this
 * history stays small.
 */
export async function sweep(): Promise<string> {
  return [await ops.forgetOldKeys(), await ops.followLateMoney()].join('; ');
}
