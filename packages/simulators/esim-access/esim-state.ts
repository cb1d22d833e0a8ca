/** The row says what was decided and the clock does the rest: nothing has to run for an eSIM to expire. */
import type { EsimRow } from './storage.ts';

const DAY_MS = 86_400_000;

function naturalStatus(row: EsimRow, activated: boolean, expired: boolean): string {
  if (!activated) return expired ? 'UNUSED_EXPIRED' : 'GOT_RESOURCE';
  if (expired) return 'USED_EXPIRED';
  return row.orderUsage >= row.totalVolume ? 'USED_UP' : 'IN_USE';
}

function naturalSmdp(esimStatus: string, installed: boolean): string {
  if (!installed) return 'RELEASED';
  return ['SUSPENDED', 'USED_EXPIRED', 'REVOKE'].includes(esimStatus) ? 'DISABLED' : 'ENABLED';
}

/** Unused, it expires `unusedValidTime` days after creation; then `totalDuration` days after activation. */
function stateOf(row: EsimRow, unusedValidDays: number, nowMs: number) {
  const allocated = row.allocatedAtMs !== null && row.allocatedAtMs <= nowMs;
  /** When the profile was installed and went into use; null before. */
  const activatedAtMs =
    allocated && row.activatesAtMs !== null && row.activatesAtMs <= nowMs ? row.activatesAtMs : null;
  const expiresAtMs =
    activatedAtMs === null
      ? row.createdAtMs - row.clockAheadMs + unusedValidDays * DAY_MS
      : activatedAtMs + row.totalDuration * DAY_MS;
  const activated = activatedAtMs !== null;
  const installedAtMs = row.installedAtMs ?? activatedAtMs;
  const esimStatus =
    row.forcedStatus ??
    (allocated ? naturalStatus(row, activated, expiresAtMs <= nowMs) : 'GETTING_RESOURCE');
  const smdpStatus = row.forcedSmdp ?? naturalSmdp(esimStatus, installedAtMs !== null);
  /** A device has taken the profile, so its EID is known. */
  const isOnDevice = installedAtMs !== null || smdpStatus === 'DOWNLOAD';
  return { esimStatus, smdpStatus, activatedAtMs, installedAtMs, isOnDevice, expiresAtMs };
}

export type FoundEsim = ReturnType<typeof withState>;

export function withState(row: EsimRow, nowMs: number) {
  const { plan } = row;
  return { row, plan, state: stateOf(row, plan.unusedValidTime, nowMs) };
}

export type MomentKind = 'IN_USE' | 'VALIDITY' | 'EXPIRED';

export interface Moment {
  kind: MomentKind;
  atMs: number;
}

/** In order, past ones too; none while a forced status stops its clock or before its profile exists. */
export function momentsOf(row: EsimRow): Moment[] {
  if (row.forcedStatus !== null || row.allocatedAtMs === null) return [];
  const { activatesAtMs, totalDuration } = row;
  if (activatesAtMs === null) {
    return [{ kind: 'EXPIRED', atMs: withState(row, row.allocatedAtMs).state.expiresAtMs }];
  }
  const endsAtMs = activatesAtMs + totalDuration * DAY_MS;
  return [
    { kind: 'IN_USE', atMs: activatesAtMs },
    // A plan of one day would tell it at its first use.
    ...(totalDuration > 1 ? [{ kind: 'VALIDITY' as const, atMs: endsAtMs - DAY_MS }] : []),
    { kind: 'EXPIRED', atMs: endsAtMs },
  ];
}
