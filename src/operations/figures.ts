/** Figures that could not be read are absent, never old: an alert on absence says that nothing monitors. */
import { Gauge, type Registry } from 'prom-client';
import type { Environment } from '../domain/account.ts';
import type { Overdue } from '../esims/store/due.ts';
import type { Figure } from './store/figures.ts';
import { STUCK_CLASSES, type StuckItem } from './stuck-rules.ts';
import type { KnownAvailability } from './supplier/balance.ts';

/** A figure of the rows, of the open differences, or of the stuck list. */
type Shown = Omit<Figure, 'figure'> & {
  readonly figure:
    | Figure['figure']
    | 'differences'
    | 'overdue'
    | 'overdue-oldest'
    | 'stuck'
    | 'stuck-oldest'
    | 'supplier-balance'
    | 'supplier-hours'
    | 'shortages';
};

interface FigureGauge {
  readonly help: string;
  readonly labels: readonly string[];
  readonly figures: readonly Shown['figure'][];
}

/** A gauge with one label takes the figure's label, one with two also its name. */
const GAUGES: Readonly<Record<string, FigureGauge>> = {
  simway_purchases_open: { help: 'Purchases that have not ended', labels: ['status'], figures: ['open'] },
  simway_money_waiting_minor: {
    help: 'Money held, or on its way back, in minor units',
    labels: ['kind', 'currency'],
    figures: ['held', 'refund'],
  },
  simway_webhook_messages_pending: {
    help: 'Messages to merchants not delivered yet',
    labels: [],
    figures: ['messages'],
  },
  simway_webhook_messages_lag_seconds: {
    help: 'Seconds since the message that is due the longest and that no workflow carries was due, 0 without one',
    labels: [],
    figures: ['messages-lag'],
  },
  simway_notices_unsent: {
    help: 'Notices to owners of accounts not sent yet',
    labels: [],
    figures: ['notices'],
  },
  simway_reconciliation_differences_open: {
    help: 'Differences found and not closed',
    labels: ['kind'],
    figures: ['differences'],
  },
  simway_payment_monitor_lag_seconds: {
    help: 'By how much the reading of the gateway’s list of payments is late',
    labels: [],
    figures: ['monitor-lag'],
  },
  simway_exchange_rate_age_seconds: {
    help: 'Since the newest good rate',
    labels: ['currency'],
    figures: ['rate-age'],
  },
  simway_esims_overdue: {
    help: 'eSIMs that the supplier should have been asked about by now, up to 10,000',
    labels: ['what'],
    figures: ['overdue'],
  },
  simway_esims_overdue_oldest_seconds: {
    help: 'For how long the supplier should have been asked about the eSIM that waits longest',
    labels: ['what'],
    figures: ['overdue-oldest'],
  },
  simway_supplier_balance_usd: {
    help: 'What is left at the supplier, less what is ordered and not charged yet',
    labels: ['supplier'],
    figures: ['supplier-balance'],
  },
  simway_supplier_balance_hours_left: {
    help: 'How long that lasts at the present rate of sale, at most a year',
    labels: ['supplier'],
    figures: ['supplier-hours'],
  },
  simway_package_shortages: {
    help: 'Packages that are not sold, because the supplier has refused them',
    labels: [],
    figures: ['shortages'],
  },
  simway_stuck_items: { help: 'What the stuck list holds', labels: ['class'], figures: ['stuck'] },
  simway_stuck_oldest_seconds: {
    help: 'Age of the oldest stuck item, 0 without one',
    labels: ['class'],
    figures: ['stuck-oldest'],
  },
};

/** Returns a function that takes what one source says of an environment; undefined: it could not be read. */
export function createFigureGauges(registry: Registry) {
  const known = new Map<string, { readonly environment: Environment; readonly shown: readonly Shown[] }>();
  for (const [name, { help, labels, figures }] of Object.entries(GAUGES))
    new Gauge({
      name,
      help,
      labelNames: ['environment', ...labels],
      registers: [registry],
      collect() {
        this.reset();
        for (const { environment, shown } of known.values())
          for (const { figure, label, value } of shown.filter((one) => figures.includes(one.figure))) {
            const values = [figure, label].slice(-labels.length);
            const own = Object.fromEntries(labels.map((key, at) => [key, values[at] ?? '']));
            this.set({ environment, ...own }, value);
          }
      },
    });
  return (environment: Environment, source: 'rows' | 'stuck', shown: readonly Shown[] | undefined): void => {
    const key = `${environment} ${source}`;
    if (shown) known.set(key, { environment, shown });
    else known.delete(key);
  };
}

/** Of the schedule that asks the supplier about eSIMs. */
export function overdueFigures(overdue: readonly Overdue[]): Shown[] {
  return overdue.flatMap(({ what: label, count, oldestSeconds }) => [
    { figure: 'overdue', label, value: count },
    { figure: 'overdue-oldest', label, value: oldestSeconds },
  ]);
}

const HOURS_OF_A_YEAR = 365 * 24;

/** What can be delivered. A balance that was never read is absent. */
export function availabilityFigures({ balances, shortages }: KnownAvailability): Shown[] {
  return [
    ...balances.flatMap(({ supplier: label, availableUsdE4, hours }): Shown[] => [
      { figure: 'supplier-balance', label, value: Number(availableUsdE4) / 10_000 },
      { figure: 'supplier-hours', label, value: Math.min(hours ?? HOURS_OF_A_YEAR, HOURS_OF_A_YEAR) },
    ]),
    { figure: 'shortages', label: '', value: shortages.length },
  ];
}

/** Every class, so that a class without items reads as 0 and a list that could not be read is absent. */
export function stuckFigures(items: readonly StuckItem[]): Shown[] {
  const ages = Map.groupBy(items, (item) => item.class);
  return STUCK_CLASSES.flatMap((label) => {
    const seconds = ages.get(label)?.map((item) => item.ageSeconds) ?? [];
    return [
      { figure: 'stuck', label, value: seconds.length },
      { figure: 'stuck-oldest', label, value: Math.max(0, ...seconds) },
    ];
  });
}
