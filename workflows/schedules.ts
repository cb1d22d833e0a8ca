/** The scheduled stories, one activity each: what to do and how often is decided where the schedules are made. */
import { proxyActivities } from '@temporalio/workflow';
import type { OpsActivities } from './contract.ts';

const {
  syncCatalogue: sync,
  refreshRates: rates,
  refreshUsage: usage,
  forgetOldKeys,
} = proxyActivities<OpsActivities>({
  startToCloseTimeout: '2m',
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts: 5 },
});

/** Takes over the supplier's catalogue. Each answers with one line for the Temporal UI. */
export const syncCatalogue = (): Promise<string> => sync({ unlessSyncedWithinMs: 0 });

/** Observes exchange rates from every source that is switched on. */
export const refreshRates = (): Promise<string> => rates();

/** Looks up the usage of eSIMs in use. */
export const refreshUsage = (): Promise<string> => usage();

/** Forgets Idempotency-Keys older than promised. */
export const sweep = (): Promise<string> => forgetOldKeys();
