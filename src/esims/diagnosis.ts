/** Pure. What is wrong with an eSIM, from the facts we keep about it. */
import type { EsimStatus } from '../domain/states.ts';

export const DIAGNOSIS_CODES = [
  'NOT_DELIVERED',
  'DELIVERY_FAILED',
  'NOT_SCANNED',
  'DOWNLOAD_INTERRUPTED',
  'SWITCHED_OFF',
  'NOT_CONNECTED',
  'NO_USAGE_YET',
  'ROAMING_LIKELY_OFF',
  'WORKING',
  'USED_UP',
  'SUSPENDED',
  'DELETED',
  'EXPIRED',
  'CANCELLED',
  'RETURNED',
  'REPLACED',
] as const;
export type DiagnosisCode = (typeof DIAGNOSIS_CODES)[number];

export interface DiagnosisFacts {
  readonly status: EsimStatus;
  /** The supplier's word for the profile's state; "" until known. */
  readonly smdpStatus: string;
  readonly usedBytes: bigint;
  readonly totalBytes: bigint;
  readonly activateTime: Date | null;
  readonly expiredTime: Date | null;
  /** When these facts were true at the supplier; null: never asked. */
  readonly asOf: Date | null;
  readonly isReturned?: boolean;
  /** Another eSIM is in its place. */
  readonly isReplaced?: boolean;
}

/** The supplier's figures are two to three hours behind, so no usage means nothing before. */
export const USAGE_LAG_MS = 3 * 3_600_000;

/** The likeliest cause, the one that ends everything else first. Total: every combination has a code. */
export function diagnose(facts: DiagnosisFacts, now: Date): DiagnosisCode {
  return endOf(facts, now) ?? installProblemOf(facts) ?? usageProblemOf(facts) ?? 'WORKING';
}

/** Why the eSIM cannot work. Its holder cannot change any of these causes. */
function endOf(facts: DiagnosisFacts, now: Date): DiagnosisCode | undefined {
  const { status, smdpStatus, usedBytes, totalBytes, expiredTime } = facts;
  if (status === 'PENDING') return 'NOT_DELIVERED';
  if (status === 'FAILED') return 'DELIVERY_FAILED';
  if (facts.isReplaced) return 'REPLACED';
  if (facts.isReturned) return 'RETURNED';
  if (status === 'CANCELLED') return 'CANCELLED';
  // The time may have passed before the supplier said so.
  if (status === 'EXPIRED' || (expiredTime !== null && expiredTime <= now)) return 'EXPIRED';
  if (smdpStatus === 'DELETED') return 'DELETED';
  if (status === 'SUSPENDED') return 'SUSPENDED';
  return totalBytes > 0n && usedBytes >= totalBytes ? 'USED_UP' : undefined;
}

/**
 * The profile's state lags behind: one that the network has seen is installed, whatever the supplier says of
 * the profile.
 */
function installProblemOf({ status, smdpStatus, usedBytes }: DiagnosisFacts): DiagnosisCode | undefined {
  if (smdpStatus === 'DISABLED') return 'SWITCHED_OFF';
  if (status === 'ACTIVE' || usedBytes > 0n) return undefined;
  if (smdpStatus === 'DOWNLOAD') return 'DOWNLOAD_INTERRUPTED';
  if (smdpStatus === 'INSTALLATION') return 'SWITCHED_OFF';
  return smdpStatus === 'ENABLED' ? 'NOT_CONNECTED' : 'NOT_SCANNED';
}

function usageProblemOf({ usedBytes, activateTime, asOf }: DiagnosisFacts): DiagnosisCode | undefined {
  if (usedBytes > 0n) return undefined;
  if (activateTime === null || asOf === null) return 'NO_USAGE_YET';
  return asOf.getTime() - activateTime.getTime() < USAGE_LAG_MS ? 'NO_USAGE_YET' : 'ROAMING_LIKELY_OFF';
}

/** `READY`: what installs it is of use. `INSTALLED`: on a device already, so it is not. `ENDED`: nor ever. */
export const INSTALL_STATES = ['NOT_DELIVERED', 'READY', 'INSTALLED', 'ENDED'] as const;
export type InstallState = (typeof INSTALL_STATES)[number];

const STATE_OF: Readonly<Record<DiagnosisCode, InstallState | undefined>> = {
  NOT_DELIVERED: 'NOT_DELIVERED',
  DELIVERY_FAILED: 'ENDED',
  CANCELLED: 'ENDED',
  RETURNED: 'ENDED',
  REPLACED: 'ENDED',
  EXPIRED: 'ENDED',
  NOT_SCANNED: 'READY',
  DOWNLOAD_INTERRUPTED: 'READY',
  // May have happened before or after it was installed.
  SUSPENDED: undefined,
  DELETED: 'ENDED',
  USED_UP: 'INSTALLED',
  SWITCHED_OFF: 'INSTALLED',
  NOT_CONNECTED: 'INSTALLED',
  NO_USAGE_YET: 'INSTALLED',
  ROAMING_LIKELY_OFF: 'INSTALLED',
  WORKING: 'INSTALLED',
};

/** States of a profile that is on a device. */
const ON_A_DEVICE: ReadonlySet<string> = new Set(['INSTALLATION', 'ENABLED', 'DISABLED']);

/** How far the installation is. */
export function installStateOf(facts: DiagnosisFacts, code: DiagnosisCode): InstallState {
  const wasInUse = facts.usedBytes > 0n || facts.activateTime !== null;
  return STATE_OF[code] ?? (wasInUse || ON_A_DEVICE.has(facts.smdpStatus) ? 'INSTALLED' : 'READY');
}
