/** Payment instructions → the specification's fields. Pure. */
import type { z } from 'zod';
import type { Money } from '../../domain/money.ts';
import type { PaymentMethod } from '../../domain/states.ts';
import { moneyJson, type Wire } from '../../platform/http/json.ts';
import type { paymentFields } from './schema.ts';
import type { InstructionsView, PaymentView } from '../views.ts';

type PaymentFields = Wire<z.output<z.ZodObject<typeof paymentFields>>>;

/** How to pay `view.payment`, or nothing once that is over; `price` in the currency that the answer names anyway. */
export function presentPayment(
  view: { readonly paymentMethod: PaymentMethod; readonly payment: PaymentView | null },
  price: Money,
): PaymentFields {
  const { payment, paymentMethod } = view;
  if (payment === null) return {};
  const { reference, charge, instructions } = payment;
  return {
    ...(instructions === null ? {} : presentInstructions(instructions)),
    ...(paymentMethod === 'BANK_TRANSFER'
      ? { trackingReference: reference }
      : { gatewayReference: reference }),
    ...(charge.currency === price.currency
      ? {}
      : { charge: { amount: moneyJson(charge.amountMinor), currency: charge.currency } }),
  };
}

function presentInstructions(instructions: InstructionsView): PaymentFields {
  if (instructions.kind === 'redirect') return { paymentUrl: instructions.paymentUrl };
  const { bankName, accountNumber, accountName, expiresAt } = instructions;
  return { bankAccounts: [{ bankName, accountNumber, accountName, expiryDate: expiresAt.toISOString() }] };
}
