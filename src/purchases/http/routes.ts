/** Buying, topping up, and reading one's own purchases. */
import { PAYMENT_ERRORS } from '../../payments/http/schema.ts';
import { isId } from '../../domain/ids.ts';
import { toJson } from '../../platform/http/json.ts';
import { CHANGE, READ, routesFor, type Route } from '../../platform/http/route.ts';
import { renderWithPlaceholders } from '../stored-answers.ts';
import type { BuyCommand, PurchaseView } from '../views.ts';
import { presentPurchase, presentTransaction } from './present.ts';
import {
  basePurchaseSchema,
  buyBody,
  PRICE_ERRORS,
  statusSchema,
  topUpPurchaseSchema,
  isTopUp,
  missingTarget,
  topUpTarget,
} from './schema.ts';
import type { PurchaseCases } from '../use-cases.ts';

const defineRoute = routesFor<PurchaseCases>();

const PURCHASES = 'Purchases';

const buyRoute = defineRoute({
  ...CHANGE,
  path: '/api/esim/buy',
  shapes: ['base', 'top-up'],
  pickShape: (raw) => (isTopUp(raw) ? 'top-up' : 'base'),
  body: buyBody,
  missing: missingTarget,
  errors: [
    ...PRICE_ERRORS,
    ...PAYMENT_ERRORS,
    'INSUFFICIENT_BALANCE',
    'PRICE_ABOVE_MAX',
    'CURRENCY_MISMATCH',
    'QUOTE_NOT_FOUND',
    'QUOTE_EXPIRED',
    'QUOTE_USED',
    'QUOTE_MISMATCH',
  ],
  responses: {
    200: { description: 'TOPUP: the purchase, in any status', schema: topUpPurchaseSchema },
    201: { description: 'BASE: the purchase, in any status', schema: basePurchaseSchema },
  },
  docs: {
    operationId: 'buy',
    tag: PURCHASES,
    summary: 'Buy an eSIM, or top one up',
    description:
      'WALLET charges the account and delivers. `PROCESSING` means that the money is held and delivery goes on: read the ' +
      'transaction later. Every other method answers `PENDING` with how to pay, and delivers once the money has come. ' +
      'Send an `Idempotency-Key`, and a repeated request can never buy twice.',
  },
  async handle({ cases, principal, body, context, idempotency }) {
    const { packageCode, packageType, paymentMethod, quoteId, maxPrice, maxPriceCurrency } = body;
    const command: BuyCommand = {
      packageCode,
      packageType,
      paymentMethod,
      esimId: packageType === 'TOPUP' ? topUpTarget(body.esimId ?? '') : undefined,
      quoteId,
      ...(maxPrice === undefined || maxPriceCurrency === undefined
        ? {}
        : { maxPrice: { amountMinor: maxPrice, currency: maxPriceCurrency } }),
      idempotency,
    };
    const purchase = await cases.buy(principal, command, context);
    return { status: purchase.package_type === 'BASE' ? 201 : 200, ...renderPurchase(purchase) };
  },
});

function renderPurchase(purchase: PurchaseView): { readonly body: string; readonly stored?: string } {
  const { esim } = purchase;
  if (!esim) return { body: toJson(presentPurchase(purchase)) };
  return renderWithPlaceholders(esim, (shown) => toJson(presentPurchase({ ...purchase, esim: shown })));
}

const transactionRoute = defineRoute({
  ...READ,
  path: '/api/esim/transactions/{transactionId}',
  params: {
    transactionId: {
      description: 'The `transactionId` that buy or fund returned',
      example: 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11',
      isPossible: (text) => isId('transaction', text),
      notFound: { code: 'TRANSACTION_NOT_FOUND', message: 'Transaction not found' },
    },
  },
  responses: {
    200: { description: 'The purchase result, or the funding, as it now stands', schema: statusSchema },
  },
  docs: {
    operationId: 'getTransaction',
    tag: PURCHASES,
    summary: 'Read a purchase or a funding',
    description:
      'The purchase result, or the funding of a wallet, as it now stands, with what happened when. Only your own can be read.',
  },
  async handle({ cases, principal, params }) {
    const view = await cases.getTransaction(principal, params['transactionId'] ?? '');
    return { status: 200, body: toJson(presentTransaction(view)) };
  },
});

export const purchaseRoutes: readonly Route<PurchaseCases>[] = [buyRoute, transactionRoute];
