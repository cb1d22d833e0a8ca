/**
 * What state an eSIM is in at a moment. Guarantee: pure; the row says what was decided, the clock does the rest, so nothing has to
 * run for an eSIM to be allocated, go into use or expire.
 */
import type { EsimRow, PlanSnapshot } from './storage/rows.ts';

const DAY_MS = 86_400_000;

export interface EsimState {
  /** False while the supplier still answers 200010. */
  allocated: boolean;
  esimStatus: string;
  smdpStatus: string;
  /** When the profile was installed and went into use; null before. */
  activatedAtMs: number | null;
  expiresAtMs: number;
}

/** The plan an eSIM was bought with. */
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
  return esimStatus === 'SUSPENDED' || esimStatus === 'USED_EXPIRED' || esimStatus === 'REVOKE'
    ? 'DISABLED'
    : 'ENABLED';
}

/**
 * The eSIM's state at `nowMs`. Before activation it expires `unusedValidTime` days after creation, afterwards `totalDuration` days
 * after activation.
 */
export function stateOf(row: EsimRow, unusedValidDays: number, nowMs: number): EsimState {
  const allocated = row.allocatedAtMs !== null && row.allocatedAtMs <= nowMs;
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
  return { allocated, esimStatus, smdpStatus, activatedAtMs, expiresAtMs };
}
