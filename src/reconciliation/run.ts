/** What both halves of a run share. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';
import type { EsimSupplier } from '../esims/port.ts';
import type { PaymentGateway } from '../payments/port.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { Events } from '../platform/telemetry/events.ts';
import type { FeeTariffs, Rules, Verdict } from './payment-rules.ts';
import {
  keepLines,
  nextReferences,
  type NewLine,
  type Side,
  type Slice,
  type Unlisted,
} from './store/lines.ts';
import { keepCompared } from './store/reconciliation.ts';

export interface ReconcileDeps {
  readonly db: WorldDb;
  readonly gateway: PaymentGateway;
  readonly supplier: EsimSupplier;
  readonly clock: Clock;
  readonly events: Pick<Events, 'reconciled' | 'unverifiedRequest'>;
  readonly settings: {
    /** A run starts this long before the end of the last one: a payment may arrive this late. */
    readonly overlapMs: number;
    /** Younger movements are in flight and no difference. */
    readonly settleMs: number;
    /** Differences are compared once more after this, since an event may be in flight. */
    readonly lingerMs: number;
    readonly fees: FeeTariffs;
  };
}

export interface RunContext extends ReconcileDeps {
  readonly runId: bigint;
  /** Aborted: the run throws, and can be resumed. */
  readonly signal: AbortSignal | undefined;
  readonly rules: Rules;
  /** What vendors' lists are read for: the run's own time with a margin, and older open differences. */
  readonly slices: readonly Slice[];
  /** The run's own time; no run has compared the part from `newFrom` on before. */
  readonly own: Slice;
  readonly newFrom: Date;
}

/** Rows compared at a time: a few dozen kilobytes, and statements of some milliseconds. */
export const PAGE_ROWS = 500;
/** Allows for clocks that differ, and for a charge that is opened a while after its row. */
export const MARGIN_MS = 3_600_000;
/** More missing entries mean that the vendor's list is incomplete. */
const MAX_REFUTED = 100;

/** Stores a vendor's list as lines of the run. */
export async function keepListed<T>(
  { db, runId, signal }: RunContext,
  listed: AsyncIterable<T>,
  toLine: (item: T) => NewLine,
): Promise<void> {
  let page: NewLine[] = [];
  const keep = async (): Promise<void> => {
    signal?.throwIfAborted();
    await keepLines(db, runId, page);
    page = [];
  };
  for await (const item of listed) {
    page.push(toLine(item));
    if (page.length === PAGE_ROWS) await keep();
  }
  await keep();
}

/** Compares everything that a vendor listed with our rows. */
export async function compareListed(
  context: RunContext,
  side: Side,
  compare: (references: readonly string[]) => Promise<Dated[]>,
): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const references = await nextReferences(context.db, context.runId, { side, after, limit: PAGE_ROWS });
    if (references.length > 0) await keepVerdicts(context, side, () => compare(references));
    after = references.at(-1);
  }
}

/** Compares our rows that a vendor did not list. */
export async function compareUnlisted<Row, Cursor>(
  context: RunContext,
  side: Side,
  readPage: (after: Cursor | undefined) => Promise<Unlisted<Row, Cursor>>,
  compare: (rows: readonly Row[]) => Promise<Dated[]>,
): Promise<void> {
  for (let after: Cursor | undefined; ;) {
    const { unlisted, next } = await readPage(after);
    if (unlisted.length > 0) await keepVerdicts(context, side, () => compare(unlisted));
    if (next === undefined) return;
    after = next;
  }
}

/** Compares rows with an empty list; where that differs, with what the vendor holds when asked. */
export async function compareOneByOne<Row, Line>(
  rows: readonly Row[],
  vendor: {
    readonly compare: (row: Row, lines: readonly Line[]) => Verdict;
    readonly ask: (row: Row) => Promise<readonly Line[]>;
    readonly onFound?: (() => void) | undefined;
    /** When the vendor would have listed it. */
    readonly at: (row: Row) => Date;
  },
): Promise<Dated[]> {
  const dated: Dated[] = [];
  for (const row of rows) {
    let verdict = vendor.compare(row, []);
    if (verdict.differences.length > 0) {
      const lines = await vendor.ask(row);
      if (lines.length > 0) vendor.onFound?.();
      verdict = vendor.compare(row, lines);
    }
    dated.push(verdictAt(verdict, [vendor.at(row)]));
  }
  return dated;
}

/** A verdict, and the stretch of the vendor's time in which its subject is listed. */
export interface Dated {
  readonly verdict: Verdict;
  readonly from: Date;
  readonly to: Date;
}

export function verdictAt(verdict: Verdict, moments: readonly Date[]): Dated {
  const times = moments.map((at) => at.getTime());
  return { verdict, from: new Date(Math.min(...times)), to: new Date(Math.max(...times)) };
}

/** Compares, and once more after a while where something differs; stores the result. */
export async function keepVerdicts(
  { db, clock, runId, settings, signal }: RunContext,
  side: Side,
  compare: () => Promise<readonly Dated[]>,
): Promise<void> {
  signal?.throwIfAborted();
  let dated = await compare();
  if (settings.lingerMs > 0 && dated.some(({ verdict }) => verdict.differences.length > 0)) {
    await pause(settings.lingerMs);
    dated = await compare();
  }
  const subjects = (isUndecided: boolean): string[] =>
    dated.flatMap(({ verdict }) => (verdict.isUndecided === isUndecided ? [verdict.subject] : []));
  await keepCompared(db, {
    runId,
    side,
    now: clock.now(),
    found: dated.flatMap(({ verdict, from, to }) =>
      verdict.differences.map((one) => ({ ...one, datedFrom: from, datedTo: to })),
    ),
    decided: subjects(false),
    undecided: subjects(true),
  });
}

/** Our own rows are compared for the run's own time, and for all of the time around older differences. */
export function ownSlices({ slices, own }: Pick<RunContext, 'slices' | 'own'>): Slice[] {
  return slices
    .map((slice) =>
      slice.to <= own.from ? slice : { from: later(slice.from, own.from), to: earlier(slice.to, own.to) },
    )
    .filter((slice) => slice.from < slice.to);
}

export const later = (one: Date, other: Date): Date => (one > other ? one : other);
export const earlier = (one: Date, other: Date): Date => (one < other ? one : other);

/** Counts entries that a list lacked although the vendor holds them. Throws when they are too many. */
export function createListingGuard(what: string): () => void {
  let refuted = 0;
  return () => {
    refuted += 1;
    if (refuted > MAX_REFUTED)
      throw new Error(`${what} lacks more than ${MAX_REFUTED} of what is there: the list is incomplete`);
  };
}
