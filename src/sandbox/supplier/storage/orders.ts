/**
 * Orders, their eSIMs and top-ups in SQLite: prepared statements, one function each. Guarantee: no business rule here.
 */
import type { StatementSync } from 'node:sqlite';
import { insertStatement, updateStatement, type Database } from '../../support/database.ts';
import type { EsimRow, OrderRow, TopUpRow } from './rows.ts';

/** Which eSIMs to list; every given field must match. */
export interface EsimFilter {
  orderNo?: string;
  iccid?: string;
  esimTranNo?: string;
  /** Created in [from, to], with profiles allocated by `allocatedBy`. */
  createdFromMs?: number;
  createdToMs?: number;
  allocatedBy?: number;
}

export type OrderStore = ReturnType<typeof createOrderStore>;

type SqlValue = string | number | null;

const ESIM_CONDITIONS: Record<keyof EsimFilter, string> = {
  orderNo: 'orderNo = ?',
  iccid: 'iccid = ?',
  esimTranNo: 'esimTranNo = ?',
  createdFromMs: 'createdAtMs >= ?',
  createdToMs: 'createdAtMs <= ?',
  allocatedBy: 'allocatedAtMs <= ?',
};

const ORDER_COLUMNS = [
  'orderNo',
  'transactionId',
  'amount',
  'lines',
  'createdAtMs',
  'allocatedAtMs',
  'heldBy',
  'requests',
] as const satisfies (keyof OrderRow)[];
const ESIM_COLUMNS = [
  'esimTranNo',
  'orderNo',
  'transactionId',
  'iccid',
  'plan',
  'paid',
  'createdAtMs',
  'allocatedAtMs',
  'activatesAtMs',
  'totalVolume',
  'totalDuration',
  'orderUsage',
  'laggingUsage',
  'usageAtMs',
  'forcedStatus',
  'forcedSmdp',
] as const satisfies (keyof EsimRow)[];
const TOPUP_COLUMNS = [
  'transactionId',
  'topUpEsimTranNo',
  'esimTranNo',
  'amount',
  'plan',
  'volume',
  'duration',
  'createdAtMs',
  'answersAtMs',
  'requests',
  'reply',
] as const satisfies (keyof TopUpRow)[];

/** Prepares the two statements of a listing once for each set of conditions. */
function createEsimLists({ sql }: Database) {
  const prepared = new Map<string, { count: StatementSync; page: StatementSync }>();
  return (conditions: string[]) => {
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    const known = prepared.get(where) ?? {
      count: sql.prepare(`SELECT count(*) AS total FROM esims ${where}`),
      page: sql.prepare(`SELECT * FROM esims ${where} ORDER BY esimTranNo LIMIT ? OFFSET ?`),
    };
    prepared.set(where, known);
    return known;
  };
}

/** Everything that can change about an eSIM. */
const CHANGING = ESIM_COLUMNS.filter(
  (column) => !['esimTranNo', 'orderNo', 'transactionId', 'iccid', 'plan', 'createdAtMs'].includes(column),
);

/** The statements over orders, eSIMs and top-ups. */
export function createOrderStore(database: Database) {
  const { sql } = database;
  const esimLists = createEsimLists(database);
  const insertOrder = insertStatement(database, 'orders', ORDER_COLUMNS);
  const insertEsim = insertStatement(database, 'esims', ESIM_COLUMNS);
  const insertTopUp = insertStatement(database, 'topups', TOPUP_COLUMNS);
  const orderByTransaction = sql.prepare('SELECT * FROM orders WHERE transactionId = ?');
  const orderByNo = sql.prepare('SELECT * FROM orders WHERE orderNo = ?');
  const recentOrders = sql.prepare('SELECT * FROM orders ORDER BY createdAtMs DESC, orderNo DESC LIMIT ?');
  const countOrder = sql.prepare('UPDATE orders SET requests = requests + 1 WHERE orderNo = ?');
  const heldOrders = sql.prepare('SELECT * FROM orders WHERE heldBy = ?');
  const freeOrder = sql.prepare('UPDATE orders SET allocatedAtMs = ?, heldBy = NULL WHERE orderNo = ?');
  const freeEsims = sql.prepare('UPDATE esims SET allocatedAtMs = ?, activatesAtMs = ? WHERE orderNo = ?');
  const esimsOfOrder = sql.prepare('SELECT * FROM esims WHERE orderNo = ? ORDER BY esimTranNo');
  const esimByTranNo = sql.prepare('SELECT * FROM esims WHERE esimTranNo = ?');
  const esimByIccid = sql.prepare('SELECT * FROM esims WHERE iccid = ? ORDER BY esimTranNo DESC LIMIT 1');
  const updateEsim = updateStatement(database, 'esims', CHANGING, 'esimTranNo');
  const reusableIccid = sql.prepare(
    "SELECT iccid FROM esims WHERE forcedStatus IN ('CANCEL', 'REVOKE') ORDER BY esimTranNo DESC LIMIT 1",
  );
  const recentEsims = sql.prepare('SELECT esimTranNo FROM esims ORDER BY esimTranNo DESC LIMIT ?');
  const topUpByTransaction = sql.prepare('SELECT * FROM topups WHERE transactionId = ?');
  const topUpsOfEsim = sql.prepare('SELECT * FROM topups WHERE esimTranNo = ? ORDER BY createdAtMs, rowid');
  const recentTopUps = sql.prepare('SELECT * FROM topups ORDER BY createdAtMs DESC, rowid DESC LIMIT ?');
  const countTopUp = sql.prepare('UPDATE topups SET requests = requests + 1 WHERE transactionId = ?');
  return {
    insertOrder: (row: OrderRow) => void insertOrder.run(...ORDER_COLUMNS.map((column) => row[column])),
    insertEsim: (row: EsimRow) => void insertEsim.run(...ESIM_COLUMNS.map((column) => row[column])),
    insertTopUp: (row: TopUpRow) => void insertTopUp.run(...TOPUP_COLUMNS.map((column) => row[column])),
    orderByTransaction: (id: string) => orderByTransaction.get(id) as OrderRow | undefined,
    orderByNo: (orderNo: string) => orderByNo.get(orderNo) as OrderRow | undefined,
    recentOrders: (limit: number) => recentOrders.all(limit) as unknown as OrderRow[],
    countOrderRequest: (orderNo: string) => void countOrder.run(orderNo),
    heldOrders: (heldBy: 'fault' | 'magic') => heldOrders.all(heldBy) as unknown as OrderRow[],
    /** Profiles of a held order exist from `allocatedAtMs` on. */
    freeOrder: (orderNo: string, allocatedAtMs: number, activatesAtMs: number | null) => {
      freeOrder.run(allocatedAtMs, orderNo);
      freeEsims.run(allocatedAtMs, activatesAtMs, orderNo);
    },
    esimsOfOrder: (orderNo: string) => esimsOfOrder.all(orderNo) as unknown as EsimRow[],
    esimByTranNo: (tranNo: string) => esimByTranNo.get(tranNo) as EsimRow | undefined,
    /** The newest eSIM with this ICCID, since a profile may be used again. */
    esimByIccid: (iccid: string) => esimByIccid.get(iccid) as EsimRow | undefined,
    /** Writes everything that can change about an eSIM. */
    updateEsim: (row: EsimRow) =>
      void updateEsim.run(...CHANGING.map((column) => row[column]), row.esimTranNo),
    /** The ICCID of a cancelled or revoked eSIM, if any. */
    reusableIccid: () => (reusableIccid.get() as { iccid: string } | undefined)?.iccid,
    /** Numbers of the newest eSIMs. */
    recentEsims: (limit: number) => recentEsims.all(limit).map((row) => String(row['esimTranNo'])),
    /** A page of eSIMs, oldest first, and how many match altogether. */
    listEsims: (filter: EsimFilter, limit: number, offset: number): { rows: EsimRow[]; total: number } => {
      const given = Object.entries(filter) as [keyof EsimFilter, SqlValue][];
      const statements = esimLists(given.map(([name]) => ESIM_CONDITIONS[name]));
      const values = given.map(([, value]) => value);
      const { total } = statements.count.get(...values) as { total: number };
      return { rows: statements.page.all(...values, limit, offset) as unknown as EsimRow[], total };
    },
    topUpByTransaction: (id: string) => topUpByTransaction.get(id) as TopUpRow | undefined,
    topUpsOfEsim: (tranNo: string) => topUpsOfEsim.all(tranNo) as unknown as TopUpRow[],
    recentTopUps: (limit: number) => recentTopUps.all(limit) as unknown as TopUpRow[],
    countTopUpRequest: (id: string) => void countTopUp.run(id),
  };
}
