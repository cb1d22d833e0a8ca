/** Everything a worker can run. */
export { afterClosing } from './after-closing.ts';
export { latePayment, repair } from './closed-before.ts';
export { deliverWebhook } from './deliver-webhook.ts';
export { fundWallet } from './fund-wallet.ts';
export { purchase } from './purchase.ts';
export { reconcile } from './reconcile.ts';
export {
  applyInbox,
  refreshRates,
  refreshUsage,
  sweep,
  sweepWebhooks,
  syncCatalogue,
  tidyWebhooks,
} from './schedules.ts';
