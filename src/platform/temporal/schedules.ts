/** The schedules of one world, made or brought up to date whenever a worker starts; most then run once at once. */
import {
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  ServiceError,
  type Client,
} from '@temporalio/client';
import {
  APPLY_INBOX_WORKFLOW,
  OPS_QUEUE,
  RECONCILE_WORKFLOW,
  REFRESH_RATES_WORKFLOW,
  REFRESH_USAGE_WORKFLOW,
  SWEEP_WEBHOOKS_WORKFLOW,
  SWEEP_WORKFLOW,
  SYNC_CATALOGUE_WORKFLOW,
  TIDY_WEBHOOKS_WORKFLOW,
  type ReconcileInput,
} from '../../../workflows/contract.ts';

export interface ScheduleIntervals {
  readonly syncCatalogueMs: number;
  readonly refreshRatesMs: number;
  readonly refreshUsageMs: number;
  readonly sweepMs: number;
  readonly applyInboxMs: number;
  readonly sweepWebhooksMs: number;
  readonly tidyWebhooksMs: number;
  readonly reconcileMs: number;
}

/** Runs missed while everything was down are made up for once, not one by one. */
const CATCHUP_WINDOW = '2m';

/** Workers that start at once bring the same schedules up to date, and the server turns all but one of them away: for a moment. */
const TRIES = 5;
const TRY_AGAIN_MS = 1_000;

/** Throws when Temporal cannot be reached. */
export async function ensureSchedules(client: Client, intervals: ScheduleIntervals): Promise<void> {
  const wanted: [string, number][] = [
    [SYNC_CATALOGUE_WORKFLOW, intervals.syncCatalogueMs],
    [REFRESH_RATES_WORKFLOW, intervals.refreshRatesMs],
    [REFRESH_USAGE_WORKFLOW, intervals.refreshUsageMs],
    [SWEEP_WORKFLOW, intervals.sweepMs],
    [APPLY_INBOX_WORKFLOW, intervals.applyInboxMs],
    [SWEEP_WEBHOOKS_WORKFLOW, intervals.sweepWebhooksMs],
    [TIDY_WEBHOOKS_WORKFLOW, intervals.tidyWebhooksMs],
  ];
  await Promise.all([
    ...wanted.map(([workflowType, everyMs]) =>
      insisting(() => ensureSchedule(client, workflowType, everyMs)),
    ),
    insisting(() => ensureSchedule(client, RECONCILE_WORKFLOW, intervals.reconcileMs, RECONCILING)),
  ]);
}

async function insisting(ensure: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await ensure();
      return;
    } catch (error) {
      const mayPass = error instanceof ServiceError || isGrpcServiceError(error);
      if (!mayPass || tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
}

/** What is not as usual about a schedule. */
interface Unusual {
  readonly args: readonly unknown[];
  readonly catchupWindow: string;
  readonly runsAtStart: boolean;
}

/** Only when its time comes, since it asks vendors for days of lists; a day's run that was missed is made up for. */
const RECONCILING: Unusual = {
  args: [{ askedBy: 'the schedule' } satisfies ReconcileInput],
  catchupWindow: '1d',
  runsAtStart: false,
};

async function ensureSchedule(
  client: Client,
  workflowType: string,
  everyMs: number,
  { args, catchupWindow, runsAtStart }: Unusual = {
    args: [],
    catchupWindow: CATCHUP_WINDOW,
    runsAtStart: true,
  },
): Promise<void> {
  const scheduleId = `${workflowType}-schedule`;
  const options = {
    spec: { intervals: [{ every: everyMs }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow },
    action: {
      type: 'startWorkflow',
      workflowType,
      taskQueue: OPS_QUEUE,
      workflowId: workflowType,
      args: [...args],
    },
  } as const;
  const handle = client.schedule.getHandle(scheduleId);
  try {
    await client.schedule.create({ scheduleId, ...options, spec: { intervals: [{ every: everyMs }] } });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await handle.update(({ state }) => ({ ...options, spec: { intervals: [{ every: everyMs }] }, state }));
  }
  if (runsAtStart) await handle.trigger(ScheduleOverlapPolicy.SKIP);
}
