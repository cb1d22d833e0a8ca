/** What was on sale at a given moment, for operators. */
import { z } from 'zod';
import { PACKAGE_TYPES } from '../../domain/states.ts';
import { isoTime, money, usd, dataObject } from '../../platform/http/answer-fields.ts';
import { textField, timeField } from '../../platform/http/fields.ts';
import { MAX_PACKAGE_CODE_CHARACTERS, MAX_REGION_CODE_CHARACTERS } from '../../platform/http/limits.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import { pageFields, paginationSchema, presentPage } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import type { PricingCases } from '../operator-pricing.ts';

const routes = operatorRoutes<PricingCases>('Rates and prices');

const onSaleQuery = z.object({
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

const onSaleSchema = dataObject('OnSale', {
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
        costUsd: usd('Our cost in US dollars, four decimals', 12.5),
        userPriceUsd: money(
          'Price for individual users; null: no markups are known of that moment',
        ).nullable(),
        merchantPriceUsd: money('Price for merchants; null: no markups are known of that moment').nullable(),
        validFrom: isoTime('When the catalogue sync found the package as it was'),
        validTo: isoTime('When it found the next change; null: the package is still the same').nullable(),
      }),
    )
    .describe('One page, by code, as each package was at that moment'),
  pagination: paginationSchema,
});

export const onSaleRoutes: readonly Route<PricingCases>[] = [
  routes.get('/ops/on-sale', {
    permission: 'pricing',
    query: onSaleQuery,
    answer: [200, 'One page, by package code', onSaleSchema],
    operationId: 'listOnSale',
    summary: 'List what was on sale at a given moment',
    description:
      'The packages on sale at that moment, top-ups included, with our cost and the prices in US dollars of that moment. ' +
      'A change counts from the catalogue sync that found it.',
    async handle({ cases, query: { at, packageCode, regionCode, page, limit } }) {
      const onSale = await cases.listOnSale({ at, packageCode, regionCode, page, limit });
      const { items, pagination } = presentPage(onSale.packages);
      return { ...onSale, items: items.map(({ cost, ...one }) => ({ ...one, costUsdE4: cost })), pagination };
    },
  }),
];
