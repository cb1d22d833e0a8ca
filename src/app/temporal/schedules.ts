/** Creates or updates the schedules of one environment when a worker starts. Most then run once at once. */
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import {
  APPLY_INBOX_WORKFLOW,
  OPS_QUEUE,
  RAISE_ALERTS_WORKFLOW,
  RECONCILE_SCHEDULE,
  RECONCILE_WORKFLOW,
  REFRESH_RATES_WORKFLOW,
  REFRESH_USAGE_WORKFLOW,
  SWEEP_JOBS_WORKFLOW,
  SWEEP_WEBHOOKS_WORKFLOW,
  SWEEP_WORKFLOW,
  SYNC_CATALOGUE_WORKFLOW,
  TIDY_WEBHOOKS_WORKFLOW,
  type ReconcileInput,
} from '../../../workflows/contract.ts';
import type { Config } from '../config/config.ts';
import { insist, temporalFailure } from '../../platform/temporal/errors.ts';
import { PayloadUnreadable } from '../../platform/temporal/payload-codec.ts';

/** Runs missed while everything was down are made up for once, not one by one. */
const USUAL = { args: [], catchupWindow: '2m', runsAtStart: true } as const;

/** Throws when Temporal cannot be reached. */
export async function ensureSchedules(
  client: Client,
  intervals: Config['schedules'] & { readonly reconcileMs: number },
): Promise<void> {
  const wanted: [string, number][] = [
    [SYNC_CATALOGUE_WORKFLOW, intervals.syncCatalogueMs],
    [REFRESH_RATES_WORKFLOW, intervals.refreshRatesMs],
    [REFRESH_USAGE_WORKFLOW, intervals.refreshUsageMs],
    [SWEEP_WORKFLOW, intervals.sweepMs],
    [APPLY_INBOX_WORKFLOW, intervals.applyInboxMs],
    [SWEEP_WEBHOOKS_WORKFLOW, intervals.sweepWebhooksMs],
    [SWEEP_JOBS_WORKFLOW, intervals.sweepJobsMs],
    [TIDY_WEBHOOKS_WORKFLOW, intervals.tidyWebhooksMs],
    [RAISE_ALERTS_WORKFLOW, intervals.raiseAlertsMs],
  ];
  await Promise.all([
    ...wanted.map(([workflowType, everyMs]) =>
      insisting(() => ensureSchedule(client, workflowType, everyMs)),
    ),
    insisting(() => ensureSchedule(client, RECONCILE_WORKFLOW, intervals.reconcileMs, RECONCILING)),
  ]);
}

/**
 * Workers that start at once bring the same schedules up to date, and the server turns all but one of them
 * away: for a moment.
 */
const insisting = (ensure: () => Promise<void>): Promise<void> =>
  insist(ensure, {
    mayPass: (error) => temporalFailure(error) === 'unavailable',
    withinMs: 4_000,
    everyMs: 1_000,
  });

/** Not at the start, since it reads days of lists from the vendors. A missed run is made up for. */
const RECONCILING = {
  args: [{ askedBy: RECONCILE_SCHEDULE } satisfies ReconcileInput],
  catchupWindow: '1d',
  runsAtStart: false,
} as const;

async function ensureSchedule(
  client: Client,
  workflowType: string,
  everyMs: number,
  { args, catchupWindow, runsAtStart }: typeof RECONCILING | typeof USUAL = USUAL,
): Promise<void> {
  const scheduleId = `${workflowType}-schedule`;
  const options = {
    spec: { intervals: [{ every: everyMs }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow },
    action: {
      type: 'startWorkflow' as const,
      workflowType,
      taskQueue: OPS_QUEUE,
      workflowId: workflowType,
      args: [...args],
    },
  };
  const handle = client.schedule.getHandle(scheduleId);
  try {
    await client.schedule.create({ scheduleId, ...options });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await handle
      .update(({ state }) => ({ ...options, state }))
      .catch(async (unread: unknown) => {
        if (!(unread instanceof PayloadUnreadable)) throw unread;
        // Its input is sealed with a key that is gone. It is the same each time, so the schedule is made
        // again.
        await handle.delete();
        await client.schedule.create({ scheduleId, ...options });
      });
  }
  if (runsAtStart) await handle.trigger(ScheduleOverlapPolicy.SKIP);
}
