// What an operator's action does to a purchase, for tests that are about something else: the money goes back,
// whatever the supplier has said.
import type { Refusal } from '../../../src/domain/refusals.ts';
import { lockPayments, lockPurchase } from '../../../src/payments/store/lock-order.ts';
import type { WorldDb } from '../../../src/platform/database/tables.ts';
import { failPurchaseIn } from '../../../src/purchases/store/purchases.ts';
import { assumeWithdrawn } from '../../../src/purchases/store/supplier-orders.ts';

export function failPurchase(db: WorldDb, transactionId: string, refusal: Refusal): Promise<unknown> {
  return db.transaction().execute(async (trx) => {
    await lockPayments(trx, transactionId);
    await lockPurchase(trx, transactionId);
    await assumeWithdrawn(trx, transactionId);
    return failPurchaseIn(trx, transactionId, refusal);
  });
}
