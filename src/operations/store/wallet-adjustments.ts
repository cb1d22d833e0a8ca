import { sql, type Generated, type Selectable } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { AdjustmentKind, AdjustmentStatus } from '../../domain/wallet-adjustments.ts';
import { callFunction } from '../../platform/database/functions.ts';
import { countAndOldest } from '../../platform/database/summary.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

interface WalletAdjustmentsTable {
  id: string;
  account_id: string;
  kind: AdjustmentKind;
  amount_minor: bigint;
  currency: AccountCurrency;
  /** What it is about outside, such as that of a bank transfer: each counts once for its kind. */
  reference: string;
  reason: string;
  status: Generated<AdjustmentStatus>;
  asked_by: string;
  asked_at: Generated<Date>;
  expires_at: Date;
  /** Who confirmed or declined it. */
  decided_by: string | null;
  decided_at: Date | null;
  decision_reason: string | null;
  ledger_transaction_id: bigint | null;
}

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    wallet_adjustments: WalletAdjustmentsTable;
  }
}

export type AdjustmentRow = Selectable<WalletAdjustmentsTable>;

type NewAdjustment = Pick<
  AdjustmentRow,
  | 'id'
  | 'account_id'
  | 'kind'
  | 'amount_minor'
  | 'currency'
  | 'reference'
  | 'reason'
  | 'asked_by'
  | 'expires_at'
>;

/** Also ends the requests whose time is over. false: its reference waits, or was booked, as this kind. */
export async function insertAdjustment(trx: WorldDb, row: NewAdjustment): Promise<boolean> {
  const decided_at = sql<Date>`clock_timestamp()`;
  await trx
    .updateTable('wallet_adjustments')
    .set({ status: 'EXPIRED', decided_at })
    .where('status', '=', 'WAITS')
    .where('expires_at', '<=', decided_at)
    .execute();
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('wallet_adjustments')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** One that waits for a second person, or was booked. */
export const findByReference = (
  db: WorldDb,
  { kind, reference }: Pick<AdjustmentRow, 'kind' | 'reference'>,
): Promise<AdjustmentRow | undefined> =>
  db
    .selectFrom('wallet_adjustments')
    .selectAll()
    .where('kind', '=', kind)
    .where(sql<boolean>`lower(reference) = lower(${reference})`)
    .where('status', 'in', ['WAITS', 'BOOKED'])
    .executeTakeFirst();

/** The lock lets one person decide at a time. */
export const lockAdjustment = (trx: WorldDb, id: string): Promise<AdjustmentRow | undefined> =>
  trx.selectFrom('wallet_adjustments').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();

export const findAdjustment = (db: WorldDb, id: string): Promise<AdjustmentRow | undefined> =>
  db.selectFrom('wallet_adjustments').selectAll().where('id', '=', id).executeTakeFirst();

export interface AdjustmentQuery {
  readonly accountId?: string | undefined;
  readonly status?: AdjustmentStatus | undefined;
  /** Continues behind it. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Newest first. A request whose time is over does not wait any more. */
export function listAdjustmentRows(
  db: WorldDb,
  { accountId, status, after, limit }: AdjustmentQuery,
): Promise<AdjustmentRow[]> {
  let query = db.selectFrom('wallet_adjustments').selectAll();
  if (accountId !== undefined) query = query.where('account_id', '=', accountId);
  if (status === 'EXPIRED')
    query = query.where(sql<boolean>`(status = 'EXPIRED' or (status = 'WAITS' and expires_at <= now()))`);
  else if (status !== undefined) query = query.where('status', '=', status);
  if (status === 'WAITS') query = query.where('expires_at', '>', sql<Date>`now()`);
  if (after !== undefined)
    query = query.where(
      sql<boolean>`(asked_at, id) < ((select asked_at from wallet_adjustments where id = ${after}), ${after})`,
    );
  return query.orderBy('asked_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}

/** Those that can be approved now. */
export const summariseWaitingAdjustments = (db: WorldDb) =>
  db
    .selectFrom('wallet_adjustments')
    .select(countAndOldest('asked_at'))
    .where('status', '=', 'WAITS')
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirstOrThrow();

export const BOOKING_REFUSALS = [
  'ABSENT',
  'DECLINED',
  'EXPIRED',
  'REFERENCE_USED',
  'WALLET_TOO_LOW',
] as const;
export type BookingOutcome = 'BOOKED' | (typeof BOOKING_REFUSALS)[number];

/** By the second person. Nothing but BOOKED has written anything. */
export async function bookAdjustment(
  trx: WorldDb,
  { id, by, reason }: { readonly id: string; readonly by: string; readonly reason: string },
): Promise<BookingOutcome> {
  const args = { adjustment_id: id, by_whom: by, why: reason };
  const { outcome } = await callFunction<{ outcome: BookingOutcome }>(trx, 'book_wallet_adjustment', args);
  return outcome;
}

export const declineAdjustmentRow = (
  trx: WorldDb,
  { id, by, reason }: { readonly id: string; readonly by: string; readonly reason: string },
) =>
  trx
    .updateTable('wallet_adjustments')
    .set({
      status: 'DECLINED',
      decided_by: by,
      decided_at: sql<Date>`clock_timestamp()`,
      decision_reason: reason,
    })
    .where('id', '=', id)
    .execute();
