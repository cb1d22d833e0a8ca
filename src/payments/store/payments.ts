/** A payment row is written before the gateway is asked, so every reference that may hold money is known whatever happens to the answer. */
import { sql, type Insertable, type RawBuilder, type Selectable } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { FailureReason, Refusal } from '../../domain/refusals.ts';
import type { OutsideMethod, PaymentPurpose } from '../../domain/states.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { PaymentInstructions } from '../port.ts';
import {
  CLAIMS,
  DEFAULT_UNPAID_LIMITS,
  chargeReference,
  takesMoneyForMs,
  type Claim,
  type FundingInput,
  type PaymentTimings,
  type UnpaidLimits,
} from '../rules.ts';
import type { FundingsTable, PaymentsTable } from './tables.ts';

export type PaymentRow = Selectable<PaymentsTable>;

/** What a purchase and a funding that are paid from outside have in common. */
type PaidFromOutside = Pick<FundingInput, 'transactionId' | 'accountId' | 'charge'> & {
  readonly timings: PaymentTimings;
};

/** What the payment is for. Amounts are decimal digits. */
interface PaidFor {
  readonly purpose: PaymentPurpose;
  readonly method: OutsideMethod;
  readonly priceMinor: string;
  readonly priceCurrency: AccountCurrency;
}

const payments = (db: WorldDb) => db.selectFrom('payments').selectAll();

/** The first attempt, written together with its purchase or funding. */
export function newPayment(
  { transactionId, accountId, charge, timings }: PaidFromOutside,
  { purpose, method, priceMinor, priceCurrency }: PaidFor,
  now: Date,
): Insertable<PaymentsTable> {
  return {
    reference: chargeReference(transactionId, 1),
    transaction_id: transactionId,
    attempt: 1,
    purpose,
    account_id: accountId,
    method,
    charge_minor: BigInt(charge.amountMinor),
    charge_currency: charge.currency,
    price_minor: BigInt(priceMinor),
    price_currency: priceCurrency,
    expires_at: new Date(now.getTime() + takesMoneyForMs(method, timings)),
  };
}

/** The newest attempt, with the order that it is for. undefined: nothing was written for it to be paid from outside. */
export async function findPaymentToOpen(
  db: WorldDb,
  transactionId: string,
): Promise<
  | { readonly payment: PaymentRow; readonly isAwaited: boolean; readonly packageCode: string | null }
  | undefined
> {
  const row = await db
    .selectFrom('payments')
    .leftJoin('purchases', 'purchases.transaction_id', 'payments.transaction_id')
    .leftJoin('fundings', 'fundings.transaction_id', 'payments.transaction_id')
    .selectAll('payments')
    .select([
      'purchases.package_code',
      sql<boolean>`coalesce(purchases.status, fundings.status) = 'PENDING'`.as('is_awaited'),
    ])
    .where('payments.transaction_id', '=', transactionId)
    .orderBy('attempt', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  const { is_awaited: isAwaited, package_code: packageCode, ...payment } = row;
  return { payment, isAwaited, packageCode };
}

/** When an open, unpaid order expires; may be in the past. undefined: it is closed, or the gateway has not said how. */
export async function findPayableUntil(db: WorldDb, transactionId: string): Promise<Date | undefined> {
  const { rows } = await sql<{ until: Date | null }>`
    select max(expires_at) as until from payments
     where transaction_id = ${transactionId} and status = 'OPEN'
       and 'PENDING' in (select status from purchases where purchases.transaction_id = payments.transaction_id
                          union all select status from fundings where fundings.transaction_id = payments.transaction_id)`.execute(
    db,
  );
  return rows[0]?.until ?? undefined;
}

/** Another attempt at the same payment under its own reference, after the gateway took the last one without payment instructions. */
export async function nextPaymentAttempt(db: WorldDb, after: PaymentRow): Promise<PaymentRow> {
  const { transaction_id, purpose, account_id, method, expires_at } = after;
  const { charge_minor, charge_currency, price_minor, price_currency } = after;
  const attempt = after.attempt + 1;
  await db
    .insertInto('payments')
    .values({
      reference: chargeReference(transaction_id, attempt),
      ...{ transaction_id, attempt, purpose, account_id, method, expires_at },
      ...{ charge_minor, charge_currency, price_minor, price_currency },
    })
    .onConflict((conflict) => conflict.columns(['transaction_id', 'attempt']).doNothing())
    .execute();
  return payments(db)
    .where('transaction_id', '=', transaction_id)
    .where('attempt', '=', attempt)
    .executeTakeFirstOrThrow();
}

/** Only the first saved instructions count. The gateway may have moved the expiry. */
export async function saveInstructions(
  db: WorldDb,
  reference: string,
  instructions: PaymentInstructions,
): Promise<void> {
  await db
    .updateTable('payments')
    .set({
      status: 'OPEN',
      instructions: JSON.stringify(instructions),
      ...(instructions.kind === 'bank-transfer' ? { expires_at: instructions.expiresAt } : {}),
      updated_at: sql`now()`,
    })
    .where('reference', '=', reference)
    .where('status', '=', 'ASKED')
    .execute();
}

export async function markPaymentRefused(db: WorldDb, reference: string): Promise<void> {
  await db
    .updateTable('payments')
    .set({ status: 'REFUSED', updated_at: sql`now()` })
    .where('reference', '=', reference)
    .where('status', '=', 'ASKED')
    .execute();
}

/** All attempts of a purchase or a funding, oldest first. */
export function findPayments(db: WorldDb, transactionId: string): Promise<PaymentRow[]> {
  return payments(db).where('transaction_id', '=', transactionId).orderBy('attempt').execute();
}

export function findPayment(db: WorldDb, reference: string): Promise<PaymentRow | undefined> {
  return payments(db).where('reference', '=', reference).executeTakeFirst();
}

/** Closes expired payments that need no last check: booked ones, and those that the gateway last called abandoned or failed. Returns how many. */
export async function closeExpiredPayments(
  db: WorldDb,
  { expiredBefore, limit }: { readonly expiredBefore: Date; readonly limit: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    update payments set status = 'CLOSED', updated_at = now()
     where reference in (
       select reference from payments
        where status in ('ASKED', 'OPEN') and expires_at <= ${expiredBefore}
          and (booked_minor > 0 or gateway_status in ('abandoned', 'failed'))
        limit ${limit} for no key update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** The other expired payments, oldest first. Accounts take turns, so that one with many does not delay the others. */
export function findPaymentsToClose(
  db: WorldDb,
  { expiredBefore, limit }: { readonly expiredBefore: Date; readonly limit: number },
): Promise<PaymentRow[]> {
  const turn = sql<bigint>`row_number() over (partition by account_id order by expires_at)`;
  const expired = payments(db)
    .select(turn.as('turn'))
    .where('status', 'in', ['ASKED', 'OPEN'])
    .where('expires_at', '<=', expiredBefore)
    .where('booked_minor', '=', 0n);
  return db
    .selectFrom(expired.as('expired'))
    .selectAll()
    .orderBy('turn')
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}

/** Whether the gateway has confirmed this charge before. If it then does not find the charge, our key most likely belongs to another integration. */
export function isKnownToGateway({ instructions, gateway_id }: PaymentRow): boolean {
  return instructions !== null || gateway_id !== null;
}

export async function recordCheck(db: WorldDb, reference: string, askedAt: Date): Promise<void> {
  await sql`
    update payments set looked_at = greatest(looked_at, ${askedAt}) where reference = ${reference}`.execute(
    db,
  );
}

/** Whether a caller may have a closed payment checked: once per `freshMs`. Checks from other sources do not count, so a late payer is served at once. */
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

export async function closePayment(db: WorldDb, reference: string, now: Date): Promise<void> {
  await db
    .updateTable('payments')
    .set({ status: 'CLOSED', looked_at: now, updated_at: now })
    .where('reference', '=', reference)
    .execute();
}

/** The account's e-mail address: charges need one. It stays out of workflows and logs. */
export async function findEmail(db: WorldDb, accountId: string): Promise<string> {
  const { rows } = await sql<{ email: string }>`
    select email from accounts.accounts where id = ${accountId}`.execute(db);
  if (!rows[0]) throw new Error(`no account ${accountId}`);
  return rows[0].email;
}

/** The ledger's key for a payment's money taken back by the gateway or a bank: how much of it in all, 0 where we had booked none. */
export const reversedKey = (reference: string, currency: string, reversedMinor: bigint): string =>
  `${reference}:reversed:${currency}:${reversedMinor}`;

/** Whether the ledger shows that a payment's money was received and taken back between two checks. */
export async function wasReceivedAndReversed(
  db: WorldDb,
  reference: string,
  currency: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('ledger_transactions')
    .select('id')
    .where('operation_key', '=', reversedKey(reference, currency, 0n))
    .executeTakeFirst();
  return row !== undefined;
}

const ORDERS_WITH_CLAIMS = sql`(
  select transaction_id, 'purchase' as purpose, attention_reason, needs_attention_since, closed_at from purchases
  union all
  select transaction_id, 'funding', attention_reason, needs_attention_since, closed_at from fundings
) orders where attention_reason = any(${[...CLAIMS]})`;

/** Closed purchases and fundings with a dispute or a reversed payment, oldest first. */
export async function findClaims(
  db: WorldDb,
  limit: number,
): Promise<readonly { readonly transactionId: string; readonly purpose: PaymentPurpose }[]> {
  const { rows } = await sql<{ transactionId: string; purpose: PaymentPurpose }>`
    select transaction_id as "transactionId", purpose from ${ORDERS_WITH_CLAIMS}
       and needs_attention_since is not null and closed_at is not null
     order by needs_attention_since limit ${limit}`.execute(db);
  return rows;
}

export async function findClaim(db: WorldDb, transactionId: string): Promise<Claim | undefined> {
  const { rows } = await sql<{ attention_reason: Claim }>`
    select attention_reason from ${ORDERS_WITH_CLAIMS} and transaction_id = ${transactionId}`.execute(db);
  return rows[0]?.attention_reason;
}

/** Marks a purchase or a funding as needing a person for its money, closed or not; the first reason stays, unless this is a claim. */
export async function flagMoney(db: WorldDb, transactionId: string, reason: string): Promise<void> {
  const isClaim = CLAIMS.some((claim) => claim === reason);
  for (const table of ['purchases', 'fundings']) {
    await sql`
      update ${sql.table(table)} set needs_attention_since = now(), attention_reason = ${reason}, updated_at = now()
       where transaction_id = ${transactionId}
         and (needs_attention_since is null or ${isClaim} and attention_reason <> all(${[...CLAIMS]}))`.execute(
      db,
    );
  }
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
  await db
    .updateTable('fundings')
    .set({
      status,
      reason,
      closed_at: sql`now()`,
      updated_at: sql`now()`,
      needs_attention_since: null,
      attention_reason: null,
    })
    .where('transaction_id', '=', transactionId)
    .where('status', '=', 'PENDING')
    .execute();
}

export function findFunding(db: WorldDb, transactionId: string): Promise<FundingRow | undefined> {
  return db.selectFrom('fundings').selectAll().where('transaction_id', '=', transactionId).executeTakeFirst();
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

/** Whether one more may be opened. Holds the account's lock until the transaction ends, so the new row is counted before the next check. */
export function mayOpenUnpaid(
  accountId: string,
  limits: UnpaidLimits = DEFAULT_UNPAID_LIMITS,
): RawBuilder<boolean> {
  return sql<boolean>`may_open_unpaid(${accountId}, ${JSON.stringify(limits)}::jsonb)`;
}
