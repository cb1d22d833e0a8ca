/**
 * Reconciliation, scheduled or requested: one activity, which compares and moves no money. The workflow's id
 * is the run's key, so that a retry in another worker resumes the same run.
 */
import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ReconcileSummary } from '../../src/reconciliation/payment-rules.ts';
import type { OpsActivities, ReconcileInput } from '../contract.ts';

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
