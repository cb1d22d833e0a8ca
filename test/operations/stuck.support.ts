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

export const rowsOf = (owner: WorldDb) => ({
  ...moneyRows(owner),
  ...messageRows(owner),
  purchase: async (given: Partial<Insertable<PurchasesTable>> = {}): Promise<string> => {
    const id = given.transaction_id ?? `txn-${HEX()}`;
    await owner
      .insertInto('purchases')
      .values({
        ...{ transaction_id: id, account_id: 'acc-1', package_type: 'BASE', payment_method: 'WALLET' },
        ...{ status: 'PROCESSING', package_code: 'P', package_name: 'A package', volume_bytes: 1n },
        ...{ duration: 1, esim_id: `esim-${HEX()}`, price_minor: 230n, currency: 'USD' },
        ...{ price_usd_minor: 230n, cost_usd_e4: 20_000n, settings_id: 'initial', request_id: 'r' },
        ...{ created_at: ago(1), closed_at: closedAt(given.status, 'SUCCESS', 'FAILED') },
        ...given,
      })
      .execute();
    return id;
  },
  funding: async (given: Partial<Insertable<FundingsTable>> = {}): Promise<string> => {
    const id = given.transaction_id ?? `txn-${HEX()}`;
    await owner
      .insertInto('fundings')
      .values({
        ...{ transaction_id: id, account_id: 'acc-1', payment_method: 'CARD', status: 'PENDING' },
        ...{ amount_minor: 5_000n, currency: 'USD', request_id: 'r' },
        ...{ created_at: ago(1), closed_at: closedAt(given.status, 'SUCCESS', 'FAILED') },
        ...given,
      })
      .execute();
    return id;
  },
  /** A purchase that is flagged for nothing. Its eSIM is to be returned or replaced since then. */
  followed: async (table: 'returns' | 'replacements', at: Date): Promise<string> => {
    const [id, esimId] = [`txn-${HEX()}`, `esim-${HEX()}`];
    const row = { transaction_id: id, account_id: 'acc-1', esim_id: esimId, supplier: 's', created_at: at };
    await rowsOf(owner).purchase({ transaction_id: id, esim_id: esimId, status: 'SUCCESS', created_at: at });
    await sql`
      insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier, iccid, order_no,
                         esim_tran_no, total_volume_bytes, total_duration, duration_unit, data_type, created_at)
      values (${esimId}, 'acc-1', ${id}, 'P', 'P', 'CREATED', 1, 'USD', '{}', 's', ${esimId}, 'o', 'n', 1, 30, 'DAY', 1, ${at})`.execute(
      owner,
    );
    const asked = { ...row, currency: 'USD' as const, requested_by: 'ada', in_flight_grace_ms: 1 };
    if (table === 'returns')
      await owner
        .insertInto('returns')
        .values({ ...asked, id: `return-${HEX()}`, price_minor: 1n, fee_minor: 0n, amount_minor: 1n })
        .execute();
    else
      await owner
        .insertInto('replacements')
        .values({
          ...{ ...asked, id: `replacement-${HEX()}`, first_esim_id: esimId, request_id: 'r' },
          ...{ full_price_minor: 1n, price_minor: 1n, new_transaction_id: HEX(), new_esim_id: HEX() },
        })
        .execute();
    return id;
  },
  /** Sent to the supplier at this time. */
  order: async (id: string, sentAt: Date): Promise<void> => {
    await sql`
      insert into supplier_orders (id, transaction_id, kind, supplier, package_code, volume_bytes, cost_usd_e4, in_flight_grace_ms, state,
                                   attempts, first_sent_at, last_sent_at)
      values (${id}, ${id}, 'BASE', 'esim-access', 'P', 1, 1, 1, 'sent', 1, ${sentAt}, ${sentAt})`.execute(
      owner,
    );
  },
  action: async (transactionId: string, given: ActionRow): Promise<void> => {
    const { action, status, created_at: createdAt, expires_at: expiresAt, closed_at: closed } = given;
    await sql`
      insert into operator_actions (id, transaction_id, action, action_key, asked, by_person, reason, amount_minor, currency, status,
                                    created_at, expires_at, closed_at)
      values (${`action-${HEX()}`}, ${transactionId}, ${action}, ${HEX()}, 'all', 'ada', 'a test', 230, 'USD', ${status},
              ${createdAt}, ${expiresAt ?? null}, ${closed ?? null})`.execute(owner);
  },
});

interface ActionRow {
  readonly action: string;
  readonly status: string;
  readonly created_at: Date;
  readonly expires_at?: Date;
  readonly closed_at?: Date;
}

/** When a row with this status was closed; null unless the status is an end. */
const closedAt = (status: string | undefined, ...ends: readonly string[]): Date | null =>
  status !== undefined && ends.includes(status) ? ago(1) : null;

const moneyRows = (owner: WorldDb) => ({
  hold: async (id: string, given: Partial<Insertable<HoldsTable>> = {}): Promise<void> => {
    await sql`insert into ledger_accounts (id, kind, currency, account_id) values ('wallet:acc-1', 'wallet', 'USD', 'acc-1')
      on conflict do nothing`.execute(owner);
    const hold = { id, account_id: 'acc-1', currency: 'USD', amount_minor: 230n, created_at: ago(1) };
    const closed = { closed_at: closedAt(given.status, 'POSTED', 'VOIDED') };
    await owner
      .insertInto('holds')
      .values({ ...hold, ...closed, ...given })
      .execute();
  },
  /** A window of the gateway's list, by the minutes since it began and since it should have been read. */
  window: async (beganMinutesAgo: number, wantedMinutesAgo: number): Promise<void> => {
    const wanted = { wanted_at: ago(wantedMinutesAgo), due_at: ago(wantedMinutesAgo) };
    await owner
      .insertInto('gateway_windows')
      .values({ starts_at: ago(beganMinutesAgo), settled_total: null, ...wanted })
      .execute();
  },
  payment: async (id: string, given: Partial<Insertable<PaymentsTable>> = {}): Promise<string> => {
    const reference = given.reference ?? id;
    await owner
      .insertInto('payments')
      .values({
        ...{ reference, gateway: 'paystack', transaction_id: id, attempt: 1, purpose: 'purchase' },
        ...{ account_id: 'acc-1', method: 'CARD', status: 'OPEN', expires_at: ago(-HOUR) },
        ...{ charge_minor: 368_000n, charge_currency: 'NGN', price_minor: 230n, price_currency: 'USD' },
        ...given,
      })
      .execute();
    return reference;
  },
  refund: async (id: string, given: Partial<Insertable<RefundsTable>> = {}): Promise<void> => {
    await owner
      .insertInto('refunds')
      .values({
        ...{ refund_key: `${id}-${HEX()}`, gateway: 'paystack', reference: id, transaction_id: id },
        ...{ account_id: 'acc-1', amount_minor: 368_000n, currency: 'NGN', reason: 'not-delivered' },
        ...{ created_at: ago(1), closed_at: closedAt(given.status, 'DONE', 'CREDITED') },
        ...given,
      })
      .execute();
  },
  event: async (given: Partial<Insertable<GatewayEventsTable>> = {}): Promise<string> => {
    const charge = { gateway: 'paystack', event_key: HEX(), type: 'charge.success', about: 'charge' };
    const row = await owner
      .insertInto('gateway_events')
      .values({ ...charge, received_at: ago(1), ...given })
      .returning('id')
      .executeTakeFirstOrThrow();
    return `event-${row.id}`;
  },
});

const messageRows = (owner: WorldDb) => ({
  endpoint: async (given: Partial<Insertable<WebhookEndpointsTable>> = {}): Promise<string> => {
    const id = `ep-${HEX()}`;
    const isDisabled = given.disabled_reason !== undefined;
    await owner
      .insertInto('webhook_endpoints')
      .values({
        ...{ id, account_id: 'acc-1', url: 'https://merchant.example/hook', events: ['esim.purchased'] },
        ...{ enabled: !isDisabled, disabled_at: isDisabled ? ago(1) : null },
        ...{ secret_sealed: Buffer.from('x'), created_at: ago(DAY), updated_at: ago(DAY) },
        ...given,
      })
      .execute();
    return id;
  },
  message: async (
    endpointId: string,
    given: Partial<Insertable<WebhookMessagesTable>> = {},
  ): Promise<string> => {
    const id = `msg-${HEX()}`;
    const status = given.status ?? 'PENDING';
    const isPending = status === 'PENDING';
    await owner
      .insertInto('webhook_messages')
      .values({
        ...{ id, endpoint_id: endpointId, account_id: 'acc-1', event: 'esim.purchased', event_key: id },
        ...{ body: '{}', status, next_attempt_at: isPending ? ago(-1) : null },
        closed_at: isPending ? null : ago(1),
        ...given,
      })
      .execute();
    return id;
  },
});

/**
 * Purchases that ended years and hours ago, each with its eSIM and a hold, a payment, a refund, a dispute, an
 * event and a message that have ended too: a small version of busy years.
 */
export async function fillClosed(owner: WorldDb, count: number): Promise<void> {
  const endpoint = await rowsOf(owner).endpoint();
  const many = sql`generate_series(1, ${count}) i`;
  const at = sql`timestamptz '2026-03-01' - i * interval '30 seconds'`;
  for (const statement of [
    sql`
    insert into purchases (transaction_id, account_id, package_type, payment_method, status, package_code, package_name, volume_bytes, duration,
                           esim_id, price_minor, currency, price_usd_minor, cost_usd_e4, settings_id, request_id, created_at, closed_at)
    select 't' || i, 'acc-1', 'BASE', 'CARD', 'SUCCESS', 'P', 'P', 1, 1, 'e' || i, 230, 'USD', 230, 1, 'initial', 'r' || i, ${at}, ${at}
      from ${many}`,
    sql`
    insert into supplier_orders (id, transaction_id, kind, supplier, package_code, volume_bytes, cost_usd_e4, in_flight_grace_ms, state, attempts,
                                 first_sent_at, last_sent_at, order_no, closed_at)
    select 't' || i, 't' || i, 'BASE', 'esim-access', 'P', 1, 1, 1, 'delivered', 1, ${at}, ${at}, 'o' || i, ${at} from ${many}`,
    sql`
    insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier, iccid, order_no,
                       esim_tran_no, total_volume_bytes, total_duration, duration_unit, data_type, created_at)
    select 'e' || i, 'acc-1', 't' || i, 'P', 'P', 'EXPIRED', 1, 'USD', '{}', 's', 'i' || i, 'o' || i, 'n' || i, 1, 30, 'DAY', 1, ${at} from ${many}`,
    sql`
    insert into ledger_accounts (id, kind, currency, account_id) values ('wallet:acc-1', 'wallet', 'USD', 'acc-1') on conflict do nothing`,
    sql`
    insert into holds (id, account_id, currency, amount_minor, status, created_at, closed_at)
    select 't' || i, 'acc-1', 'USD', 230, 'POSTED', ${at}, ${at} from ${many}`,
    sql`
    insert into payments (gateway, reference, transaction_id, attempt, purpose, account_id, method, status, charge_minor, charge_currency, price_minor,
                          price_currency, expires_at, gateway_id)
    select 'paystack', 'p' || i, 't' || i, 1, 'purchase', 'acc-1', 'CARD', 'CLOSED', 368000, 'NGN', 230, 'USD', ${at}, 'g' || i from ${many}`,
    sql`
    insert into refunds (gateway, refund_key, reference, transaction_id, account_id, amount_minor, currency, reason, status, gateway_refund_id,
                         created_at, closed_at)
    select 'paystack', 'k' || i, 'p' || i, 't' || i, 'acc-1', 1, 'NGN', 'not-delivered', 'DONE', 'b' || i, ${at}, ${at} from ${many}`,
    sql`
    insert into disputes (reference, dispute_id, transaction_id, gateway, amount_minor, currency, outcome, settled_at)
    select 'p' || i, 'd' || i, 't' || i, 'paystack', 1, 'NGN', 'LOST', ${at} from ${many}`,
    sql`
    insert into returns (id, account_id, esim_id, transaction_id, supplier, state, price_minor, fee_minor, amount_minor, currency, refusal,
                         requested_by, in_flight_grace_ms, next_check_at, created_at, closed_at)
    select 'return-' || md5(i::text), 'acc-1', 'e' || i, 't' || i, 's', 'REFUSED', 230, 0, 230, 'USD', 'NOT_UNUSED', 'ada', 1, ${at}, ${at}, ${at} from ${many}`,
    sql`
    insert into replacements (id, account_id, esim_id, first_esim_id, transaction_id, supplier, state, full_price_minor, price_minor, currency,
                              new_transaction_id, new_esim_id, refusal, requested_by, request_id, in_flight_grace_ms, next_check_at, created_at, closed_at)
    select 'replacement-' || md5(i::text), 'acc-1', 'e' || i, 'e' || i, 't' || i, 's', 'REFUSED', 230, 230, 'USD', 'n' || i, 'ne' || i, 'UNUSED', 'ada',
           'r' || i, 1, ${at}, ${at}, ${at} from ${many}`,
    sql`
    insert into gateway_events (gateway, event_key, type, about, reference, received_at, applied_at, note)
    select 'paystack', 'many-' || i, 'charge.success', 'charge', 'p' || i, ${at}, ${at}, 'checked' from ${many}`,
    sql`
    insert into webhook_messages (id, endpoint_id, account_id, event, event_key, subject, body, status, created_at, closed_at)
    select 'msg-' || md5(i::text), ${endpoint}, 'acc-1', 'esim.purchased', 'k' || i, 't' || i, '{}', 'DELIVERED', ${at}, ${at} from ${many}`,
  ])
    await statement.execute(owner);
}
