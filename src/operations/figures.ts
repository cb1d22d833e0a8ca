/**
 * How things stand, as gauges. Somebody else reads the rows at a slow pace and tells; a scrape costs the database nothing. What could not be
 * read is absent, never old: an alert on absence tells that nobody is looking.
 */
import { Gauge, type Registry } from 'prom-client';
import type { Environment } from '../domain/account.ts';
import { STUCK_CLASSES, type StuckClass } from './stuck-rules.ts';

/** What the rows of one world say. */
export interface WorldFigures {
  /** Purchases that have not ended. */
  readonly open: readonly { readonly status: string; readonly count: number }[];
  /** Money that is neither spent nor back, in minor units. */
  readonly waiting: readonly {
    readonly kind: string;
    readonly currency: string;
    readonly amountMinor: bigint;
  }[];
  /** Messages to merchants that are not delivered yet. */
  readonly messagesPending: number;
  /** Notices to owners of accounts that are not sent yet. */
  readonly noticesUnsent: number;
  /** Differences between our books and a vendor's. */
  readonly differences: readonly { readonly kind: string; readonly count: number }[];
  /** By how much the reading of the gateway's list is late; null where nobody reads it. */
  readonly watchLagSeconds: number | null;
  /** Since when nobody has observed a rate that is sold at. */
  readonly rateAges: readonly { readonly currency: string; readonly seconds: number }[];
}

export interface StuckFigure {
  readonly class: StuckClass;
  readonly ageSeconds: number;
}

export interface FigureGauges {
  /** Undefined: nobody knows how it stands. */
  show(environment: Environment, figures: WorldFigures | undefined): void;
  showStuck(environment: Environment, items: readonly StuckFigure[] | undefined): void;
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface GaugeOf<T> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly samples: (known: T) => readonly Sample[];
}

const OF_ROWS: readonly GaugeOf<WorldFigures>[] = [
  {
    name: 'simway_purchases_open',
    help: 'Purchases that have not ended',
    labels: ['status'],
    samples: ({ open }) => open.map(({ status, count }) => ({ labels: { status }, value: count })),
  },
  {
    name: 'simway_money_waiting_minor',
    help: 'Money held, or on its way back, in minor units',
    labels: ['kind', 'currency'],
    samples: ({ waiting }) =>
      waiting.map(({ kind, currency, amountMinor }) => ({
        labels: { kind, currency },
        value: Number(amountMinor),
      })),
  },
  {
    name: 'simway_webhook_messages_pending',
    help: 'Messages to merchants not delivered yet',
    labels: [],
    samples: ({ messagesPending }) => [{ labels: {}, value: messagesPending }],
  },
  {
    name: 'simway_notices_unsent',
    help: 'Notices to owners of accounts not sent yet',
    labels: [],
    samples: ({ noticesUnsent }) => [{ labels: {}, value: noticesUnsent }],
  },
  {
    name: 'simway_reconciliation_differences_open',
    help: 'Differences found and not closed',
    labels: ['kind'],
    samples: ({ differences }) => differences.map(({ kind, count }) => ({ labels: { kind }, value: count })),
  },
  {
    name: 'simway_payment_watch_lag_seconds',
    help: 'By how much the reading of the gateway’s list of payments is late',
    labels: [],
    samples: ({ watchLagSeconds: lag }) => (lag === null ? [] : [{ labels: {}, value: lag }]),
  },
  {
    name: 'simway_exchange_rate_age_seconds',
    help: 'Since the newest good rate',
    labels: ['currency'],
    samples: ({ rateAges }) =>
      rateAges.map(({ currency, seconds }) => ({ labels: { currency }, value: seconds })),
  },
];

const OF_STUCK: readonly GaugeOf<readonly StuckFigure[]>[] = [
  {
    name: 'simway_stuck_items',
    help: 'What the stuck list holds',
    labels: ['class'],
    samples: (items) => byClass(items, (ages) => ages.length),
  },
  {
    name: 'simway_stuck_oldest_seconds',
    help: 'Age of the oldest stuck item, 0 without one',
    labels: ['class'],
    samples: (items) => byClass(items, (ages) => Math.max(0, ...ages)),
  },
];

export function createFigureGauges(registry: Registry): FigureGauges {
  return { show: gaugesOn(registry, OF_ROWS), showStuck: gaugesOn(registry, OF_STUCK) };
}

/** Registers gauges that tell, at every scrape, what is known of each world by then. */
function gaugesOn<T>(
  registry: Registry,
  gauges: readonly GaugeOf<T>[],
): (environment: Environment, known: T | undefined) => void {
  const worlds = new Map<Environment, T>();
  for (const { name, help, labels, samples } of gauges) {
    new Gauge({
      name,
      help,
      labelNames: ['environment', ...labels],
      registers: [registry],
      collect() {
        this.reset();
        for (const [environment, known] of worlds)
          for (const sample of samples(known)) this.set({ environment, ...sample.labels }, sample.value);
      },
    });
  }
  return (environment, known) => {
    if (known === undefined) worlds.delete(environment);
    else worlds.set(environment, known);
  };
}

/** Every class, so that nothing stuck reads as 0 and a list that nobody could read as absent. */
function byClass(
  items: readonly StuckFigure[],
  valueOf: (agesSeconds: readonly number[]) => number,
): readonly Sample[] {
  const ages = Map.groupBy(items, (item) => item.class);
  return STUCK_CLASSES.map((stuckClass) => ({
    labels: { class: stuckClass },
    value: valueOf((ages.get(stuckClass) ?? []).map(({ ageSeconds }) => ageSeconds)),
  }));
}
