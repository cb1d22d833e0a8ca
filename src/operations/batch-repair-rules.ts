/** Batch repairs: one action on many items of the stuck list, asked for by one person and approved by another. */
import { mayPerform, rolesFor, type OperatorAction } from '../accounts/operators/action-table.ts';
import { may, rolesWith, type Role } from '../accounts/operators/roles.ts';
import type { Money } from '../domain/money.ts';
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

/** What a second person can review, and some minutes of work. */
export const MAX_BATCH_REPAIR_ROWS = 500;

export const BATCH_REPAIR_STATUSES = [
  'WAITS_FOR_APPROVAL',
  'RUNNING',
  'COMPLETED',
  'STOPPED',
  'DECLINED',
  'EXPIRED',
] as const;
export type BatchRepairStatus = (typeof BATCH_REPAIR_STATUSES)[number];

/** UNKNOWN: no outcome after all attempts; the action may still be carried out. SKIPPED: never begun. */
export const BATCH_REPAIR_ROW_STATUSES = ['WAITING', 'DONE', 'REFUSED', 'UNKNOWN', 'SKIPPED'] as const;
export type BatchRepairRowStatus = (typeof BATCH_REPAIR_ROW_STATUSES)[number];

/** Which part of the stuck list is meant. */
export type BatchRepairFilter = Pick<StuckFilter, 'olderThanSeconds' | 'currency'> & {
  readonly class?: StuckClass | undefined;
};

export type BatchRepairCounts = Readonly<Record<Lowercase<BatchRepairRowStatus>, number>>;

export const mayRepair = (role: Role, action: BatchRepairAction): boolean =>
  action === 'replay' ? may(role, 'replay') : mayPerform(role, action);

export const rolesForRepair = (action: BatchRepairAction): readonly Role[] =>
  action === 'replay' ? rolesWith('replay') : rolesFor(action);

/** Without an outcome an item is tried again after these waits; then a person must check. An action that has begun continues by itself. */
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
