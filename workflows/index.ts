/** Everything a worker can run. */
export { afterClosing } from './payments/after-closing.ts';
export { deliverWebhook } from './webhooks/deliver-webhook.ts';
export { fundWallet } from './payments/fund-wallet.ts';
export { purchase } from './purchases/purchase.ts';
export { replaceEsim } from './purchases/replace-esim.ts';
export { returnEsim } from './purchases/return-esim.ts';
export { reconcile } from './schedules.ts';
export { runJob, sweepJobs } from './run-job.ts';
export {
  applyInbox,
  raiseAlerts,
  refreshRates,
  refreshUsage,
  sweep,
  sweepWebhooks,
  syncCatalogue,
  tidyWebhooks,
} from './schedules.ts';
