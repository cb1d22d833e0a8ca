/** What the buyer needs in order to pay from outside, while it can still be paid. */
import type { PaymentInstructions } from './port.ts';
import type { Money } from '../domain/money.ts';
import type { PaymentMethod, PurchaseStatus } from '../domain/states.ts';
import type { IdempotencyTag } from '../platform/idempotency/tag.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { findPayments, type PaymentRow } from './store/payments.ts';

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

/** Where a payment stands, for the page that a buyer comes back to: nothing that is secret, since whoever has the reference sees it. */
export interface PaymentStatusView {
  readonly reference: string;
  readonly purpose: 'purchase' | 'funding';
  readonly status: PurchaseStatus;
  readonly reason: string | null;
  /** Name of the package, or null for a wallet. */
  readonly packageName: string | null;
  readonly charge: Money;
}

export interface FundCommand {
  /** In the wallet's currency. */
  readonly amountMinor: bigint;
  readonly paymentMethod: Exclude<PaymentMethod, 'WALLET'>;
  readonly idempotency?: IdempotencyTag;
}

/** The newest try of what still waits for money; null where none was begun. */
export async function findPaymentView(db: WorldDb, transactionId: string): Promise<PaymentView | null> {
  const payment = (await findPayments(db, transactionId)).at(-1);
  return payment ? paymentView(payment) : null;
}

export function paymentView(payment: PaymentRow): PaymentView {
  return {
    reference: payment.reference,
    charge: { amountMinor: payment.charge_minor, currency: payment.charge_currency },
    instructions: payment.instructions && instructionsView(payment.instructions),
  };
}

function instructionsView(kept: NonNullable<PaymentRow['instructions']>): InstructionsView {
  return kept.kind === 'redirect' ? kept : { ...kept, expiresAt: new Date(kept.expiresAt) };
}
