/**
 * Reconciliation, by schedule or because somebody asked: one activity that compares and moves no money. Its workflow's id is the run's key, so
 * that another try, in another worker, takes the same run up where it was left.
 */
import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ReconcileSummary } from '../../src/reconciliation/payment-rules.ts';
import type { OpsActivities, ReconcileInput } from '../contract.ts';

/** The supplier is asked slowly, and a first run looks at everything that ever happened. */
const LONGEST = '12h';
/** The activity beats every second. */
const NO_SIGN_OF_LIFE = '30s';

const { reconcile: compare } = proxyActivities<OpsActivities>({
  startToCloseTimeout: LONGEST,
  heartbeatTimeout: NO_SIGN_OF_LIFE,
  // An hour and a half of trying: then it has failed, for everybody to see, and the next run begins where the last finished one ended.
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '10m', maximumAttempts: 15 },
  summary: 'Compare our books with the gateway and the supplier',
});

export async function reconcile(input: ReconcileInput): Promise<ReconcileSummary | null> {
  const summary = await compare({ ...input, runKey: workflowInfo().workflowId });
  setCurrentDetails(tell(summary));
  return summary;
}

function tell(summary: ReconcileSummary | null): string {
  if (summary === null) return 'Nothing has happened yet that could be compared.';
  const open = summary.open.map(({ kind, count }) => `${count} ${kind}`).join(', ');
  return `${summary.opened} differences opened, ${summary.closed} closed. Open: ${open === '' ? 'none' : open}.`;
}
