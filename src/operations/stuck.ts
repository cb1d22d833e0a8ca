/**
 * The stuck list: everything in Postgres that does not move as it should, and what is open there while no workflow carries it. What is in
 * flight, abandoned or settled never appears; one cause appears once, under its most specific class. Reads only.
 */
import {
  classOfReason,
  nextActionOf,
  type StuckClass,
  type StuckItem,
  type StuckLimits,
} from './stuck-rules.ts';
import type { Clock } from '../domain/clock.ts';
import { CLAIMS } from '../payments/store/payments.ts';
import {
  findOpenRows,
  findStillOpen,
  findStuckRows,
  type StuckRow,
  type StuckSource,
} from './store/stuck.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import type { WorkflowStates } from './engine.ts';

export interface StuckDeps {
  readonly db: WorldDb;
  readonly workflows: WorkflowStates;
  readonly clock: Clock;
  readonly limits: StuckLimits;
}

export interface StuckFilter {
  readonly classes?: readonly StuckClass[] | undefined;
  readonly olderThanSeconds?: number | undefined;
  readonly currency?: string | undefined;
  readonly transactionId?: string | undefined;
}

export interface StuckList {
  /** The longest stuck first. */
  readonly items: readonly StuckItem[];
  /** The list is longer than what is shown. */
  readonly isCut: boolean;
  /** Whether Temporal could be asked which workflows are gone; without it `workflow-gone` is left out, and nothing else. */
  readonly temporalAsked: boolean;
}

/** More than a team repairs between two readings. */
const MOST_ROWS = 10_000;
/** Open purchases and fundings whose workflows are asked about: a day of abandoned baskets of a large shop. */
const MOST_OPEN = 50_000;

export async function findStuck(deps: StuckDeps, filter: StuckFilter = {}): Promise<StuckList> {
  const now = deps.clock.now();
  const query = { now, limits: deps.limits };
  const [rows, gone] = await Promise.all([
    findStuckRows(deps.db, { ...query, limit: MOST_ROWS }),
    findGone(deps, now),
  ]);
  const items = toItems([...rows, ...(gone ?? [])], now).filter((item) => fits(item, filter));
  return { items, isCut: rows.length === MOST_ROWS, temporalAsked: gone !== undefined };
}

type Row = Omit<StuckRow, 'source'> & { readonly source: StuckSource | 'gone' };

/**
 * Open in our rows, and no workflow carries it; undefined where Temporal cannot be asked. A workflow ends after its row, so a row that is still
 * open after Temporal has answered is nobody's.
 */
async function findGone({ db, workflows, limits }: StuckDeps, now: Date): Promise<Row[] | undefined> {
  const open = await findOpenRows(db, { now, limits, limit: MOST_OPEN });
  if (open.length === 0) return [];
  try {
    const uncarried = await workflows.findUncarried(open.map((row) => row.transaction_id));
    if (uncarried.size === 0) return [];
    const stillOpen = await findStillOpen(db, [...uncarried]);
    return open
      .filter((row) => stillOpen.has(row.transaction_id))
      .map((row) => ({ ...row, source: 'gone' as const }));
  } catch (error) {
    if (error instanceof EngineUnavailable) return undefined;
    throw error;
  }
}

/** What stands behind a purchase is listed once: nobody carries it, or a move waits for a second person, before what it waits for. */
const SHADOWS: Partial<Record<StuckClass, ReadonlySet<StuckSource | 'gone'>>> = {
  'workflow-gone': new Set(['purchase', 'funding']),
  'approval-waiting': new Set(['purchase', 'funding', 'gone', 'refund', 'hold']),
};

function toItems(rows: readonly Row[], now: Date): StuckItem[] {
  const shadowed = new Set<string>();
  for (const row of rows) {
    for (const source of SHADOWS[classOf(row)] ?? []) shadowed.add(`${row.transaction_id} ${source}`);
  }
  const merged = new Map<string, StuckItem>();
  for (const row of rows) {
    if (shadowed.has(`${row.transaction_id} ${row.source}`) && !isClaim(row)) continue;
    const item = toItem(row, now);
    const key = `${item.transactionId} ${item.class}`;
    const before = merged.get(key);
    merged.set(key, before ? together(before, item) : item);
  }
  return [...merged.values()].toSorted((a, b) => b.ageSeconds - a.ageSeconds);
}

/** A claim on money is a cause of its own, whatever becomes of the purchase. */
const isClaim = (row: Row): boolean => CLAIMS.some((claim) => claim === row.reason);

function classOf({ source, reason }: Row): StuckClass {
  switch (source) {
    case 'gone':
      return 'workflow-gone';
    case 'purchase':
      return classOfReason(reason);
    case 'funding': {
      const known = classOfReason(reason);
      return known === 'charge-unknown' || known === 'needs-attention' ? 'funding-stuck' : known;
    }
    case 'hold':
      return 'hold-too-old';
    case 'refund':
      if (reason === 'NEEDS_ATTENTION') return 'refund-needs-attention';
      return reason === 'STUCK' ? 'refund-stuck' : 'refund-not-done';
    case 'inbox':
      return 'inbox-unapplied';
    case 'stranger':
      return 'inbox-without-purchase';
    case 'late-money':
      return 'late-money-unbooked';
    case 'message':
      return 'message-undelivered';
    case 'approval':
      return 'approval-waiting';
    case 'move':
      return 'move-unfinished';
  }
}

function toItem(row: Row, now: Date): StuckItem {
  const stuckClass = classOf(row);
  return {
    transactionId: row.transaction_id,
    class: stuckClass,
    ageSeconds: Math.max(0, Math.trunc((now.getTime() - row.since.getTime()) / 1_000)),
    amountMinor: row.amount_minor,
    currency: row.currency,
    reason: row.reason,
    nextAction: nextActionOf(stuckClass),
  };
}

/** Several refunds, messages or events of one transaction: the oldest speaks for them, with the money of its currency. */
function together(one: StuckItem, other: StuckItem): StuckItem {
  const [oldest, newer] = one.ageSeconds >= other.ageSeconds ? [one, other] : [other, one];
  const isSum = oldest.class.startsWith('refund-') && oldest.currency === newer.currency;
  return isSum ? { ...oldest, amountMinor: (oldest.amountMinor ?? 0n) + (newer.amountMinor ?? 0n) } : oldest;
}

function fits(item: StuckItem, { classes, olderThanSeconds, currency, transactionId }: StuckFilter): boolean {
  return (
    (classes === undefined || classes.includes(item.class)) &&
    (olderThanSeconds === undefined || item.ageSeconds >= olderThanSeconds) &&
    (currency === undefined || item.currency === currency) &&
    (transactionId === undefined || item.transactionId === transactionId)
  );
}
