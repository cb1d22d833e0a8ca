/**
 * A transaction as the API and the webhooks show it. `amount` is what came once money did, `requested_amount`
 * what was requested.
 */
import { digestHex, hash32 } from '../../kit/seeded.ts';
import type { GatewayContext } from '../context.ts';
import type { TransactionRow } from '../storage.ts';
import { iso, isoOrNull, wireId } from '../wire.ts';

/** The merchant's number at the gateway. */
export const INTEGRATION_ID = 100_001;

const COUNTRY_OF_CURRENCY: Record<string, string> = { GHS: 'GH', KES: 'KE', XOF: 'CI', ZAR: 'ZA' };

/** The number of the customer behind an address: the same one every time. */
export function customerIdOf(email: string): number {
  return 100_000_000 + (hash32(email) % 100_000_000);
}

/** The customer behind an address, in events of bank transfers. */
export function transferCustomer(email: string) {
  return {
    id: customerIdOf(email),
    first_name: null,
    last_name: null,
    email,
    customer_code: `CUS_${digestHex(`customer:${email}`).slice(0, 15)}`,
    phone: null,
    metadata: null,
    risk_action: 'default',
  };
}

/** The customer behind an address. */
export function customerData(email: string) {
  return { ...transferCustomer(email), international_format_phone: null };
}

/** What the transaction was paid with; empty before. */
function authorizationData(row: TransactionRow): Record<string, unknown> {
  if (row.paidAtMs === null) return {};
  const payer = row.payer ?? {};
  const channel = row.channel ?? 'card';
  const last = payer.last4 ?? payer.phone?.slice(-3).padStart(4, 'X') ?? 'X553';
  const common = {
    authorization_code: `AUTH_${digestHex(`authorization:${row.id}`).slice(0, 10)}`,
    last4: last,
    exp_month: '12',
    exp_year: '2030',
    channel,
    country_code: COUNTRY_OF_CURRENCY[row.currency] ?? 'NG',
    account_name: null,
  };
  if (channel === 'bank_transfer') {
    return {
      ...common,
      bin: '008XXX',
      card_type: 'transfer',
      bank: null,
      brand: 'Managed Account',
      reusable: false,
      signature: null,
      sender_country: 'NG',
      sender_bank: null,
      sender_bank_account_number: `XXXXXX${last}`,
      sender_name: 'Sandbox Sender',
      narration: row.reference,
    };
  }
  if (channel === 'mobile_money') {
    const brand = payer.provider ?? 'mobile money';
    return { ...common, bin: '055XXX', card_type: '', bank: brand, brand, reusable: false, signature: null };
  }
  return {
    ...common,
    bin: '408408',
    card_type: 'visa ',
    bank: 'TEST BANK',
    brand: 'visa',
    reusable: true,
    signature: `SIG_${digestHex(`signature:${last}`).slice(0, 20)}`,
  };
}

/** The timeline of a transaction. */
export function timelineData(row: TransactionRow): Record<string, unknown> {
  const { history } = row;
  const startMs = row.openedAtMs ?? row.createdAtMs;
  const seconds = (atMs: number) => Math.max(0, Math.floor((atMs - startMs) / 1000));
  return {
    start_time: Math.floor(startMs / 1000),
    time_spent: seconds(history.at(-1)?.atMs ?? startMs),
    attempts: history.filter(({ type }) => type === 'action').length,
    errors: history.filter(({ type }) => type === 'error').length,
    success: row.status === 'success',
    mobile: false,
    input: [],
    history: history.map(({ type, message, atMs }) => ({ type, message, time: seconds(atMs) })),
  };
}

/** The status as the API says it now. */
export function statusWord(context: GatewayContext, status: string): string {
  return context.faults.current.unknownStatus ?? status;
}

/**
 * The vendor's pages say that any refund moves the transaction, and not whether a part does: the fault
 * `refundShows` is that reading.
 */
function shownStatus(context: GatewayContext, { id, status }: TransactionRow): string {
  const { refundShows } = context.faults.current;
  if (status !== 'success' || refundShows === 'success') return status;
  const hasRefund = context.refunds.list({ transactionId: id }).some((refund) => refund.status !== 'failed');
  return hasRefund ? refundShows : status;
}

/** An id of this simulator as it goes out now. */
export function publicId(context: GatewayContext, id: number): number | bigint {
  return wireId(id, context.faults.current.shapeDrift);
}

/** null here, {} or "" or 0 there. */
const VARIANTS: Record<string, readonly unknown[]> = {
  plan: [null, {}, '', 0],
  split: [{}, null, ''],
  subaccount: [{}, null, ''],
  plan_object: [{}, null],
  log: [null, {}, ''],
  fees_split: [null, {}, ''],
  fees_breakdown: [null, [], ''],
  order_id: [null, '', 0],
  source: [null, {}, 'api'],
};
const NO_METADATA: readonly unknown[] = ['', null, 0, {}];

/**
 * The same answer in one of the shapes that the gateway's answers are known to drift into: the same one every
 * time for the same transaction. No amount, status or reference changes.
 */
function drifted(data: Record<string, unknown>, id: number): Record<string, unknown> {
  const pick = (name: string, variants: readonly unknown[]) =>
    variants[hash32(`${name}:${id}`) % variants.length];
  const varied = Object.entries(VARIANTS).map(([name, variants]) => [name, pick(name, variants)]);
  const isBare = data['metadata'] === '' || data['metadata'] === null;
  return {
    ...data,
    ...(Object.fromEntries(varied) as Record<string, unknown>),
    metadata: isBare ? pick('metadata', NO_METADATA) : data['metadata'],
    requestedAmount: data['requested_amount'],
    gatewayResponse: data['gateway_response'],
    ipAddress: data['ip_address'],
    settlement_hints: { batch: null, window: [1, 2], label: 'a field of tomorrow' },
    risk: 0.25,
  };
}

/** The whole transaction. `absentMetadata` differs between answers. */
export function transactionData(context: GatewayContext, row: TransactionRow, absentMetadata: unknown = '') {
  const hasMoney = row.paidAtMs !== null;
  const createdAt = iso(row.createdAtMs);
  const data = {
    id: publicId(context, row.id),
    domain: context.integration.domain,
    status: statusWord(context, shownStatus(context, row)),
    reference: row.reference,
    receipt_number: null,
    amount: hasMoney ? row.received : row.requested,
    message: row.message,
    gateway_response: row.gatewayResponse,
    paid_at: isoOrNull(row.paidAtMs),
    created_at: createdAt,
    channel: row.channel ?? 'card',
    currency: row.paidCurrency ?? row.currency,
    ip_address: row.openedAtMs === null ? null : '127.0.0.1',
    metadata: row.metadata ?? absentMetadata,
    log: row.openedAtMs === null ? null : timelineData(row),
    fees: hasMoney ? row.fees : null,
    fees_split: null,
    authorization: authorizationData(row),
    customer: customerData(row.email),
    plan: null,
    split: {},
    order_id: null,
    paidAt: isoOrNull(row.paidAtMs),
    createdAt,
    requested_amount: row.requested,
    pos_transaction_data: null,
    source: { type: 'api', source: 'merchant_api', entry_point: row.origin, identifier: null },
    fees_breakdown: null,
    connect: null,
    transaction_date: createdAt,
    plan_object: {},
    subaccount: {},
  };
  return context.faults.current.shapeDrift ? drifted(data, row.id) : data;
}
