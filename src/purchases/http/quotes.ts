/** Prices frozen for a while. */
import { hasItsReference, ownDetailsFields, ownDetailsIn } from '../../payments/http/shared.ts';
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { PACKAGE_TYPES, PAYMENT_METHODS } from '../../domain/states.ts';
import {
  type Data,
  isoTime,
  money,
  text,
  dataObject,
  ownFields,
  presentOwn,
} from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { choiceField, idParameter } from '../../platform/http/fields.ts';
import { fromRow } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import type { QuoteRow } from '../store/quotes.ts';
import type { PurchaseCases } from '../use-cases.ts';
import { esimId, missingTarget, packageCode, packageType, PRICE_ERRORS, topUpTarget } from './shared.ts';

const routes = merchantRoutes<PurchaseCases>('Purchases', {
  quoteId: idParameter(
    'quote',
    'The `quoteId` that createQuote returned',
    'Quote not found',
    'QUOTE_NOT_FOUND',
    '3b241101e2bb4255896c79a3f0f2d1c7',
  ),
});

const quoteBody = z
  .object({
    packageCode,
    packageType,
    esimId,
    paymentMethod: choiceField(PAYMENT_METHODS, {
      description: 'If set, the quote is valid for this method only, and `charge` is fixed too',
      example: 'WALLET',
    }).optional(),
    ...ownDetailsFields,
  })
  .refine(...hasItsReference)
  .meta({ id: 'QuoteRequest' });

const quoteSchema = dataObject('Quote', {
  quoteId: text('Send it as `quoteId` when you buy; valid once', 'quote-3b241101e2bb4255896c79a3f0f2d1c7'),
  packageCode: z.string(),
  packageName: z.string(),
  packageType: z.enum(PACKAGE_TYPES),
  esimId: text('Empty for BASE'),
  price: money('What buy charges with this quote'),
  currency: z.enum(ACCOUNT_CURRENCIES),
  originalPriceUSD: money('The same price in US dollars'),
  charge: z
    .object({ amount: money('To be paid'), currency: z.string() })
    .optional()
    .describe('Present if the payment method charges another currency'),
  ...ownFields,
  createdAt: isoTime('ISO 8601'),
  expiresAt: isoTime('Buy must be sent before'),
});

function presentQuote(quote: QuoteRow): Data<typeof quoteSchema> {
  const { charge, own_details: own } = quote;
  const isConverted = charge !== null && charge.currency !== quote.currency;
  return {
    ...fromRow(quote),
    ...presentOwn({ reference: own?.reference ?? null, metadata: own?.metadata ?? null }),
    quoteId: quote.id,
    esimId: quote.esim_id ?? '',
    originalPriceUSDMinor: quote.price_usd_minor,
    charge: isConverted ? { ...charge, amountMinor: BigInt(charge.amountMinor) } : undefined,
  };
}

export const quoteRoutes: readonly Route<PurchaseCases>[] = [
  routes.post('/api/esim/quotes', {
    confirmed: false,
    body: quoteBody,
    missing: missingTarget,
    errors: [...PRICE_ERRORS, 'KEY_BUDGET_EXCEEDED', 'TOO_MANY_OPEN_QUOTES', 'RETURN_URL_NOT_ALLOWED'],
    answer: [201, 'The quote', quoteSchema],
    operationId: 'createQuote',
    summary: 'Freeze a price for 15 minutes',
    description:
      'Nothing is bought or held. Send `quoteId` with buy before `expiresAt`: the price and the exchange rate are those of the quote, whatever they are by then. ' +
      'A quote buys once; if that purchase fails, it can be used again while it lasts. `reference`, `metadata`, `customerEmail` and the return addresses go ' +
      'to its purchase; whether the reference is unique is decided when it buys.',
    async handle({ cases, principal, body, idempotency }) {
      const { packageCode, packageType, paymentMethod } = body;
      const esimId = packageType === 'TOPUP' ? topUpTarget(body.esimId ?? '') : undefined;
      const ownDetails = ownDetailsIn(body);
      const command = { packageCode, packageType, paymentMethod, esimId, ownDetails, idempotency };
      return presentQuote(await cases.createQuote(principal, command));
    },
  }),
  routes.get('/api/esim/quotes/{quoteId}', {
    answer: [200, 'The quote', quoteSchema],
    operationId: 'getQuote',
    summary: 'Read a quote',
    description: 'What it was made for, at which price, and until when. Only your own can be read.',
    handle: async ({ cases, principal, params }) =>
      presentQuote(await cases.getQuote(principal, params.quoteId)),
  }),
];
