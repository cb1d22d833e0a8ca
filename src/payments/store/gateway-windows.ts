import { sql } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { PaymentSubject } from '../engine.ts';
import { CLOCK_SKEW_MS, LIST_WINDOW_MS, windowOf } from '../monitor-rules.ts';

export interface GatewayWindow {
  readonly startsAt: Date;
  /** How many were paid in it when all of them were booked; null: never, or not all. */
  readonly totalWhenAllBooked: number | null;
}

/** Payments without booked money that are still monitored. */
const UNPAID = sql<boolean>`payments.status in ('ASKED', 'OPEN') and not payments.has_money`;

/**
 * Adds the missing windows from then to now, due at once. A window without unpaid payments costs no request.
 */
export async function openWindows(db: WorldDb, from: Date, now: Date): Promise<void> {
  await sql`
    insert into gateway_windows (starts_at, wanted_at, due_at)
    select generate_series(${windowOf(from)}::timestamptz, ${windowOf(now)}::timestamptz, ${`${LIST_WINDOW_MS} milliseconds`}::interval),
           ${now}::timestamptz, ${now}::timestamptz
    on conflict do nothing`.execute(db);
}

/**
 * When the oldest unpaid payment since then was created (now if there is none), less the allowed clock
 * difference.
 */
export async function unpaidSince(db: WorldDb, watchedSince: Date, now: Date): Promise<Date> {
  const { rows } = await sql<{ since: Date }>`
    select coalesce(min(created_at), ${now}::timestamptz) - ${`${CLOCK_SKEW_MS} milliseconds`}::interval as since
      from payments where ${UNPAID} and created_at >= ${watchedSince}`.execute(db);
  return rows[0]?.since ?? now;
}

/** Leases the youngest due window: other callers cannot lease it for `untilMs`. */
export async function leaseWindow(
  db: WorldDb,
  now: Date,
  untilMs: number,
): Promise<GatewayWindow | undefined> {
  const { rows } = await sql<GatewayWindow>`
    update gateway_windows set due_at = ${new Date(now.getTime() + untilMs)}
     where starts_at = (
       select starts_at from gateway_windows where due_at <= ${now} order by starts_at desc limit 1 for update skip locked)
    returning starts_at as "startsAt", settled_total as "totalWhenAllBooked"`.execute(db);
  return rows[0];
}

/** `totalWhenAllBooked`: null if something is still to be booked. */
export async function saveWindow(
  db: WorldDb,
  startsAt: Date,
  { nextAt, totalWhenAllBooked }: { readonly nextAt: Date; readonly totalWhenAllBooked: number | null },
): Promise<void> {
  await sql`
    update gateway_windows set wanted_at = ${nextAt}, due_at = ${nextAt}, settled_total = ${totalWhenAllBooked}
     where starts_at = ${startsAt}`.execute(db);
}

/** After a failed read. The window still counts as late since it was first scheduled. */
export async function postponeWindow(db: WorldDb, startsAt: Date, retryAt: Date): Promise<void> {
  await sql`update gateway_windows set due_at = ${retryAt} where starts_at = ${startsAt}`.execute(db);
}

export async function deleteWindow(db: WorldDb, startsAt: Date): Promise<void> {
  await sql`delete from gateway_windows where starts_at = ${startsAt}`.execute(db);
}

/**
 * Whether payments that may have been opened in this window have brought nothing yet, and whether transfers
 * are among them.
 */
export async function unpaidIn(db: WorldDb, startsAt: Date) {
  const from = new Date(startsAt.getTime() - CLOCK_SKEW_MS);
  const to = new Date(startsAt.getTime() + LIST_WINDOW_MS + CLOCK_SKEW_MS);
  const unpaid = sql`select from payments where ${UNPAID} and created_at >= ${from} and created_at < ${to}`;
  const { rows } = await sql<{ any: boolean; transfers: boolean }>`
    select exists (${unpaid}) as any, exists (${unpaid} and method = 'BANK_TRANSFER') as transfers`.execute(
    db,
  );
  return rows[0] ?? { any: false, transfers: false };
}

/** Our payments among these references that have no booked money. */
export async function findUnbooked(db: WorldDb, references: readonly string[]): Promise<PaymentSubject[]> {
  if (references.length === 0) return [];
  const { rows } = await sql<PaymentSubject>`
    select distinct transaction_id as "transactionId", purpose from payments
     where reference = any(${[...references]}) and ${UNPAID}`.execute(db);
  return rows;
}

export type UncheckedPayment = PaymentSubject & { readonly reference: string };

/**
 * Unpaid payments to check one by one: those not checked for a tenth of their age, one minute at most.
 * Accounts take turns, the longest waiting first, so that an account with many payments does not delay the
 * others.
 */
export async function findUncheckedPayments(
  db: WorldDb,
  which: { readonly now: Date; readonly since: Date; readonly leastMs: number; readonly limit: number },
): Promise<UncheckedPayment[]> {
  const { now, since, leastMs, limit } = which;
  const { rows } = await sql<UncheckedPayment>`
    with unpaid as (
      select reference, transaction_id, purpose, account_id, created_at, coalesce(checked_at, created_at) as unseen_since,
             max(checked_at) over (partition by account_id) as account_checked_at
        from payments where ${UNPAID} and created_at >= ${since}
    ), due as (
      select *, row_number() over (partition by account_id order by unseen_since) as turn
        from unpaid
       where unseen_since < ${now}::timestamptz - greatest(${`${leastMs} milliseconds`}::interval,
               least((${now}::timestamptz - created_at) / 10, interval '1 minute'))
    )
    select reference, transaction_id as "transactionId", purpose from due
     order by turn, account_checked_at nulls first, unseen_since limit ${limit}`.execute(db);
  return rows;
}

/** How late the most overdue window from then on is; null: there are no windows. */
export async function monitorLagMs(db: WorldDb, from: Date, now: Date): Promise<number | null> {
  const { rows } = await sql<{ scheduledAt: Date | null }>`
    select min(wanted_at) as "scheduledAt" from gateway_windows where starts_at >= ${from}`.execute(db);
  const scheduledAt = rows[0]?.scheduledAt;
  return scheduledAt ? Math.max(0, now.getTime() - scheduledAt.getTime()) : null;
}
