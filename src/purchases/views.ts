/** What a transaction id names. */
import type { FundingView, PaymentView } from '../payments/views.ts';
import type { PackageType, PaymentMethod, PurchaseStatus } from '../domain/states.ts';
import type { Money } from '../domain/money.ts';
import type { IdempotencyTag } from '../platform/idempotency/tag.ts';
import type { EsimView } from '../esims/esim-view.ts';

export type TransactionView = { readonly purchase: PurchaseView } | { readonly funding: FundingView };

export interface PurchaseView {
  readonly transactionId: string;
  readonly packageType: PackageType;
  readonly paymentMethod: PaymentMethod;
  readonly status: PurchaseStatus;
  /** Machine-readable, only on FAILED. */
  readonly reason: string | null;
  readonly package: {
    readonly packageCode: string;
    readonly packageName: string;
    readonly price: Money;
    readonly volumeBytes: number;
    readonly duration: number;
  };
  /** The eSIM bought (BASE) or topped up (TOPUP); null while its order is not written yet, or was refused. */
  readonly esim: EsimView | null;
  /** TOPUP on SUCCESS: the totals right after it, frozen. */
  readonly topUp: {
    readonly iccid: string;
    readonly totalVolumeBytes: number;
    readonly dataRemainingBytes: number;
  } | null;
  /** Outside of the wallet only: how to pay, while it can still be paid; null once money came or the purchase is closed. */
  readonly payment: PaymentView | null;
  readonly timeline: readonly { readonly at: Date; readonly what: string }[];
}

export interface BuyCommand {
  readonly packageCode: string;
  readonly packageType: PackageType;
  readonly paymentMethod: PaymentMethod;
  /** Present exactly for TOPUP. */
  readonly esimId?: string;
  readonly idempotency?: IdempotencyTag;
}

/** By our id, or by the gateway's reference (of a hosted page or of a transfer alike). */
export type WhichPayment = { readonly transactionId: string } | { readonly reference: string };
