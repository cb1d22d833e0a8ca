/** How to pay through the gateway, and what answers say of a funding. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES, type AccountCurrency, type Money } from '../../domain/money.ts';
import type { PaymentMethod } from '../../domain/states.ts';
import {
  isoTime,
  money,
  timeline,
  text,
  namedObject,
  ownFields,
  presentOwn,
} from '../../platform/http/answer-fields.ts';
import { moneyJson } from '../../platform/http/json.ts';
import type { View } from '../../platform/http/present.ts';
import type { PaymentInstructions } from '../port.ts';
import type { FundingView, PaymentView } from '../views.ts';

export { hasItsReference, ownDetailsFields, ownDetailsIn, OWN_DETAILS_ERRORS } from './own-details.ts';

/** What opening a payment may be refused with. */
export const PAYMENT_ERRORS = [
  'PAYMENT_METHOD_UNAVAILABLE',
  'PAYMENT_FAILED',
  'TOO_MANY_UNPAID_PAYMENTS',
  'EXCHANGE_RATE_UNAVAILABLE',
] as const;

const bankAccount = z.object({
  bankName: z.string(),
  accountNumber: z.string(),
  accountName: z.string(),
  expiryDate: isoTime('Until when the account takes money'),
});

/** Part of every answer about something that may still wait for its money. */
export const paymentFields = {
  paymentUrl: text(
    'CARD, APPLE_PAY, MOBILE_MONEY, while PENDING: send the buyer there',
    'https://checkout.example.com/3ni8kdavz62431k',
  ).optional(),
  gatewayReference: text('CARD, APPLE_PAY, MOBILE_MONEY, while PENDING: names the payment').optional(),
  bankAccounts: z
    .array(bankAccount)
    .optional()
    .describe('BANK_TRANSFER, while PENDING: where to transfer to'),
  trackingReference: text('BANK_TRANSFER, while PENDING: names the payment').optional(),
  charge: z
    .object({ amount: money('What to pay'), currency: z.string() })
    .optional()
    .describe('While PENDING, where the payment is asked for in another currency than the price'),
};

const funding = {
  transactionId: z.string().meta({ example: 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11' }),
  status: z
    .enum(['PENDING', 'SUCCESS', 'FAILED'])
    .describe('PENDING: waits for money. SUCCESS: in the wallet. FAILED: ended without.'),
  amount: money('What the wallet is to get'),
  currency: z.enum(ACCOUNT_CURRENCIES),
  ...paymentFields,
  reason: text('Why, when FAILED', 'PAYMENT_EXPIRED').optional(),
  ...ownFields,
};

export const fundingSchema = namedObject('Funding', funding);
export const fundingStatusSchema = namedObject('FundingTransaction', {
  ...funding,
  received: z
    .object({ amount: money('What came'), currency: z.string() })
    .optional()
    .describe('Once money came: all of it, in the currency that was to be paid'),
  credited: z
    .object({ amount: money('What the wallet got'), currency: z.enum(ACCOUNT_CURRENCIES) })
    .optional()
    .describe(
      'Once money came: what the wallet got, which is not `amount` where less, more or twice was paid',
    ),
  timeline,
});

type PaymentFields = View<z.output<z.ZodObject<typeof paymentFields>>>;

/**
 * How to pay `view.payment`, or nothing once that is over; `price` in the currency that the answer names
 * anyway.
 */
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

export function presentFunding(view: FundingView): View<z.output<typeof fundingSchema>> {
  return {
    transactionId: view.transactionId,
    status: view.status,
    amount: moneyJson(view.amount.amountMinor),
    currency: view.amount.currency as AccountCurrency,
    ...presentPayment(view, view.amount),
    ...(view.status === 'FAILED' && view.reason !== null ? { reason: view.reason } : {}),
    ...presentOwn(view),
  };
}

/** The funding as it now stands, with its timeline. */
export function presentFundingStatus(view: FundingView): View<z.output<typeof fundingStatusSchema>> {
  const { received, creditedMinor, timeline: events } = view;
  return {
    ...presentFunding(view),
    ...(received === null
      ? {}
      : {
          received: { amount: moneyJson(received.amountMinor), currency: received.currency },
          credited: { amount: moneyJson(creditedMinor), currency: view.amount.currency as AccountCurrency },
        }),
    timeline: events,
  };
}
