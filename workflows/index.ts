/** Everything a worker can run. */
export { afterClosing } from './payments/after-closing.ts';
export { batchRepair } from './operations/batch-repair.ts';
export { batch, sweepBatches } from './purchases/batch.ts';
export { deliverWebhook } from './webhooks/deliver-webhook.ts';
export { fundWallet } from './payments/fund-wallet.ts';
export { purchase } from './purchases/purchase.ts';
export { reconcile } from './reconciliation/reconcile.ts';
export {
  applyInbox,
  refreshRates,
  refreshUsage,
  sweep,
  sweepWebhooks,
  syncCatalogue,
  tidyWebhooks,
} from './schedules.ts';
