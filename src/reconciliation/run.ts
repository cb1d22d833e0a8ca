import type { FeeTariffs, Rules, Verdict } from './payment-rules.ts';
import type { Events } from '../platform/telemetry/events.ts';
import type { Clock } from '../domain/clock.ts';
import type { EsimSupplier } from '../esims/port.ts';
import type { PaymentGateway } from '../payments/port.ts';
import { keepCompared, type Compared, type FoundDifference } from './store/reconciliation.ts';
import type { Slice } from './store/lines.ts';
import type { WorldDb } from '../platform/database/tables.ts';

export interface ReconcileSettings {
  /** How far a run goes back behind the end of the last one: a payment may come as late as that after it was opened. */
  readonly overlapMs: number;
  /** Younger movements are in flight and no difference. */
  readonly settleMs: number;
  /** Differences are compared once more after this: an event may be in flight for rows without a date. */
  readonly lingerMs: number;
  /** Between two questions to the supplier, so that purchases keep most of its allowance. */
  readonly supplierPauseMs: number;
  readonly fees: FeeTariffs;
}

export interface ReconcileDeps {
  readonly db: WorldDb;
  readonly gateway: PaymentGateway;
  readonly supplier: EsimSupplier;
  readonly clock: Clock;
  readonly events: Pick<Events, 'reconciled'>;
  readonly settings: ReconcileSettings;
}

export interface RunContext extends ReconcileDeps {
  readonly runId: bigint;
  /** Aborted: the run is left where it is. */
  readonly signal: AbortSignal | undefined;
  readonly rules: Rules;
  /** What the other sides are read for: the run's own time with a margin, and where older differences lie. */
  readonly slices: readonly Slice[];
  /** The run's own time, and the part of it that no run has looked at before. */
  readonly own: Slice;
  readonly newFrom: Date;
}

/** Rows that are compared at one time: a few dozen kilobytes, and statements of some milliseconds. */
export const PAGE_ROWS = 500;
/** The clocks of three computers, and a charge that is opened a while after its row. */
export const MARGIN_MS = 3_600_000;
/** More missing entries mean that the other side gave us an incomplete list. */
const MAX_REFUTED = 100;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export function throwIfAborted({ signal }: Pick<RunContext, 'signal'>): void {
  signal?.throwIfAborted();
}

/** A verdict, and where on the other side's time its subject is found again. */
export interface Dated {
  readonly verdict: Verdict;
  readonly from: Date;
  readonly to: Date;
}

export function verdictAt(verdict: Verdict, moments: readonly Date[]): Dated {
  const times = moments.map((at) => at.getTime());
  return { verdict, from: new Date(Math.min(...times)), to: new Date(Math.max(...times)) };
}

/** Compares, and once more after a while where something differs; keeps what it came to. */
export async function keepVerdicts(
  context: RunContext,
  side: Compared['side'],
  compare: () => Promise<readonly Dated[]>,
): Promise<void> {
  const { db, clock, runId, settings } = context;
  throwIfAborted(context);
  let verdicts = await compare();
  if (settings.lingerMs > 0 && verdicts.some(({ verdict }) => verdict.differences.length > 0)) {
    await pause(settings.lingerMs);
    verdicts = await compare();
  }
  await keepCompared(db, {
    runId,
    side,
    now: clock.now(),
    found: verdicts.flatMap(({ verdict, from, to }) =>
      verdict.differences.map((one): FoundDifference => ({ ...one, datedFrom: from, datedTo: to })),
    ),
    clean: subjectsOf(verdicts, (verdict) => !verdict.isUndecided && verdict.differences.length === 0),
    undecided: subjectsOf(verdicts, (verdict) => verdict.isUndecided),
  });
}

function subjectsOf(verdicts: readonly Dated[], which: (verdict: Verdict) => boolean): string[] {
  return verdicts.flatMap(({ verdict }) => (which(verdict) ? [verdict.subject] : []));
}

/** Our own rows are looked through for the run's own time, and for all of the time around older differences. */
export function ownSlices({ slices, own }: Pick<RunContext, 'slices' | 'own'>): Slice[] {
  return slices
    .map((slice) =>
      slice.to <= own.from ? slice : { from: later(slice.from, own.from), to: earlier(slice.to, own.to) },
    )
    .filter((slice) => slice.from < slice.to);
}

export const later = (one: Date, other: Date): Date => (one > other ? one : other);
export const earlier = (one: Date, other: Date): Date => (one < other ? one : other);

/** Counts entries that a list lacked and its side does hold. Throws when they are too many for chance. */
export function createListDoubter(what: string): () => void {
  let refuted = 0;
  return () => {
    refuted += 1;
    if (refuted > MAX_REFUTED)
      throw new Error(`${what} lacks more than ${MAX_REFUTED} of what is there: the list is incomplete`);
  };
}
