/** One purchase as it now stands, with its public timeline, for its own account only. */
import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { noteTransaction } from '../observe/subject.ts';
import { findPurchase, findTimeline } from '../store/purchase-reads.ts';
import { standingView } from './purchase-view.ts';
import type { PurchaseView } from './views.ts';
import type { WorldDeps } from './world-deps.ts';

export async function getTransaction(
  deps: Pick<WorldDeps, 'db'>,
  principal: Principal,
  transactionId: string,
): Promise<PurchaseView> {
  const record = await findPurchase(deps.db, transactionId);
  if (record?.purchase.account_id !== principal.account.id) {
    throw new DomainError('TRANSACTION_NOT_FOUND', 'Transaction not found', {
      details: 'no purchase of yours has this id',
    });
  }
  noteTransaction(transactionId);
  return standingView(deps, record, await findTimeline(deps.db, transactionId));
}
