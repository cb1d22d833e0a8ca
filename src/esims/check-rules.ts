/** When the supplier is asked about an eSIM again, if no event and no read asks sooner. Pure; docs/CAPACITY.md has what it costs. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../domain/clock.ts';
import type { EsimStatus } from '../domain/states.ts';
import { USAGE_THRESHOLDS } from './life-rules.ts';

/** Until an eSIM whose question was not answered is asked about again. */
export const CHECK_RETRY_MS = 10 * MINUTE_MS;
export const USAGE_RETRY_MS = 30 * MINUTE_MS;

/** The whole eSIM: one request each, so this only makes up for events that were lost. */
const CHECK_EVERY_MS: Partial<Record<EsimStatus, number>> = {
  ACTIVE: 6 * HOUR_MS,
  SUSPENDED: DAY_MS,
  CREATED: 3 * DAY_MS,
};
/** After the end of validity the supplier has to say EXPIRED: asked soon at first, then at growing intervals up to this one. */
const MAX_AFTER_EXPIRY_MS = 6 * HOUR_MS;

/** Usage alone: ten eSIMs a request. The supplier's own figures are hours behind, so more often would say nothing new. */
const USAGE_EVERY_MS = {
  nearThreshold: 15 * MINUTE_MS,
  moving: 30 * MINUTE_MS,
  idle: 3 * HOUR_MS,
  usedUp: 12 * HOUR_MS,
  notUsed: 12 * HOUR_MS,
  suspended: DAY_MS,
} as const;
/** So many points below a threshold, the next figure may pass it. */
const NEAR_POINTS = 10n;

export interface CheckedEsim {
  readonly status: EsimStatus;
  readonly total_volume_bytes: bigint;
  readonly order_usage_bytes: bigint;
  readonly expired_time: Date | null;
}

/** When the whole eSIM is asked about, after it was at `now`. */
export function nextCheckAt({ status, expired_time: end }: CheckedEsim, now: Date): Date {
  const nowMs = now.getTime();
  const usual = nowMs + (CHECK_EVERY_MS[status] ?? DAY_MS);
  if (end === null) return new Date(usual);
  const sinceEndMs = nowMs - end.getTime();
  if (sinceEndMs < 0) return new Date(Math.min(usual, end.getTime() + MINUTE_MS));
  const wait = Math.min(Math.max(sinceEndMs, MINUTE_MS), MAX_AFTER_EXPIRY_MS);
  return new Date(Math.min(usual, nowMs + wait));
}

/** When its usage is asked about. `hasMoved`: the figure grew since the last time. */
export function nextUsageAt(row: CheckedEsim, hasMoved: boolean, now: Date): Date {
  return new Date(now.getTime() + USAGE_EVERY_MS[usageClass(row, hasMoved)]);
}

function usageClass(row: CheckedEsim, hasMoved: boolean): keyof typeof USAGE_EVERY_MS {
  const { status, total_volume_bytes: total, order_usage_bytes: used } = row;
  if (status === 'SUSPENDED') return 'suspended';
  if (status === 'CREATED') return 'notUsed';
  if (total > 0n && used >= total) return 'usedUp';
  if (!hasMoved) return 'idle';
  const points = total > 0n ? (used * 100n) / total : 0n;
  const next = BigInt(USAGE_THRESHOLDS.find((threshold) => BigInt(threshold) > points) ?? 100);
  return next - points <= NEAR_POINTS ? 'nearThreshold' : 'moving';
}
