/**
 * The money of a refund waits in suspense until the gateway has sent it, or it is credited to the wallet. A
 * row is closed once.
 */
import { findOwn } from './own.ts';
import { sql, type Selectable } from 'kysely';
import { larger, type Money } from '../../domain/money.ts';
import { clearingAccount, exchangeEntries, transfer, withoutZeros } from '../../ledger/store/ledger.ts';
import { creditEntries } from '../../ledger/store/owed.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import { subscribers, enqueueWebhook } from '../../webhooks/store/messages.ts';
import type { Fence } from '../../domain/fence.ts';
import { createFence } from '../../platform/fence.ts';
import { moveMoney, partInPrice } from './account.ts';
import { lockPayment } from './lock-order.ts';
import { reversedKey, type PaymentRow } from './payments.ts';
import type { RefundsTable } from './tables.ts';

export type RefundRow = Selectable<RefundsTable>;

/**
 * Takes a refund from what is free of its payment. Returns the existing one if there is one. Our key is
 * stored in the gateway's note. The caller has locked the payment.
 */
export async function createRefund(
  trx: WorldDb,
  payment: Pick<PaymentRow, 'reference' | 'transaction_id' | 'account_id' | 'gateway' | 'charge_currency'>,
  { amountMinor, currency }: Money,
  reason: string,
): Promise<RefundRow> {
  const { reference, transaction_id, account_id, gateway } = payment;
  const refundKey = `${reference}-${reason}`;
  const made = await trx
    .insertInto('refunds')
    .values({
      ...{ refund_key: refundKey, gateway, reference, transaction_id, account_id },
      ...{ currency, reason, amount_minor: amountMinor },
    })
    .onConflict((conflict) => conflict.column('refund_key').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (made && currency === payment.charge_currency)
    await moveMoney(trx, reference, { refunding: amountMinor });
  if (made) return made;
  return trx.selectFrom('refunds').selectAll().where('refund_key', '=', refundKey).executeTakeFirstOrThrow();
}

/** This attempt of a refund, while it is the newest one. */
const updateAttempt = (db: WorldDb, { refund_key, attempt }: Pick<RefundRow, 'refund_key' | 'attempt'>) =>
  db.updateTable('refunds').where('refund_key', '=', refund_key).where('attempt', '=', attempt);

const openRefunds = (db: WorldDb) =>
  db.selectFrom('refunds').selectAll().where('closed_at', 'is', null).orderBy('created_at');

/** Refunds of a purchase or a funding that have not ended. */
export function findOpenRefunds(db: WorldDb, transactionId: string): Promise<RefundRow[]> {
  return openRefunds(db).where('transaction_id', '=', transactionId).execute();
}

export type RefundToFollow = RefundRow & { readonly ageMs: number };

/** The same with their age, by the database's clock. */
export function findRefundsToFollow(db: WorldDb, transactionId: string): Promise<RefundToFollow[]> {
  const ageMs = sql<number>`(extract(epoch from clock_timestamp() - created_at) * 1000)::float8`;
  return openRefunds(db).select(ageMs.as('ageMs')).where('transaction_id', '=', transactionId).execute();
}

/** Refunds of a purchase or a funding that the gateway will not send. */
export async function findStuckRefunds(db: WorldDb, transactionId: string): Promise<RefundRow[]> {
  const open = await findOpenRefunds(db, transactionId);
  return open.filter(({ status }) => status === 'STUCK');
}

/** The reason of a refund that takes credited money out of the wallet begins with it. */
export const OUT_OF_WALLET = 'wallet-';

/** How many refunds went to the wallet instead, and how many took money out of it. Neither ever falls. */
export const countUndone = (db: WorldDb, transactionId: string) =>
  db
    .selectFrom('refunds')
    .select([
      sql<number>`count(*) filter (where status = 'CREDITED')::int4`.as('credited'),
      sql<number>`count(*) filter (where starts_with(reason, ${OUT_OF_WALLET}))::int4`.as('takenOut'),
    ])
    .where('transaction_id', '=', transactionId)
    .executeTakeFirstOrThrow();

/** How long after its row a refund may be sent. */
export const SEND_WITHIN_MS = 10_000;
/**
 * How long a request may take at the gateway after that: the client's time limit, and what a gateway may do
 * behind it.
 */
export const UNDER_WAY_MS = 10_000 + 15_000;

/** How long the gateway's list may miss a refund whose answer was lost. */
export const LISTED_WITHIN_MS = 3_600_000;

/** A request that is on record, and may be sent until its fence is over. */
export interface BegunRefund {
  readonly fence: Fence;
  /** Which request it is: when its row was written, as exact as the database has it. */
  readonly sentAt: string;
}

/**
 * Records the request before it is sent. undefined: it must not be sent now. Another request may still be
 * under way, or the gateway's list may miss it, and the gateway would take both for refunds; or the gateway's
 * money is disputed, and what is left does not cover this refund.
 */
export async function beginRefund(
  db: WorldDb,
  {
    refund_key: refundKey,
    attempt,
    amount_minor,
  }: Pick<RefundRow, 'refund_key' | 'attempt' | 'amount_minor'>,
): Promise<BegunRefund | undefined> {
  const fence = createFence(SEND_WITHIN_MS);
  const { rows } = await sql<{ sent_at: string }>`
    update refunds
       set status = 'ASKED', sent_at = clock_timestamp(), updated_at = clock_timestamp(),
           send_before = clock_timestamp() + ${`${SEND_WITHIN_MS} milliseconds`}::interval
     where refund_key = ${refundKey} and attempt = ${attempt} and amount_minor = ${amount_minor} and closed_at is null
       and (send_before is null or send_before + case when ${WOULD_BE_TAKEN_TWICE} then ${`${LISTED_WITHIN_MS} milliseconds`}::interval
              else ${`${UNDER_WAY_MS} milliseconds`}::interval end < clock_timestamp())
       and not ${IS_CONTESTED}
    returning sent_at::text as sent_at`.execute(db);
  return rows[0] && { fence, sentAt: rows[0].sent_at };
}

/** The gateway has enough for this refund and the same again: it refuses no repeat. */
const WOULD_BE_TAKEN_TWICE = sql<boolean>`exists (
  select from payments y
   where y.reference = refunds.reference
     and 2 * refunds.amount_minor <= case when y.charge_currency = refunds.currency
       then y.received_minor - y.reversed_minor - y.refunded_minor
       else (select sum(other.amount_minor) from refunds other
              where other.reference = y.reference and other.currency = refunds.currency and other.closed_at is null) end)`;

/** The first request of a refund was held back here and never sent: it is as if it had not been begun. */
export async function forgetRequest(
  db: WorldDb,
  { refund_key: refundKey, sent_at: before }: RefundRow,
  { sentAt }: BegunRefund,
): Promise<void> {
  if (before !== null) return;
  await sql`
    update refunds set status = 'DUE', sent_at = null, send_before = null, updated_at = clock_timestamp()
     where refund_key = ${refundKey} and status = 'ASKED' and closed_at is null and sent_at = ${sentAt}::timestamptz`.execute(
    db,
  );
}

/**
 * The bank asks for more than what the gateway would have left after this refund, those under way, and what
 * went back.
 */
const IS_CONTESTED = sql<boolean>`exists (
  select from payments y, lateral (
      select sum(d.amount_minor) as minor from disputes d
       where d.reference = y.reference and d.money = 'AT_RISK' and d.currency = refunds.currency) disputed, lateral (
      select coalesce(sum(other.amount_minor), 0) as minor from refunds other
       where other.reference = y.reference and other.refund_key <> refunds.refund_key and other.currency = refunds.currency
         and other.closed_at is null and other.sent_at is not null) under_way
   where y.reference = refunds.reference and y.charge_currency = refunds.currency
     and disputed.minor > y.received_minor - y.reversed_minor - y.refunded_minor - under_way.minor - refunds.amount_minor)`;

/**
 * What came of a payment in a currency that was not agreed. It is a refund from the moment it is booked, so
 * it is counted by its refunds.
 */
export async function otherCurrencyMinor(
  trx: WorldDb,
  reference: string,
  currency: string,
): Promise<{ receivedMinor: bigint; refundedMinor: bigint; reversedMinor: bigint }> {
  const { rows } = await sql<{ receivedMinor: bigint; refundedMinor: bigint; reversedMinor: bigint }>`
    select (refunded.received + coalesce(taken.passed, 0))::int8 as "receivedMinor", refunded.back::int8 as "refundedMinor",
           coalesce(taken.gone, 0)::int8 as "reversedMinor"
      from (select coalesce(sum(amount_minor), 0) as received,
                   coalesce(sum(amount_minor) filter (where status not in ('CREDITED', 'TAKEN_BACK')), 0) as back
              from refunds where reference = ${reference} and currency = ${currency}) refunded,
           (select sum(e.amount_minor) filter (where e.amount_minor > 0) as gone,
                   -sum(e.amount_minor) filter (where e.amount_minor < 0) as passed
              from payments y join ledger_transactions t on t.transaction_id = y.transaction_id and t.kind = 'payment-reversed'
              join ledger_entries e on e.ledger_transaction_id = t.id
               and e.ledger_account_id = 'gateway-clearing:' || y.gateway || ':' || ${currency}
             where y.reference = ${reference} and starts_with(t.operation_key, ${reversedKey(reference, currency, '')})) taken`.execute(
    trx,
  );
  return rows[0] ?? { receivedMinor: 0n, refundedMinor: 0n, reversedMinor: 0n };
}

/** Refunds that were never sent: their money was seen just as the workflow ended. */
export function findUnsentRefundsOlderThan(
  db: WorldDb,
  { ms, afterKey, limit }: { readonly ms: number; readonly afterKey: string; readonly limit: number },
): Promise<RefundRow[]> {
  return db
    .selectFrom('refunds')
    .selectAll()
    .where('closed_at', 'is', null)
    .where('sent_at', 'is', null)
    .where('created_at', '<', sql<Date>`clock_timestamp() - ${`${ms} milliseconds`}::interval`)
    .where('refund_key', '>', afterKey)
    .orderBy('refund_key')
    .limit(limit)
    .execute();
}

/**
 * Refunds of a payment in its own currency that were never sent, oldest first. Locks them, so that none is
 * sent now.
 */
export function findUnsentRefunds(
  trx: WorldDb,
  { reference, charge_currency }: Pick<PaymentRow, 'reference' | 'charge_currency'>,
): Promise<RefundRow[]> {
  return openRefunds(trx)
    .where('reference', '=', reference)
    .where('currency', '=', charge_currency)
    .where('status', '=', 'DUE')
    .where('sent_at', 'is', null)
    .where('attempt', '=', 1)
    .forNoKeyUpdate()
    .execute();
}

/**
 * A bank has taken money of a refund that was not sent: it sends that much less, or ends. The caller books
 * the ledger.
 */
export async function takeFromRefund(trx: WorldDb, refund: RefundRow, minor: bigint): Promise<void> {
  if (minor === refund.amount_minor) {
    await closeRefund(trx, refund, 'TAKEN_BACK');
    return;
  }
  await trx
    .updateTable('refunds')
    .set({ amount_minor: refund.amount_minor - minor, updated_at: sql`clock_timestamp()` })
    .where('refund_key', '=', refund.refund_key)
    .execute();
  await moveMoney(trx, refund.reference, { refunding: -minor, reversed: minor });
}

/**
 * The key of an attempt in the gateway's note. Each retry by an operator has its own, so that a failed
 * attempt is not taken for the next.
 */
export function attemptKey({ refund_key }: Pick<RefundRow, 'refund_key'>, attempt: number): string {
  return attempt === 1 ? refund_key : `${refund_key}-${attempt}`;
}

/** Whether a refund in the gateway's list of a payment is one of ours. */
export const isOurKey = (reference: string, key: string): boolean => key.startsWith(`${reference}-`);

/** Newest attempt first. */
export function attemptKeys(refund: Pick<RefundRow, 'refund_key' | 'attempt'>): string[] {
  return Array.from({ length: refund.attempt }, (_, before) => attemptKey(refund, refund.attempt - before));
}

/**
 * Saves the gateway's state of the current attempt. A refund that starts to wait for a person gets one line
 * in the timeline.
 */
export async function saveRefundState(
  db: WorldDb,
  refund: Pick<RefundRow, 'refund_key' | 'attempt'>,
  state: { status: 'PENDING' | 'NEEDS_ATTENTION' | 'STUCK'; refundId: string | null; gatewayStatus: string },
): Promise<void> {
  const { status, refundId, gatewayStatus } = state;
  await sql`
    with before as (
      select refund_key, transaction_id, status from refunds
       where refund_key = ${refund.refund_key} and attempt = ${refund.attempt} and closed_at is null for no key update
    ), kept as (
      update refunds
         set status = ${status}, gateway_refund_id = ${refundId}, gateway_status = ${gatewayStatus}, updated_at = now()
       where refund_key in (select refund_key from before)
    )
    insert into purchase_events (transaction_id, what, detail)
    select transaction_id, 'refund-blocked', concat_ws(': ', refund_key, ${gatewayStatus}::text)
      from before join purchases using (transaction_id)
     where before.status <> ${status} and ${status !== 'PENDING'}`.execute(db);
}

/** A stuck refund becomes due again as a new attempt. */
export async function tryRefundAgain(trx: WorldDb, refund: RefundRow): Promise<void> {
  const unsent = { sent_at: null, send_before: null, gateway_refund_id: null, gateway_status: null };
  await updateAttempt(trx, refund)
    .set({ status: 'DUE', attempt: refund.attempt + 1, ...unsent, updated_at: sql`now()` })
    .where('status', '=', 'STUCK')
    .execute();
}

/** The gateway sent it: suspense is cleared against what the gateway holds for us. Idempotent. */
export async function closeRefundDone(
  db: WorldDb,
  refund: RefundRow,
  at: { refundId: string; gatewayStatus: string },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (!(await closeRefund(trx, refund, 'DONE', at))) return false;
    await clearSuspense(trx, refund, 'refund', `${refund.refund_key}:done`);
    return true;
  });
}

function clearSuspense(
  trx: WorldDb,
  refund: RefundRow,
  kind: string,
  operationKey: string,
): Promise<unknown> {
  const { currency, amount_minor: amountMinor, transaction_id: transactionId } = refund;
  const entries = [
    { account: `suspense:${currency}`, currency, amountMinor: -amountMinor },
    { account: clearingAccount(refund.gateway, currency), currency, amountMinor },
  ];
  return transfer(trx, { operationKey, kind, transactionId, entries });
}

/**
 * Credits the wallet at the locked rate. Idempotent. `false`: the refund has ended, or no rate was locked for
 * its currency, which needs a person.
 */
export async function creditRefund(db: WorldDb, refund: RefundRow, payment: PaymentRow): Promise<boolean> {
  if (refund.currency !== payment.charge_currency) return false;
  return inTransaction(db, async (trx) => {
    const locked = await lockPayment(trx, refund.reference);
    const credit = { amountMinor: creditMinorOf(locked.payment, refund), currency: payment.price_currency };
    return creditRefundAs(trx, refund, credit);
  });
}

/** A refund's worth in the wallet. The rounded parts of a payment add up to its whole worth. */
export function creditMinorOf(
  payment: PaymentRow,
  { amount_minor }: Pick<RefundRow, 'amount_minor'>,
): bigint {
  return partInPrice(payment, payment.credited_minor + amount_minor, amount_minor);
}

/** Idempotent. */
export async function creditRefundAs(trx: WorldDb, refund: RefundRow, credit: Money): Promise<boolean> {
  if (!(await closeRefund(trx, refund, 'CREDITED', undefined))) return false;
  const { currency, amount_minor: amountMinor } = refund;
  await transfer(trx, {
    operationKey: `${refund.refund_key}:credited`,
    kind: 'refund-credited',
    transactionId: refund.transaction_id,
    entries: withoutZeros([
      { account: `suspense:${currency}`, currency, amountMinor: -amountMinor },
      ...exchangeEntries({ amountMinor, currency }, credit),
      ...(await creditEntries(trx, refund.account_id, credit)),
    ]),
  });
  return true;
}

/**
 * Ends a refund that the gateway will not send. `goneMinor`: refunds of its payment that others requested, as
 * the gateway lists them. The buyer has these, and what a bank took: neither is credited. Nothing is credited
 * while a bank asks for the money. `open`: ask again. `refused`: a person decides.
 */
export async function settleUnsentRefund(
  db: WorldDb,
  refund: RefundRow,
  { goneMinor, mayCredit }: { readonly goneMinor: bigint | 'all'; readonly mayCredit: boolean },
): Promise<'credited' | 'taken-back' | 'open' | 'refused'> {
  return inTransaction(db, async (trx) => {
    const { payment } = await lockPayment(trx, refund.reference);
    const isCharged = refund.currency === payment.charge_currency;
    const claims = isCharged ? await findClaims(trx, payment) : NO_CLAIMS;
    const bookedMinor = isCharged ? payment.reversed_minor : 0n;
    const lostMinor =
      goneMinor === 'all' ? refund.amount_minor : larger(goneMinor, claims.takenMinor) - bookedMinor;
    if (lostMinor >= refund.amount_minor)
      return (await closeRefundTakenBack(trx, refund)) ? 'taken-back' : 'open';
    if (!isCharged) return 'refused';
    if (lostMinor > 0n) {
      await takeBackPart(trx, payment, refund, lostMinor);
      return 'open';
    }
    if (!mayCredit) return 'refused';
    if (claims.askedMinor > 0n) return 'open';
    return (await creditRefund(trx, refund, payment)) ? 'credited' : 'open';
  });
}

const NO_CLAIMS = { askedMinor: 0n, takenMinor: 0n };

/** What banks have taken of a payment, and what they ask for beyond what is at risk. */
async function findClaims(
  trx: WorldDb,
  { reference, charge_currency, received_minor, refunded_minor, disputed_minor }: PaymentRow,
): Promise<typeof NO_CLAIMS> {
  const { rows } = await sql<typeof NO_CLAIMS>`
    select greatest(coalesce(sum(minor) filter (where money = 'AT_RISK'), 0) - ${disputed_minor}::bigint, 0)::int8 as "askedMinor",
           coalesce(sum(minor) filter (where money = 'TAKEN'), 0)::int8 as "takenMinor"
      from (select money, least(amount_minor, ${received_minor - refunded_minor}::bigint) as minor
              from disputes where reference = ${reference} and currency = ${charge_currency}) claim`.execute(
    trx,
  );
  return rows[0] ?? NO_CLAIMS;
}

/** The rest of the refund stays open. */
async function takeBackPart(
  trx: WorldDb,
  payment: PaymentRow,
  refund: RefundRow,
  minor: bigint,
): Promise<void> {
  const open = await openRefunds(trx)
    .where('refund_key', '=', refund.refund_key)
    .where('attempt', '=', refund.attempt)
    .where('amount_minor', '=', refund.amount_minor)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!open) return;
  await takeFromRefund(trx, open, minor);
  const key = reversedKey(refund.reference, refund.currency, payment.reversed_minor + minor);
  await clearSuspense(trx, { ...refund, amount_minor: minor }, 'payment-reversed', key);
}

/**
 * The payment was taken back before the refund was sent: the buyer has the money, so the amount in suspense
 * is booked as reversed. Idempotent.
 */
export async function closeRefundTakenBack(db: WorldDb, refund: RefundRow): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const { payment } = await lockPayment(trx, refund.reference);
    if (!(await closeRefund(trx, refund, 'TAKEN_BACK'))) return false;
    const { reference, currency } = refund;
    const beforeMinor =
      currency === payment.charge_currency
        ? payment.reversed_minor
        : (await otherCurrencyMinor(trx, reference, currency)).reversedMinor;
    const key = reversedKey(reference, currency, beforeMinor + refund.amount_minor);
    await clearSuspense(trx, refund, 'payment-reversed', key);
    return true;
  });
}

/**
 * What the public timeline says of a refund's end, and the merchants' webhook: money taken back by a bank is
 * not our refund.
 */
const ENDS = {
  DONE: { what: 'refunded', refundedTo: 'SOURCE', place: 'refunded' },
  CREDITED: { what: 'refund-credited-to-wallet', refundedTo: 'WALLET', place: 'credited' },
  TAKEN_BACK: { what: 'payment-reversed', refundedTo: null, place: 'reversed' },
} as const;

/**
 * Closes a refund once. The payment and the purchase are locked first, in the order that operator actions
 * use.
 */
export async function closeRefund(
  trx: WorldDb,
  refund: RefundRow,
  status: keyof typeof ENDS,
  at?: { refundId: string; gatewayStatus: string },
): Promise<boolean> {
  const { payment } = await lockPayment(trx, refund.reference);
  const closed = await updateAttempt(trx, refund)
    .set({
      status,
      closed_at: sql`now()`,
      updated_at: sql`now()`,
      ...(at ? { gateway_refund_id: at.refundId, gateway_status: at.gatewayStatus } : {}),
    })
    .where('amount_minor', '=', refund.amount_minor)
    .where('closed_at', 'is', null)
    .returning([
      subscribers('payment.refunded', sql.ref('refunds.account_id')).as('subscribers'),
      sql<Date>`now()`.as('at'),
    ])
    .executeTakeFirst();
  if (!closed) return false;
  const { what, refundedTo, place } = ENDS[status];
  if (refund.currency === payment.charge_currency)
    await moveMoney(trx, refund.reference, {
      refunding: -refund.amount_minor,
      [place]: refund.amount_minor,
    });
  await sql`
    insert into purchase_events (transaction_id, what, detail)
    select transaction_id, ${what}, ${refund.refund_key}::text
      from purchases where transaction_id = ${refund.transaction_id}`.execute(trx);
  await unflagRefunds(trx, refund.transaction_id);
  await sql`
    update returns set state = 'RETURNED', closed_at = clock_timestamp(), refunded_to = coalesce(${refundedTo}, refunded_to)
     where refund_key = ${refund.refund_key} and state = 'REFUNDING'`.execute(trx);
  if (refundedTo === null) return true;
  const { reference, transaction_id: transactionId, amount_minor: amountMinor, currency } = refund;
  const message = {
    event: 'payment.refunded',
    key: refund.refund_key,
    subject: transactionId,
    accountId: refund.account_id,
    subscribers: closed.subscribers,
    at: closed.at,
    facts: {
      ...{ transactionId, gatewayReference: reference, amountMinor, currency, refundedTo },
      ...(await findOwn(trx, transactionId)),
    },
  } as const;
  await enqueueWebhook(trx, message);
  return true;
}

/** Clears the attention flag once the last open refund has ended. */
async function unflagRefunds(trx: WorldDb, transactionId: string): Promise<void> {
  for (const table of ['purchases', 'fundings']) {
    await sql`
      update ${sql.table(table)} set needs_attention_since = null, attention_reason = null, updated_at = now()
       where transaction_id = ${transactionId} and attention_reason in ('REFUND_NEEDS_ATTENTION', 'REFUND_STUCK')
         and not exists (select from refunds where transaction_id = ${transactionId} and closed_at is null)`.execute(
      trx,
    );
  }
}
