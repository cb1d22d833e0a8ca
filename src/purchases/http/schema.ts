/** Purchases as docs/API.md documents them; requests are validated and the reference generated from here. */
import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { PACKAGE_TYPES, PAYMENT_METHODS, PURCHASE_STATUSES } from '../../domain/states.ts';
import { laterText, money, timeline } from '../../platform/http/answer-fields.ts';
import { amountField, choiceField, textField } from '../../platform/http/fields.ts';
import { MAX_PRICE_LIMIT_MINOR, MAX_PACKAGE_CODE_CHARACTERS } from '../../platform/http/limits.ts';
import type { MissingFields, RawInput } from '../../platform/http/route.ts';
import { fundingStatusSchema, paymentFields } from '../../payments/http/schema.ts';

/** What every price needs. */
export const PRICE_ERRORS = [
  'PACKAGE_NOT_FOUND',
  'PACKAGE_UNAVAILABLE',
  'INVALID_TOPUP',
  'ESIM_NOT_FOUND',
  'PAYMENT_METHOD_UNAVAILABLE',
  'EXCHANGE_RATE_UNAVAILABLE',
] as const;

const packageCode = textField({
  max: MAX_PACKAGE_CODE_CHARACTERS,
  description: 'From the packages list; for TOPUP a top-up package code',
  example: 'SIM-OK',
});
const packageType = choiceField(PACKAGE_TYPES, {
  description: 'BASE makes a new eSIM, TOPUP adds data to an existing one',
  example: 'BASE',
});
/** Any text passes: a text that cannot be one of our ids is not found. */
const esimId = z
  .string('must be a string')
  .nullish()
  .transform((text) => text ?? undefined)
  .meta({ description: 'Required for TOPUP: the `_id` of the eSIM to top up' });

export const quoteBody = z
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

export const buyBody = z
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
      .meta({ description: 'Buy at the price of this quote' }),
  })
  .refine(({ maxPrice, maxPriceCurrency }) => (maxPrice === undefined) === (maxPriceCurrency === undefined), {
    path: ['maxPriceCurrency'],
    error: 'is required with maxPrice, and only with it',
  })
  .meta({ id: 'BuyRequest' });

const purchaseFields = {
  transactionId: z.string().meta({ example: 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11' }),
  status: z.enum(PURCHASE_STATUSES).meta({
    description:
      'PENDING: waits for money. PROCESSING: paid, not delivered yet. SUCCESS: delivered. FAILED: ended without.',
  }),
  reason: z.string().optional().meta({ description: 'Why, when FAILED', example: 'PACKAGE_UNAVAILABLE' }),
};

const basePurchase = {
  ...purchaseFields,
  package: z.object({
    packageCode: z.string(),
    packageName: z.string(),
    price: money('What is charged'),
    currency: z.enum(ACCOUNT_CURRENCIES),
  }),
  ...paymentFields,
  esimDetails: z
    .object({
      esimId: z.string(),
      iccid: z.string(),
      qrCodeUrl: z.string(),
      activationCode: z.string(),
      smdpAddress: z.string(),
      matchingId: z.string(),
    })
    .optional()
    .meta({ description: 'On SUCCESS' }),
};

const topUpPurchase = {
  ...purchaseFields,
  message: z.string().optional().meta({ description: 'On SUCCESS' }),
  package: z.object({
    packageCode: z.string(),
    name: z.string(),
    price: money('What is charged'),
    currencyCode: z.enum(ACCOUNT_CURRENCIES),
    volume: z.number().int().meta({ description: 'Bytes added' }),
    duration: z.number().int(),
  }),
  ...paymentFields,
  esimDetails: z
    .object({
      iccid: z.string(),
      totalVolume: z.number().int().meta({ description: 'New total, bytes' }),
      dataRemaining: z.number().int().meta({ description: 'Bytes left, right after the top-up' }),
      usageAsOf: laterText('ISO 8601: when that was true at the supplier'),
    })
    .optional()
    .meta({ description: 'On SUCCESS' }),
};

export const basePurchaseSchema = z.object(basePurchase).meta({ id: 'BasePurchase' });
export const topUpPurchaseSchema = z.object(topUpPurchase).meta({ id: 'TopUpPurchase' });
export const transactionSchema = z.union([
  z.object({ ...basePurchase, timeline }).meta({ id: 'BaseTransaction' }),
  z.object({ ...topUpPurchase, timeline }).meta({ id: 'TopUpTransaction' }),
]);

/** What a transaction id names: a purchase or the funding of a wallet. */
export const statusSchema = z.union([transactionSchema, fundingStatusSchema]);

const TOP_UP_TARGET_NOT_FOUND = 'eSIM not found or does not belong to your account';

export function isTopUp(raw: RawInput): boolean {
  return Object.hasOwn(raw.body, 'packageType') && raw.body['packageType'] === 'TOPUP';
}

/** The published sentence about missing fields. */
export function missingTarget(raw: RawInput): MissingFields | undefined {
  const given = Object.hasOwn(raw.body, 'esimId') ? raw.body['esimId'] : undefined;
  if (!isTopUp(raw) || (given !== undefined && given !== null && given !== '')) return undefined;
  const message = 'esimId is required for TOPUP package type';
  return { code: 'VALIDATION_ERROR', message, fields: ['esimId'] };
}

export function topUpTarget(esimId: string): string {
  if (!isId('esim', esimId)) throw new DomainError('ESIM_NOT_FOUND', TOP_UP_TARGET_NOT_FOUND);
  return esimId;
}
