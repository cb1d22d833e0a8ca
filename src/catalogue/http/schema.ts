import { z } from 'zod';
import { CHANGE_KINDS, CHANGED_FIELDS, DURATION_UNITS, REGION_TYPES } from '../rules.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { PACKAGE_TYPES } from '../../domain/states.ts';
import { isoTime, money, dataSchema } from '../../platform/http/answer-fields.ts';
import { cursorField } from '../../platform/http/cursor.ts';
import { choiceField, currencyField, textField, wholeNumberField } from '../../platform/http/fields.ts';
import {
  DEFAULT_CHANGES_LIMIT,
  MAX_CHANGES_LIMIT,
  MAX_PACKAGE_CODE_CHARACTERS,
  MAX_REGION_CODE_CHARACTERS,
} from '../../platform/http/limits.ts';

export const regionsQuery = z.object({
  type: z
    .enum(['1', '2'], 'must be 1 (countries only) or 2 (multi-country only)')
    .transform((text): 1 | 2 => (text === '1' ? 1 : 2))
    .optional()
    .meta({
      type: 'integer',
      enum: [1, 2],
      description: '1: countries only; 2: multi-country and global only',
    }),
});

const packageType = choiceField(PACKAGE_TYPES, {
  description: 'BASE makes a new eSIM, TOPUP adds data to one',
});

export const packagesQuery = z.object({
  regionCode: textField({
    max: MAX_REGION_CODE_CHARACTERS,
    description: 'From the list of regions',
    example: 'NG',
  }),
  type: packageType.default('BASE'),
  regionType: choiceField(REGION_TYPES, {
    description: 'LC: one country; RG: several countries; GL: global',
  }).optional(),
  packageCode: textField({
    max: MAX_PACKAGE_CODE_CHARACTERS,
    description: 'Required when `type` is TOPUP: the package that the eSIM was bought as',
  }).optional(),
  currency: currencyField({ description: 'TOPUP only: the currency of `price`' }),
});

/** The list that cursors of changes belong to. */
export const CHANGES_LIST = 'package-changes';

export const changesQuery = z.object({
  since: cursorField(CHANGES_LIST, {
    description:
      'The `nextCursor` of the last answer; `now`: only what comes; without: from the first change kept',
  }).optional(),
  limit: wholeNumberField({
    min: 1,
    max: MAX_CHANGES_LIMIT,
    fallback: DEFAULT_CHANGES_LIMIT,
    description: 'Changes in one answer',
  }),
});

export const packageDetailsQuery = z.object({
  type: packageType.default('BASE'),
  currency: currencyField({ description: 'The currency of `price`' }),
});

export const regionSchema = z
  .object({
    regionCode: z.string().meta({ description: 'The value for `regionCode` elsewhere', example: 'NG' }),
    regionName: z.string().meta({ example: 'Nigeria' }),
    regionType: z.enum(REGION_TYPES),
    countryCode: z
      .string()
      .nullable()
      .meta({ description: 'ISO 3166-1 alpha-2; null for regional and global' }),
    flagUrl: z.string(),
    packageCount: z.number().int().meta({ description: 'Packages on sale in the region' }),
  })
  .meta({ id: 'Region' });

export const catalogueRegions = z.array(regionSchema);

export const packageSchema = z
  .object({
    packageCode: z.string(),
    packageName: z.string(),
    data: z.string().meta({ description: 'Allowance', example: '5 GB' }),
    validity: z.number().int().meta({ description: 'Days' }),
    price: money('In the account currency'),
    currency: z.enum(ACCOUNT_CURRENCIES),
    originalPriceUSD: money('The same price in US dollars'),
    coverage: z.array(z.string()).meta({ description: 'Covered countries' }),
    networkProviders: z.array(z.string()).meta({ description: 'Operators' }),
    dataType: z.string().meta({ example: 'Data only' }),
    speed: z.string().meta({ example: '3G/4G/5G' }),
    activation: z.string().meta({ description: 'When validity starts' }),
    topUpAvailable: z.boolean(),
  })
  .meta({ id: 'Package' });

const networkSchema = z.object({
  locationName: z.string(),
  locationCode: z.string(),
  operatorList: z.array(z.object({ operatorName: z.string(), networkType: z.string() })),
});

export const topUpPackageSchema = z
  .object({
    packageCode: z.string().meta({ description: 'The code to send when buying' }),
    name: z.string(),
    price: money('In `currencyCode`'),
    currencyCode: z.string().meta({ example: 'USD' }),
    volume: z.number().int().meta({ description: 'Bytes; for a top-up the bytes added' }),
    duration: z.number().int().meta({ description: 'In `durationUnit`' }),
    durationUnit: z.enum(DURATION_UNITS),
    speed: z.string(),
    description: z.string(),
    locationNetworkList: z.array(networkSchema),
  })
  .meta({ id: 'TopUpPackage' });

export const packageDetailsSchema = z
  .object({
    ...topUpPackageSchema.shape,
    unusedValidTime: z.number().int().meta({ description: 'Days to install before it lapses' }),
    location: z.string(),
    locationCode: z.string(),
    locationNetworkList: z.array(networkSchema.extend({ locationLogo: z.string() })),
  })
  .meta({ id: 'PackageDetails' });

export const packageList = z.union([z.array(packageSchema), z.array(topUpPackageSchema)]);

export const packageChangeSchema = z
  .object({
    at: isoTime('When the change was found'),
    kind: z.enum(CHANGE_KINDS).meta({ description: 'ADDED: on sale, for the first time or again' }),
    packageCode: z.string(),
    packageName: z.string().meta({ description: 'After the change' }),
    regionCode: z.string().meta({ description: 'After the change' }),
    changedFields: z.array(z.enum(CHANGED_FIELDS)).meta({
      description: 'What is different; empty for a new package. `availability`: withdrawn, or on sale again',
    }),
    price: z.number().nullable().meta({
      description:
        'As it now stands, in `currency`; null while the package is not on sale, or without a current rate',
      example: 12.5,
    }),
    currency: z.enum(ACCOUNT_CURRENCIES).meta({ description: 'Of the account' }),
  })
  .meta({ id: 'PackageChange' });

export const packageChangesSchema = dataSchema(
  z.object({
    items: z.array(packageChangeSchema).meta({ description: 'Oldest first' }),
    nextCursor: z
      .string()
      .meta({ description: 'For `since` of the next request, also when there is nothing new' }),
    hasMore: z.boolean().meta({ description: 'More can be read at once' }),
  }),
  'PackageChanges',
);

export const exchangeRateSchema = z
  .object({
    success: z.literal(true),
    message: z.string(),
    data: z.object({
      rate: z.number().meta({ description: '1 USD is this many NGN', example: 1534.25 }),
      baseCurrency: z.literal('USD'),
      currency: z.literal('NGN'),
    }),
  })
  .meta({ id: 'ExchangeRate' });
