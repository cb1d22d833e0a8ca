/** Everything a worker can run. */
export { purchase } from './purchase.ts';
export { refreshRates, refreshUsage, sweep, syncCatalogue } from './schedules.ts';
