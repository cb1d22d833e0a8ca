/** Everything a worker can run. */
export { fundWallet } from './fund-wallet.ts';
export { latePayment } from './late-payment.ts';
export { purchase } from './purchase.ts';
export { applyInbox, refreshRates, refreshUsage, sweep, syncCatalogue } from './schedules.ts';
