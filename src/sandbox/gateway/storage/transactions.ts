/**
 * Transactions, what was paid into them, and the statement, in SQLite: prepared statements, one function each. Guarantee: no business
 * rule here.
 */
import type { StatementSync } from 'node:sqlite';
import { insertStatement, updateStatement, type Database } from '../../support/database.ts';
import type { PaymentRow, StatementRow, TransactionRow } from './rows.ts';

/** Ids look like the vendor's: ten digits, above 2^31. */
const FIRST_ID = 4_100_000_000;

const FIXED = [
  'id',
  'reference',
  'accessCode',
  'origin',
  'channels',
  'currency',
  'requested',
  'email',
  'customerId',
  'callbackUrl',
  'metadata',
  'scenario',
  'account',
  'createdAtMs',
] as const satisfies (keyof TransactionRow)[];
const CHANGING = [
  'status',
  'step',
  'channel',
  'paidCurrency',
  'received',
  'fees',
  'givenBack',
  'payer',
  'expiresAtMs',
  'message',
  'gatewayResponse',
  'refundOutcome',
  'history',
  'openedAtMs',
  'paidAtMs',
  'requests',
] as const satisfies (keyof TransactionRow)[];
const PAYMENT_COLUMNS = ['transactionId', 'state', 'amount', 'currency', 'fees', 'channel', 'atMs'] as const;
const STATEMENT_COLUMNS = ['kind', 'reference', 'amountMinor', 'currency', 'feesMinor', 'atMs'] as const;

/** Which transactions to list; every given field must match. */
export interface TransactionFilter {
  status?: string;
  email?: string;
  customerId?: number;
  currency?: string;
  fromMs?: number;
  toMs?: number;
}

const CONDITIONS: Record<keyof TransactionFilter, string> = {
  status: 'status = ?',
  email: 'email = ?',
  customerId: 'customerId = ?',
  currency: 'currency = ?',
  fromMs: 'createdAtMs >= ?',
  toMs: 'createdAtMs <= ?',
};

export type TransactionStore = ReturnType<typeof createTransactionStore>;

/** Prepares the statements of a listing once for each set of conditions. */
function createLists({ sql }: Database) {
  const prepared = new Map<string, { totals: StatementSync; page: StatementSync }>();
  return (conditions: string[]) => {
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    const known = prepared.get(where) ?? {
      totals: sql.prepare(`SELECT count(*) AS total, sum(received) AS volume FROM transactions ${where}`),
      page: sql.prepare(`SELECT * FROM transactions ${where} ORDER BY id DESC LIMIT ? OFFSET ?`),
    };
    prepared.set(where, known);
    return known;
  };
}

/** The statements over transactions. */
export function createTransactionStore(database: Database) {
  const { sql } = database;
  const columns = [...FIXED, ...CHANGING];
  const insert = insertStatement(database, 'transactions', columns);
  const update = updateStatement(database, 'transactions', CHANGING, 'id');
  const byReference = sql.prepare('SELECT * FROM transactions WHERE reference = ?');
  const byId = sql.prepare('SELECT * FROM transactions WHERE id = ?');
  const byAccessCode = sql.prepare('SELECT * FROM transactions WHERE accessCode = ?');
  const newest = sql.prepare('SELECT max(id) AS id FROM transactions');
  const count = sql.prepare('UPDATE transactions SET requests = requests + 1 WHERE id = ?');
  const lists = createLists(database);
  const insertPayment = insertStatement(database, 'payments', PAYMENT_COLUMNS);
  const payments = sql.prepare('SELECT * FROM payments WHERE transactionId = ? ORDER BY id');
  const insertLine = insertStatement(database, 'statement', STATEMENT_COLUMNS);
  const statement = sql.prepare('SELECT * FROM statement WHERE atMs >= ? AND atMs < ? ORDER BY atMs, id');
  return {
    nextId: () => ((newest.get() as { id: number | null }).id ?? FIRST_ID) + 1,
    insert: (row: TransactionRow) => void insert.run(...columns.map((column) => row[column])),
    /** Writes everything that can change about a transaction. */
    update: (row: TransactionRow) => void update.run(...CHANGING.map((column) => row[column]), row.id),
    byReference: (reference: string) => byReference.get(reference) as TransactionRow | undefined,
    byId: (id: number) => byId.get(id) as TransactionRow | undefined,
    byAccessCode: (code: string) => byAccessCode.get(code) as TransactionRow | undefined,
    countRequest: (id: number) => void count.run(id),
    /** A page of transactions, newest first, with how many match altogether and what they received. */
    list: (filter: TransactionFilter, limit: number, offset: number) => {
      const given = Object.entries(filter) as [keyof TransactionFilter, string | number][];
      const statements = lists(given.map(([name]) => CONDITIONS[name]));
      const values = given.map(([, value]) => value);
      const totals = statements.totals.get(...values) as { total: number; volume: number | null };
      return {
        rows: statements.page.all(...values, limit, offset) as unknown as TransactionRow[],
        total: totals.total,
        volume: totals.volume ?? 0,
      };
    },
    insertPayment: (row: Omit<PaymentRow, 'id'>) =>
      void insertPayment.run(...PAYMENT_COLUMNS.map((column) => row[column])),
    paymentsOf: (transactionId: number) => payments.all(transactionId) as unknown as PaymentRow[],
    insertLine: (row: Omit<StatementRow, 'id'>) =>
      void insertLine.run(...STATEMENT_COLUMNS.map((column) => row[column])),
    /** The lines of [from, to). */
    statement: (fromMs: number, toMs: number) => statement.all(fromMs, toMs) as unknown as StatementRow[],
  };
}
