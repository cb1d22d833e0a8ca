/** The gateway's queries, by subject. */
import type { Database } from '../../support/database.ts';
import {
  AGENDA,
  DELIVERIES,
  DISPUTES,
  EVENTS,
  PAYMENTS,
  REFUNDS,
  STATEMENT,
  TRANSACTIONS,
  type AgendaRow,
  type DeliveryRow,
  type DisputeRow,
  type EventRow,
  type PaymentRow,
  type RefundRow,
  type StatementRow,
  type TransactionRow,
} from './tables.ts';

/** Ids look like the vendor's: ten digits, above 2^31. */
const FIRST_ID = 4_100_000_000;
const FIRST_REFUND_ID = 3_000_000;
const FIRST_DISPUTE_ID = 350_000;
const MAX_DELIVERIES_AT_ONCE = 200;

export type Stores = ReturnType<typeof createStores>;

/** Transactions, what was paid into them, and the statement. */
function createTransactionStore(database: Database) {
  const { one, all, run } = database;
  return {
    nextId: database.nextId(TRANSACTIONS, FIRST_ID),
    insert: database.insert(TRANSACTIONS),
    update: database.update(TRANSACTIONS, 'id'),
    byReference: one<(reference: string) => TransactionRow>('SELECT * FROM transactions WHERE reference = ?'),
    byId: one<(id: number) => TransactionRow>('SELECT * FROM transactions WHERE id = ?'),
    byAccessCode: one<(accessCode: string) => TransactionRow>(
      'SELECT * FROM transactions WHERE accessCode = ?',
    ),
    countRequest: run<(id: number) => void>('UPDATE transactions SET requests = requests + 1 WHERE id = ?'),
    /** A page of transactions, newest first, with how many match and what they received. */
    list: database.pages(TRANSACTIONS, {
      conditions: {
        status: 'status = ?',
        email: 'email = ?',
        customerId: 'customerId = ?',
        currency: 'currency = ?',
        fromMs: 'createdAtMs >= ?',
        toMs: 'createdAtMs <= ?',
      },
      orderBy: 'id DESC',
      totals: { total: 'count(*)', volume: 'coalesce(sum(received), 0)' },
    }),
    insertPayment: database.insert(PAYMENTS),
    paymentsOf: all<(transactionId: number) => PaymentRow>(
      'SELECT * FROM payments WHERE transactionId = ? ORDER BY id',
    ),
    insertLine: database.insert(STATEMENT),
    /** The lines of [from, to). */
    statement: all<(fromMs: number, toMs: number) => StatementRow>(
      'SELECT * FROM statement WHERE atMs >= ? AND atMs < ? ORDER BY atMs, id',
    ),
  };
}

function createRefundStore(database: Database) {
  const { one, all } = database;
  return {
    nextRefundId: database.nextId(REFUNDS, FIRST_REFUND_ID),
    insertRefund: database.insert(REFUNDS),
    updateRefund: database.update(REFUNDS, 'id'),
    refundById: one<(id: number) => RefundRow>('SELECT * FROM refunds WHERE id = ?'),
    refundsOf: all<(transactionId: number) => RefundRow>(
      'SELECT * FROM refunds WHERE transactionId = ? ORDER BY id',
    ),
    heldRefunds: all<() => RefundRow>("SELECT * FROM refunds WHERE heldBy = 'fault' ORDER BY id"),
    /** A page of refunds, newest first. */
    refundsBetween: all<(fromMs: number, toMs: number, limit: number, offset: number) => RefundRow>(
      'SELECT * FROM refunds WHERE createdAtMs >= ? AND createdAtMs <= ? ORDER BY id DESC LIMIT ? OFFSET ?',
    ),
    nextDisputeId: database.nextId(DISPUTES, FIRST_DISPUTE_ID),
    insertDispute: database.insert(DISPUTES),
    updateDispute: database.update(DISPUTES, 'id'),
    disputesOf: all<(transactionId: number) => DisputeRow>(
      'SELECT * FROM disputes WHERE transactionId = ? ORDER BY id',
    ),
    /** Newest first. */
    disputesBetween: all<(fromMs: number, toMs: number) => DisputeRow>(
      'SELECT * FROM disputes WHERE createdAtMs >= ? AND createdAtMs <= ? ORDER BY id DESC',
    ),
  };
}

export type DueDelivery = DeliveryRow & { body: string };

function createWebhookStore(database: Database) {
  const { one, all, run } = database;
  const due = all<(nowMs: number) => DueDelivery>(
    `SELECT deliveries.*, body FROM deliveries JOIN events ON events.id = eventId
      WHERE state = 'waiting' AND dueAtMs <= ? ORDER BY dueAtMs, deliveries.id LIMIT ${MAX_DELIVERIES_AT_ONCE}`,
  );
  const take = run<(id: number) => void>("UPDATE deliveries SET state = 'sending' WHERE id = ?");
  const next = one<() => { atMs: number | null }>(
    "SELECT min(dueAtMs) AS atMs FROM deliveries WHERE state = 'waiting'",
  );
  return {
    insertEvent: database.insert(EVENTS),
    insertDelivery: database.insert(DELIVERIES),
    eventById: one<(id: number) => EventRow>('SELECT * FROM events WHERE id = ?'),
    /** The newest events, newest first; null: any. */
    recentEvents: all<(reference: string | null, event: string | null, limit: number) => EventRow>(
      `SELECT * FROM events WHERE (?1 IS NULL OR reference = ?1) AND (?2 IS NULL OR event = ?2)
        ORDER BY id DESC LIMIT ?3`,
    ),
    deliveriesOf: all<(eventId: number) => DeliveryRow>(
      'SELECT * FROM deliveries WHERE eventId = ? ORDER BY id',
    ),
    /** What is due, oldest first; all of it is taken and will be settled. */
    takeDue: (nowMs: number): DueDelivery[] => {
      const rows = due(nowMs);
      for (const { id } of rows) take(id);
      return rows;
    },
    /** What an earlier process had taken and did not settle waits again. */
    takeBack: run<() => void>("UPDATE deliveries SET state = 'waiting' WHERE state = 'sending'"),
    nextDueAtMs: () => next()?.atMs ?? null,
    settle: run<(state: DeliveryRow['state'], dueAtMs: number, attempts: string, id: number) => void>(
      'UPDATE deliveries SET state = ?, dueAtMs = ?, attempts = ? WHERE id = ?',
    ),
    /** Puts off, or forward, what waits. */
    move: run<(dueAtMs: number, id: number) => void>(
      "UPDATE deliveries SET dueAtMs = ? WHERE id = ? AND state = 'waiting'",
    ),
  };
}

function createAgendaStore(database: Database) {
  const next = database.one<() => { atMs: number | null }>('SELECT min(atMs) AS atMs FROM agenda');
  return {
    insert: database.insert(AGENDA),
    firstDue: database.one<(nowMs: number) => AgendaRow>(
      'SELECT * FROM agenda WHERE atMs <= ? ORDER BY atMs, id LIMIT 1',
    ),
    nextAtMs: () => next()?.atMs ?? null,
    drop: database.run<(id: number) => void>('DELETE FROM agenda WHERE id = ?'),
  };
}

/** The domains of Apple Pay. */
function createDomainStore({ all, run }: Database) {
  return {
    all: all<() => { name: string }>('SELECT name FROM domains ORDER BY name'),
    add: run<(name: string) => void>('INSERT INTO domains (name) VALUES (?) ON CONFLICT DO NOTHING'),
    remove: run<(name: string) => number>('DELETE FROM domains WHERE name = ?'),
  };
}

export function createStores(database: Database) {
  return {
    transactions: createTransactionStore(database),
    refunds: createRefundStore(database),
    webhooks: createWebhookStore(database),
    agenda: createAgendaStore(database),
    domains: createDomainStore(database),
  };
}
