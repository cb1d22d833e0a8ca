/**
 * All rows of one purchase or funding, read in one snapshot. Where a table holds secrets (activation codes,
 * PIN, PUK, bank details, message bodies, answers of merchants) the columns are named one by one. Reads only.
 */
import { sql } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';
import { hostOf } from './account-webhooks.ts';
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
      .select(['id', 'state', 'supplier', 'package_code', 'order_no', 'attempts', 'planned_at'])
      .where('transaction_id', '=', transactionId)
      .orderBy('planned_at')
      .execute(),
    batch: await db
      .selectFrom('job_rows')
      .select('job_id')
      .where('kind', '=', 'order')
      .where('transaction_id', '=', transactionId)
      .executeTakeFirst(),
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
    disputes: await readDisputes(db, transactionId),
    messages: await readMessages(db, transactionId),
    attempts: await readAttempts(db, transactionId),
  };
}

function readEsim(db: WorldDb, esimId: string) {
  return db
    .selectFrom('esims')
    .select(['id', 'status', 'supplier', 'order_no', 'esim_tran_no', 'iccid', 'checked_at'])
    .where('id', '=', esimId)
    .executeTakeFirst();
}

/** How to pay is left out: it names bank accounts and pages that take money. */
function readPayments(db: WorldDb, transactionId: string) {
  return db
    .selectFrom('payments')
    .select([
      'reference',
      'attempt',
      'method',
      'status',
      'charge_minor',
      'charge_currency',
      'price_minor',
      'price_currency',
      'expires_at',
      'received_minor',
      'vouched_minor',
      'used_minor',
      'credited_minor',
      'refunding_minor',
      'refunded_minor',
      'reversed_minor',
      'disputed_minor',
      'other_currency',
      'has_money',
      'paid_hold',
      'gateway_id',
      'gateway_status',
      'checked_at',
      'created_at',
    ])
    .where('transaction_id', '=', transactionId)
    .orderBy('attempt')
    .execute();
}

/** Of a bank's own return there is no reference: its purchase's timeline names the event. */
function readGatewayEvents(db: WorldDb, transactionId: string) {
  return db
    .selectFrom('gateway_events')
    .innerJoin('payments', (join) =>
      join
        .onRef('payments.reference', '=', 'gateway_events.reference')
        .onRef('payments.gateway', '=', 'gateway_events.gateway'),
    )
    .select(['gateway_events.id', 'type', 'received_at', 'applied_at', 'note'])
    .where('payments.transaction_id', '=', transactionId)
    .orderBy('gateway_events.id')
    .execute();
}

function readEntries(db: WorldDb, transactionId: string) {
  return db
    .selectFrom('ledger_transactions as booked')
    .innerJoin('ledger_entries as entry', 'entry.ledger_transaction_id', 'booked.id')
    .select([
      'operation_key',
      'kind',
      'created_at as at',
      'ledger_account_id as account',
      'currency',
      'amount_minor',
    ])
    .where('booked.transaction_id', '=', transactionId)
    .orderBy('booked.id')
    .orderBy('entry.id')
    .execute();
}

function readDisputes(db: WorldDb, transactionId: string) {
  return db
    .selectFrom('disputes')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .orderBy('opened_at')
    .orderBy('dispute_id')
    .execute();
}

function readMessages(db: WorldDb, transactionId: string) {
  return db
    .selectFrom('webhook_messages')
    .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'webhook_messages.endpoint_id')
    .select([
      'webhook_messages.id',
      'webhook_messages.event',
      'webhook_messages.status',
      'webhook_messages.attempts',
      'webhook_messages.next_attempt_at',
      'webhook_messages.created_at',
      'webhook_messages.closed_at',
      'webhook_endpoints.id as endpoint_id',
      hostOf(sql.ref('webhook_endpoints.url')).as('host'),
    ])
    .where('webhook_messages.subject', '=', transactionId)
    .orderBy('webhook_messages.created_at')
    .execute();
}

function readAttempts(db: WorldDb, transactionId: string) {
  return db
    .selectFrom('webhook_attempts')
    .innerJoin('webhook_messages', 'webhook_messages.id', 'webhook_attempts.message_id')
    .select(['message_id', 'attempt', 'at', 'ms', 'outcome', 'webhook_attempts.status'])
    .where('webhook_messages.subject', '=', transactionId)
    .orderBy('webhook_attempts.id')
    .execute();
}

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
