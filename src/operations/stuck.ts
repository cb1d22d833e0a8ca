/** The stuck list: overdue rows, and open ones that no workflow carries. One cause appears once. */
import type { Clock } from '../domain/clock.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import { DISPUTE_REASONS } from '../domain/states.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { WorkflowStates } from './engine.ts';
import { findOpenRows, findStillOpen, findStuckRows, type StuckRow } from './store/stuck.ts';
import {
  classOfReason,
  stuckRule,
  type StuckClass,
  type StuckFilter,
  type StuckItem,
  type StuckLimits,
} from './stuck-rules.ts';

export interface StuckDeps {
  readonly db: WorldDb;
  readonly workflows: WorkflowStates;
  readonly clock: Clock;
  readonly limits: StuckLimits;
}

export type StuckList = Awaited<ReturnType<typeof findStuck>>;

/** More than a team repairs between two readings. */
const MAX_ROWS = 10_000;
/** Open rows whose workflows are looked up: a day of abandoned checkouts of a large shop. */
const MAX_OPEN = 50_000;

/** The longest stuck first. */
export async function findStuck(deps: StuckDeps, filter: StuckFilter = {}) {
  const now = deps.clock.now();
  const query = { now, limits: deps.limits };
  const [rows, gone] = await Promise.all([
    findStuckRows(deps.db, { ...query, limit: MAX_ROWS }),
    findGone(deps, now),
  ]);
  return {
    items: toItems([...rows, ...(gone ?? [])], now).filter((item) => fits(item, filter)),
    /** The list is longer than what is shown. */
    isCut: rows.length === MAX_ROWS,
    /** false: Temporal did not answer, so items of `workflow-gone` are missing. All others are there. */
    temporalAsked: gone !== undefined,
  };
}

type Row = Omit<StuckRow, 'source'> & { readonly source: StuckRow['source'] | 'gone' };

/** undefined: Temporal did not answer. A row closes before its workflow, so rows are read once more. */
async function findGone({ db, workflows, limits }: StuckDeps, now: Date): Promise<Row[] | undefined> {
  const open = await findOpenRows(db, { now, limits, limit: MAX_OPEN });
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

/** A missing workflow, or an action that awaits approval, hides the other lines of the same purchase. */
const HIDES: Partial<Record<StuckClass, ReadonlySet<Row['source']>>> = {
  'workflow-gone': new Set(['purchase', 'funding']),
  'approval-waiting': new Set(['purchase', 'funding', 'gone', 'refund', 'hold']),
};

function toItems(rows: readonly Row[], now: Date): StuckItem[] {
  const shadowed = new Set<string>();
  for (const row of rows) {
    for (const source of HIDES[classOf(row)] ?? []) shadowed.add(`${row.transaction_id} ${source}`);
  }
  const merged = new Map<string, StuckItem>();
  for (const row of rows) {
    if (shadowed.has(`${row.transaction_id} ${row.source}`) && !isDispute(row)) continue;
    const item = toItem(row, now);
    const key = `${item.transactionId} ${item.class}`;
    const before = merged.get(key);
    merged.set(key, before ? mergeItems(before, item) : item);
  }
  return [...merged.values()].toSorted((a, b) => b.ageSeconds - a.ageSeconds);
}

/** A dispute is listed on its own, in addition to its purchase. */
const isDispute = (row: Row): boolean => DISPUTE_REASONS.some((dispute) => dispute === row.reason);

const CLASS_OF_SOURCE = {
  gone: 'workflow-gone',
  hold: 'hold-too-old',
  inbox: 'inbox-unapplied',
  'unmatched-event': 'inbox-without-purchase',
  'late-money': 'late-money-unbooked',
  unconfirmed: 'marked-paid-unconfirmed',
  message: 'message-undelivered',
  approval: 'approval-waiting',
  action: 'action-unfinished',
} as const;

function classOf({ source, reason }: Row): StuckClass {
  switch (source) {
    case 'purchase':
      return classOfReason(reason);
    case 'funding': {
      const known = classOfReason(reason);
      return known === 'charge-unknown' || known === 'needs-attention' ? 'funding-stuck' : known;
    }
    case 'refund':
      if (reason === 'NEEDS_ATTENTION') return 'refund-needs-attention';
      return reason === 'STUCK' ? 'refund-stuck' : 'refund-not-done';
    default:
      return CLASS_OF_SOURCE[source];
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
    reason: row.source === 'refund' ? `REFUND_${row.reason}` : row.reason,
    nextAction: stuckRule(stuckClass).next,
  };
}

/** Several of one transaction become one item: the oldest, for refunds with the sum. */
function mergeItems(one: StuckItem, other: StuckItem): StuckItem {
  const [oldest, newer] = one.ageSeconds >= other.ageSeconds ? [one, other] : [other, one];
  const isSum = oldest.class.startsWith('refund-') && oldest.currency === newer.currency;
  return isSum ? { ...oldest, amountMinor: (oldest.amountMinor ?? 0n) + (newer.amountMinor ?? 0n) } : oldest;
}

function fits(
  item: StuckItem,
  { classes, olderThanSeconds, currency, transactionIds }: StuckFilter,
): boolean {
  return (
    (classes === undefined || classes.includes(item.class)) &&
    (olderThanSeconds === undefined || item.ageSeconds >= olderThanSeconds) &&
    (currency === undefined || item.currency === currency) &&
    (transactionIds === undefined || transactionIds.includes(item.transactionId))
  );
}
