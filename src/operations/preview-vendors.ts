/** What the vendors say about an action that is previewed: the questions that the action itself would ask. */
import type { EsimSupplier } from '../esims/port.ts';
import type { PaymentGateway } from '../payments/port.ts';
import { beginChecks } from '../payments/store/payments.ts';
import type { SeenDisputes } from '../payments/store/disputes.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { judgeOrder } from '../purchases/order-judgement.ts';
import { loadDelivery } from '../purchases/store/supplier-orders.ts';
import type { ActionRequest } from './rules.ts';
import type { EffectPreview, VendorAnswers } from './store/actions.ts';

/** Reads only. */
export interface PreviewVendors {
  readonly supplier: Pick<EsimSupplier, 'name' | 'findOrder' | 'findTopUp' | 'profile'>;
  readonly gateway: Pick<PaymentGateway, 'name' | 'forAccount'>;
}

const BY_DISPUTE: readonly string[] = ['DISPUTE_OPEN', 'OUTCOME_DIFFERS', 'GATEWAY_SILENT', 'DISPUTE_NEEDED'];

/** Whether our rows alone do not decide it. */
export function needsVendor({ action }: Pick<ActionRequest, 'action'>, seen: EffectPreview): boolean {
  if (action !== 'settle-dispute') return seen.outcome === 'would-do' && !seen.isSure;
  return seen.outcome === 'would-do' || (seen.outcome === 'refused' && BY_DISPUTE.includes(seen.code));
}

/** Only for what `needsVendor`. */
export async function askVendors(
  db: WorldDb,
  vendors: PreviewVendors,
  { action, transactionId, evidence }: ActionRequest,
): Promise<VendorAnswers> {
  if (action === 'settle-dispute') return { disputes: await askGateway(db, vendors, transactionId) };
  const { order } = await loadDelivery(db, transactionId);
  if (order?.supplier !== vendors.supplier.name) return {};
  const judged = await judgeOrder(vendors.supplier, order, {
    supplierConfirmedUndelivered: evidence !== undefined,
  });
  // Our own pace held the question back: that says nothing about the order.
  if (judged.outcome === 'uncertain' && judged.notSent) return {};
  return { order: { ...judged, isSettled: order.settlesInMs <= 0 } };
}

async function askGateway(
  db: WorldDb,
  { gateway }: PreviewVendors,
  transactionId: string,
): Promise<SeenDisputes[]> {
  const seen: SeenDisputes[] = [];
  for (const { reference, checkNumber, account_id: accountId, gateway: name } of await beginChecks(
    db,
    transactionId,
  )) {
    if (name !== gateway.name) continue;
    const found = await gateway.forAccount(accountId).findDisputes(reference);
    if (found.outcome === 'done') seen.push({ reference, checkNumber, found: found.value });
  }
  return seen;
}
