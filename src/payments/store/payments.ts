/** A payment row is written before the gateway is asked, so every reference that may hold money is known whatever happens to the answer. */
import { sql, type Selectable } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { PaymentInstructions } from '../port.ts';
import { chargeReference, type ChargeQuote, type FundingInput } from '../rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { FundingsTable, PaymentsTable } from './tables.ts';
import type { OutsideMethod, PaymentPurpose } from '../../domain/states.ts';
import { insertKey } from '../../platform/idempotency/store.ts';
import type { FailureReason } from '../../domain/refusals.ts';

export type PaymentRow = Selectable<PaymentsTable>;

/** What the row of an attempt is written from. Amounts are decimal digits. */
export interface NewPayment {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
  readonly accountId: string;
  readonly method: OutsideMethod;
  readonly charge: ChargeQuote;
  readonly priceMinor: string;
  readonly priceCurrency: AccountCurrency;
  readonly expiresAtMs: number;
}

const payments = (db: WorldDb) => db.selectFrom('payments').selectAll();

/** The newest attempt, inserted if there is none. */
export async function beginPayment(db: WorldDb, payment: NewPayment): Promise<PaymentRow> {
  const newest = await payments(db)
    .where('transaction_id', '=', payment.transactionId)
    .orderBy('attempt', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest ?? insertPayment(db, payment, 1);
}

/** Another attempt under its own reference, after the gateway took the last one without payment instructions. */
export function nextPaymentAttempt(db: WorldDb, payment: NewPayment, after: PaymentRow): Promise<PaymentRow> {
  return insertPayment(db, payment, after.attempt + 1);
}

async function insertPayment(db: WorldDb, payment: NewPayment, attempt: number): Promise<PaymentRow> {
  await db
    .insertInto('payments')
    .values({
      reference: chargeReference(payment.transactionId, attempt),
      transaction_id: payment.transactionId,
      attempt,
      purpose: payment.purpose,
      account_id: payment.accountId,
      method: payment.method,
      charge_minor: BigInt(payment.charge.amountMinor),
      charge_currency: payment.charge.currency,
      price_minor: BigInt(payment.priceMinor),
      price_currency: payment.priceCurrency,
      expires_at: new Date(payment.expiresAtMs),
    })
    .onConflict((conflict) => conflict.columns(['transaction_id', 'attempt']).doNothing())
    .execute();
  return payments(db)
    .where('transaction_id', '=', payment.transactionId)
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

/** The other expired payments, oldest first. */
export function findPaymentsToClose(
  db: WorldDb,
  { expiredBefore, limit }: { readonly expiredBefore: Date; readonly limit: number },
): Promise<PaymentRow[]> {
  return payments(db)
    .where('status', 'in', ['ASKED', 'OPEN'])
    .where('expires_at', '<=', expiredBefore)
    .where('booked_minor', '=', 0n)
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

/** Money that is claimed back from us needs a person, whatever happens to the purchase. */
export const CLAIMS = ['PAYMENT_REVERSED', 'PAYMENT_DISPUTED'] as const;
export type Claim = (typeof CLAIMS)[number];

const ORDERS_WITH_CLAIMS = sql`(
  select transaction_id, 'purchase' as purpose, attention_reason, needs_attention_since, closed_at from purchases
  union all
  select transaction_id, 'funding', attention_reason, needs_attention_since, closed_at from fundings
) orders where attention_reason = any(${[...CLAIMS]})`;

/** Claims on closed purchases and fundings, oldest first. */
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

/** Writes the funding and its idempotency row together. Idempotent. */
export async function openFunding(db: WorldDb, input: FundingInput, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const inserted = await trx
      .insertInto('fundings')
      .values({
        transaction_id: input.transactionId,
        account_id: input.accountId,
        payment_method: input.paymentMethod,
        status: 'PENDING',
        amount_minor: BigInt(input.amountMinor),
        currency: input.currency,
        request_id: input.requestId,
        created_at: now,
      })
      .onConflict((conflict) => conflict.column('transaction_id').doNothing())
      .executeTakeFirst();
    if (inserted.numInsertedOrUpdatedRows !== 0n) await insertKey(trx, input);
  });
}

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
