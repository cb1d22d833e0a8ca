// Rows for the stuck list in a test's own Postgres, written by the owner as a crash or an outage leaves them.
// A test sets only the fields it is about; all others are those of a healthy purchase.
import { randomUUID } from 'node:crypto';
import { sql, type Insertable } from 'kysely';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import type { HoldsTable } from '../../src/ledger/store/tables.ts';
import type { PurchasesTable } from '../../src/purchases/store/tables.ts';
import type { WebhookEndpointsTable, WebhookMessagesTable } from '../../src/webhooks/store/tables.ts';
import type {
  FundingsTable,
  GatewayEventsTable,
  PaymentsTable,
  RefundsTable,
} from '../../src/payments/store/tables.ts';

export const NOW = new Date('2026-03-01T10:00:00.000Z');
const HEX = (): string => randomUUID().replaceAll('-', '');

/** A time this many minutes ago; a negative number is a time ahead. */
export const ago = (minutes: number): Date => new Date(NOW.getTime() - minutes * 60_000);
export const HOUR = 60;
export const DAY = 24 * HOUR;

export interface Rows {
  purchase(given?: Partial<Insertable<PurchasesTable>>): Promise<string>;
  funding(given?: Partial<Insertable<FundingsTable>>): Promise<string>;
  hold(id: string, given?: Partial<Insertable<HoldsTable>>): Promise<void>;
  /** Sent to the supplier at this time. */
  order(transactionId: string, sentAt: Date): Promise<void>;
  payment(transactionId: string, given?: Partial<Insertable<PaymentsTable>>): Promise<string>;
  refund(transactionId: string, given?: Partial<Insertable<RefundsTable>>): Promise<void>;
  /** A window of the gateway's list, by the minutes since it began and since it should have been read. */
  window(beganMinutesAgo: number, wantedMinutesAgo: number): Promise<void>;
  event(given?: Partial<Insertable<GatewayEventsTable>>): Promise<string>;
  endpoint(given?: Partial<Insertable<WebhookEndpointsTable>>): Promise<string>;
  message(endpointId: string, given?: Partial<Insertable<WebhookMessagesTable>>): Promise<string>;
  action(transactionId: string, given: ActionRow): Promise<void>;
}

interface ActionRow {
  readonly action: string;
  readonly status: string;
  readonly created_at: Date;
  readonly expires_at?: Date;
  readonly closed_at?: Date;
}

export function rowsOf(owner: WorldDb): Rows {
  return {
    purchase: (given) => purchase(owner, given),
    funding: (given) => funding(owner, given),
    hold: (id, given) => hold(owner, id, given),
    order: (transactionId, sentAt) => order(owner, transactionId, sentAt),
    payment: (transactionId, given) => payment(owner, transactionId, given),
    refund: (transactionId, given) => refund(owner, transactionId, given),
    window: (began, wanted) => window(owner, began, wanted),
    event: (given) => event(owner, given),
    endpoint: (given) => endpoint(owner, given),
    message: (endpointId, given) => message(owner, endpointId, given),
    action: (transactionId, given) => action(owner, transactionId, given),
  };
}

async function purchase(owner: WorldDb, given: Partial<Insertable<PurchasesTable>> = {}): Promise<string> {
  const id = `txn-${HEX()}`;
  const row: Insertable<PurchasesTable> = {
    transaction_id: id,
    account_id: 'acc-1',
    package_type: 'BASE',
    payment_method: 'WALLET',
    status: 'PROCESSING',
    reason: null,
    package_code: 'P',
    package_name: 'A package',
    volume_bytes: 1n,
    duration: 1,
    esim_id: `esim-${HEX()}`,
    price_minor: 230n,
    currency: 'USD',
    price_usd_minor: 230n,
    cost_usd_e4: 20_000n,
    settings_id: 'initial',
    rate_id: null,
    request_id: 'r',
    created_at: ago(1),
    closed_at: given.status === 'SUCCESS' || given.status === 'FAILED' ? ago(1) : null,
    ...given,
  };
  await owner.insertInto('purchases').values(row).execute();
  return row.transaction_id;
}

async function funding(owner: WorldDb, given: Partial<Insertable<FundingsTable>> = {}): Promise<string> {
  const id = `txn-${HEX()}`;
  const row: Insertable<FundingsTable> = {
    transaction_id: id,
    account_id: 'acc-1',
    payment_method: 'CARD',
    status: 'PENDING',
    reason: null,
    amount_minor: 5_000n,
    currency: 'USD',
    request_id: 'r',
    created_at: ago(1),
    closed_at: given.status === 'SUCCESS' || given.status === 'FAILED' ? ago(1) : null,
    ...given,
  };
  await owner.insertInto('fundings').values(row).execute();
  return row.transaction_id;
}

async function order(owner: WorldDb, transactionId: string, sentAt: Date): Promise<void> {
  await sql`
    insert into supplier_orders (id, transaction_id, kind, supplier, package_code, volume_bytes, cost_usd_e4, in_flight_grace_ms, state, attempts,
                                 first_sent_at, last_sent_at)
    values (${transactionId}, ${transactionId}, 'BASE', 'esim-access', 'P', 1, 1, 1, 'sent', 1, ${sentAt}, ${sentAt})`.execute(
    owner,
  );
}

async function hold(owner: WorldDb, id: string, given: Partial<Insertable<HoldsTable>> = {}): Promise<void> {
  await sql`insert into ledger_accounts (id, kind, currency, account_id) values ('wallet:acc-1', 'wallet', 'USD', 'acc-1')
    on conflict do nothing`.execute(owner);
  const status = given.status ?? 'HELD';
  await owner
    .insertInto('holds')
    .values({
      id,
      account_id: 'acc-1',
      currency: 'USD',
      amount_minor: 230n,
      created_at: ago(1),
      closed_at: status === 'HELD' ? null : ago(1),
      ...given,
    })
    .execute();
}

async function window(owner: WorldDb, beganMinutesAgo: number, wantedMinutesAgo: number): Promise<void> {
  const wanted = { wanted_at: ago(wantedMinutesAgo), due_at: ago(wantedMinutesAgo) };
  await owner
    .insertInto('gateway_windows')
    .values({ starts_at: ago(beganMinutesAgo), settled_total: null, ...wanted })
    .execute();
}

async function payment(
  owner: WorldDb,
  transactionId: string,
  given: Partial<Insertable<PaymentsTable>> = {},
): Promise<string> {
  const reference = given.reference ?? transactionId;
  await owner
    .insertInto('payments')
    .values({
      reference,
      gateway: 'paystack',
      transaction_id: transactionId,
      attempt: 1,
      purpose: 'purchase',
      account_id: 'acc-1',
      method: 'CARD',
      status: 'OPEN',
      charge_minor: 368_000n,
      charge_currency: 'NGN',
      price_minor: 230n,
      price_currency: 'USD',
      instructions: null,
      expires_at: ago(-HOUR),
      other_currency: null,
      gateway_id: null,
      gateway_status: null,
      checked_at: null,
      ...given,
    })
    .execute();
  return reference;
}

async function refund(
  owner: WorldDb,
  transactionId: string,
  given: Partial<Insertable<RefundsTable>> = {},
): Promise<void> {
  await owner
    .insertInto('refunds')
    .values({
      refund_key: `${transactionId}-${HEX()}`,
      gateway: 'paystack',
      reference: transactionId,
      transaction_id: transactionId,
      account_id: 'acc-1',
      amount_minor: 368_000n,
      currency: 'NGN',
      reason: 'not-delivered',
      gateway_refund_id: null,
      gateway_status: null,
      sent_at: null,
      send_before: null,
      created_at: ago(1),
      closed_at: given.status === 'DONE' || given.status === 'CREDITED' ? ago(1) : null,
      ...given,
    })
    .execute();
}

async function event(owner: WorldDb, given: Partial<Insertable<GatewayEventsTable>> = {}): Promise<string> {
  const row = await owner
    .insertInto('gateway_events')
    .values({
      gateway: 'paystack',
      event_key: HEX(),
      type: 'charge.success',
      about: 'charge',
      reference: null,
      email: null,
      received_at: ago(1),
      applied_at: null,
      note: null,
      ...given,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return `event-${row.id}`;
}

async function endpoint(
  owner: WorldDb,
  given: Partial<Insertable<WebhookEndpointsTable>> = {},
): Promise<string> {
  const id = `ep-${HEX()}`;
  await owner
    .insertInto('webhook_endpoints')
    .values({
      id,
      account_id: 'acc-1',
      url: 'https://merchant.example/hook',
      events: ['esim.purchased'],
      enabled: (given.disabled_reason ?? null) === null,
      disabled_reason: null,
      disabled_at: (given.disabled_reason ?? null) === null ? null : ago(1),
      failing_since: null,
      secret_sealed: Buffer.from('x'),
      previous_secret_sealed: null,
      previous_until: null,
      created_at: ago(DAY),
      updated_at: ago(DAY),
      deleted_at: null,
      ...given,
    })
    .execute();
  return id;
}

async function message(
  owner: WorldDb,
  endpointId: string,
  given: Partial<Insertable<WebhookMessagesTable>> = {},
): Promise<string> {
  const id = `msg-${HEX()}`;
  const status = given.status ?? 'PENDING';
  await owner
    .insertInto('webhook_messages')
    .values({
      id,
      endpoint_id: endpointId,
      account_id: 'acc-1',
      event: 'esim.purchased',
      event_key: id,
      subject: null,
      body: '{}',
      status,
      next_attempt_at: status === 'PENDING' ? ago(-1) : null,
      swept_at: null,
      closed_at: status === 'PENDING' ? null : ago(1),
      ...given,
    })
    .execute();
  return id;
}

async function action(owner: WorldDb, transactionId: string, given: ActionRow): Promise<void> {
  const { action: name, status, created_at: createdAt, expires_at: expiresAt, closed_at: closedAt } = given;
  await sql`
    insert into operator_actions (id, transaction_id, action, action_key, asked, by_person, reason, amount_minor, currency, status,
                                created_at, expires_at, closed_at)
    values (${`action-${HEX()}`}, ${transactionId}, ${name}, ${HEX()}, 'all', 'ada', 'a test', 230, 'USD', ${status},
            ${createdAt}, ${expiresAt ?? null}, ${closedAt ?? null})`.execute(owner);
}
