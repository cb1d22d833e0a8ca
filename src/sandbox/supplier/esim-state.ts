/**
 * What state an eSIM is in at a moment. The row says what was decided and the clock does the rest: nothing has to run for an eSIM to be
 * allocated, go into use or expire.
 */
import type { WirePackage } from './catalogue/plans.ts';
import type { EsimRow } from './storage/tables.ts';

const DAY_MS = 86_400_000;

/** A package as it was when it was bought. */
export type PlanSnapshot = Pick<
  WirePackage,
  | 'packageCode'
  | 'slug'
  | 'locationCode'
  | 'volume'
  | 'duration'
  | 'dataType'
  | 'smsStatus'
  | 'activeType'
  | 'unusedValidTime'
  | 'ipExport'
  | 'supportTopUpType'
  | 'fupPolicy'
> & { packageName: string; topUpGroup: string };

/** The plan that an eSIM or a top-up was bought with. */
export function planOf(row: { plan: string }): PlanSnapshot {
  return JSON.parse(row.plan) as PlanSnapshot;
}

function naturalStatus(row: EsimRow, activated: boolean, expired: boolean): string {
  if (!activated) return expired ? 'UNUSED_EXPIRED' : 'GOT_RESOURCE';
  if (expired) return 'USED_EXPIRED';
  return row.orderUsage >= row.totalVolume ? 'USED_UP' : 'IN_USE';
}

function naturalSmdp(esimStatus: string, activated: boolean): string {
  if (!activated) return 'RELEASED';
  return ['SUSPENDED', 'USED_EXPIRED', 'REVOKE'].includes(esimStatus) ? 'DISABLED' : 'ENABLED';
}

/**
 * The eSIM's state at `nowMs`. Before activation it expires `unusedValidTime` days after creation, afterwards `totalDuration` days
 * after activation.
 */
function stateOf(row: EsimRow, unusedValidDays: number, nowMs: number) {
  const allocated = row.allocatedAtMs !== null && row.allocatedAtMs <= nowMs;
  /** When the profile was installed and went into use; null before. */
  const activatedAtMs =
    allocated && row.activatesAtMs !== null && row.activatesAtMs <= nowMs ? row.activatesAtMs : null;
  const expiresAtMs =
    activatedAtMs === null
      ? row.createdAtMs + unusedValidDays * DAY_MS
      : activatedAtMs + row.totalDuration * DAY_MS;
  const activated = activatedAtMs !== null;
  const esimStatus =
    row.forcedStatus ??
    (allocated ? naturalStatus(row, activated, expiresAtMs <= nowMs) : 'GETTING_RESOURCE');
  const smdpStatus = row.forcedSmdp ?? naturalSmdp(esimStatus, activated);
  return { esimStatus, smdpStatus, activatedAtMs, expiresAtMs };
}

export type FoundEsim = ReturnType<typeof withState>;

/** An eSIM row with its plan and its state at `nowMs`. */
export function withState(row: EsimRow, nowMs: number) {
  const plan = planOf(row);
  return { row, plan, state: stateOf(row, plan.unusedValidTime, nowMs) };
}
