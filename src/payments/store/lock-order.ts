/**
 * The one order in which transactions lock rows about money, so that two which meet wait for each other and
 * never deadlock:
 * 1. `operator_actions`: the row of the action.
 * 2. `payments`: one attempt, or all attempts of a purchase, oldest first.
 * 3. `purchases` or `fundings`: what the payment is for. Several purchases in the order of their ids.
 * 4. `supplier_orders`, `refunds`, `disputes`, `esims`, `holds`: these belong to one purchase, so their
 *    transaction holds its row in 3 already.
 * 5. `wallets`: last, because many purchases meet there. After it a transaction only adds rows, or changes
 *    what it holds already.
 * What is opened first locks its row of `package_shortages` and, while the balance at its supplier is tight,
 * that balance by an advisory lock: before all of these (migrations/world/baseline/availability.ts).
 * The sums of approval limits (operations/store/second-person.ts) are guarded by advisory locks: of the
 * person, then of the account, before the action's row is added. Their transaction locks nothing after them.
 * A transaction that needs a row of a later kind first locks the earlier ones that it will need. A single
 * statement that changes one row is free. test/payments/lock-order.store.test.ts holds every transaction to
 * this order.
 */
import { sql } from 'kysely';
import type { PaymentRow } from './payments.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/**
 * One attempt and its purchase or funding, locked for booking. The weaker lock: a refund that is being
 * written points at these rows, and neither must wait for the other. `isAwaited`: the purchase or funding
 * still waits for its money.
 */
export async function lockPayment(
  trx: WorldDb,
  reference: string,
): Promise<{ readonly payment: PaymentRow; readonly isAwaited: boolean }> {
  const payment = await trx
    .selectFrom('payments')
    .selectAll()
    .where('reference', '=', reference)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  const subject = await trx
    .selectFrom(payment.purpose === 'purchase' ? 'purchases' : 'fundings')
    .select('status')
    .where('transaction_id', '=', payment.transaction_id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return { payment, isAwaited: subject?.status === 'PENDING' };
}

/** All attempts of a purchase, oldest first. The caller's next statement locks the purchase. */
export function lockPayments(trx: WorldDb, transactionId: string): Promise<PaymentRow[]> {
  return trx
    .selectFrom('payments')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .orderBy('attempt')
    .forNoKeyUpdate()
    .execute();
}

/** A statement of its own: the next one then sees what another step has just written. */
export async function lockPurchase(trx: WorldDb, transactionId: string): Promise<void> {
  await sql`select from purchases where transaction_id = ${transactionId} for no key update`.execute(trx);
}
