import { openAgenda } from '../kit/clock.ts';
import { openDatabase } from '../kit/storage.ts';
import type { Channel } from './rules.ts';

type RefundOutcome = 'processed' | 'failed' | 'needs-attention';

export interface TransactionRow {
  id: number;
  reference: string;
  /** Of the hosted page; a direct charge has one too, which no answer shows. */
  accessCode: string;
  origin: 'initialize' | 'charge';
  /** As verify says it. */
  status: 'abandoned' | 'ongoing' | 'pending' | 'failed' | 'success' | 'reversed';
  step: 'pending_bank_transfer' | 'pay_offline' | 'send_otp' | null;
  /** Null until the customer has chosen. */
  channel: string | null;
  channels: readonly Channel[];
  currency: string;
  requested: number;
  paidCurrency: string | null;
  /** The sum of the payments that were kept. */
  received: number;
  fees: number;
  /** Refunded and reversed. */
  givenBack: number;
  email: string;
  /** The gateway's number for this address. */
  customerId: number;
  callbackUrl: string | null;
  /** As it was sent; null where there was none. */
  metadata: unknown;
  scenario: string | null;
  payer: Payer | null;
  account: TransferAccount | null;
  expiresAtMs: number | null;
  message: string | null;
  gatewayResponse: string;
  /** How its refunds end, where the card or the scenario says so. */
  refundOutcome: RefundOutcome | null;
  history: Moment[];
  createdAtMs: number;
  openedAtMs: number | null;
  paidAtMs: number | null;
  /** How often a charge with this reference was requested. */
  requests: number;
}

export interface TransferAccount {
  accountNumber: string;
  accountName: string;
  bank: { slug: string; name: string; id: number };
}

export interface Payer {
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

interface PaymentRow {
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

export interface RefundRow {
  id: number;
  transactionId: number;
  amount: number;
  currency: string;
  status: 'pending' | 'processing' | RefundOutcome;
  /** Where it will end. */
  outcome: RefundOutcome;
  /** Stays pending until the fault is taken back. */
  heldBy: 'fault' | null;
  customerNote: string;
  merchantNote: string;
  /** The customer's bank details, given after needs-attention. */
  account: object | null;
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

/** A movement of the merchant's balance. */
interface StatementRow {
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
  /** `at` is ISO 8601, by the simulator's clock; `status` is null when nothing was answered. */
  attempts: { at: string; status: number | null }[];
}

/** What will happen by itself; its target is a transaction's id, or a refund's for `refund`. */
export type PlannedKind = 'pay' | 'decline' | 'expire' | 'reverse' | 'dispute' | 'refund';

export type Storage = ReturnType<typeof openStorage>;

/** Opens the storage. Ids look like the vendor's: those of transactions have ten digits, above 2^31. */
export function openStorage(dataDir: string) {
  const database = openDatabase(dataDir, 'gateway.sqlite');
  return {
    database,
    transactions: database.collection<TransactionRow>('transactions', 'id', {
      indexes: ['reference', 'accessCode', 'createdAtMs'],
      firstId: 4_100_000_000,
    }),
    payments: database.collection<PaymentRow>('payments', 'id', { indexes: ['transactionId'] }),
    refunds: database.collection<RefundRow>('refunds', 'id', {
      indexes: ['transactionId'],
      firstId: 3_000_000,
    }),
    disputes: database.collection<DisputeRow>('disputes', 'id', {
      indexes: ['transactionId'],
      firstId: 350_000,
    }),
    statement: database.collection<StatementRow>('statement', 'id', { indexes: ['atMs'] }),
    events: database.collection<EventRow>('events', 'id', { indexes: ['reference'] }),
    deliveries: database.collection<DeliveryRow>('deliveries', 'id', { indexes: ['eventId', 'state'] }),
    agenda: openAgenda<PlannedKind, number>(database),
    /** The domains of Apple Pay. */
    domains: database.collection<{ name: string }>('domains', 'name'),
  };
}
