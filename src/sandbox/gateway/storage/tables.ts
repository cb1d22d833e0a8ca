/** What the gateway simulator stores. Times are milliseconds since 1970, money subunits (hundredths). */
import { integer, integerOrNull, key, table, text, textOrNull, type RowOf } from '../../support/database.ts';

type RefundOutcome = 'processed' | 'failed' | 'needs-attention';

export const TRANSACTIONS = table(
  'transactions',
  {
    id: key(),
    reference: text('UNIQUE'),
    /** Of the hosted page; a direct charge has one too, which no answer shows. */
    accessCode: text('UNIQUE'),
    origin: text<'initialize' | 'charge'>(),
    /** As verify says it. */
    status: text<'abandoned' | 'ongoing' | 'pending' | 'failed' | 'success' | 'reversed'>(),
    /** What a direct charge waits for. */
    step: textOrNull<'pending_bank_transfer' | 'pay_offline' | 'send_otp'>(),
    /** Null until the customer has chosen. */
    channel: textOrNull(),
    /** JSON: what the hosted page offers. */
    channels: text(),
    currency: text(),
    requested: integer(),
    /** The currency that came; null until money does. */
    paidCurrency: textOrNull(),
    /** The sum of the payments that were kept. */
    received: integer(),
    fees: integer(),
    /** Refunded and reversed. */
    givenBack: integer(),
    email: text(),
    /** The gateway's number for this address. */
    customerId: integer(),
    callbackUrl: textOrNull(),
    /** JSON of what was sent. */
    metadata: textOrNull(),
    scenario: textOrNull(),
    /** JSON of a Payer. */
    payer: textOrNull(),
    /** JSON of a TransferAccount. */
    account: textOrNull(),
    /** When the transfer account expires. */
    expiresAtMs: integerOrNull(),
    message: textOrNull(),
    gatewayResponse: text(),
    /** How its refunds end, where the card or the scenario says so. */
    refundOutcome: textOrNull<RefundOutcome>(),
    /** JSON of Moment[]. */
    history: text(),
    createdAtMs: integer(),
    openedAtMs: integerOrNull(),
    paidAtMs: integerOrNull(),
    /** How often a charge with this reference was requested. */
    requests: integer(),
  },
  ['transactionsByTime ON transactions (createdAtMs)'],
);
export type TransactionRow = RowOf<typeof TRANSACTIONS>;

export interface TransferAccount {
  accountNumber: string;
  accountName: string;
  bank: { slug: string; name: string; id: number };
}

/** What the customer pays with. */
export interface Payer {
  /** Last four digits of a test card. */
  last4?: string;
  phone?: string;
  provider?: string;
}

/** A line of the timeline. */
export interface Moment {
  type: 'open' | 'action' | 'success' | 'error';
  message: string;
  atMs: number;
}

export const PAYMENTS = table(
  'payments',
  {
    id: key(),
    transactionId: integer('REFERENCES transactions'),
    /** `returned`: the gateway sent it back by itself. */
    state: text<'received' | 'returned'>(),
    amount: integer(),
    currency: text(),
    fees: integer(),
    channel: text(),
    atMs: integer(),
  },
  ['paymentsByTransaction ON payments (transactionId)'],
);
export type PaymentRow = RowOf<typeof PAYMENTS>;

export const REFUNDS = table(
  'refunds',
  {
    id: key(),
    transactionId: integer('REFERENCES transactions'),
    amount: integer(),
    currency: text(),
    status: text<'pending' | 'processing' | RefundOutcome>(),
    /** Where it will end. */
    outcome: text<RefundOutcome>(),
    /** Stays pending until the fault is taken back. */
    heldBy: textOrNull<'fault'>(),
    customerNote: text(),
    merchantNote: text(),
    /** JSON of the customer's bank details, given after needs-attention. */
    account: textOrNull(),
    createdAtMs: integer(),
    updatedAtMs: integer(),
    refundedAtMs: integerOrNull(),
  },
  ['refundsByTransaction ON refunds (transactionId)'],
);
export type RefundRow = RowOf<typeof REFUNDS>;

export const DISPUTES = table(
  'disputes',
  {
    id: key(),
    transactionId: integer('REFERENCES transactions'),
    amount: integer(),
    status: text<'awaiting-merchant-feedback' | 'resolved'>(),
    resolution: textOrNull(),
    createdAtMs: integer(),
    updatedAtMs: integer(),
    resolvedAtMs: integerOrNull(),
  },
  ['disputesByTransaction ON disputes (transactionId)'],
);
export type DisputeRow = RowOf<typeof DISPUTES>;

/** Movements of the merchant's balance. */
export const STATEMENT = table(
  'statement',
  {
    id: key(),
    kind: text<'charge' | 'refund' | 'reversal'>(),
    reference: text(),
    amountMinor: integer(),
    currency: text(),
    feesMinor: integer(),
    atMs: integer(),
  },
  ['statementByTime ON statement (atMs)'],
);
export type StatementRow = RowOf<typeof STATEMENT>;

export const EVENTS = table(
  'events',
  {
    id: key(),
    event: text(),
    /** The charge it is about, for the log; the event itself may not carry it. */
    reference: text(),
    /** The exact bytes, as text. */
    body: text(),
    createdAtMs: integer(),
  },
  ['eventsByReference ON events (reference)'],
);
export type EventRow = RowOf<typeof EVENTS>;

export const DELIVERIES = table(
  'deliveries',
  {
    id: key(),
    eventId: integer('REFERENCES events'),
    url: text(),
    state: text<'waiting' | 'sending' | 'delivered' | 'failed' | 'dropped'>(),
    dueAtMs: integer(),
    /** JSON of Attempt[]. */
    attempts: text(),
  },
  [
    'deliveriesByEvent ON deliveries (eventId)',
    "deliveriesWaiting ON deliveries (dueAtMs) WHERE state = 'waiting'",
  ],
);
export type DeliveryRow = RowOf<typeof DELIVERIES>;

export interface Attempt {
  /** ISO 8601, by the simulator's clock. */
  at: string;
  /** Null when nothing was answered. */
  status: number | null;
}

/** What will happen by itself. */
export const AGENDA = table(
  'agenda',
  {
    id: key(),
    atMs: integer(),
    kind: text<'pay' | 'decline' | 'expire' | 'reverse' | 'dispute' | 'refund'>(),
    /** A transaction's id, or a refund's for `refund`. */
    target: integer(),
    data: text(),
  },
  ['agendaByTime ON agenda (atMs)'],
);
export type AgendaRow = RowOf<typeof AGENDA>;

/** Of Apple Pay. */
const DOMAINS = table('domains', { name: text('PRIMARY KEY') });

export const TABLES = [
  TRANSACTIONS,
  PAYMENTS,
  REFUNDS,
  DISPUTES,
  STATEMENT,
  EVENTS,
  DELIVERIES,
  AGENDA,
  DOMAINS,
];
