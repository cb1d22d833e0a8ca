/** What the gateway tells about a payment that is no money: a dispute, a transfer that it sent back by itself. */
import { sql } from 'kysely';
import { transfer, type LedgerEntry } from './ledger.ts';
import { flagMoney, lockPayment, type PaymentRow } from './payments.ts';
import { refundedMinor } from './refunds.ts';
import type { WorldDb } from './tables.ts';

/** Books what a disputed payment brought as money at risk and calls a person. Once a payment; a payment that brought nothing risks nothing. */
export async function bookDispute(db: WorldDb, reference: string): Promise<string> {
  return db.transaction().execute(async (trx) => {
    const payment = await lockPayment(trx, reference);
    const { account, currency, amountMinor } = await atRisk(trx, payment);
    if (amountMinor <= 0n) return 'nothing of it is here';
    const booked = await transfer(trx, {
      operationKey: `${reference}:disputed`,
      kind: 'disputed',
      transactionId: payment.transaction_id,
      entries: [
        { account, currency, amountMinor: -amountMinor },
        { account: `suspense:${currency}`, currency, amountMinor },
      ],
    });
    if (booked === 'already') return 'booked before';
    await flagMoney(trx, payment.transaction_id, 'PAYMENT_DISPUTED');
    if (payment.purpose === 'purchase') {
      await trx
        .insertInto('purchase_events')
        .values({ transaction_id: payment.transaction_id, what: 'payment-disputed', detail: reference })
        .execute();
    }
    return 'booked as money at risk';
  });
}

/**
 * What was earned by it; where nothing was, the money lies in the wallet or is still held, and the gateway will keep as much of what it owes
 * us.
 */
async function atRisk(trx: WorldDb, payment: PaymentRow): Promise<LedgerEntry> {
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

/**
 * Rejected transfers carry no reference: every purchase of that address that waits for a transfer is told, once an event. Answers how many
 * wait.
 */
export async function tellReturned(db: WorldDb, email: string | null, eventKey: string): Promise<number> {
  if (email === null) return 0;
  return db.transaction().execute(async (trx) => {
    // Locked, and looked at for the line afterwards: the same event may be applied beside us.
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
           select from purchase_events told
            where told.transaction_id = waiting.id and told.what = 'transfer-returned-by-the-bank' and told.detail = ${eventKey})`.execute(
        trx,
      );
    }
    return rows.length;
  });
}
