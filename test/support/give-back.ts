// What an operator's action does to a purchase, for tests that are about something else: the money goes back, whatever the supplier has said.
import { sql } from 'kysely';
import type { Refusal } from '../../src/domain/refusals.ts';
import { lockPayments, lockPurchase } from '../../src/payments/store/lock-order.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { failPurchaseIn } from '../../src/purchases/store/purchases.ts';

export function failPurchase(db: WorldDb, transactionId: string, refusal: Refusal): Promise<unknown> {
  return db.transaction().execute(async (trx) => {
    await lockPayments(trx, transactionId);
    await lockPurchase(trx, transactionId);
    await trx
      .updateTable('supplier_orders')
      .set({ state: 'withdrawn', closed_at: sql`now()` })
      .where('transaction_id', '=', transactionId)
      .where('state', 'in', ['sent', 'accepted'])
      .execute();
    return failPurchaseIn(trx, transactionId, refusal);
  });
}
