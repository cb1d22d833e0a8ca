/** Payments as callers see them. */
import type { ShownBrand } from '../domain/brand.ts';
import type { FundingEvent } from '../domain/states.ts';
import type { PaymentInstructions } from './port.ts';
import type { Money } from '../domain/money.ts';
import type { Metadata } from '../domain/own-details.ts';
import type { PaymentMethod, PaymentPurpose, PurchaseStatus } from '../domain/states.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { findPayments } from './store/payments.ts';

export interface PaymentView {
  /** The gateway's reference of this payment: `gatewayReference`, or `trackingReference` of a transfer. */
  readonly reference: string;
  /** What is asked from the buyer; another currency than the price's where the method has its own. */
  readonly charge: Money;
  /** Null while the gateway has not answered yet. */
  readonly instructions: PaymentInstructions | null;
}

/** A wallet being funded. */
export interface FundingView {
  readonly transactionId: string;
  readonly paymentMethod: PaymentMethod;
  readonly status: 'PENDING' | 'SUCCESS' | 'FAILED';
  readonly reason: string | null;
  /** What was asked for, in the wallet's currency. */
  readonly amount: Money;
  /** All that came, in the currency of the charge; null before the first payment. */
  readonly received: Money | null;
  /** What the wallet got of it. */
  readonly creditedMinor: bigint;
  /** Null once we no longer wait for it. */
  readonly payment: PaymentView | null;
  readonly timeline: readonly { readonly at: Date; readonly what: FundingEvent }[];
  /** The caller's own. */
  readonly reference: string | null;
  readonly metadata: Metadata | null;
}

/**
 * Where a payment stands, for the page that a buyer comes back to. The reference alone gives access to all
 * that is not secret.
 */
export interface PaymentStatusView {
  readonly reference: string;
  readonly purpose: PaymentPurpose;
  readonly status: PurchaseStatus;
  readonly reason: string | null;
  /** Name of the package, or null for a wallet. */
  readonly packageName: string | null;
  readonly charge: Money;
  /** All that came by this payment, in the charge's currency. */
  readonly receivedMinor: bigint;
  /** The name of the shop; absent: the account is no company's. */
  readonly shop?: string | undefined;
  /** How its page looks. */
  readonly brand?: ShownBrand | undefined;
  /** Where the shop wants its buyer back, as things stand; checked again just now. */
  readonly backUrl?: string | undefined;
  /** Secret. Only for the browser that paid, once the eSIM is there, and for a day. */
  readonly installUrl?: string | undefined;
}

/** The newest attempt of what still waits for money; null where none was begun. */
export async function findPaymentView(db: WorldDb, transactionId: string): Promise<PaymentView | null> {
  const payment = (await findPayments(db, transactionId)).at(-1);
  if (!payment) return null;
  const { reference, instructions } = payment;
  return {
    reference,
    charge: { amountMinor: payment.charge_minor, currency: payment.charge_currency },
    instructions:
      instructions?.kind === 'bank-transfer'
        ? { ...instructions, expiresAt: new Date(instructions.expiresAt) }
        : instructions,
  };
}
