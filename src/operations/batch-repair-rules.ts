/** One action on many items of the stuck list, asked for by one person and approved by another. */
import { mayPerform, rolesFor, type OperatorAction } from '../accounts/operators/action-table.ts';
import { may, rolesWith, type Role } from '../domain/operator-roles.ts';
import type { Money } from '../domain/money.ts';
import type { ActionOutcome } from './rules.ts';
import type { StuckClass, StuckFilter } from './stuck-rules.ts';

/** Those that need no decision about each purchase: no evidence of its own, no package, no outcome. */
export const BATCH_REPAIR_ACTIONS = [
  'replay',
  'check-gateway',
  'check-supplier',
  'retry-delivery',
  'cancel',
  'refund-to-source',
  'credit-wallet',
] as const satisfies readonly (OperatorAction | 'replay')[];
export type BatchRepairAction = (typeof BATCH_REPAIR_ACTIONS)[number];

/** Which part of the stuck list is meant. */
export type BatchRepairFilter = Pick<StuckFilter, 'olderThanSeconds' | 'currency' | 'transactionIds'> & {
  readonly class?: StuckClass | undefined;
};

export const mayRepair = (role: Role, action: BatchRepairAction): boolean =>
  action === 'replay' ? may(role, 'replay') : mayPerform(role, action);

export const rolesForRepair = (action: BatchRepairAction): readonly Role[] =>
  action === 'replay' ? rolesWith('replay') : rolesFor(action);

/** Without an outcome an item is tried again after these waits; then a person must check. */
const AGAIN_AFTER_MS: readonly number[] = [2_000, 15_000, 60_000];

/** undefined: no further attempt. */
export const nextAttemptMs = (attempts: number): number | undefined => AGAIN_AFTER_MS[attempts - 1];

/** The sum of each currency, in the order of their codes. */
export function totalsOf(amounts: readonly (Money | null)[]): Money[] {
  const byCurrency = Map.groupBy(
    amounts.filter((amount) => amount !== null),
    ({ currency }) => currency,
  );
  return [...byCurrency]
    .map(([currency, all]) => ({
      currency,
      amountMinor: all.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
    }))
    .toSorted((a, b) => a.currency.localeCompare(b.currency));
}

export const REPAIR_RESULTS = ['done', 'partly-done', 'not-done'] as const;
type RepairResult = (typeof REPAIR_RESULTS)[number];

/** What an ended batch repair did; null: it has not ended. */
export function resultOfRepair(repair: {
  readonly closed_at: Date | null;
  readonly done: number | null;
  readonly row_count: number;
}): RepairResult | null {
  if (repair.closed_at === null) return null;
  if ((repair.done ?? 0) === 0) return 'not-done';
  return repair.done === repair.row_count ? 'done' : 'partly-done';
}

const MIN_WAIT_MS = 500;
const MAX_WAIT_MS = 5_000;

/** When to check again. `nextRowMs`: until the first row that waits for its time; null: none does. */
export const nextRepairCheckMs = (nextRowMs: number | null): number =>
  Math.min(Math.max(nextRowMs ?? MIN_WAIT_MS, MIN_WAIT_MS), MAX_WAIT_MS);

/** One step that a replay has made, or would make. */
export interface ReplayStep {
  readonly step: string;
  readonly outcome: ActionOutcome['outcome'] | 'would-do';
  readonly detail: string;
}

export interface Replayed {
  readonly transactionId: string;
  /** `status, state` of a purchase or funding before and after; null for what is none. */
  readonly before: string | null;
  readonly after: string | null;
  readonly steps: readonly ReplayStep[];
}

/** The first that a step has is the outcome of the whole. */
const WORST_FIRST = ['refused', 'unknown', 'waits-for-approval', 'would-do', 'done'] as const;

/** What a replay came to: its worst step, and every step in words. */
export function outcomeOfReplay({ before, after, steps }: Pick<Replayed, 'before' | 'after' | 'steps'>) {
  const changed = before === null || before === after ? [] : [`${before} → ${after ?? ''}`];
  const said = steps.map(
    ({ step, outcome, detail }) => `${step}: ${outcome}${detail === '' ? '' : ` (${detail})`}`,
  );
  return {
    outcome:
      WORST_FIRST.find((one) => steps.some((step) => step.outcome === one)) ?? ('nothing-to-do' as const),
    detail: [...said, ...changed].join('; '),
  };
}
