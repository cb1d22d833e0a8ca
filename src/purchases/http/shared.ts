/** A purchase in requests and answers. What is not known yet is an empty string. */
import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { PACKAGE_TYPES, PURCHASE_STATUSES } from '../../domain/states.ts';
import {
  fundingStatusSchema,
  paymentFields,
  presentFundingStatus,
  presentPayment,
} from '../../payments/http/shared.ts';
import {
  laterText,
  money,
  timeline,
  text,
  count,
  namedObject,
  ownFields,
  presentOwn,
} from '../../platform/http/answer-fields.ts';
import { choiceField, textField } from '../../platform/http/fields.ts';
import { moneyJson } from '../../platform/http/json.ts';
import { MAX_PACKAGE_CODE_CHARACTERS } from '../../platform/http/limits.ts';
import type { View } from '../../platform/http/present.ts';
import type { MissingFields, RawInput } from '../../platform/http/route.ts';
import type { PurchaseView, TransactionView } from '../views.ts';

/** What every price needs. */
export const PRICE_ERRORS = [
  'PACKAGE_NOT_FOUND',
  'PACKAGE_UNAVAILABLE',
  'INVALID_TOPUP',
  'ESIM_NOT_FOUND',
  'PAYMENT_METHOD_UNAVAILABLE',
  'EXCHANGE_RATE_UNAVAILABLE',
] as const;

export const packageCode = textField({
  max: MAX_PACKAGE_CODE_CHARACTERS,
  description: 'From the packages list; for TOPUP a top-up package code',
  example: 'SIM-OK',
});

export const packageType = choiceField(PACKAGE_TYPES, {
  description: 'BASE makes a new eSIM, TOPUP adds data to an existing one',
  example: 'BASE',
});

/** Any text passes: a text that cannot be one of our ids is not found. */
export const esimId = z
  .string('must be a string')
  .nullish()
  .transform((text) => text ?? undefined)
  .describe('Required for TOPUP: the `_id` of the eSIM to top up');

const purchaseFields = {
  transactionId: z.string().meta({ example: 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11' }),
  status: z
    .enum(PURCHASE_STATUSES)
    .describe(
      'PENDING: waits for money. PROCESSING: paid, not delivered yet. SUCCESS: delivered. FAILED: ended without.',
    ),
  reason: text('Why, when FAILED', 'PACKAGE_UNAVAILABLE').optional(),
  ...ownFields,
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
  replaces: text('The eSIM in whose place this one is', 'esim-5b2e9a1c4d7f4e0ab8c3d6f1a2e4b790').optional(),
  replacedBy: text('The eSIM in its place', 'esim-5b2e9a1c4d7f4e0ab8c3d6f1a2e4b790').optional(),
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
    .describe('On SUCCESS'),
};

const topUpPurchase = {
  ...purchaseFields,
  message: text('On SUCCESS').optional(),
  package: z.object({
    packageCode: z.string(),
    name: z.string(),
    price: money('What is charged'),
    currencyCode: z.enum(ACCOUNT_CURRENCIES),
    volume: count('Bytes added'),
    duration: z.number().int(),
  }),
  ...paymentFields,
  esimDetails: z
    .object({
      iccid: z.string(),
      totalVolume: count('New total, bytes'),
      dataRemaining: count('Bytes left, right after the top-up'),
      usageAsOf: laterText('ISO 8601: when that was true at the supplier'),
    })
    .optional()
    .describe('On SUCCESS'),
};

export const basePurchaseSchema = namedObject('BasePurchase', basePurchase);
export const topUpPurchaseSchema = namedObject('TopUpPurchase', topUpPurchase);

const transactionSchema = z.union([
  namedObject('BaseTransaction', { ...basePurchase, timeline }),
  namedObject('TopUpTransaction', { ...topUpPurchase, timeline }),
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

/** What a transaction id names, as it now stands, with its timeline. */
export function presentTransaction(
  view: TransactionView,
): View<z.output<typeof transactionSchema>> | ReturnType<typeof presentFundingStatus> {
  if ('funding' in view) return presentFundingStatus(view.funding);
  const timeline = view.purchase.timeline;
  return view.purchase.package_type === 'BASE'
    ? { ...presentBasePurchase(view.purchase), timeline }
    : { ...presentTopUpPurchase(view.purchase), timeline };
}

export function presentBasePurchase(view: PurchaseView): View<z.output<typeof basePurchaseSchema>> {
  const { esim, currency } = view;
  return {
    ...presentOutcome(view),
    package: {
      packageCode: view.package_code,
      packageName: view.package_name,
      price: moneyJson(view.price_minor),
      currency,
    },
    ...presentPaymentOf(view),
    ...(view.replaces === null ? {} : { replaces: view.replaces }),
    ...(esim?.replaced_by ? { replacedBy: esim.replaced_by } : {}),
    ...(view.status === 'SUCCESS' && esim
      ? {
          esimDetails: {
            esimId: esim.id,
            iccid: esim.iccid,
            qrCodeUrl: esim.qr_code_url,
            activationCode: esim.ac,
            smdpAddress: esim.smdp_address,
            matchingId: esim.matching_id,
          },
        }
      : {}),
  };
}

export function presentTopUpPurchase(view: PurchaseView): View<z.output<typeof topUpPurchaseSchema>> {
  const { top_up_total_volume_bytes: totalVolume, top_up_remaining_bytes: remaining } = view;
  return {
    ...presentOutcome(view),
    ...(view.status === 'SUCCESS' ? { message: 'Top-up successful' } : {}),
    package: {
      packageCode: view.package_code,
      name: view.package_name,
      price: moneyJson(view.price_minor),
      currencyCode: view.currency,
      volume: Number(view.volume_bytes),
      duration: view.duration,
    },
    ...presentPaymentOf(view),
    ...(view.status === 'SUCCESS' && totalVolume !== null
      ? {
          esimDetails: {
            iccid: view.top_up_iccid ?? '',
            totalVolume: Number(totalVolume),
            dataRemaining: Number(remaining ?? 0n),
            usageAsOf: view.closed_at?.toISOString() ?? '',
          },
        }
      : {}),
  };
}

function presentOutcome(view: PurchaseView) {
  return {
    transactionId: view.transaction_id,
    status: view.status,
    ...(view.status === 'FAILED' && view.reason !== null ? { reason: view.reason } : {}),
    ...presentOwn(view),
  };
}

function presentPaymentOf({ payment_method, payment, price_minor, currency }: PurchaseView) {
  const price = { amountMinor: price_minor, currency };
  return presentPayment({ paymentMethod: payment_method, payment }, price);
}
