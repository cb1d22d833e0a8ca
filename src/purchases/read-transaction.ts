/** One purchase or funding as it now stands, with its public timeline, for its own account only. */
import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { noteTransaction } from '../platform/telemetry/subject.ts';
import { findPurchase, findTimeline } from './store/reads.ts';
import { fundingView } from '../payments/fund-wallet.ts';
import type { PurchaseDeps } from './deps.ts';
import { purchaseView, type TransactionView } from './views.ts';
import { findFunding } from '../payments/store/payments.ts';

/** TRANSACTION_NOT_FOUND, also for another account's. */
export async function getTransaction(
  deps: Pick<PurchaseDeps, 'db'>,
  principal: Principal,
  transactionId: string,
): Promise<TransactionView> {
  const record = await findPurchase(deps.db, transactionId);
  const funding = record ? undefined : await findFunding(deps.db, transactionId);
  const owner = record?.purchase.account_id ?? funding?.account_id;
  if (owner !== principal.account.id) {
    throw new DomainError('TRANSACTION_NOT_FOUND', 'Transaction not found', {
      details: 'your account has no purchase or funding with this id',
    });
  }
  noteTransaction(transactionId);
  if (funding) return { funding: await fundingView(deps, funding) };
  if (!record) throw new Error(`${transactionId} has an owner and no row`);
  return { purchase: await purchaseView(deps, record, await findTimeline(deps.db, transactionId)) };
}
