/**
 * Disputes, each by the gateway's id, as the gateway's own answers tell them. An open one has its amount at
 * risk (risk.ts), and follows the amount that the gateway tells.
 */
import { sql } from 'kysely';
import { smaller } from '../../domain/money.ts';
import { transfer, withoutZeros, type LedgerEntry } from '../../ledger/store/ledger.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { GatewayDispute } from '../port.ts';
import { moveMoney } from './account.ts';
import { eventsCheckedBefore } from './gateway-events.ts';
import { lockPayment } from './lock-order.ts';
import { flagMoney, reversedKey, type PaymentRow } from './payments.ts';
import { createRefund, findUnsentRefunds, takeFromRefund } from './refunds.ts';
import { missingEntries, takeDisputed } from './reversals.ts';
import { entriesBack, putAtRisk, riskOf, updateDispute } from './risk.ts';
import type { DisputeRow } from './tables.ts';

const disputes = (db: WorldDb) => db.selectFrom('disputes').selectAll().orderBy('opened_at');

/**
 * Whether a check also asks for disputes: one is known, an event names one, or an operator asked for the
 * check, since an event may have been lost.
 */
export async function asksForDisputes(
  db: WorldDb,
  { reference, gateway, transaction_id }: Pick<PaymentRow, 'reference' | 'gateway' | 'transaction_id'>,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from disputes where reference = ${reference}
    union all
    select 1 from gateway_events
     where gateway = ${gateway} and reference = ${reference} and about = 'dispute' and applied_at is null
    union all
    select 1 from operator_actions
     where transaction_id = ${transaction_id} and action in ('check-gateway', 'settle-dispute') and status in ('BEGUN', 'APPROVED')
     limit 1`.execute(db);
  return rows.length > 0;
}

/**
 * Books all disputes of a payment as the gateway has them. `checkNumber` was drawn before it was asked: an
 * older answer changes nothing. Events about them that came before the check are done with it.
 */
export async function saveDisputes(
  db: WorldDb,
  reference: string,
  found: readonly Omit<GatewayDispute, 'openedAt'>[],
  checkNumber: bigint,
): Promise<void> {
  await db.transaction().execute((trx) => saveDisputesIn(trx, { reference, found, checkNumber }));
}

/** The disputes of one payment, as the gateway has them. */
export interface SeenDisputes {
  readonly reference: string;
  readonly found: readonly Omit<GatewayDispute, 'openedAt'>[];
  readonly checkNumber: bigint;
}

/** The same in a transaction of the caller's. */
export async function saveDisputesIn(
  trx: WorldDb,
  { reference, found, checkNumber }: SeenDisputes,
): Promise<void> {
  const { payment } = await lockPayment(trx, reference);
  for (const dispute of found) await saveDispute(trx, payment, dispute, checkNumber);
  await eventsCheckedBefore(payment, checkNumber, ['dispute']).execute(trx);
}

async function saveDispute(
  trx: WorldDb,
  payment: PaymentRow,
  found: Omit<GatewayDispute, 'openedAt'>,
  checkNumber: bigint,
): Promise<void> {
  const id = { reference: payment.reference, dispute_id: found.disputeId };
  const known = await findDispute(trx, id);
  if (known && known.check_number >= checkNumber) return;
  if (known) await followAmount(trx, known, found);
  else if (!(await openDispute(trx, payment, found))) return;
  const answer = {
    gateway_state: found.state,
    gateway_status: found.gatewayStatus,
    check_number: checkNumber,
    checked_at: sql<Date>`clock_timestamp()`,
  };
  await updateDispute(trx, id).set(answer).execute();
  const dispute = await findDispute(trx, id);
  if (found.state === 'lost' && dispute?.money === 'AT_RISK') await bookTaken(trx, dispute);
}

function findDispute(
  trx: WorldDb,
  { reference, dispute_id }: Pick<DisputeRow, 'reference' | 'dispute_id'>,
): Promise<DisputeRow | undefined> {
  return disputes(trx)
    .where('reference', '=', reference)
    .where('dispute_id', '=', dispute_id)
    .executeTakeFirst();
}

/** What a dispute wants of a payment. An amount in another currency than its charge is none of it. */
const wantedMinorOf = (
  { charge_currency }: PaymentRow,
  { amount_minor, currency }: Pick<DisputeRow, 'amount_minor' | 'currency'>,
): bigint => (currency === charge_currency ? amount_minor : 0n);

/**
 * Puts its money at risk. `false`: the gateway has nothing of this payment any more, so that there is nothing
 * to dispute.
 */
async function openDispute(
  trx: WorldDb,
  { reference }: PaymentRow,
  { disputeId, amount, state, gatewayStatus }: Omit<GatewayDispute, 'openedAt'>,
): Promise<boolean> {
  const { payment } = await lockPayment(trx, reference);
  const { transaction_id, charge_currency } = payment;
  const atGatewayMinor = payment.received_minor - payment.refunded_minor - payment.reversed_minor;
  if (atGatewayMinor <= 0n) return false;
  const wanted = amount ?? { amountMinor: atGatewayMinor, currency: charge_currency };
  const dispute = await trx
    .insertInto('disputes')
    .values({
      ...{ reference, dispute_id: disputeId, transaction_id, gateway: payment.gateway },
      ...{ amount_minor: wanted.amountMinor, currency: wanted.currency },
      ...{ gateway_state: state, gateway_status: gatewayStatus, checked_at: sql<Date>`clock_timestamp()` },
      opened_at: sql<Date>`clock_timestamp()`,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await flagMoney(trx, transaction_id, 'PAYMENT_DISPUTED');
  if (payment.purpose === 'purchase') {
    await trx
      .insertInto('purchase_events')
      .values({ transaction_id, what: 'payment-disputed', detail: reference })
      .execute();
  }
  // Last, since it may lock the wallet (lock-order.ts).
  await putAtRisk(trx, payment, dispute, wantedMinorOf(payment, dispute));
  return true;
}

/**
 * The gateway names another amount than before: a bank may ask for all and end with a part. The difference
 * returns to where it was.
 */
async function followAmount(
  trx: WorldDb,
  known: DisputeRow,
  { amount }: Pick<GatewayDispute, 'amount'>,
): Promise<void> {
  // Nothing is no amount of a dispute.
  if (known.money !== 'AT_RISK' || amount === null || amount.amountMinor <= 0n) return;
  if (amount.amountMinor === known.amount_minor && amount.currency === known.currency) return;
  const { payment } = await lockPayment(trx, known.reference);
  const named = { amount_minor: amount.amountMinor, currency: amount.currency };
  await updateDispute(trx, known).set(named).execute();
  const { freedMinor } = await putAtRisk(trx, payment, known, wantedMinorOf(payment, named));
  await sendBack(trx, payment, known, freedMinor);
}

/**
 * The bank has its money: by the gateway's word, or a person's. What was frozen in a wallet pays it, and what
 * is missing there is owed. What was on its way back and not sent yet is not sent any more: the buyer has it.
 */
export async function bookTaken(trx: WorldDb, dispute: DisputeRow): Promise<void> {
  const { payment } = await lockPayment(trx, dispute.reference);
  const { reference, transaction_id: transactionId } = dispute;
  const unsent = await takeUnsent(trx, payment, wantedMinorOf(payment, dispute) - riskOf(dispute));
  const entries = [...unsent.entries, ...(await takeDisputed(trx, payment, dispute))];
  const takenMinor = riskOf(dispute) + unsent.takenMinor;
  if (takenMinor === 0n) return;
  const operationKey = reversedKey(reference, payment.charge_currency, payment.reversed_minor + takenMinor);
  await transfer(trx, {
    operationKey,
    kind: 'payment-reversed',
    transactionId,
    entries: withoutZeros(entries),
  });
  if (payment.purpose === 'funding') return;
  const event = { transaction_id: transactionId, what: 'payment-reversed', detail: reference } as const;
  await trx.insertInto('purchase_events').values(event).execute();
}

/** Takes from refunds that were never sent. */
async function takeUnsent(
  trx: WorldDb,
  payment: PaymentRow,
  wantedMinor: bigint,
): Promise<{ readonly takenMinor: bigint; readonly entries: readonly LedgerEntry[] }> {
  let takenMinor = 0n;
  for (const refund of await findUnsentRefunds(trx, payment)) {
    const minor = smaller(refund.amount_minor, wantedMinor - takenMinor);
    if (minor <= 0n) break;
    takenMinor += minor;
    await takeFromRefund(trx, refund, minor);
  }
  return {
    takenMinor,
    entries: missingEntries(payment, { amountMinor: takenMinor, currency: payment.charge_currency }),
  };
}

/** Its money is where it was before. What an undelivered purchase gets back goes to its source. */
export async function releaseRisk(trx: WorldDb, dispute: DisputeRow): Promise<void> {
  const { payment } = await lockPayment(trx, dispute.reference);
  const { reference, free_minor: free, used_minor: used, credited_minor: credited } = dispute;
  await updateDispute(trx, dispute).set({ money: 'RELEASED' }).execute();
  await moveMoney(trx, reference, { disputed: -riskOf(dispute), used, credited });
  await sendBack(trx, payment, dispute, free);
  await bookBack(trx, payment, dispute, dispute.frozen_minor);
}

/** Refunds money of an undelivered purchase that a dispute has released. */
async function sendBack(
  trx: WorldDb,
  payment: PaymentRow,
  { dispute_id }: DisputeRow,
  amountMinor: bigint,
): Promise<void> {
  if (amountMinor === 0n || (await isOnHold(trx, payment))) return;
  const reason = `dispute-${dispute_id}`;
  const { rows } = await sql<{ made: number }>`
    select count(*)::int4 as made from refunds
     where reference = ${payment.reference} and (reason = ${reason} or starts_with(reason, ${`${reason}-`}))`.execute(
    trx,
  );
  const made = rows[0]?.made ?? 0;
  const amount = { amountMinor, currency: payment.charge_currency };
  await createRefund(trx, payment, amount, made === 0 ? reason : `${reason}-${made + 1}`);
}

/** Of a lost dispute: revenue is whole again, and what is missing in suspense is all that was lost. */
export async function releaseRevenue(trx: WorldDb, dispute: DisputeRow): Promise<void> {
  const { payment } = await lockPayment(trx, dispute.reference);
  await bookBack(trx, payment, dispute, 0n);
}

async function bookBack(
  trx: WorldDb,
  payment: PaymentRow,
  { reference, dispute_id, transaction_id: transactionId, revenue_minor: revenue }: DisputeRow,
  frozenMinor: bigint,
): Promise<void> {
  if (revenue + frozenMinor === 0n) return;
  const entries = await entriesBack(trx, payment, { revenue, wallet: frozenMinor });
  const operationKey = `${reference}:dispute-settled:${dispute_id}`;
  await transfer(trx, { operationKey, kind: 'dispute-settled', transactionId, entries });
}

/** Whether it waits for its delivery. */
async function isOnHold(trx: WorldDb, { transaction_id }: PaymentRow): Promise<boolean> {
  const hold = await trx
    .selectFrom('holds')
    .select('status')
    .where('id', '=', transaction_id)
    .executeTakeFirst();
  return hold?.status === 'HELD';
}

/** Unsettled disputes of a purchase or a funding. The caller has locked its payments. */
export function findOpenDisputes(trx: WorldDb, transactionId: string): Promise<DisputeRow[]> {
  return disputes(trx).where('transaction_id', '=', transactionId).where('settled_at', 'is', null).execute();
}

export async function closeDispute(
  trx: WorldDb,
  dispute: DisputeRow,
  end: { readonly outcome: 'WON' | 'LOST'; readonly actionId: string },
): Promise<void> {
  await updateDispute(trx, dispute)
    .set({ outcome: end.outcome, settled_by_action: end.actionId, settled_at: sql<Date>`clock_timestamp()` })
    .execute();
}

/**
 * A rejected transfer carries no reference: every purchase of that address that waits for a transfer gets a
 * timeline line, once per event. Returns their number.
 */
export async function recordReturnedTransfer(
  db: WorldDb,
  email: string | null,
  eventKey: string,
): Promise<number> {
  if (email === null) return 0;
  return db.transaction().execute(async (trx) => {
    // Locked before we search for the line: another process may apply the same event.
    const { rows } = await sql<{ transaction_id: string }>`
      select purchases.transaction_id
        from purchases
       where purchases.status = 'PENDING' and purchases.transaction_id in (
         select payments.transaction_id
           from payments
           join accounts.accounts on accounts.accounts.id = payments.account_id
          where accounts.accounts.email = ${email} and payments.method = 'BANK_TRANSFER'
            and not exists (select from buyer_details buyer
              where buyer.transaction_id = payments.transaction_id and buyer.customer_email is not null)
         union all
         select buyer.transaction_id from buyer_details buyer
           join payments on payments.transaction_id = buyer.transaction_id and payments.method = 'BANK_TRANSFER'
          where lower(buyer.customer_email) = lower(${email}))
       order by purchases.transaction_id
         for no key update`.execute(trx);
    if (rows.length > 0) {
      await sql`
        insert into purchase_events (transaction_id, what, detail)
        select waiting.id, 'transfer-returned-by-the-bank', ${eventKey}::text
          from unnest(${rows.map((row) => row.transaction_id)}::text[]) waiting (id)
         where not exists (
           select from purchase_events known
            where known.transaction_id = waiting.id and known.what = 'transfer-returned-by-the-bank' and known.detail = ${eventKey})`.execute(
        trx,
      );
    }
    return rows.length;
  });
}
