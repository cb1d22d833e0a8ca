/** Purchases as their buyers see them, and what buyers ask for. */
import { visibleEsim } from '../esims/esim-view.ts';
import type { EsimRow } from '../esims/store/esims.ts';
import { findPaymentView, type FundingView, type PaymentView } from '../payments/views.ts';
import type { PackageType, PaymentMethod } from '../domain/states.ts';
import type { IdempotencyContext } from '../platform/idempotency/tag.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { PurchaseRecord, PurchaseRow } from './store/reads.ts';

/** What a transaction id names. */
export type TransactionView = { readonly purchase: PurchaseView } | { readonly funding: FundingView };

type ShownColumns =
  | 'transaction_id'
  | 'package_type'
  | 'payment_method'
  | 'status'
  | 'reason'
  | 'package_code'
  | 'package_name'
  | 'price_minor'
  | 'currency'
  | 'volume_bytes'
  | 'duration'
  | 'top_up_iccid'
  | 'top_up_total_volume_bytes'
  | 'top_up_remaining_bytes';

export interface PurchaseView extends Pick<PurchaseRow, ShownColumns> {
  /** The eSIM bought (BASE) or topped up (TOPUP); absent while its order is not written yet, or was refused. */
  readonly esim: EsimRow | undefined;
  /** Outside of the wallet only: how to pay, while it can still be paid; null once money came or the purchase is closed. */
  readonly payment: PaymentView | null;
  readonly timeline: readonly { readonly at: Date; readonly what: string }[];
}

/** A purchase as it now stands, from its rows. */
export async function purchaseView(
  { db }: { readonly db: WorldDb },
  { purchase, esim }: PurchaseRecord,
  timeline: PurchaseView['timeline'] = [],
): Promise<PurchaseView> {
  const payment = purchase.status === 'PENDING' ? await findPaymentView(db, purchase.transaction_id) : null;
  return { ...purchase, esim: esim && visibleEsim(esim), payment, timeline };
}

export interface BuyCommand {
  readonly packageCode: string;
  readonly packageType: PackageType;
  readonly paymentMethod: PaymentMethod;
  /** Present exactly for TOPUP. */
  readonly esimId?: string;
  readonly idempotency?: IdempotencyContext;
}

/** By our id, or by the gateway's reference (of a hosted page or of a transfer alike). */
export type WhichPayment = { readonly transactionId: string } | { readonly reference: string };
