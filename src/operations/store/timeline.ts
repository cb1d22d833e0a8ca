/**
 * All rows of one purchase or funding, in one snapshot. Where a table holds secrets (activation codes, PIN,
 * PUK, bank details, message bodies, answers of merchants) the columns are named one by one.
 */
import { sql } from 'kysely';
import { creditOf, sidesOf } from '../../ledger/chart-of-accounts.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { findReplacementLinks } from '../../purchases/store/replacements.ts';
import { hostOf } from './accounts.ts';
import { rowsOf } from './subject.ts';

export type TimelineRows = Awaited<ReturnType<typeof readRows>>;

/** undefined: our rows know nothing under this id. */
export async function readTimeline(db: WorldDb, transactionId: string): Promise<TimelineRows | undefined> {
  const rows = await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute((trx) => readRows(trx, transactionId));
  const isKnown = rows.purchase ?? rows.funding ?? rows.hold ?? rows.entries[0];
  return isKnown === undefined ? undefined : rows;
}

async function readRows(db: WorldDb, transactionId: string) {
  const purchase = await rowsOf(db, 'purchases', transactionId).executeTakeFirst();
  return {
    purchase,
    funding: await rowsOf(db, 'fundings', transactionId).executeTakeFirst(),
    esim: purchase && (await readEsim(db, purchase.esim_id)),
    orders: await db
      .selectFrom('supplier_orders')
      .select(['order_no', 'attempts'])
      .where('transaction_id', '=', transactionId)
      .orderBy('planned_at')
      .execute(),
    batch: await db
      .selectFrom('job_rows')
      .select('job_id')
      .where('kind', '=', 'order')
      .where('transaction_id', '=', transactionId)
      .executeTakeFirst(),
    links: await findReplacementLinks(db, transactionId),
    hold: await db.selectFrom('holds').selectAll().where('id', '=', transactionId).executeTakeFirst(),
    events: await db
      .selectFrom('purchase_events')
      .select(['at', 'what', 'detail'])
      .where('transaction_id', '=', transactionId)
      .orderBy('id')
      .execute(),
    payments: await readPayments(db, transactionId),
    refunds: await rowsOf(db, 'refunds', transactionId).orderBy('created_at').execute(),
    gatewayEvents: await readGatewayEvents(db, transactionId),
    entries: await readEntries(db, transactionId),
    disputes: await db
      .selectFrom('disputes')
      .selectAll()
      .where('transaction_id', '=', transactionId)
      .orderBy('opened_at')
      .orderBy('dispute_id')
      .execute(),
    messages: await readMessages(db, transactionId),
    attempts: await readAttempts(db, transactionId),
  };
}

const readEsim = (db: WorldDb, esimId: string) =>
  db
    .selectFrom('esims')
    .select(['status', 'order_no', 'iccid', 'checked_at'])
    .where('id', '=', esimId)
    .executeTakeFirst();

/** How to pay is left out: it names bank accounts and pages that take money. */
const readPayments = (db: WorldDb, transactionId: string) =>
  db
    .selectFrom('payments')
    .select(['reference', 'method', 'status', 'charge_minor', 'charge_currency', 'other_currency'])
    .select(['received_minor', 'vouched_minor', 'has_money', 'gateway_id', 'gateway_status'])
    .select(['checked_at', 'expires_at', 'created_at'])
    .where('transaction_id', '=', transactionId)
    .orderBy('attempt')
    .execute();

/** Of a bank's own return there is no reference: its purchase's timeline names the event. */
const readGatewayEvents = (db: WorldDb, transactionId: string) =>
  db
    .selectFrom('gateway_events as event')
    .innerJoin('payments', (join) =>
      join
        .onRef('payments.reference', '=', 'event.reference')
        .onRef('payments.gateway', '=', 'event.gateway'),
    )
    .select(['event.id', 'type', 'received_at', 'applied_at', 'note'])
    .where('payments.transaction_id', '=', transactionId)
    .orderBy('event.id')
    .execute();

/** Oldest first. */
async function readEntries(db: WorldDb, transactionId: string) {
  const rows = await db
    .selectFrom('ledger_transactions as booked')
    .innerJoin('ledger_entries as entry', 'entry.ledger_transaction_id', 'booked.id')
    .select(['operation_key', 'kind', 'created_at as at', 'ledger_account_id as account'])
    .select(['currency', 'amount_minor as stored'])
    .where('booked.transaction_id', '=', transactionId)
    .orderBy('booked.id')
    .orderBy('entry.id')
    .execute();
  return rows.map(({ stored, ...row }) => ({ ...row, ...sidesOf(creditOf(stored, row.currency)) }));
}

const readMessages = (db: WorldDb, transactionId: string) =>
  db
    .selectFrom('webhook_messages as message')
    .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'message.endpoint_id')
    .select(['message.id', 'message.event', 'message.status', 'message.attempts'])
    .select(['message.created_at', 'message.closed_at', hostOf(sql.ref('endpoint.url')).as('host')])
    .where('message.subject', '=', transactionId)
    .orderBy('message.created_at')
    .execute();

const readAttempts = (db: WorldDb, transactionId: string) =>
  db
    .selectFrom('webhook_attempts as attempt')
    .innerJoin('webhook_messages as message', 'message.id', 'attempt.message_id')
    .select(['message_id', 'attempt', 'at', 'ms', 'outcome', 'attempt.status'])
    .where('message.subject', '=', transactionId)
    .orderBy('attempt.id')
    .execute();

/** The transaction id for the id of a purchase, funding, payment, message or order; undefined: not found. */
export async function findTransactionId(db: WorldDb, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ transaction_id: string }>`
    select transaction_id from purchases where transaction_id = ${id}
    union all select transaction_id from fundings where transaction_id = ${id}
    union all select transaction_id from payments where reference = ${id}
    union all select transaction_id from esims where id = ${id}
    union all select transaction_id from esims where iccid = ${id} and ${id} <> ''
    union all select subject from webhook_messages where id = ${id} and subject is not null
    limit 1`.execute(db);
  return rows[0]?.transaction_id;
}
