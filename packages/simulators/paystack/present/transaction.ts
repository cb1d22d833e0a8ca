/** `amount` is what came once money did, `requested_amount` what was requested. */
import { digestHex, hash32 } from '../../kit/seeded.ts';
import type { GatewayContext } from '../context.ts';
import type { TransactionRow, DisputeRow, RefundRow } from '../storage.ts';
import { iso, isoOrNull, wireId } from '../wire.ts';

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

function customerData(email: string) {
  return { ...transferCustomer(email), international_format_phone: null };
}

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

export function statusWord(context: GatewayContext, status: string): string {
  return context.faults.current.unknownStatus ?? status;
}

/** The vendor does not say whether a part refund moves the transaction: the fault `refundShows` decides. */
function shownStatus(context: GatewayContext, { id, status }: TransactionRow): string {
  const { refundShows } = context.faults.current;
  if (status !== 'success' || refundShows === 'success') return status;
  const hasRefund = context.refunds.list({ transactionId: id }).some((refund) => refund.status !== 'failed');
  return hasRefund ? refundShows : status;
}

function publicId(context: GatewayContext, id: number): number | bigint {
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

/** A shape that the gateway's answers drift into, the same for a transaction. No amount or status changes. */
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

/** How long the gateway says that a refund takes. */
const EXPECTED_MS = 9 * 86_400_000;
const REFUNDED_BY = 'merchant@sandbox.example';
const STRING_AMOUNT: readonly string[] = ['pending', 'processing', 'processed'];

/** One refund; `transaction` is an id, but the whole transaction in the answer that makes the refund. */
export function refundData(
  context: GatewayContext,
  row: RefundRow,
  transaction: unknown = publicId(context, row.transactionId),
): Record<string, unknown> {
  const createdAt = iso(row.createdAtMs);
  const updatedAt = iso(row.updatedAtMs);
  const isDeducted = row.status !== 'pending' && row.status !== 'failed';
  return {
    id: publicId(context, row.id),
    integration: INTEGRATION_ID,
    domain: context.integration.domain,
    transaction,
    dispute: null,
    settlement: null,
    amount: row.amount,
    deducted_amount: isDeducted ? row.amount : 0,
    fully_deducted: isDeducted,
    currency: row.currency,
    channel: null,
    status: statusWord(context, row.status),
    refunded_by: REFUNDED_BY,
    refunded_at: isoOrNull(row.refundedAtMs),
    expected_at: iso(row.createdAtMs + EXPECTED_MS),
    customer_note: row.customerNote,
    merchant_note: row.merchantNote,
    created_at: createdAt,
    updated_at: updatedAt,
    createdAt,
    updatedAt,
  };
}

export function defaultNotes(reference: string) {
  const customerNote = `Refund for transaction ${reference}`;
  return { customerNote, merchantNote: `${customerNote} by ${REFUNDED_BY}` };
}

/** The processor's own number for a refund; known once the processor has answered. */
function refundReference(row: RefundRow): string | null {
  if (row.status === 'pending' || row.status === 'processing') return null;
  const digest = digestHex(`refund:${row.id}`);
  return row.status === 'processed'
    ? String(BigInt(`0x${digest.slice(0, 10)}`))
    : `TRF_${digest.slice(0, 15)}`;
}

/** The data of refund.pending, refund.processing and so on. */
export function refundEventData(context: GatewayContext, row: RefundRow, transaction: TransactionRow) {
  const { first_name, last_name, email } = customerData(transaction.email);
  const data = {
    status: statusWord(context, row.status),
    transaction_reference: transaction.reference,
    refund_reference: refundReference(row),
    amount: STRING_AMOUNT.includes(row.status) ? String(row.amount) : row.amount,
    currency: row.currency,
    customer: { first_name, last_name, email },
    integration: INTEGRATION_ID,
    domain: context.integration.domain,
  };
  if (row.status !== 'needs-attention') return { ...data, processor: 'instant-transfer' };
  return {
    ...data,
    id: String(publicId(context, row.id)),
    customer_note: row.customerNote,
    merchant_note: row.merchantNote,
  };
}

/** A dispute in lists and in the charge.dispute events; the reference is inside `transaction`. */
export function disputeData(context: GatewayContext, row: DisputeRow, transaction: TransactionRow) {
  return {
    id: publicId(context, row.id),
    refund_amount: row.amount,
    currency: transaction.paidCurrency ?? transaction.currency,
    status: row.status,
    resolution: row.resolution,
    domain: context.integration.domain,
    transaction: { ...transactionData(context, transaction), authorization: {} },
    transaction_reference: null,
    category: 'chargeback',
    customer: customerData(transaction.email),
    bin: '408408',
    last4: '4081',
    dueAt: iso(row.createdAtMs + 86_400_000),
    resolvedAt: isoOrNull(row.resolvedAtMs),
    evidence: null,
    attachments: null,
    note: null,
    history: [{ status: 'pending', by: transaction.email, createdAt: iso(row.createdAtMs) }],
    messages: [
      {
        sender: transaction.email,
        body: 'The customer says that nothing was received',
        createdAt: iso(row.createdAtMs),
      },
    ],
    created_at: iso(row.createdAtMs),
    updated_at: iso(row.updatedAtMs),
  };
}
