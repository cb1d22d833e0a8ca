/** What use cases hand to the doors (HTTP, operators): plain values in domain units. Presenters turn them into the documented JSON. */
import type { CataloguePackage, LocationNetwork, PackageSnapshot, Region } from '../../catalogue/rules.ts';
import type { Money } from '../../domain/money.ts';
import type { PaymentInstructions } from '../../payments/port.ts';
import type { EsimStatus, PackageType, PaymentMethod, PurchaseStatus } from '../../domain/states.ts';

export interface RegionView extends Region {
  readonly packageCount: number;
}

export interface PricedPackage {
  readonly item: CataloguePackage;
  /** In the currency asked for. */
  readonly price: Money;
  /** US cents, with markup. */
  readonly priceUsdMinor: bigint;
}

export interface EsimView {
  readonly esimId: string;
  readonly accountId: string;
  readonly transactionId: string;
  readonly packageCode: string;
  readonly packageName: string;
  readonly status: EsimStatus;
  readonly price: Money;
  readonly snapshot: PackageSnapshot;
  readonly orderNo: string;
  readonly esimTranNo: string;
  readonly iccid: string;
  readonly imsi: string;
  readonly msisdn: string | null;
  /** Install data: empty strings until known. Secret: never logged. */
  readonly ac: string;
  readonly qrCodeUrl: string;
  readonly shortUrl: string;
  readonly smdpAddress: string;
  readonly matchingId: string;
  readonly pin: string | null;
  readonly puk: string | null;
  readonly eid: string;
  readonly smdpStatus: string;
  readonly activeType: string;
  readonly activateTime: Date | null;
  readonly expiredTime: Date | null;
  readonly totalVolumeBytes: number;
  readonly orderUsageBytes: number;
  readonly validityDays: number;
  readonly durationUnit: string;
  readonly totalDuration: number;
  readonly validityRemaining: number;
  readonly apn: string;
  readonly smsStatus: number;
  readonly dataType: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What the buyer needs in order to pay from outside, while it can still be paid. */
export type InstructionsView = PaymentInstructions;

export interface PaymentView {
  /** The gateway's reference of this payment: `gatewayReference`, or `trackingReference` of a transfer. */
  readonly reference: string;
  /** What is asked from the buyer; another currency than the price's where the method has its own. */
  readonly charge: Money;
  /** Null while the gateway has not answered yet. */
  readonly instructions: InstructionsView | null;
}

/** A wallet being funded. */
export interface FundingView {
  readonly transactionId: string;
  readonly paymentMethod: PaymentMethod;
  readonly status: 'PENDING' | 'SUCCESS' | 'FAILED';
  readonly reason: string | null;
  /** What was asked for, in the wallet's currency. */
  readonly amount: Money;
  /** Null once it is no longer waited for. */
  readonly payment: PaymentView | null;
  readonly timeline: readonly { readonly at: Date; readonly what: string }[];
}

/** What a transaction id names. */
export type TransactionView = { readonly purchase: PurchaseView } | { readonly funding: FundingView };

/** Where a payment stands, for the page that a buyer comes back to: nothing that is secret, since whoever has the reference sees it. */
export interface PaymentStanding {
  readonly reference: string;
  readonly purpose: 'purchase' | 'funding';
  readonly status: PurchaseStatus;
  readonly reason: string | null;
  /** Name of the package, or null for a wallet. */
  readonly packageName: string | null;
  readonly charge: Money;
}

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

export interface WalletView {
  readonly balance: Money;
  readonly updatedAt: Date;
}

export interface ExchangeRateView {
  /** Decimal text: how many NGN one USD is. */
  readonly rate: string;
  readonly observedAt: Date;
  readonly source: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
}

export type { CataloguePackage, LocationNetwork, PackageSnapshot };
