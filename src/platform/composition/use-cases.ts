/**
 * The table of contents of the application: every verb that a door may call. compose.ts builds one WorldUseCases per environment, so
 * that below the door nothing can name the other world. All of them throw DomainError for what a caller did or must wait for.
 */
import type { Account, Environment, Principal } from '../../domain/account.ts';
import type { RegionType } from '../../catalogue/rules.ts';
import type { EsimStatus, PackageType, PaymentMethod } from '../../domain/states.ts';
import type { IdempotencyTag } from '../idempotency/tag.ts';
import type {
  EsimView,
  ExchangeRateView,
  FundingView,
  Page,
  PaymentStanding,
  PricedPackage,
  PurchaseView,
  RegionView,
  TransactionView,
  WalletView,
} from './views.ts';
import type { OpsUseCases } from './ops-use-cases.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { WebhookUseCases } from '../../webhooks/use-cases.ts';

export type { RequestContext };

export interface BuyCommand {
  readonly packageCode: string;
  readonly packageType: PackageType;
  readonly paymentMethod: PaymentMethod;
  /** Present exactly for TOPUP. */
  readonly esimId?: string;
  readonly idempotency?: IdempotencyTag;
}

export interface FundCommand {
  /** In the wallet's currency. */
  readonly amountMinor: bigint;
  readonly paymentMethod: Exclude<PaymentMethod, 'WALLET'>;
  readonly idempotency?: IdempotencyTag;
}

/** By our id, or by the gateway's reference (of a hosted page or of a transfer alike). */
export type WhichPayment = { readonly transactionId: string } | { readonly reference: string };

export type { IdempotencyTag };

/** The exact answer first given under a key. */
export interface StoredAnswer {
  readonly statusCode: number;
  readonly body: string;
}

export interface WorldUseCases extends WebhookUseCases {
  readonly environment: Environment;
  /** Changes whenever any listed price or region may have changed; a key for caches of rendered answers. Synchronous, no I/O. */
  catalogueRevision(): string;
  /** `type` 1: countries, 2: multi-country and global. Served from memory. */
  listRegions(query: { readonly type?: 1 | 2 }): Promise<readonly RegionView[]>;
  /** BASE packages in the account's currency. REGION_NOT_FOUND, EXCHANGE_RATE_UNAVAILABLE. Served from memory. */
  listPackages(
    account: Account,
    query: { readonly regionCode: string; readonly regionType?: RegionType },
  ): Promise<readonly PricedPackage[]>;
  /** Top-ups fitting a BASE package, in `currency`. REGION_NOT_FOUND, PACKAGE_NOT_FOUND; empty when it takes none. */
  listTopUps(
    account: Account,
    query: { readonly regionCode: string; readonly packageCode: string; readonly currency: string },
  ): Promise<readonly PricedPackage[]>;
  /** One package, in `currency`; no account: the User markup. PACKAGE_NOT_FOUND, VALIDATION_ERROR (unknown currency). */
  getPackage(
    account: Account | undefined,
    query: { readonly packageCode: string; readonly packageType: PackageType; readonly currency: string },
  ): Promise<PricedPackage>;
  /** Buys or tops up and waits for the first answer. Status SUCCESS or PROCESSING (PENDING for routes outside the wallet). */
  buy(principal: Principal, command: BuyCommand, context: RequestContext): Promise<PurchaseView>;
  /** A purchase or a wallet being funded. TRANSACTION_NOT_FOUND, also for another account's. */
  getTransaction(principal: Principal, transactionId: string): Promise<TransactionView>;
  /**
   * Asks the gateway for the truth about a payment, never the caller, and tells how it now stands: of a purchase or of a wallet being
   * funded. TRANSACTION_NOT_FOUND, also for another account's. A purchase that is not paid yet is PENDING, and nothing changes.
   */
  confirmPayment(
    principal: Principal,
    which: WhichPayment,
    context: RequestContext,
  ): Promise<TransactionView>;
  /** Opens a payment into one's own wallet. VALIDATION_ERROR, PAYMENT_METHOD_UNAVAILABLE (amount or currency not served, names the limit). */
  fundWallet(principal: Principal, command: FundCommand, context: RequestContext): Promise<FundingView>;
  /** Where a payment stands, by its reference alone; undefined: there is none. For the page a buyer comes back to. */
  findPaymentStanding(reference: string): Promise<PaymentStanding | undefined>;
  /**
   * Takes an event of the payment gateway: verified over the raw bytes and kept before this resolves. `refused`: not certainly the
   * gateway's word, nothing kept. Throws when it could not be kept, so that the gateway sends it again.
   */
  takeGatewayEvent(
    rawBody: Uint8Array,
    headers: Readonly<Record<string, string | undefined>>,
  ): Promise<'kept' | 'refused'>;
  listEsims(
    principal: Principal,
    query: {
      readonly page: number;
      readonly limit: number;
      readonly status?: EsimStatus;
      readonly search?: string;
    },
  ): Promise<Page<EsimView>>;
  /** ESIM_NOT_FOUND, NOT_YOUR_ESIM. Looks again at the supplier when what we know is old. */
  getEsim(principal: Principal, esimId: string): Promise<EsimView>;
  getWallet(principal: Principal): Promise<WalletView>;
  /** EXCHANGE_RATE_UNAVAILABLE when the last good observation is too old. */
  getExchangeRate(): Promise<ExchangeRateView>;
  /**
   * Looks a key up before anything runs. A stored answer: replay it. undefined: go on.
   * IDEMPOTENCY_KEY_REUSED (other body or path), IDEMPOTENCY_KEY_IN_USE (first request still running, under 10 s old).
   */
  findStoredAnswer(principal: Principal, tag: IdempotencyTag): Promise<StoredAnswer | undefined>;
  /**
   * Keeps the answer for replays, install secrets cut out. Returns the one kept before it, where another request with the same key was
   * faster: that one counts. Does nothing when the purchase never began (no row was written).
   */
  storeAnswer(
    principal: Principal,
    tag: IdempotencyTag,
    answer: StoredAnswer,
  ): Promise<StoredAnswer | undefined>;
}

export interface AccountUseCases {
  /** INVALID_TOKEN for a key that is malformed (no query), unknown, expired or revoked. */
  authenticate(rawKey: string): Promise<Principal>;
}

/** Everything HTTP is built on. `live` is absent while the live world is switched off. */
export interface UseCases {
  readonly accounts: AccountUseCases;
  readonly worlds: { readonly test: WorldUseCases; readonly live?: WorldUseCases };
  /** Absent: nobody can sign in here, and there is nothing under /ops. */
  readonly ops?: OpsUseCases;
}
