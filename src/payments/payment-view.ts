/** How a payment from outside can be paid, as long as it can. */
import { findPayments, type PaymentRow } from './store/payments.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { InstructionsView, PaymentView } from './views.ts';

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
