/** Rates are numbers with up to six decimals: one US dollar is this many. Percentages have two decimals. */
import { z } from 'zod';
import { ACCOUNT_TYPES } from '../../domain/account.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { PACKAGE_TYPES } from '../../domain/states.ts';
import { isoTime, money, dataSchema } from '../../platform/http/answer-fields.ts';
import { amountField, textField, timeField, wholeNumberField } from '../../platform/http/fields.ts';
import { isJsonNumber, type JsonNumber } from '../../platform/http/json.ts';
import { MAX_PACKAGE_CODE_CHARACTERS, MAX_REGION_CODE_CHARACTERS } from '../../platform/http/limits.ts';
import { environmentField } from '../../platform/http/ops-route.ts';
import { pageFields, paginationSchema } from '../../platform/http/page.ts';
import { parseRateMicros } from '../pricing.ts';

/** As long as observed rates are kept. */
export const MAX_HISTORY_DAYS = 90;
/** Hundredths of a percent; the table's own limit. */
const MAX_PERCENT = 100_000n;
const MAX_VERSION_CHARACTERS = 100;

const currencyCode = (description: string) =>
  z
    .string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a string') })
    .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters')
    .meta({ description, example: 'NGN', pattern: '^[A-Z]{3}$' });

const reason = textField({
  max: MAX_REASON_CHARACTERS,
  description: 'Why: kept on record under your name',
  example: 'the rate of the central bank this morning',
}).refine(
  (text) => text.trim().length >= MIN_REASON_CHARACTERS,
  `must have at least ${MIN_REASON_CHARACTERS} characters`,
);

const RATE_MESSAGE = 'must be a number above zero with at most six decimals, or null';

const rateField = z
  .custom<JsonNumber | null>((value) => value === null || isJsonNumber(value), {
    error: ({ input }) => (input === undefined ? 'is required' : RATE_MESSAGE),
  })
  .transform((literal, check) => {
    const micros = literal === null ? null : parseRateMicros(literal.rawJSON);
    if (micros !== undefined) return micros;
    check.addIssue({ code: 'custom', message: RATE_MESSAGE });
    return z.NEVER;
  })
  .meta({
    type: ['number', 'null'],
    exclusiveMinimum: 0,
    description: 'One US dollar is this many. null: the configured rate applies again after its next refresh',
    example: 1534.25,
  });

export const ratesQuery = z.object({
  ...environmentField,
  currency: currencyCode('Also answers the history of this currency').optional(),
  days: wholeNumberField({
    min: 1,
    max: MAX_HISTORY_DAYS,
    fallback: 30,
    description: 'How far the history goes back',
  }),
});

const code = z.string().meta({ description: 'ISO 4217', example: 'NGN' });
const rate = z.number().meta({ description: 'One US dollar is this many', example: 1534.25 });
const source = z.string().meta({
  description: 'Where it is from; `operator`: a person set it',
  example: 'fixed',
});
const rateId = z.string().meta({ example: '42' });
const percent = (description: string) => z.number().meta({ description, example: 2.5 });

export const ratesSchema = dataSchema(
  z.object({
    items: z
      .array(
        z.object({
          rateId,
          currency: code,
          rate,
          source,
          observedAt: isoTime('ISO 8601'),
          ageSeconds: z.number().int(),
          isSold: z.boolean().meta({ description: 'false: older than 24 hours, so nothing is sold at it' }),
        }),
      )
      .meta({ description: 'The current rate of every currency' }),
    waiting: z
      .array(
        z.object({
          rateId,
          currency: code,
          rate,
          currentRate: z.number().nullable().meta({ description: 'null: there is none', example: 1534.25 }),
          changePercent: percent('Of the current rate; null where there is none').nullable(),
          source,
          observedAt: isoTime('ISO 8601'),
          proposedBy: z
            .string()
            .nullable()
            .meta({ description: 'The person who set it; another one confirms it. null: a provider' }),
          reason: z.string().nullable(),
        }),
      )
      .meta({ description: 'In quarantine, of the last 24 hours, newest first, at most 200' }),
    changes: z
      .array(
        z.object({
          at: isoTime('When it came into use'),
          currency: code,
          before: z
            .number()
            .nullable()
            .meta({ description: 'The rate that it replaced; null: there was none', example: 1500 }),
          rate: z.number().nullable().meta({ description: 'null: as configured', example: 1534.25 }),
          by: z.string().meta({ description: 'Who set it, or which provider observed it' }),
          reason: z.string().meta({ description: 'Empty: of a provider' }),
          confirmedBy: z
            .string()
            .nullable()
            .meta({ description: 'Who confirmed it; null: it needed no confirmation' }),
          confirmReason: z.string().nullable(),
        }),
      )
      .meta({ description: 'What people set or confirmed, newest first, at most 20' }),
    history: z.array(z.object({ at: isoTime('ISO 8601'), rate, source })).meta({
      description: 'Of `currency`, oldest first: at most 200, each the last of an equal span of time',
    }),
  }),
  'Rates',
);

export const rateBody = z
  .object({ currency: currencyCode('Any but USD'), rate: rateField, reason })
  .meta({ id: 'SetRateRequest' });

const proposed = {
  rateId: rateId.nullable().meta({ description: 'null: as configured' }),
  currency: code,
  before: z.number().nullable().meta({ description: 'null: there was none', example: 1500 }),
  rate: z.number().nullable().meta({ description: 'null: as configured', example: 1534.25 }),
};

export const rateSetSchema = dataSchema(z.object({ outcome: z.literal('set'), ...proposed }), 'RateSet');

export const rateWaitsSchema = dataSchema(
  z.object({ outcome: z.literal('waits'), ...proposed }),
  'RateWaits',
);

export const confirmRateBody = z.object({ reason }).meta({ id: 'ConfirmRateRequest' });

export const rateConfirmedSchema = dataSchema(
  z.object({
    rateId,
    outcome: z.enum(['confirmed', 'already']).meta({ description: '`already`: it was not in quarantine' }),
  }),
  'RateConfirmed',
);

export const pricesQuery = z.object({ ...environmentField, ...pageFields });

const terms = {
  userMarkupPercent: percent('On prices of individual users'),
  merchantMarkupPercent: percent('On prices of merchants'),
  ngnIncrementPercent: percent('On prices in NGN, after the conversion'),
};

const version = z.string().meta({ description: 'Of these settings', example: 'initial' });

export const pricesSchema = dataSchema(
  z.object({
    items: z.array(
      z.object({
        version,
        ...terms,
        by: z.string(),
        reason: z.string(),
        validFrom: isoTime('ISO 8601'),
        isInForce: z.boolean(),
      }),
    ),
    pagination: paginationSchema,
  }),
  'Prices',
);

const percentField = (description: string, example: number) =>
  amountField({ minMinor: 0n, maxMinor: MAX_PERCENT, description: `${description}, in percent`, example });

const termFields = {
  userMarkupPercent: percentField('The markup on prices of individual users', 25),
  merchantMarkupPercent: percentField('The markup on prices of merchants', 15),
  ngnIncrementPercent: percentField('The increment on prices in NGN, after the conversion', 3),
};

export const previewBody = z.object(termFields).meta({ id: 'PreviewPricesRequest' });

const packageCount = z.number().int();

export const pricePreviewSchema = dataSchema(
  z.object({
    version: version.meta({ description: 'Of the settings in force: send it with `setPrices`' }),
    before: z.object(terms),
    after: z.object(terms),
    nairaRate: z.number().nullable().meta({
      description: 'Prices in NGN are made with it. null: there is no current rate',
      example: 1534.25,
    }),
    packages: packageCount.meta({ description: 'On sale, top-ups included' }),
    totals: z
      .array(
        z.object({
          accountType: z.enum(ACCOUNT_TYPES),
          currency: z.enum(ACCOUNT_CURRENCIES),
          dearer: packageCount,
          cheaper: packageCount,
          unchanged: packageCount,
          unsellable: packageCount.meta({ description: 'Without a price above zero afterwards' }),
          belowCost: packageCount.meta({ description: 'Sold below our cost afterwards' }),
          largestRisePercent: percent('null: no package gets dearer').nullable(),
          largestFallPercent: percent('Negative. null: no package gets cheaper').nullable(),
          lowestMarginPercent: percent('Of the price. Negative: below cost').nullable(),
        }),
      )
      .meta({ description: 'One line for each type of account and currency' }),
    items: z
      .array(
        z.object({
          packageCode: z.string(),
          name: z.string(),
          packageType: z.enum(PACKAGE_TYPES),
          costUsd: money('Our cost in US dollars, four decimals'),
          prices: z.array(
            z.object({
              accountType: z.enum(ACCOUNT_TYPES),
              currency: z.enum(ACCOUNT_CURRENCIES),
              before: money('null: there is no current rate').nullable(),
              after: money('null: there is no current rate').nullable(),
              changePercent: percent('Of the price before').nullable(),
              marginPercent: percent('Of the new price').nullable(),
            }),
          ),
        }),
      )
      .meta({ description: 'One page of the packages whose price changes, those that change most first' }),
    pagination: paginationSchema,
  }),
  'PricePreview',
);

export const pricesBody = z
  .object({
    version: textField({
      max: MAX_VERSION_CHARACTERS,
      description: 'From the preview: other settings in force are refused with `PRICES_CHANGED`',
      example: 'initial',
    }),
    ...termFields,
    reason,
  })
  .meta({ id: 'SetPricesRequest' });

export const pricesSetSchema = dataSchema(
  z.object({
    outcome: z.enum(['set', 'unchanged']).meta({ description: '`unchanged`: they are in force already' }),
  }),
  'PricesSet',
);

export const onSaleQuery = z.object({
  ...environmentField,
  at: timeField({ description: 'The moment; now by default' }).optional(),
  packageCode: textField({
    max: MAX_PACKAGE_CODE_CHARACTERS,
    description: 'Only this package',
    example: 'SIM-OK',
  }).optional(),
  regionCode: textField({
    max: MAX_REGION_CODE_CHARACTERS,
    description: 'Only packages of this region',
    example: 'NG',
  }).optional(),
  ...pageFields,
});

export const onSaleSchema = dataSchema(
  z.object({
    at: isoTime('The moment'),
    knownSince: isoTime(
      'The catalogue is kept since then; nothing is known of before. null: nothing is kept yet',
    ).nullable(),
    items: z
      .array(
        z.object({
          packageCode: z.string(),
          name: z.string(),
          packageType: z.enum(PACKAGE_TYPES),
          regionCode: z.string(),
          costUsd: money('Our cost in US dollars, four decimals'),
          userPriceUsd: money(
            'Price for individual users; null: no markups are known of that moment',
          ).nullable(),
          merchantPriceUsd: money(
            'Price for merchants; null: no markups are known of that moment',
          ).nullable(),
          validFrom: isoTime('When the catalogue sync found the package as it was'),
          validTo: isoTime('When it found the next change; null: the package is still the same').nullable(),
        }),
      )
      .meta({ description: 'One page, by code, as each package was at that moment' }),
    pagination: paginationSchema,
  }),
  'OnSale',
);
