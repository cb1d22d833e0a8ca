/**
 * Refunds and disputes in SQLite: prepared statements, one function each. Guarantee: no business rule here.
 */
import { insertStatement, updateStatement, type Database } from '../../support/database.ts';
import type { DisputeRow, RefundRow } from './rows.ts';

const FIRST_REFUND_ID = 3_000_000;
const FIRST_DISPUTE_ID = 350_000;

const REFUND_COLUMNS = [
  'id',
  'transactionId',
  'amount',
  'currency',
  'status',
  'outcome',
  'heldBy',
  'customerNote',
  'merchantNote',
  'account',
  'createdAtMs',
  'updatedAtMs',
  'refundedAtMs',
] as const satisfies (keyof RefundRow)[];
const DISPUTE_COLUMNS = [
  'id',
  'transactionId',
  'amount',
  'status',
  'resolution',
  'createdAtMs',
  'updatedAtMs',
  'resolvedAtMs',
] as const satisfies (keyof DisputeRow)[];

export type RefundStore = ReturnType<typeof createRefundStore>;

/** The statements over refunds and disputes. */
export function createRefundStore(database: Database) {
  const { sql } = database;
  const insertRefund = insertStatement(database, 'refunds', REFUND_COLUMNS);
  const updateRefund = updateStatement(database, 'refunds', REFUND_COLUMNS, 'id');
  const refundById = sql.prepare('SELECT * FROM refunds WHERE id = ?');
  const refundsOf = sql.prepare('SELECT * FROM refunds WHERE transactionId = ? ORDER BY id');
  const heldRefunds = sql.prepare("SELECT * FROM refunds WHERE heldBy = 'fault' ORDER BY id");
  const refundsBetween = sql.prepare(
    'SELECT * FROM refunds WHERE createdAtMs >= ? AND createdAtMs <= ? ORDER BY id DESC LIMIT ? OFFSET ?',
  );
  const lastRefund = sql.prepare('SELECT max(id) AS id FROM refunds');
  const insertDispute = insertStatement(database, 'disputes', DISPUTE_COLUMNS);
  const updateDispute = updateStatement(database, 'disputes', DISPUTE_COLUMNS, 'id');
  const disputesOf = sql.prepare('SELECT * FROM disputes WHERE transactionId = ? ORDER BY id');
  const disputesBetween = sql.prepare(
    'SELECT * FROM disputes WHERE createdAtMs >= ? AND createdAtMs <= ? ORDER BY id DESC',
  );
  const lastDispute = sql.prepare('SELECT max(id) AS id FROM disputes');
  return {
    nextRefundId: () => ((lastRefund.get() as { id: number | null }).id ?? FIRST_REFUND_ID) + 1,
    insertRefund: (row: RefundRow) => void insertRefund.run(...REFUND_COLUMNS.map((column) => row[column])),
    updateRefund: (row: RefundRow) =>
      void updateRefund.run(...REFUND_COLUMNS.map((column) => row[column]), row.id),
    refundById: (id: number) => refundById.get(id) as RefundRow | undefined,
    refundsOf: (transactionId: number) => refundsOf.all(transactionId) as unknown as RefundRow[],
    heldRefunds: () => heldRefunds.all() as unknown as RefundRow[],
    /** A page of refunds, newest first. */
    refundsBetween: (fromMs: number, toMs: number, limit: number, offset: number) =>
      refundsBetween.all(fromMs, toMs, limit, offset) as unknown as RefundRow[],
    nextDisputeId: () => ((lastDispute.get() as { id: number | null }).id ?? FIRST_DISPUTE_ID) + 1,
    insertDispute: (row: DisputeRow) =>
      void insertDispute.run(...DISPUTE_COLUMNS.map((column) => row[column])),
    updateDispute: (row: DisputeRow) =>
      void updateDispute.run(...DISPUTE_COLUMNS.map((column) => row[column]), row.id),
    disputesOf: (transactionId: number) => disputesOf.all(transactionId) as unknown as DisputeRow[],
    /** Newest first. */
    disputesBetween: (fromMs: number, toMs: number) =>
      disputesBetween.all(fromMs, toMs) as unknown as DisputeRow[],
  };
}
