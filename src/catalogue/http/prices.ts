/** Markups, for operators: percentages with two decimals. */
import { z } from 'zod';
import { ACCOUNT_TYPES } from '../../domain/account.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { PACKAGE_TYPES } from '../../domain/states.ts';
import {
  isoTime,
  money,
  percent,
  text,
  usd,
  namedObject,
  dataObject,
} from '../../platform/http/answer-fields.ts';
import { amountField, textField } from '../../platform/http/fields.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import { pageFields, paginationSchema, presentPage } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import type { PricingCases } from '../operator-pricing.ts';
import type { PricingTermsRequest } from '../price-settings.ts';
import { rateOrNull, reason } from './pricing-fields.ts';

const routes = operatorRoutes<PricingCases>('Rates and prices');

/** Hundredths of a percent; the table's own limit. */
const MAX_PERCENT = 100_000n;
const MAX_VERSION_CHARACTERS = 100;
const pricesQuery = z.object({ ...environmentField, ...pageFields });

const terms = {
  userMarkupPercent: percent('On prices of individual users'),
  merchantMarkupPercent: percent('On prices of merchants'),
  ngnIncrementPercent: percent('On prices in NGN, after the conversion'),
};

const version = text('Of these settings', 'initial');

const pricesSchema = dataObject('Prices', {
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
});

const percentField = (description: string, example: number) =>
  amountField({ minMinor: 0n, maxMinor: MAX_PERCENT, description: `${description}, in percent`, example });

const termFields = {
  userMarkupPercent: percentField('The markup on prices of individual users', 25),
  merchantMarkupPercent: percentField('The markup on prices of merchants', 15),
  ngnIncrementPercent: percentField('The increment on prices in NGN, after the conversion', 3),
};

const previewBody = namedObject('PreviewPricesRequest', termFields);
const packageCount = z.number().int();

const pricePreviewSchema = dataObject('PricePreview', {
  version: version.describe('Of the settings in force: send it with `setPrices`'),
  before: z.object(terms),
  after: z.object(terms),
  nairaRate: z.number().nullable().meta({
    description: 'Prices in NGN are made with it. null: there is no current rate',
    example: 1534.25,
  }),
  packages: packageCount.describe('On sale, top-ups included'),
  totals: z
    .array(
      z.object({
        accountType: z.enum(ACCOUNT_TYPES),
        currency: z.enum(ACCOUNT_CURRENCIES),
        dearer: packageCount,
        cheaper: packageCount,
        unchanged: packageCount,
        unsellable: packageCount.describe('Without a price above zero afterwards'),
        belowCost: packageCount.describe('Sold below our cost afterwards'),
        largestRisePercent: percent('null: no package gets dearer').nullable(),
        largestFallPercent: percent('Negative. null: no package gets cheaper').nullable(),
        lowestMarginPercent: percent('Of the price. Negative: below cost').nullable(),
      }),
    )
    .describe('One line for each type of account and currency'),
  items: z
    .array(
      z.object({
        packageCode: z.string(),
        name: z.string(),
        packageType: z.enum(PACKAGE_TYPES),
        costUsd: usd('Our cost in US dollars, four decimals', 12.5),
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
    .describe('One page of the packages whose price changes, those that change most first'),
  pagination: paginationSchema,
});

const pricesBody = namedObject('SetPricesRequest', {
  version: textField({
    max: MAX_VERSION_CHARACTERS,
    description: 'From the preview: other settings in force are refused with `PRICES_CHANGED`',
    example: 'initial',
  }),
  ...termFields,
  reason,
});

const pricesSetSchema = dataObject('PricesSet', {
  outcome: z.enum(['set', 'unchanged']).describe('`unchanged`: they are in force already'),
});

const termsOf = (body: z.output<typeof previewBody>): PricingTermsRequest => ({
  userMarkupBps: Number(body.userMarkupPercent),
  merchantMarkupBps: Number(body.merchantMarkupPercent),
  ngnIncrementBps: Number(body.ngnIncrementPercent),
});

export const priceRoutes: readonly Route<PricingCases>[] = [
  routes.get('/ops/prices', {
    permission: 'pricing',
    query: pricesQuery,
    answer: [200, 'One page, newest first', pricesSchema],
    operationId: 'listPrices',
    summary: 'List markups, newest first',
    description:
      'The markups by type of account and the NGN increment, with who set them and why. They apply to every package.',
    async handle({ cases, query }) {
      const { items, pagination } = presentPage(await cases.listPrices(query));
      const isFirst = (index: number) => query.page === 1 && index === 0;
      return {
        items: items.map(({ id, ...terms }, index) => ({ ...terms, version: id, isInForce: isFirst(index) })),
        pagination,
      };
    },
  }),
  routes.post('/ops/prices/preview', {
    permission: 'pricing',
    query: pricesQuery,
    body: previewBody,
    answer: [200, 'What would change; nothing was saved', pricePreviewSchema],
    operationId: 'previewPrices',
    summary: 'Preview new markups over the whole catalogue',
    description:
      'How many packages get dearer, cheaper, unsellable or cheaper than their cost, and one page of those whose price changes most.',
    async handle({ cases, query: { page, limit }, body }) {
      const preview = await cases.previewPrices(termsOf(body), { page, limit });
      const { items, pagination } = presentPage(preview.changes);
      return {
        ...preview,
        version: preview.before.id,
        nairaRate: rateOrNull(preview.rates.get('NGN')?.micros),
        items: items.map(({ cost, ...item }) => ({ ...item, costUsdE4: cost })),
        pagination,
      };
    },
  }),
  routes.post('/ops/prices', {
    permission: 'pricing',
    body: pricesBody,
    errors: ['PRICES_CHANGED'],
    answer: [200, 'Prices use them within a second', pricesSetSchema],
    operationId: 'setPrices',
    summary: 'Save new markups',
    description:
      'Refused where the settings in force are not those of the preview. Open purchases keep their quoted price.',
    async handle({ cases, session, body }) {
      const { version, reason } = body;
      const outcome = await cases.savePrices(session, { version, after: termsOf(body), reason });
      return { outcome: outcome === 'set' ? 'set' : 'unchanged' } as const;
    },
  }),
];
