/** Everything a worker can run. */
export { deliverWebhook } from './deliver-webhook.ts';
export { fundWallet } from './fund-wallet.ts';
export { latePayment } from './late-payment.ts';
export { purchase } from './purchase.ts';
export { reconcile } from './reconcile.ts';
export { repair } from './repair.ts';
export {
  applyInbox,
  refreshRates,
  refreshUsage,
  sweep,
  sweepWebhooks,
  syncCatalogue,
  tidyWebhooks,
} from './schedules.ts';
