import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ReconcileSummary } from '../src/reconciliation/payment-rules.ts';
import type { OpsActivities, ReconcileInput } from './contract.ts';
import { disableFailing, sendNotices, takeBackOverdue } from './webhooks/deliver-webhook.ts';

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
 * Takes back messages whose workflows a crash or an outage has lost, disables failing endpoints, and e-mails
 * their owners.
 */
export async function sweepWebhooks(): Promise<string> {
  return [await takeBackOverdue(), await disableFailing(), await sendNotices()].join('; ');
}

/**
 * Deletes old rows, and has late money and what is stuck checked. The activity wakes the workflows, so this
 * history stays small.
 */
export async function sweep(): Promise<string> {
  return [await ops.forgetOldKeys(), await ops.followLateMoney()].join('; ');
}

/** Before it is judged, the balance is read; an alert is sent in the minute in which it is raised. */
export async function raiseAlerts(): Promise<string> {
  return [await ops.checkBalance(), await ops.raiseAlerts(), await ops.sendAlerts()].join('; ');
}

const { reconcile: compare } = proxyActivities<OpsActivities>({
  // The supplier is asked slowly, and the first run compares everything that ever happened.
  startToCloseTimeout: '12h',
  // The activity beats every second.
  heartbeatTimeout: '30s',
  // About an hour and a half. After that the workflow fails, and the next run starts where the last finished
  // one ended.
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '10m', maximumAttempts: 15 },
  summary: 'Compare our books with the gateway and the supplier',
});

/**
 * Reconciliation, scheduled or requested: one activity, which compares and moves no money. The workflow's id
 * is the run's key, so that a retry in another worker resumes the same run.
 */
export async function reconcile(input: ReconcileInput): Promise<ReconcileSummary | null> {
  const summary = await compare({ ...input, runKey: workflowInfo().workflowId });
  setCurrentDetails(describe(summary));
  return summary;
}

function describe(summary: ReconcileSummary | null): string {
  if (summary === null) return 'Nothing has happened yet that could be compared.';
  const open = summary.open.map(({ kind, count }) => `${count} ${kind}`).join(', ');
  return `${summary.opened} differences opened, ${summary.closed} closed. Open: ${open === '' ? 'none' : open}.`;
}
