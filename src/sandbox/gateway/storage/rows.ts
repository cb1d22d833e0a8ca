/**
 * What the gateway simulator stores, row by row. Guarantee: names are those of the columns.
 */

/** As verify says it. */
export type TransactionStatus = 'abandoned' | 'ongoing' | 'pending' | 'failed' | 'success' | 'reversed';

export interface TransactionRow {
  id: number;
  reference: string;
  /** Of the hosted page; a direct charge has one that nobody is told. */
  accessCode: string;
  origin: 'initialize' | 'charge';
  status: TransactionStatus;
  /** What a direct charge waits for. */
  step: 'pending_bank_transfer' | 'pay_offline' | 'send_otp' | null;
  /** Null until the customer has chosen. */
  channel: string | null;
  /** JSON: what the hosted page offers. */
  channels: string;
  currency: string;
  requested: number;
  /** The currency that came; null until money does. */
  paidCurrency: string | null;
  /** The sum of the payments that were kept. */
  received: number;
  fees: number;
  /** Refunded and reversed. */
  givenBack: number;
  email: string;
  /** The gateway's number for whoever has this address. */
  customerId: number;
  callbackUrl: string | null;
  /** JSON of what was sent. */
  metadata: string | null;
  scenario: string | null;
  /** JSON of a Payer. */
  payer: string | null;
  /** JSON of a TransferAccount. */
  account: string | null;
  /** When the transfer account expires. */
  expiresAtMs: number | null;
  message: string | null;
  gatewayResponse: string;
  /** What becomes of its refunds, where the card or the scenario says so. */
  refundOutcome: RefundOutcome | null;
  /** JSON of Moment[]. */
  history: string;
  createdAtMs: number;
  openedAtMs: number | null;
  paidAtMs: number | null;
  /** How often a charge with this reference was asked for. */
  requests: number;
}

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

export interface PaymentRow {
  id: number;
  transactionId: number;
  /** `returned`: the gateway sent it back by itself. */
  state: 'received' | 'returned';
  amount: number;
  currency: string;
  fees: number;
  channel: string;
  atMs: number;
}

export const REFUND_STATUSES = ['pending', 'processing', 'processed', 'failed', 'needs-attention'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];
export type RefundOutcome = 'processed' | 'failed' | 'needs-attention';

export interface RefundRow {
  id: number;
  transactionId: number;
  amount: number;
  currency: string;
  status: RefundStatus;
  /** Where it will end. */
  outcome: RefundOutcome;
  /** Stays pending until the fault is taken back. */
  heldBy: 'fault' | null;
  customerNote: string;
  merchantNote: string;
  /** JSON of the customer's bank details, given after needs-attention. */
  account: string | null;
  createdAtMs: number;
  updatedAtMs: number;
  refundedAtMs: number | null;
}

export interface DisputeRow {
  id: number;
  transactionId: number;
  amount: number;
  status: 'awaiting-merchant-feedback' | 'resolved';
  resolution: string | null;
  createdAtMs: number;
  updatedAtMs: number;
  resolvedAtMs: number | null;
}

/** One movement of the merchant's balance. */
export interface StatementRow {
  id: number;
  kind: 'charge' | 'refund' | 'reversal';
  reference: string;
  amountMinor: number;
  currency: string;
  feesMinor: number;
  atMs: number;
}

export interface EventRow {
  id: number;
  event: string;
  /** The charge it is about, for the log; the event itself may not carry it. */
  reference: string;
  /** The exact bytes, as text. */
  body: string;
  createdAtMs: number;
}

export interface DeliveryRow {
  id: number;
  eventId: number;
  url: string;
  state: 'waiting' | 'sending' | 'delivered' | 'failed' | 'dropped';
  dueAtMs: number;
  /** JSON of Attempt[]. */
  attempts: string;
}

export interface Attempt {
  /** ISO 8601, by the simulator's clock. */
  at: string;
  /** Null when nothing was answered. */
  status: number | null;
}

/** Something that will happen by itself. */
export interface AgendaRow {
  id: number;
  atMs: number;
  kind: AgendaKind;
  /** A transaction's id, or a refund's for `refund`. */
  target: number;
  data: string;
}

export type AgendaKind = 'pay' | 'decline' | 'expire' | 'reverse' | 'dispute' | 'refund';
