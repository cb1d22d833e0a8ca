import type { z } from 'zod';
import type { AccountCurrency, Money } from '../../domain/money.ts';
import type { PaymentMethod } from '../../domain/states.ts';
import { moneyJson, type Wire } from '../../platform/http/json.ts';
import type { fundingSchema, fundingStatusSchema, paymentFields } from './schema.ts';
import type { PaymentInstructions } from '../port.ts';
import type { FundingView, PaymentView } from '../views.ts';

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

function presentInstructions(instructions: PaymentInstructions): PaymentFields {
  if (instructions.kind === 'redirect') return { paymentUrl: instructions.paymentUrl };
  const { bankName, accountNumber, accountName, expiresAt } = instructions;
  return { bankAccounts: [{ bankName, accountNumber, accountName, expiryDate: expiresAt.toISOString() }] };
}

export function presentFunding(view: FundingView): Wire<z.output<typeof fundingSchema>> {
  return {
    transactionId: view.transactionId,
    status: view.status,
    amount: moneyJson(view.amount.amountMinor),
    currency: view.amount.currency as AccountCurrency,
    ...presentPayment(view, view.amount),
    ...(view.status === 'FAILED' && view.reason !== null ? { reason: view.reason } : {}),
  };
}

/** The funding as it now stands, with its timeline. */
export function presentFundingStatus(view: FundingView): Wire<z.output<typeof fundingStatusSchema>> {
  return { ...presentFunding(view), timeline: view.timeline };
}
