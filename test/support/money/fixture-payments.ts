// Thousands of payments in their final state, on both sides: in our rows and ledger, and at a gateway. Errors
// are planted by changing only one side. Writes as the owner, in bulk; the ledger's own checks apply.
import { sql, type Kysely } from 'kysely';
import { MINUTE_MS } from '../../../src/domain/clock.ts';
import type { WorldDatabase } from '../../../src/platform/database/tables.ts';
import type { Random } from '../time/size.ts';
import type { HeldRefund, HeldStatement, HeldTransaction } from '../vendors/statement-server.ts';

/** Our books' values of one payment. */
export interface FixturePayment {
  readonly reference: string;
  readonly createdAtMs: number;
  readonly movedAtMs: number;
  readonly currency: string;
  readonly chargeMinor: number;
  receivedMinor: number;
  takenBackMinor: number;
  refund: {
    readonly key: string;
    readonly id: number;
    readonly amountMinor: number;
    doneAtMs: number | null;
  } | null;
  /** No row of ours at all. */
  isUnknown: boolean;
}

export interface FixtureBooks {
  readonly ours: FixturePayment[];
  readonly theirs: HeldStatement;
}

const CURRENCIES = ['NGN', 'NGN', 'NGN', 'USD', 'GHS'] as const;
const FIRST_ID = 4_100_000_000;

/** 1.5 %, at most 2,000.00 naira, half up. */
const feeOf = (amountMinor: number, currency: string): number => {
  const fee = Math.round((amountMinor * 15) / 1000);
  return currency === 'NGN' ? Math.min(fee, 200_000) : fee;
};

/** The tariff that the fees above follow. */
export const FIXTURE_FEES = {
  NGN: [{ rateBps: 150, fixedMinor: 0n, fixedFromMinor: 0n, capMinor: 200_000n }],
  USD: [{ rateBps: 150, fixedMinor: 0n, fixedFromMinor: 0n, capMinor: null }],
};

/**
 * Payments that are settled and equal on both sides, opened within [from, to): most are plain, some were
 * refunded, reversed, paid with the fee on top, paid twice, or left.
 */
export function planPayments(
  count: number,
  random: Random,
  time: { readonly fromMs: number; readonly toMs: number },
): FixtureBooks {
  const planted: FixtureBooks = { ours: [], theirs: { transactions: [], refunds: [] } };
  const stepMs = (time.toMs - time.fromMs) / count;
  for (let nth = 0; nth < count; nth += 1)
    addPayment(planted, random, { nth, createdAtMs: Math.trunc(time.fromMs + nth * stepMs) });
  return planted;
}

function addPayment(
  { ours, theirs }: FixtureBooks,
  random: Random,
  { nth, createdAtMs }: { readonly nth: number; readonly createdAtMs: number },
): void {
  const reference = `txn-${nth.toString(16).padStart(32, '0')}`;
  const currency = random.pick(CURRENCIES);
  const chargeMinor = 10_000 + random.below(9_990_000);
  const movedAtMs = createdAtMs + random.below(20) * MINUTE_MS;
  const held: HeldTransaction = {
    id: FIRST_ID + nth,
    reference,
    status: 'success',
    amountMinor: chargeMinor,
    requestedMinor: chargeMinor,
    currency,
    feesMinor: feeOf(chargeMinor, currency),
    createdAtMs,
    paidAtMs: movedAtMs,
  };
  const payment: FixturePayment = {
    reference,
    createdAtMs,
    movedAtMs,
    currency,
    chargeMinor,
    receivedMinor: chargeMinor,
    takenBackMinor: 0,
    refund: null,
    isUnknown: false,
  };
  ours.push(payment);
  theirs.transactions.push(held);
  const fate = random.below(100);
  if (fate < 6) refund(payment, held, theirs.refunds, nth);
  else if (fate < 8) withFeeOnTop(held);
  else if (fate < 9) paidTwice(payment, held);
  else if (fate < 10) reversed(payment, held);
  else if (fate < 15) left(payment, held);
}

function refund(payment: FixturePayment, held: HeldTransaction, refunds: HeldRefund[], nth: number): void {
  const key = `${payment.reference}-not-delivered`;
  const doneAtMs = payment.movedAtMs + 5 * MINUTE_MS;
  payment.refund = { key, id: nth + 1, amountMinor: payment.chargeMinor, doneAtMs };
  held.status = 'reversed';
  refunds.push({
    id: nth + 1,
    transactionId: held.id,
    key,
    status: 'processed',
    amountMinor: payment.chargeMinor,
    currency: payment.currency,
    createdAtMs: payment.movedAtMs,
    doneAtMs,
  });
}

function withFeeOnTop(held: HeldTransaction): void {
  held.amountMinor = held.requestedMinor + held.feesMinor;
}

function paidTwice(payment: FixturePayment, held: HeldTransaction): void {
  held.amountMinor *= 2;
  held.feesMinor *= 2;
  payment.receivedMinor *= 2;
}

function reversed(payment: FixturePayment, held: HeldTransaction): void {
  held.status = 'reversed';
  payment.takenBackMinor = payment.receivedMinor;
}

function left(payment: FixturePayment, held: HeldTransaction): void {
  held.status = 'abandoned';
  payment.receivedMinor = 0;
}

const CHUNK = 5_000;

/** Writes our side: rows, ledger transactions and entries. */
export async function plantBooks(
  owner: Kysely<WorldDatabase>,
  ours: readonly FixturePayment[],
): Promise<void> {
  await sql`
    insert into ledger_accounts (id, kind, currency)
    select case kind when 'gateway-clearing' then 'gateway-clearing:paystack' else kind end || ':GHS', kind, 'GHS'
      from unnest(array['gateway-clearing', 'suspense', 'exchange']) kind
    on conflict do nothing`.execute(owner);
  const known = ours.filter((payment) => !payment.isUnknown);
  for (let from = 0; from < known.length; from += CHUNK)
    await plantChunk(owner, known.slice(from, from + CHUNK));
  await sql`analyze payments, refunds, ledger_transactions, ledger_entries`.execute(owner);
}

async function plantChunk(owner: Kysely<WorldDatabase>, payments: readonly FixturePayment[]): Promise<void> {
  const at = (ms: number): string => new Date(ms).toISOString();
  const rows = payments.map((one) => ({
    reference: one.reference,
    at: at(one.createdAtMs),
    moved_at: at(one.movedAtMs),
    currency: one.currency,
    charge: one.chargeMinor,
    booked: one.receivedMinor,
    reversed: one.takenBackMinor,
  }));
  await sql`
    insert into payments (gateway, reference, transaction_id, attempt, purpose, account_id, method, status, charge_minor, charge_currency, price_minor,
           price_currency, expires_at, received_minor, reversed_minor, gateway_status, created_at, updated_at)
    select 'paystack', reference, reference, 1, 'funding', 'acc-planted', 'CARD', 'CLOSED', charge, currency, charge,
           case currency when 'USD' then 'USD' else 'NGN' end, at + interval '1 day', booked, reversed, 'success', at, at
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (
           reference text, at timestamptz, currency text, charge bigint, booked bigint, reversed bigint)`.execute(
    owner,
  );
  const refunds = payments.flatMap(({ reference, currency, refund: sent, movedAtMs }) =>
    sent === null
      ? []
      : [
          {
            reference,
            currency,
            key: sent.key,
            id: String(sent.id),
            amount: sent.amountMinor,
            asked_at: at(movedAtMs),
            done_at: sent.doneAtMs === null ? null : at(sent.doneAtMs),
          },
        ],
  );
  await sql`
    insert into refunds (gateway, refund_key, reference, transaction_id, account_id, amount_minor, currency, reason, status, gateway_refund_id, sent_at, send_before,
           created_at, updated_at, closed_at)
    select 'paystack', key, reference, reference, 'acc-planted', amount, currency, 'not-delivered', case when done_at is null then 'ASKED' else 'DONE' end,
           case when done_at is not null then id end, asked_at, asked_at, asked_at, coalesce(done_at, asked_at), done_at
      from jsonb_to_recordset(${JSON.stringify(refunds)}::jsonb) as row (
           reference text, currency text, key text, id text, amount bigint, asked_at timestamptz, done_at timestamptz)`.execute(
    owner,
  );
  await plantLedger(owner, payments);
}

async function plantLedger(owner: Kysely<WorldDatabase>, payments: readonly FixturePayment[]): Promise<void> {
  const bookings = payments.flatMap((one) => bookingsOf(one));
  await sql`
    with booking as (
      select * from jsonb_to_recordset(${JSON.stringify(bookings)}::jsonb) as row (
        key text, kind text, reference text, currency text, amount bigint, at timestamptz)
    ), booked as (
      insert into ledger_transactions (operation_key, kind, transaction_id, created_at)
      select key, kind, reference, at from booking order by at
      returning id, operation_key
    )
    insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
    select booked.id, side.account || booking.currency, booking.currency, side.amount
      from booked join booking on booking.key = booked.operation_key,
           lateral (values ('gateway-clearing:paystack:', booking.amount), ('suspense:', -booking.amount)) side (account, amount)`.execute(
    owner,
  );
}

/**
 * As the service books them, except that everything is in suspense: only the gateway's account matters here.
 */
function bookingsOf(one: FixturePayment): object[] {
  const { reference, currency, receivedMinor, takenBackMinor, refund: sent, movedAtMs } = one;
  const booking = (key: string, kind: string, amount: number, atMs: number) => ({
    key,
    kind,
    reference,
    currency,
    amount,
    at: new Date(atMs).toISOString(),
  });
  return [
    ...(receivedMinor > 0
      ? [
          booking(
            `${reference}:received:${currency}:${receivedMinor}`,
            'payment-received',
            -receivedMinor,
            movedAtMs,
          ),
        ]
      : []),
    ...(takenBackMinor > 0
      ? [
          booking(
            `${reference}:reversed:${currency}:${takenBackMinor}`,
            'payment-reversed',
            takenBackMinor,
            movedAtMs,
          ),
        ]
      : []),
    ...(sent?.doneAtMs == null
      ? []
      : [booking(`${sent.key}:done`, 'refund', sent.amountMinor, sent.doneAtMs)]),
  ];
}
