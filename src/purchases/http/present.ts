/** Purchases → the documented shapes. Pure; what is not known yet is an empty string. */
import type { z } from 'zod';
import { presentFundingStatus, presentPayment } from '../../payments/http/present.ts';
import { moneyJson, type Wire } from '../../platform/http/json.ts';
import type { PurchaseView, TransactionView } from '../views.ts';
import type { basePurchaseSchema, topUpPurchaseSchema, transactionSchema } from './schema.ts';

/** What a transaction id names, as it now stands, with its timeline. */
export function presentTransaction(
  view: TransactionView,
): Wire<z.output<typeof transactionSchema>> | ReturnType<typeof presentFundingStatus> {
  if ('funding' in view) return presentFundingStatus(view.funding);
  const timeline = view.purchase.timeline;
  return view.purchase.package_type === 'BASE'
    ? { ...presentBasePurchase(view.purchase), timeline }
    : { ...presentTopUpPurchase(view.purchase), timeline };
}

/** The purchase result, as buy answers it. */
export function presentPurchase(view: PurchaseView) {
  return view.package_type === 'BASE' ? presentBasePurchase(view) : presentTopUpPurchase(view);
}

function presentBasePurchase(view: PurchaseView): Wire<z.output<typeof basePurchaseSchema>> {
  const { esim, currency } = view;
  return {
    ...presentOutcome(view),
    package: {
      packageCode: view.package_code,
      packageName: view.package_name,
      price: moneyJson(view.price_minor),
      currency,
    },
    ...presentPaymentOf(view),
    ...(view.status === 'SUCCESS' && esim
      ? {
          esimDetails: {
            esimId: esim.id,
            iccid: esim.iccid,
            qrCodeUrl: esim.qr_code_url,
            activationCode: esim.ac,
            smdpAddress: esim.smdp_address,
            matchingId: esim.matching_id,
          },
        }
      : {}),
  };
}

function presentTopUpPurchase(view: PurchaseView): Wire<z.output<typeof topUpPurchaseSchema>> {
  const { top_up_total_volume_bytes: totalVolume, top_up_remaining_bytes: remaining } = view;
  return {
    ...presentOutcome(view),
    ...(view.status === 'SUCCESS' ? { message: 'Top-up successful' } : {}),
    package: {
      packageCode: view.package_code,
      name: view.package_name,
      price: moneyJson(view.price_minor),
      currencyCode: view.currency,
      volume: Number(view.volume_bytes),
      duration: view.duration,
    },
    ...presentPaymentOf(view),
    ...(view.status === 'SUCCESS' && totalVolume !== null
      ? {
          esimDetails: {
            iccid: view.top_up_iccid ?? '',
            totalVolume: Number(totalVolume),
            dataRemaining: Number(remaining ?? 0n),
            usageAsOf: view.closed_at?.toISOString() ?? '',
          },
        }
      : {}),
  };
}

function presentOutcome(view: PurchaseView) {
  return {
    transactionId: view.transaction_id,
    status: view.status,
    ...(view.status === 'FAILED' && view.reason !== null ? { reason: view.reason } : {}),
  };
}

function presentPaymentOf({ payment_method, payment, price_minor, currency }: PurchaseView) {
  const price = { amountMinor: price_minor, currency };
  return presentPayment({ paymentMethod: payment_method, payment }, price);
}
