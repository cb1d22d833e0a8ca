/** The schedules of one world, made or brought up to date whenever a worker starts, then run once at once. */
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import {
  APPLY_INBOX_WORKFLOW,
  OPS_QUEUE,
  REFRESH_RATES_WORKFLOW,
  REFRESH_USAGE_WORKFLOW,
  SWEEP_WORKFLOW,
  SYNC_CATALOGUE_WORKFLOW,
} from '../../../workflows/contract.ts';

export interface ScheduleIntervals {
  readonly syncCatalogueMs: number;
  readonly refreshRatesMs: number;
  readonly refreshUsageMs: number;
  readonly sweepMs: number;
  readonly applyInboxMs: number;
}

/** Runs missed while everything was down are made up for once, not one by one. */
const CATCHUP_WINDOW = '2m';

/** Throws when Temporal cannot be reached. */
export async function ensureSchedules(client: Client, intervals: ScheduleIntervals): Promise<void> {
  const wanted: [string, number][] = [
    [SYNC_CATALOGUE_WORKFLOW, intervals.syncCatalogueMs],
    [REFRESH_RATES_WORKFLOW, intervals.refreshRatesMs],
    [REFRESH_USAGE_WORKFLOW, intervals.refreshUsageMs],
    [SWEEP_WORKFLOW, intervals.sweepMs],
    [APPLY_INBOX_WORKFLOW, intervals.applyInboxMs],
  ];
  await Promise.all(wanted.map(([workflowType, everyMs]) => ensureSchedule(client, workflowType, everyMs)));
}

async function ensureSchedule(client: Client, workflowType: string, everyMs: number): Promise<void> {
  const scheduleId = `${workflowType}-schedule`;
  const options = {
    spec: { intervals: [{ every: everyMs }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_WINDOW },
    action: { type: 'startWorkflow', workflowType, taskQueue: OPS_QUEUE, workflowId: workflowType, args: [] },
  } as const;
  const handle = client.schedule.getHandle(scheduleId);
  try {
    await client.schedule.create({ scheduleId, ...options, spec: { intervals: [{ every: everyMs }] } });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await handle.update(({ state }) => ({ ...options, spec: { intervals: [{ every: everyMs }] }, state }));
  }
  await handle.trigger(ScheduleOverlapPolicy.SKIP);
}
