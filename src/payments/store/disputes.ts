import { sql } from 'kysely';
import { transfer, type LedgerEntry } from '../../ledger/store/ledger.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { GatewayDispute } from '../port.ts';
import { lockPayment } from './lock-order.ts';
import { flagMoney, type PaymentRow } from './payments.ts';
import { refundedMinor } from './refunds.ts';
import type { DisputeRow } from './tables.ts';

/**
 * Books a disputed payment's money as at risk, once per dispute, and flags it. Events carry no dispute id: without one only the first dispute of a
 * payment is booked, and a check finds the others.
 */
export async function bookDispute(db: WorldDb, reference: string, disputeId = ''): Promise<string> {
  return db.transaction().execute(async (trx) => {
    const { payment } = await lockPayment(trx, reference);
    const { transaction_id: transactionId } = payment;
    await backfillLegacyDisputes(trx, transactionId);
    const known = await disputes(trx).where('reference', '=', reference).execute();
    const isKnown = known.some((one) => disputeId === '' || one.dispute_id === disputeId);
    if (isKnown) return 'booked before';
    // It was booked from an event, without an id.
    if (known.some((one) => one.dispute_id === '')) {
      await updateDispute(trx, reference, '').set({ dispute_id: disputeId }).execute();
      return 'booked before';
    }
    const risk = await amountAtRisk(trx, payment);
    const openMinor = await openRiskMinor(trx, known, risk);
    const amountMinor = risk.amountMinor - openMinor;
    if (amountMinor <= 0n && known.length === 0) return 'nothing of it is here';
    const operationKey = amountMinor > 0n ? disputeKey(reference, disputeId) : null;
    if (operationKey !== null) {
      const entries = [
        { ...risk, amountMinor: -amountMinor },
        { ...risk, account: `suspense:${risk.currency}`, amountMinor },
      ];
      await transfer(trx, { operationKey, kind: 'disputed', transactionId, entries });
    }
    await trx
      .insertInto('disputes')
      .values({
        reference,
        dispute_id: disputeId,
        transaction_id: transactionId,
        operation_key: operationKey,
      })
      .execute();
    await flagMoney(trx, transactionId, 'PAYMENT_DISPUTED');
    if (payment.purpose === 'purchase') {
      await trx
        .insertInto('purchase_events')
        .values({ transaction_id: transactionId, what: 'payment-disputed', detail: reference })
        .execute();
    }
    return 'booked as money at risk';
  });
}

const disputeKey = (reference: string, disputeId: string): string =>
  disputeId === '' ? `${reference}:disputed` : `${reference}:disputed:${disputeId}`;

/** What open disputes have put at risk already: several disputes put a payment at risk only once. */
async function openRiskMinor(
  trx: WorldDb,
  known: readonly DisputeRow[],
  { account, currency }: LedgerEntry,
): Promise<bigint> {
  const keys = known.flatMap((one) =>
    one.settled_at === null && one.operation_key !== null ? [one.operation_key] : [],
  );
  // Money at risk is no longer part of what the gateway owes us.
  if (keys.length === 0) return 0n;
  const { rows } = await sql<{ total: bigint }>`
    select coalesce(sum(e.amount_minor), 0)::int8 as total
      from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id
     where t.operation_key = any(${keys}) and e.ledger_account_id = ${`suspense:${currency}`}
       and exists (select from ledger_entries own where own.ledger_transaction_id = t.id and own.ledger_account_id = ${account})`.execute(
    trx,
  );
  return rows[0]?.total ?? 0n;
}

/** Adds rows for disputes that were booked before the table existed. */
async function backfillLegacyDisputes(trx: WorldDb, transactionId: string): Promise<void> {
  await sql`
    insert into disputes (reference, dispute_id, transaction_id, operation_key, opened_at, settled_at)
    select y.reference, '', t.transaction_id, t.operation_key, t.created_at, settled.created_at
      from ledger_transactions t
      join payments y on t.operation_key = y.reference || ':disputed'
      left join ledger_transactions settled on settled.operation_key = y.reference || ':dispute-settled'
     where t.transaction_id = ${transactionId} and t.kind = 'disputed'
       and not exists (select from disputes d where d.operation_key = t.operation_key)
    on conflict do nothing`.execute(trx);
}

const disputes = (db: WorldDb) => db.selectFrom('disputes').selectAll().orderBy('opened_at');

const updateDispute = (trx: WorldDb, reference: string, disputeId: string) =>
  trx.updateTable('disputes').where('reference', '=', reference).where('dispute_id', '=', disputeId);

/** Whether a check also asks for disputes: one is known, or an operator asked for the check, since an event may have been lost. */
export async function asksForDisputes(
  db: WorldDb,
  { reference, transaction_id: transactionId }: Pick<PaymentRow, 'reference' | 'transaction_id'>,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from disputes where reference = ${reference}
    union all
    select 1 from ledger_transactions where operation_key = ${`${reference}:disputed`}
    union all
    select 1 from operator_moves
     where transaction_id = ${transactionId} and move in ('look-at-gateway', 'settle-claim') and status in ('BEGUN', 'APPROVED')
     limit 1`.execute(db);
  return rows.length > 0;
}

/** Saves the gateway's state of every dispute of a payment and books those that are new to us. */
export async function saveDisputes(
  db: WorldDb,
  reference: string,
  found: readonly Pick<GatewayDispute, 'disputeId' | 'state' | 'gatewayStatus'>[],
  askedAt: Date,
): Promise<void> {
  for (const { disputeId, state, gatewayStatus } of found) {
    await bookDispute(db, reference, disputeId);
    await updateDispute(db, reference, disputeId)
      .set({ gateway_state: state, gateway_status: gatewayStatus, looked_at: askedAt })
      .where((eb) => eb.or([eb('looked_at', 'is', null), eb('looked_at', '<=', askedAt)]))
      .execute();
  }
}

/** Unsettled disputes of a purchase or a funding. The caller has locked its payments. */
export async function findOpenDisputes(trx: WorldDb, transactionId: string): Promise<DisputeRow[]> {
  await backfillLegacyDisputes(trx, transactionId);
  return disputes(trx).where('transaction_id', '=', transactionId).where('settled_at', 'is', null).execute();
}

/** Disputes of a purchase or a funding that are open or were lost. */
export function findNotWon(trx: WorldDb, transactionId: string): Promise<DisputeRow[]> {
  return disputes(trx)
    .where('transaction_id', '=', transactionId)
    .where((eb) => eb.or([eb('settled_at', 'is', null), eb('outcome', '=', 'LOST')]))
    .execute();
}

/** Books back what a dispute put at risk. Idempotent. */
export async function releaseRisk(trx: WorldDb, dispute: DisputeRow): Promise<void> {
  const { operation_key: operationKey, reference, dispute_id: disputeId } = dispute;
  if (operationKey === null) return;
  const entries = await trx
    .selectFrom('ledger_transactions as t')
    .innerJoin('ledger_entries as e', 'e.ledger_transaction_id', 't.id')
    .select(['e.ledger_account_id as account', 'e.currency', 'e.amount_minor'])
    .where('t.operation_key', '=', operationKey)
    .execute();
  const isFirst = operationKey === disputeKey(reference, '');
  await transfer(trx, {
    operationKey: isFirst ? `${reference}:dispute-settled` : `${reference}:dispute-settled:${disputeId}`,
    kind: 'dispute-settled',
    transactionId: dispute.transaction_id,
    entries: entries.map(({ account, currency, amount_minor }) => ({
      account,
      currency,
      amountMinor: -amount_minor,
    })),
  });
}

export async function closeDispute(
  trx: WorldDb,
  { reference, dispute_id: disputeId }: DisputeRow,
  end: { readonly outcome: 'WON' | 'LOST'; readonly moveId: string; readonly now: Date },
): Promise<void> {
  await updateDispute(trx, reference, disputeId)
    .set({ outcome: end.outcome, settled_by_move: end.moveId, settled_at: end.now })
    .execute();
}

/** What was earned by it; before that, the gateway will keep as much of what it owes us. */
async function amountAtRisk(trx: WorldDb, payment: PaymentRow): Promise<LedgerEntry> {
  const hold = await trx
    .selectFrom('holds')
    .select('status')
    .where('id', '=', payment.transaction_id)
    .executeTakeFirst();
  if (hold?.status === 'POSTED' && payment.paid_hold) {
    const currency = payment.price_currency;
    return { account: `revenue:${currency}`, currency, amountMinor: payment.price_minor };
  }
  const currency = payment.booked_currency ?? payment.charge_currency;
  const goneMinor = payment.reversed_minor + (await refundedMinor(trx, payment.reference));
  return {
    account: `gateway-clearing:${currency}`,
    currency,
    amountMinor: payment.booked_minor - goneMinor,
  };
}

/** A rejected transfer carries no reference: every purchase of that address that waits for a transfer gets a timeline line, once per event. Returns their number. */
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
          where accounts.accounts.email = ${email} and payments.method = 'BANK_TRANSFER')
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
