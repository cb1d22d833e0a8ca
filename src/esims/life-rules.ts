/**
 * What becomes of an eSIM when the supplier says something about it, what its merchant is notified of, and
 * when the supplier is asked again.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../domain/clock.ts';
import { canChangeStatus, MOVING_ESIM_STATUSES, type EsimStatus } from '../domain/states.ts';
import { EXPIRY_NOTICE_DAYS, USAGE_THRESHOLDS } from '../webhooks/event-rules.ts';

/**
 * The supplier's answers are up to 3 hours behind. What contradicts an earlier one and came so much later is
 * not old: the supplier has corrected itself.
 */
const CORRECTED_AFTER_MS = 6 * HOUR_MS;
/** Two reported ends of validity that differ by less count as the same. */
const SAME_EXPIRY_MS = HOUR_MS;

/** The columns that the rules read and change. */
export interface EsimLife {
  readonly status: EsimStatus;
  readonly total_volume_bytes: bigint;
  readonly order_usage_bytes: bigint;
  readonly usage_as_of: Date | null;
  readonly checked_at: Date | null;
  readonly expired_time: Date | null;
  readonly notified_status: EsimStatus | null;
  readonly status_changes: number;
  readonly notified_usage_percent: number;
  readonly notified_usage_total_bytes: bigint | null;
  readonly notified_expiry_days: number;
}

type Usage = Pick<EsimLife, 'order_usage_bytes' | 'usage_as_of'>;
type Notified = Pick<
  EsimLife,
  | 'notified_status'
  | 'status_changes'
  | 'notified_usage_percent'
  | 'notified_usage_total_bytes'
  | 'notified_expiry_days'
>;

/** Whether the supplier may still change it. */
export function isMoving({ status }: Pick<EsimLife, 'status'>): boolean {
  return MOVING_ESIM_STATUSES.includes(status);
}

/** The status after the supplier's; null: one that was never seen before. Illegal moves change nothing. */
export function nextStatus(from: EsimStatus, to: EsimStatus | null): EsimStatus {
  return to !== null && canChangeStatus(from, to) ? to : from;
}

/**
 * The fresher of two usage figures. Usage only grows, so the higher one is, whichever was asked for last;
 * unless one is so much later that the supplier must have corrected itself.
 */
export function fresherUsage(
  row: Usage & Pick<EsimLife, 'checked_at'>,
  usedBytes: bigint,
  asOf: Date,
): Usage {
  const known = { order_usage_bytes: row.order_usage_bytes, usage_as_of: row.usage_as_of ?? row.checked_at };
  const said = { order_usage_bytes: usedBytes, usage_as_of: asOf };
  if (known.usage_as_of === null) return said;
  const laterMs = asOf.getTime() - known.usage_as_of.getTime();
  if (usedBytes === known.order_usage_bytes) return laterMs > 0 ? said : known;
  if (usedBytes > known.order_usage_bytes) return laterMs < -CORRECTED_AFTER_MS ? known : said;
  return laterMs > CORRECTED_AFTER_MS ? said : known;
}

export type LifeEvent =
  | { readonly kind: 'status'; readonly from: EsimStatus; readonly to: EsimStatus; readonly nth: number }
  | { readonly kind: 'threshold'; readonly percent: (typeof USAGE_THRESHOLDS)[number] }
  | { readonly kind: 'expiring'; readonly daysBefore: (typeof EXPIRY_NOTICE_DAYS)[number] }
  | { readonly kind: 'expired' };

/**
 * What a merchant has to be notified of now that an eSIM went from `before` to `after`, and the columns that
 * record it. Compares with what was notified last, not with the row before, so that a change that was written
 * without a notice is notified too. The first delivery is `esim.purchased` and nothing here.
 */
export function unnotified(
  before: EsimLife,
  after: EsimLife,
  now: Date,
): { readonly events: readonly LifeEvent[]; readonly notified: Notified } {
  const status = statusEvents(before, after);
  const usage = usageEvents(before, after);
  const expiry = expiryEvents(before, after, now);
  return {
    events: [...usage.events, ...expiry.events, ...status.events],
    notified: { ...status.notified, ...usage.notified, ...expiry.notified },
  };
}

function statusEvents(before: EsimLife, { status: to }: EsimLife) {
  const from = before.notified_status ?? before.status;
  const { status_changes: changes } = before;
  // An order that is not delivered yet has no life.
  if (from === 'PENDING' || from === to)
    return { events: [], notified: { notified_status: before.notified_status, status_changes: changes } };
  const nth = changes + 1;
  const events: LifeEvent[] = [{ kind: 'status', from, to, nth }];
  if (to === 'EXPIRED') events.push({ kind: 'expired' });
  return { events, notified: { notified_status: to, status_changes: nth } };
}

/**
 * An allowance that was never notified of begins with what is known already. A larger one is armed again
 * above the share that is used of it then.
 */
function usageEvents(before: EsimLife, after: EsimLife) {
  const total = after.total_volume_bytes;
  const isFirst = before.notified_usage_total_bytes === null;
  const sofar = isFirst ? reached(before, before.total_volume_bytes) : before.notified_usage_percent;
  const isSame = (before.notified_usage_total_bytes ?? before.total_volume_bytes) === total;
  const passed = isSame ? sofar : Math.min(sofar, reached(before, total));
  const percent = Math.max(passed, reached(after, total));
  const events = USAGE_THRESHOLDS.filter((threshold) => threshold > passed && threshold <= percent).map(
    (threshold) => ({ kind: 'threshold', percent: threshold }) as const,
  );
  return { events, notified: { notified_usage_percent: percent, notified_usage_total_bytes: total } };
}

/**
 * The highest threshold that the usage has reached; 0 for none, or where there is no allowance to count by.
 */
function reached({ order_usage_bytes: used }: EsimLife, total: bigint): number {
  if (total <= 0n) return 0;
  return USAGE_THRESHOLDS.findLast((threshold) => used * 100n >= total * BigInt(threshold)) ?? 0;
}

/** If a day or less is left, the notice of three days would be wrong, so only the later one is sent. */
function expiryEvents(before: EsimLife, after: EsimLife, now: Date) {
  const isLater =
    after.expired_time !== null &&
    before.expired_time !== null &&
    after.expired_time.getTime() - before.expired_time.getTime() > SAME_EXPIRY_MS;
  const sofar = isLater ? 0 : before.notified_expiry_days;
  const none = { events: [], notified: { notified_expiry_days: sofar } };
  if (!isMoving(after) || after.expired_time === null) return none;
  const leftMs = after.expired_time.getTime() - now.getTime();
  if (leftMs <= 0) return none;
  const due = EXPIRY_NOTICE_DAYS.findLast((days) => leftMs <= days * DAY_MS);
  if (due === undefined || sofar === 1 || sofar === due) return none;
  return {
    events: [{ kind: 'expiring', daysBefore: due }] as const,
    notified: { notified_expiry_days: due },
  };
}

const ON_DEVICE = ['INSTALLATION', 'ENABLED', 'DISABLED'];

export const INSTALL_EVENTS = ['installed', 'profile-deleted'] as const;
export type InstallEvent = (typeof INSTALL_EVENTS)[number];

/**
 * What a change of the profile's state means for its holder; undefined: nothing that is worth a line in the
 * timeline.
 */
export function installEventOf(before: string, after: string): InstallEvent | undefined {
  if (after === before) return undefined;
  if (after === 'DELETED') return 'profile-deleted';
  return ON_DEVICE.includes(after) && !ON_DEVICE.includes(before) ? 'installed' : undefined;
}

/**
 * Whether the timeline lacks this event, whose last one of the kind is `last`. An old answer of the supplier
 * takes the state back, and the next one brings it again: the same event twice in a row is one. A profile
 * that is on a device so soon after it was deleted is an old answer too.
 */
export function isNewInstallEvent(
  what: InstallEvent,
  last: { readonly what: string; readonly at: Date } | undefined,
  now: Date,
): boolean {
  if (last === undefined) return true;
  if (last.what === what) return false;
  return what === 'profile-deleted' || now.getTime() - last.at.getTime() > CORRECTED_AFTER_MS;
}

/** Before the supplier is asked about an eSIM again, if it did not answer. */
export const CHECK_RETRY_MS = 10 * MINUTE_MS;
export const USAGE_RETRY_MS = 30 * MINUTE_MS;

/** The whole eSIM: one request each, so this only makes up for events that were lost. */
const CHECK_EVERY_MS: Partial<Record<EsimStatus, number>> = {
  ACTIVE: 6 * HOUR_MS,
  SUSPENDED: DAY_MS,
  CREATED: 3 * DAY_MS,
};
/**
 * After the end of validity the supplier has to say EXPIRED: asked soon at first, then at growing intervals
 * up to this one.
 */
const MAX_AFTER_EXPIRY_MS = 6 * HOUR_MS;

/**
 * Usage alone: ten eSIMs a request. The supplier's own figures are hours behind, so more often would say
 * nothing new.
 */
const USAGE_EVERY_MS = {
  nearThreshold: 15 * MINUTE_MS,
  moving: 30 * MINUTE_MS,
  idle: 3 * HOUR_MS,
  usedUp: 12 * HOUR_MS,
  notUsed: 12 * HOUR_MS,
  suspended: DAY_MS,
} as const;
/** From this many percentage points below a threshold, the next figure may pass it. */
const NEAR_POINTS = 10n;

type CheckedEsim = Pick<EsimLife, 'status' | 'total_volume_bytes' | 'order_usage_bytes' | 'expired_time'>;

/** When to ask about the whole eSIM next, if it was asked about at `now`. */
export function nextCheckAt({ status, expired_time: end }: CheckedEsim, now: Date): Date {
  const nowMs = now.getTime();
  const usual = nowMs + (CHECK_EVERY_MS[status] ?? DAY_MS);
  if (end === null) return new Date(usual);
  const sinceEndMs = nowMs - end.getTime();
  if (sinceEndMs < 0) return new Date(Math.min(usual, end.getTime() + MINUTE_MS));
  const wait = Math.min(Math.max(sinceEndMs, MINUTE_MS), MAX_AFTER_EXPIRY_MS);
  return new Date(Math.min(usual, nowMs + wait));
}

/** When to ask about its usage next. `hasMoved`: the figure grew since the last time. */
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
