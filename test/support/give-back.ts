// What an operator's action does to a purchase, for tests that are about something else: the money goes back, whatever the supplier has said.
import type { Refusal } from '../../src/domain/refusals.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { failPurchaseIn } from '../../src/purchases/store/purchases.ts';

export function failPurchase(db: WorldDb, transactionId: string, refusal: Refusal): Promise<unknown> {
  return db.transaction().execute((trx) => failPurchaseIn(trx, transactionId, refusal));
}
