/** A purchase as it now stands, from its rows. */
import type { PurchaseRecord } from './store/reads.ts';
import { esimView } from '../esims/esim-view.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { findPaymentView, type PaymentView } from '../payments/views.ts';
import type { PurchaseView } from './views.ts';

/** The same with how to pay, where it still waits for money from outside. */
export async function paymentStatusView(
  { db }: { readonly db: WorldDb },
  record: PurchaseRecord,
  timeline?: readonly { readonly at: Date; readonly what: string }[],
): Promise<PurchaseView> {
  const waits = record.purchase.status === 'PENDING';
  return purchaseView(
    record,
    timeline,
    waits ? await findPaymentView(db, record.purchase.transaction_id) : null,
  );
}

export function purchaseView(
  { purchase, esim }: PurchaseRecord,
  timeline: readonly { readonly at: Date; readonly what: string }[] = [],
  payment: PaymentView | null = null,
): PurchaseView {
  return {
    transactionId: purchase.transaction_id,
    packageType: purchase.package_type,
    paymentMethod: purchase.payment_method,
    status: purchase.status,
    reason: purchase.reason,
    package: {
      packageCode: purchase.package_code,
      packageName: purchase.package_name,
      price: { amountMinor: purchase.price_minor, currency: purchase.currency },
      volumeBytes: Number(purchase.volume_bytes),
      duration: purchase.duration,
    },
    esim: esim ? esimView(esim) : null,
    topUp:
      purchase.status !== 'SUCCESS' || purchase.top_up_total_volume_bytes === null
        ? null
        : {
            iccid: purchase.top_up_iccid ?? '',
            totalVolumeBytes: Number(purchase.top_up_total_volume_bytes),
            dataRemainingBytes: Number(purchase.top_up_remaining_bytes ?? 0n),
          },
    payment,
    timeline,
  };
}
