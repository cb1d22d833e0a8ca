/**
 * A payment row is written before the gateway is asked, so every reference that may hold money is known
 * whatever happens to the answer.
 */
import type { FundingEvent } from '../../domain/states.ts';
import { sql, type InsertObject, type RawBuilder, type Selectable } from 'kysely';
import type { AccountCurrency, Money } from '../../domain/money.ts';
import { asFailureReason, type FailureReason, type Refusal } from '../../domain/refusals.ts';
import type { Fence } from '../../domain/fence.ts';
import { createFence } from '../../platform/fence.ts';
import { walletAccount } from '../../ledger/store/ledger.ts';
import { owedAccount } from '../../ledger/store/owed.ts';
import {
  type GatewayMethod,
  type PaymentPurpose,
  type PurchaseStatus,
  DISPUTE_REASONS,
  type DisputeReason,
} from '../../domain/states.ts';
import type { WorldDatabase, WorldDb } from '../../platform/database/tables.ts';
import type { PaymentInstructions } from '../port.ts';
import {
  DEFAULT_UNPAID_LIMITS,
  chargeReference,
  paymentWindowMs,
  type FundingInput,
  type PaymentTimings,
  type UnpaidLimits,
} from '../rules.ts';
import type { FundingsTable, PaymentsTable } from './tables.ts';

export type PaymentRow = Selectable<PaymentsTable>;

/** What a purchase and a funding that are paid at a gateway have in common. */
type PaidAtGateway = Pick<FundingInput, 'transactionId' | 'accountId' | 'charge'> & {
  readonly timings: PaymentTimings;
};

/** What the payment is for. Amounts are decimal digits. */
interface PaidFor {
  readonly purpose: PaymentPurpose;
  readonly method: GatewayMethod;
  readonly priceMinor: string;
  readonly priceCurrency: AccountCurrency;
}

const payments = (db: WorldDb) => db.selectFrom('payments').selectAll();

/**
 * The first attempt, written together with its purchase or funding. Its time runs by the database's clock.
 */
export function newPayment(
  { transactionId, accountId, charge, timings }: PaidAtGateway,
  { purpose, method, priceMinor, priceCurrency }: PaidFor,
): InsertObject<WorldDatabase, 'payments'> {
  return {
    reference: chargeReference(transactionId, 1),
    transaction_id: transactionId,
    attempt: 1,
    gateway: charge.gateway,
    purpose,
    account_id: accountId,
    method,
    charge_minor: BigInt(charge.amountMinor),
    charge_currency: charge.currency,
    price_minor: BigInt(priceMinor),
    price_currency: priceCurrency,
    expires_at: sql<Date>`clock_timestamp() + ${`${paymentWindowMs(method, timings)} milliseconds`}::interval`,
  };
}

/** What a payment is collected by. Times are of the database's clock. */
export interface Collection {
  /** The newest attempt. */
  readonly payment: PaymentRow;
  readonly status: PurchaseStatus;
  readonly reason: FailureReason | null;
  /** Null for a funding. */
  readonly packageCode: string | null;
  /** The supplier has refused the package since the purchase was opened, and nothing was charged yet. */
  readonly isSoldOut: boolean;
  /** A refund is under way, or a dispute or reversal needs a person. */
  readonly isMoneyOpen: boolean;
  /** Since its first attempt was written. */
  readonly ageMs: number;
  /** Until none of its attempts takes money any more; below zero once that is over. */
  readonly leftMs: number;
  /** Until no charge that was sent can arrive any more; zero or less: none can. */
  readonly settlesInMs: number;
}

/** A charge may be sent for this long after its row says so. */
export const CHARGE_WITHIN_MS = 10_000;
/** After that: the client's time limit, and what a gateway may do behind it. */
const CHARGE_UNDER_WAY_MS = 10_000 + 15_000;

/** Whether a refund of this purchase or funding has not ended. For a statement. */
const hasOpenRefund = (transactionId: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`exists (select from refunds where refunds.transaction_id = ${transactionId} and refunds.closed_at is null)`;

/** undefined: nothing was written for it to be paid at a gateway. */
export async function findCollection(db: WorldDb, transactionId: string): Promise<Collection | undefined> {
  const ms = (interval: RawBuilder<unknown>) =>
    sql<number | null>`(extract(epoch from ${interval}) * 1000)::float8`;
  const row = await db
    .selectFrom('payments')
    .leftJoin('purchases', 'purchases.transaction_id', 'payments.transaction_id')
    .leftJoin('fundings', 'fundings.transaction_id', 'payments.transaction_id')
    .selectAll('payments')
    .select([
      'purchases.package_code',
      sql<PurchaseStatus>`coalesce(purchases.status, fundings.status)`.as('status_of'),
      sql<string | null>`coalesce(purchases.reason, fundings.reason)`.as('reason_of'),
      sql<boolean>`${hasOpenRefund(sql`payments.transaction_id`)} or coalesce(
        coalesce(purchases.attention_reason, fundings.attention_reason) = any(${[...DISPUTE_REASONS]}), false)`.as(
        'is_money_open',
      ),
      sql<boolean>`exists (select from package_shortages short
        where short.package_code = purchases.package_code and clock_timestamp() < short.paid_probe_at
          and short.probe_id is distinct from payments.transaction_id)`.as('is_short'),
      ms(sql`clock_timestamp() - (min(payments.created_at) over ())`).as('age_ms'),
      ms(sql`(max(payments.expires_at) over ()) - clock_timestamp()`).as('left_ms'),
      ms(
        sql`(max(payments.send_before) over ()) + ${`${CHARGE_UNDER_WAY_MS} milliseconds`}::interval - clock_timestamp()`,
      ).as('settles_ms'),
    ])
    .where('payments.transaction_id', '=', transactionId)
    .orderBy('attempt', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  const { package_code, status_of, reason_of, is_money_open, is_short, ...more } = row;
  const { age_ms, left_ms, settles_ms, ...payment } = more;
  return {
    payment,
    status: status_of,
    reason: reason_of === null ? null : asFailureReason(reason_of),
    packageCode: package_code,
    isSoldOut: is_short && settles_ms === null,
    isMoneyOpen: is_money_open,
    ageMs: age_ms ?? 0,
    leftMs: left_ms ?? 0,
    settlesInMs: settles_ms ?? 0,
  };
}

/**
 * Records that an attempt is about to be sent, while its order waits for money, and returns until when it may
 * be. undefined: it must not be sent.
 */
export async function beginCharge(db: WorldDb, reference: string): Promise<Fence | undefined> {
  const fence = createFence(CHARGE_WITHIN_MS);
  const { numAffectedRows } = await sql`
    update payments
       set send_before = clock_timestamp() + ${`${CHARGE_WITHIN_MS} milliseconds`}::interval, updated_at = clock_timestamp()
     where reference = ${reference} and status = 'ASKED' and not has_money
       and 'PENDING' in (select status from purchases where purchases.transaction_id = payments.transaction_id
                          union all select status from fundings where fundings.transaction_id = payments.transaction_id)`.execute(
    db,
  );
  return numAffectedRows === 1n ? fence : undefined;
}

/**
 * Another attempt at the same payment under its own reference, after the gateway took the last one without
 * payment instructions.
 */
export async function nextPaymentAttempt(db: WorldDb, after: PaymentRow): Promise<PaymentRow> {
  const { transaction_id, gateway, purpose, account_id, method, expires_at } = after;
  const { charge_minor, charge_currency, price_minor, price_currency } = after;
  const attempt = after.attempt + 1;
  await db
    .insertInto('payments')
    .values({
      reference: chargeReference(transaction_id, attempt),
      ...{ transaction_id, attempt, gateway, purpose, account_id, method, expires_at },
      ...{ charge_minor, charge_currency, price_minor, price_currency },
    })
    .onConflict((conflict) => conflict.columns(['transaction_id', 'attempt']).doNothing())
    .execute();
  return payments(db)
    .where('transaction_id', '=', transaction_id)
    .where('attempt', '=', attempt)
    .executeTakeFirstOrThrow();
}

/** Of a payment that the gateway has not answered yet. */
const updateAsked = (db: WorldDb, reference: string) =>
  db
    .updateTable('payments')
    .set({ updated_at: sql`now()` })
    .where('reference', '=', reference)
    .where('status', '=', 'ASKED');

/** Only the first saved instructions count. The gateway may have moved the expiry. */
export async function saveInstructions(
  db: WorldDb,
  reference: string,
  instructions: PaymentInstructions,
): Promise<void> {
  const moved = instructions.kind === 'bank-transfer' ? { expires_at: instructions.expiresAt } : {};
  await updateAsked(db, reference)
    .set({ status: 'OPEN', instructions: JSON.stringify(instructions), ...moved })
    .execute();
}

export async function markPaymentRefused(db: WorldDb, reference: string): Promise<void> {
  await updateAsked(db, reference).set({ status: 'REFUSED' }).execute();
}

/** All attempts of a purchase or a funding, oldest first. */
export function findPayments(db: WorldDb, transactionId: string): Promise<PaymentRow[]> {
  return payments(db).where('transaction_id', '=', transactionId).orderBy('attempt').execute();
}

export function findPayment(db: WorldDb, reference: string): Promise<PaymentRow | undefined> {
  return payments(db).where('reference', '=', reference).executeTakeFirst();
}

/**
 * Closes expired payments that need no last check: booked ones, and those that the gateway last called
 * abandoned or failed. Returns how many.
 */
export async function closeExpiredPayments(
  db: WorldDb,
  { expiredForMs, limit }: { readonly expiredForMs: number; readonly limit: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    update payments set status = 'CLOSED', updated_at = now()
     where reference = any(array(
       select reference from payments
        where status in ('ASKED', 'OPEN') and expires_at <= clock_timestamp() - ${`${expiredForMs} milliseconds`}::interval
          and (has_money or gateway_status in ('abandoned', 'failed'))
        limit ${limit} for no key update skip locked))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/**
 * The other expired payments, oldest first. Accounts take turns, so that one with many does not delay the
 * others.
 */
export function findPaymentsToClose(
  db: WorldDb,
  { expiredForMs, limit }: { readonly expiredForMs: number; readonly limit: number },
): Promise<PaymentRow[]> {
  const turn = sql<bigint>`row_number() over (partition by account_id order by expires_at)`;
  const expired = payments(db)
    .select(turn.as('turn'))
    .where('status', 'in', ['ASKED', 'OPEN'])
    .where('expires_at', '<=', sql<Date>`clock_timestamp() - ${`${expiredForMs} milliseconds`}::interval`)
    .where('has_money', '=', false);
  return db
    .selectFrom(expired.as('expired'))
    .selectAll()
    .orderBy('turn')
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}

/**
 * Whether the gateway has confirmed this charge before. If it then does not find the charge, our key most
 * likely belongs to another integration.
 */
export function isKnownToGateway({ instructions, gateway_id }: PaymentRow): boolean {
  return instructions !== null || gateway_id !== null;
}

/** A payment to be checked, with the number of that check: drawn before the gateway is asked. */
export type PaymentToCheck = PaymentRow & {
  readonly checkNumber: bigint;
  /** Its time to pay was over when the number was drawn. */
  readonly wasExpired: boolean;
};

/** The attempts that the gateway may hold, oldest first. */
export async function beginChecks(db: WorldDb, transactionId: string): Promise<PaymentToCheck[]> {
  const rows = await payments(db)
    .select([
      sql<bigint>`nextval('payment_checks')`.as('checkNumber'),
      sql<boolean>`expires_at <= clock_timestamp()`.as('wasExpired'),
    ])
    .where('transaction_id', '=', transactionId)
    .where('status', '<>', 'REFUSED')
    .execute();
  return rows.toSorted((one, other) => one.attempt - other.attempt);
}

/** A check that found nothing to book, or had no answer. */
export async function recordCheck(db: WorldDb, reference: string): Promise<void> {
  await sql`update payments set checked_at = clock_timestamp() where reference = ${reference}`.execute(db);
}

/**
 * Whether a caller may have a closed payment checked: once per `freshMs`. Checks from other sources do not
 * count, so a late payer is served at once.
 */
export async function takeCheckSlot(
  db: WorldDb,
  transactionId: string,
  { now, freshMs }: { readonly now: Date; readonly freshMs: number },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update payments set confirmed_at = ${now}
     where transaction_id = ${transactionId} and attempt = 1
       and (confirmed_at is null or confirmed_at <= ${new Date(now.getTime() - freshMs)})`.execute(db);
  return numAffectedRows === 1n;
}

/** The check could not be started: the next caller may ask at once. */
export async function releaseCheckSlot(db: WorldDb, transactionId: string): Promise<void> {
  await sql`
    update payments set confirmed_at = null where transaction_id = ${transactionId} and attempt = 1`.execute(
    db,
  );
}

export async function closePayment(db: WorldDb, reference: string): Promise<void> {
  const now = sql<Date>`clock_timestamp()`;
  await db
    .updateTable('payments')
    .set({ status: 'CLOSED', checked_at: now, updated_at: now })
    .where('reference', '=', reference)
    .execute();
}

/** The account's e-mail address. It stays out of workflows and logs. */
export async function findEmail(db: WorldDb, accountId: string): Promise<string | null> {
  const { rows } = await sql<{ email: string }>`
    select email from accounts.accounts where id = ${accountId}`.execute(db);
  return rows[0]?.email ?? null;
}

/** The ledger's key for a payment's money taken back by the gateway or a bank: how much of it in all. */
export const reversedKey = (reference: string, currency: string, reversedMinor: bigint | ''): string =>
  `${reference}:reversed:${currency}:${reversedMinor}`;

const DISPUTED_ORDERS = sql`(
  select transaction_id, 'purchase' as purpose, attention_reason, needs_attention_since, closed_at from purchases
  union all
  select transaction_id, 'funding', attention_reason, needs_attention_since, closed_at from fundings
) orders where attention_reason = any(${[...DISPUTE_REASONS]})`;

export type ClosedPayment = { readonly transactionId: string; readonly purpose: PaymentPurpose };

/** Closed purchases and fundings with a dispute or a reversed payment, in the order of their ids. */
export async function findDisputedOrders(
  db: WorldDb,
  { afterId, limit }: { readonly afterId: string; readonly limit: number },
): Promise<readonly ClosedPayment[]> {
  const { rows } = await sql<ClosedPayment>`
    select transaction_id as "transactionId", purpose from ${DISPUTED_ORDERS}
       and needs_attention_since is not null and closed_at is not null and transaction_id > ${afterId}
     order by transaction_id limit ${limit}`.execute(db);
  return rows;
}

export async function findDisputeReason(
  db: WorldDb,
  transactionId: string,
): Promise<DisputeReason | undefined> {
  const { rows } = await sql<{ attention_reason: DisputeReason }>`
    select attention_reason from ${DISPUTED_ORDERS} and transaction_id = ${transactionId}`.execute(db);
  return rows[0]?.attention_reason;
}

/**
 * Marks a purchase or a funding as needing a person for its money, closed or not; the first reason stays,
 * unless this is a dispute. Whether it was not marked so before.
 */
export async function flagMoney(db: WorldDb, transactionId: string, reason: string): Promise<boolean> {
  const isDispute = DISPUTE_REASONS.some((dispute) => dispute === reason);
  let isNew = false;
  for (const table of ['purchases', 'fundings']) {
    const { numAffectedRows } = await sql`
      update ${sql.table(table)} set needs_attention_since = now(), attention_reason = ${reason}, updated_at = now()
       where transaction_id = ${transactionId}
         and (needs_attention_since is null or ${isDispute} and attention_reason <> all(${[...DISPUTE_REASONS]}))`.execute(
      db,
    );
    isNew ||= numAffectedRows === 1n;
  }
  return isNew;
}

export type FundingRow = Selectable<FundingsTable>;

/** `paid`: money came first. Idempotent. */
export async function closeFundingUnpaid(
  db: WorldDb,
  transactionId: string,
  reason: FailureReason,
): Promise<'closed' | 'paid'> {
  await close(db, transactionId, 'FAILED', reason);
  return (await findFunding(db, transactionId))?.status === 'SUCCESS' ? 'paid' : 'closed';
}

export async function closeFundingPaid(db: WorldDb, transactionId: string): Promise<void> {
  await close(db, transactionId, 'SUCCESS', null);
}

async function close(
  db: WorldDb,
  transactionId: string,
  status: 'FAILED' | 'SUCCESS',
  reason: FailureReason | null,
): Promise<void> {
  const now = sql<Date>`now()`;
  await db
    .updateTable('fundings')
    .set({ status, reason, closed_at: now, updated_at: now })
    .set({ needs_attention_since: null, attention_reason: null })
    .where('transaction_id', '=', transactionId)
    .where('status', '=', 'PENDING')
    .execute();
}

export function findFunding(db: WorldDb, transactionId: string): Promise<FundingRow | undefined> {
  return db.selectFrom('fundings').selectAll().where('transaction_id', '=', transactionId).executeTakeFirst();
}

/** What came for a funding, and what the wallet got of it. `received` is null before the first payment. */
export async function findFundingMoney(
  db: WorldDb,
  { transaction_id: transactionId, account_id: accountId }: FundingRow,
): Promise<{ readonly received: Money | null; readonly creditedMinor: bigint }> {
  const { rows } = await sql<{
    received: bigint | null;
    currency: string | null;
    credited: bigint;
  }>`
    select sum(received_minor + vouched_minor)::int8 as received, min(charge_currency) as currency,
           (select coalesce(sum(e.amount_minor), 0)::int8
              from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id
             where t.transaction_id = ${transactionId} and e.ledger_account_id = ${walletAccount(accountId)}
               and wallet_entry_kind(t.kind) = 'FUNDING') as credited
      from payments where transaction_id = ${transactionId}`.execute(db);
  const { received = null, currency = null, credited = 0n } = rows[0] ?? {};
  return {
    received:
      received === null || currency === null || received === 0n ? null : { amountMinor: received, currency },
    creditedMinor: credited,
  };
}

/** What became of a funding's money besides its plain credit, for its timeline, oldest first. */
export async function findMoneyEvents(
  db: WorldDb,
  { transaction_id: transactionId, account_id: accountId }: FundingRow,
): Promise<readonly { readonly at: Date; readonly what: FundingEvent }[]> {
  const { rows } = await sql<{ readonly at: Date; readonly what: FundingEvent }>`
    select t.created_at as at, 'owed-paid' as what
      from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id
     where t.transaction_id = ${transactionId} and e.ledger_account_id = ${owedAccount(accountId)} and e.amount_minor > 0
    union all
    select created_at, kind from ledger_transactions
     where transaction_id = ${transactionId} and (kind = 'payment-reversed' or kind like 'payment-received-%')
    union all
    select opened_at, 'payment-disputed' from disputes where transaction_id = ${transactionId}
    union all
    select settled_at, 'dispute-' || lower(coalesce(outcome, 'ended')) from disputes
     where transaction_id = ${transactionId} and settled_at is not null
     order by 1, 2`.execute(db);
  return rows;
}

export const TOO_MANY_UNPAID: Refusal = {
  reason: 'TOO_MANY_UNPAID_PAYMENTS',
  detail: 'as many as the plan allows are open and unpaid',
};

/** Counts open unpaid purchases and fundings; each count stops at `limit`. */
export async function countUnpaid(db: WorldDb, accountId: string, limit: number): Promise<number> {
  const { rows } = await sql<{
    open: number;
  }>`select unpaid_payments(${accountId}, ${limit}) as open`.execute(db);
  return rows[0]?.open ?? 0;
}

/**
 * Whether one more may be opened. Holds the account's lock until the transaction ends, so the new row is
 * counted before the next check.
 */
export function mayOpenUnpaid(
  accountId: string,
  limits: UnpaidLimits = DEFAULT_UNPAID_LIMITS,
): RawBuilder<boolean> {
  return sql<boolean>`may_open_unpaid(${accountId}, ${JSON.stringify(limits)}::jsonb)`;
}
