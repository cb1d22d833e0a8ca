/** Prices frozen for a while. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { PACKAGE_TYPES, PAYMENT_METHODS } from '../../domain/states.ts';
import { dataAnswer, dataSchema, isoTime, money, text } from '../../platform/http/answer-fields.ts';
import { choiceField } from '../../platform/http/fields.ts';
import { moneyJson, type Wire } from '../../platform/http/json.ts';
import { CHANGE, type Route, routesFor } from '../../platform/http/route.ts';
import type { QuoteRow } from '../store/quotes.ts';
import type { PurchaseCases } from '../use-cases.ts';
import { esimId, missingTarget, packageCode, packageType, PRICE_ERRORS, topUpTarget } from './shared.ts';

const defineRoute = routesFor<PurchaseCases>();

const quoteBody = z
  .object({
    packageCode,
    packageType,
    esimId,
    paymentMethod: choiceField(PAYMENT_METHODS, {
      description: 'If set, the quote is valid for this method only, and `charge` is fixed too',
      example: 'WALLET',
    }).optional(),
  })
  .meta({ id: 'QuoteRequest' });

const quoteSchema = dataSchema(
  z.object({
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
    createdAt: isoTime('ISO 8601'),
    expiresAt: isoTime('Buy must be sent before'),
  }),
  'Quote',
);

const quoteRoute = defineRoute({
  ...CHANGE,
  path: '/api/esim/quotes',
  body: quoteBody,
  missing: missingTarget,
  errors: [...PRICE_ERRORS, 'TOO_MANY_OPEN_QUOTES'],
  responses: { 201: { description: 'The quote', schema: quoteSchema } },
  docs: {
    operationId: 'createQuote',
    tag: 'Purchases',
    summary: 'Freeze a price for 15 minutes',
    description:
      'Nothing is bought or held. Send `quoteId` with buy before `expiresAt`: the price and the exchange rate are those of the quote, whatever they are by then. ' +
      'A quote buys once; if that purchase fails, it can be used again while it lasts.',
  },
  async handle({ cases, principal, body, idempotency }) {
    const { packageCode, packageType, paymentMethod } = body;
    const esimId = packageType === 'TOPUP' ? topUpTarget(body.esimId ?? '') : undefined;
    const command = { packageCode, packageType, paymentMethod, esimId, idempotency };
    const quote = await cases.createQuote(principal, command);
    return dataAnswer(presentQuote(quote), 201);
  },
});

function presentQuote(quote: QuoteRow): Wire<z.output<typeof quoteSchema>>['data'] {
  const { charge } = quote;
  const isConverted = charge !== null && charge.currency !== quote.currency;
  return {
    quoteId: quote.id,
    packageCode: quote.package_code,
    packageName: quote.package_name,
    packageType: quote.package_type,
    esimId: quote.esim_id ?? '',
    price: moneyJson(quote.price_minor),
    currency: quote.currency,
    originalPriceUSD: moneyJson(quote.price_usd_minor),
    ...(isConverted
      ? { charge: { amount: moneyJson(BigInt(charge.amountMinor)), currency: charge.currency } }
      : {}),
    createdAt: quote.created_at,
    expiresAt: quote.expires_at,
  };
}

export const quoteRoutes: readonly Route<PurchaseCases>[] = [quoteRoute];
