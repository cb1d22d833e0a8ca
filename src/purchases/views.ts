/** Purchases as their buyers see them, and what buyers ask for. */
import { visibleEsim, withoutInstallData, type EsimView, type InstallData } from '../esims/install-data.ts';
import { findPaymentView, type FundingView, type PaymentView } from '../payments/views.ts';
import type { InstallReader } from '../domain/account.ts';
import type { Money } from '../domain/money.ts';
import type { OwnDetails } from '../domain/own-details.ts';
import type { PackageType, PaymentMethod, PurchaseEvent } from '../domain/states.ts';
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
  | 'reference'
  | 'metadata'
  | 'replaces'
  | 'duration'
  | 'top_up_iccid'
  | 'top_up_total_volume_bytes'
  | 'top_up_remaining_bytes'
  | 'closed_at';

export interface PurchaseView extends Pick<PurchaseRow, ShownColumns> {
  /**
   * The eSIM bought (BASE), or topped up (TOPUP, without install data); absent while its order is not written
   * yet, or was refused.
   */
  readonly esim: EsimView | undefined;
  /** Gateway only: how to pay. null once money was received or the purchase is closed. */
  readonly payment: PaymentView | null;
  readonly timeline: readonly { readonly at: Date; readonly what: PurchaseEvent }[];
}

/** A purchase as it now stands, from its rows, with what this caller may read. */
export async function purchaseView(
  { db, installData }: { readonly db: WorldDb; readonly installData: InstallData },
  reader: InstallReader,
  { purchase, esim }: PurchaseRecord,
  timeline: PurchaseView['timeline'] = [],
): Promise<PurchaseView> {
  const payment = purchase.status === 'PENDING' ? await findPaymentView(db, purchase.transaction_id) : null;
  // A top-up says nothing of how its eSIM is installed, so it does not depend on that.
  const isBase = purchase.package_type === 'BASE';
  const shown = esim && (isBase ? visibleEsim(installData, esim, reader) : withoutInstallData(esim));
  return { ...purchase, esim: shown, payment, timeline };
}

export interface BuyCommand {
  readonly packageCode: string;
  readonly packageType: PackageType;
  readonly paymentMethod: PaymentMethod;
  /** Present exactly for TOPUP. */
  readonly esimId?: string;
  /** Nothing dearer is bought. Must be in the account's currency. */
  readonly maxPrice?: Money;
  /** Buy at the price of this quote. */
  readonly quoteId?: string;
  readonly ownDetails?: OwnDetails;
  readonly idempotency?: IdempotencyContext;
}

/** By our id, or by the gateway's reference (of a hosted page or of a transfer alike). */
export type WhichPayment = { readonly transactionId: string } | { readonly reference: string };
