/** Carries out a batch repair that a second person has approved. It only sets the pace: its rows say what is left, so it may be started again at any time. */
import { proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import { OPS_QUEUE, type BatchRepairInput, type OpsActivities } from '../contract.ts';
import { continueAsNewIfSuggested, fromRows } from '../continue-as-new.ts';

/** A run begins rows for 10 s; the last of them take a minute and a half at most. Rows say what is left, so it is retried for as long as it takes. */
const { carryOutBatchRepair } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '3m',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  summary: 'Take the action on the rows that are left',
});

export const batchRepair = (input: BatchRepairInput): Promise<string> =>
  fromRows(input, async () => {
    for (;;) {
      const step = await carryOutBatchRepair(input.repairId);
      setCurrentDetails(step.line);
      if (step.waitMs === null) return step.line;
      await sleep(step.waitMs, { summary: 'before the next check' });
      continueAsNewIfSuggested();
    }
  });
