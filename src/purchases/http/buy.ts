/** Buying, and topping up. */
import { z } from 'zod';
import { PAYMENT_METHODS } from '../../domain/states.ts';
import {
  hasItsReference,
  ownDetailsFields,
  ownDetailsIn,
  OWN_DETAILS_ERRORS,
  PAYMENT_ERRORS,
} from '../../payments/http/shared.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { amountField, choiceField } from '../../platform/http/fields.ts';
import { toJson } from '../../platform/http/json.ts';
import { MAX_PRICE_LIMIT_MINOR } from '../../platform/http/limits.ts';
import type { Route } from '../../platform/http/route.ts';
import { renderWithPlaceholders } from '../stored-answers.ts';
import type { PurchaseCases } from '../use-cases.ts';
import type { BuyCommand, PurchaseView } from '../views.ts';
import {
  basePurchaseSchema,
  esimId,
  isTopUp,
  missingTarget,
  packageCode,
  packageType,
  presentBasePurchase,
  presentTopUpPurchase,
  PRICE_ERRORS,
  topUpPurchaseSchema,
  topUpTarget,
} from './shared.ts';

const routes = merchantRoutes<PurchaseCases>('Purchases');

const buyBody = z
  .object({
    packageCode,
    paymentMethod: choiceField(PAYMENT_METHODS, { description: 'How to pay', example: 'WALLET' }),
    packageType,
    esimId,
    maxPrice: amountField({
      minMinor: 0n,
      maxMinor: MAX_PRICE_LIMIT_MINOR,
      description: 'Nothing is bought above this price. Needs `maxPriceCurrency`',
      example: 5000,
    }).optional(),
    maxPriceCurrency: z
      .string('must be a string')
      .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters')
      .optional()
      .meta({ description: 'The currency of `maxPrice`: that of the account', example: 'NGN' }),
    // Any text passes, as for `esimId`.
    quoteId: z
      .string('must be a string')
      .min(1, 'must not be empty')
      .optional()
      .describe(
        'Buy at the price of this quote, with what it says for you: a field that is here too counts here',
      ),
    ...ownDetailsFields,
  })
  .refine(...hasItsReference)
  .refine(({ maxPrice, maxPriceCurrency }) => (maxPrice === undefined) === (maxPriceCurrency === undefined), {
    path: ['maxPriceCurrency'],
    error: 'is required with maxPrice, and only with it',
  })
  .meta({ id: 'BuyRequest' });

function renderPurchase(purchase: PurchaseView): { readonly body: string; readonly stored?: string } {
  const { esim } = purchase;
  if (!esim) return { body: toJson(presentPurchase(purchase)) };
  return renderWithPlaceholders(esim, (shown) => toJson(presentPurchase({ ...purchase, esim: shown })));
}

/** The purchase result, as buy answers it. */
function presentPurchase(view: PurchaseView) {
  return view.package_type === 'BASE' ? presentBasePurchase(view) : presentTopUpPurchase(view);
}

export const buyRoutes: readonly Route<PurchaseCases>[] = [
  routes.post('/api/esim/buy', {
    shapes: ['base', 'top-up'],
    pickShape: (raw) => (isTopUp(raw) ? 'top-up' : 'base'),
    body: buyBody,
    missing: missingTarget,
    errors: [
      ...PRICE_ERRORS,
      ...PAYMENT_ERRORS,
      'INSUFFICIENT_BALANCE',
      'KEY_BUDGET_EXCEEDED',
      'PRICE_ABOVE_MAX',
      'CURRENCY_MISMATCH',
      'QUOTE_NOT_FOUND',
      'QUOTE_EXPIRED',
      'QUOTE_USED',
      'QUOTE_MISMATCH',
      ...OWN_DETAILS_ERRORS,
    ],
    answer: {
      200: { description: 'TOPUP: the purchase, in any status', schema: topUpPurchaseSchema },
      201: { description: 'BASE: the purchase, in any status', schema: basePurchaseSchema },
    },
    operationId: 'buy',
    summary: 'Buy an eSIM, or top one up',
    description:
      'WALLET charges the account and delivers. `PROCESSING` means that the money is held and delivery goes on: read the ' +
      'transaction later. Every other method answers `PENDING` with how to pay, and delivers once the money has come. ' +
      'Send an `Idempotency-Key`, and a repeated request can never buy twice.',
    async handle({ cases, principal, body, context, idempotency }) {
      const { packageCode, packageType, paymentMethod, quoteId, maxPrice, maxPriceCurrency } = body;
      const command: BuyCommand = {
        packageCode,
        packageType,
        paymentMethod,
        esimId: packageType === 'TOPUP' ? topUpTarget(body.esimId ?? '') : undefined,
        quoteId,
        ownDetails: ownDetailsIn(body),
        ...(maxPrice === undefined || maxPriceCurrency === undefined
          ? {}
          : { maxPrice: { amountMinor: maxPrice, currency: maxPriceCurrency } }),
        idempotency,
      };
      const purchase = await cases.buy(principal, command, context);
      return { status: purchase.package_type === 'BASE' ? 201 : 200, ...renderPurchase(purchase) };
    },
  }),
];
