/** What was on sale at a given moment, for operators. */
import { z } from 'zod';
import { PACKAGE_TYPES } from '../../domain/states.ts';
import { dataAnswer, dataSchema, isoTime, money, type Data } from '../../platform/http/answer-fields.ts';
import { textField, timeField } from '../../platform/http/fields.ts';
import { MAX_PACKAGE_CODE_CHARACTERS, MAX_REGION_CODE_CHARACTERS } from '../../platform/http/limits.ts';
import { environmentField, opsRoutesFor } from '../../platform/http/ops-route.ts';
import { pageFields, paginationSchema, presentPage } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import type { OnSaleView, PricingCases } from '../operator-pricing.ts';
import { costJson, priceOrNull } from './pricing-fields.ts';

const defineOpsRoute = opsRoutesFor<PricingCases>();
const TAG = 'Rates and prices';

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

const onSaleSchema = dataSchema(
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
      .describe('One page, by code, as each package was at that moment'),
    pagination: paginationSchema,
  }),
  'OnSale',
);

const onSaleRoute = defineOpsRoute({
  method: 'GET',
  path: '/ops/on-sale',
  permission: 'pricing',
  query: onSaleQuery,
  responses: { 200: { description: 'One page, by package code', schema: onSaleSchema } },
  docs: {
    operationId: 'listOnSale',
    tag: TAG,
    summary: 'List what was on sale at a given moment',
    description:
      'The packages on sale at that moment, top-ups included, with our cost and the prices in US dollars of that moment. ' +
      'A change counts from the catalogue sync that found it.',
  },
  handle: async ({ cases, query: { at, packageCode, regionCode, page, limit } }) =>
    dataAnswer(presentOnSale(await cases.listOnSale({ at, packageCode, regionCode, page, limit }))),
});

function presentOnSale({ at, knownSince, packages }: OnSaleView): Data<typeof onSaleSchema> {
  return {
    at,
    knownSince,
    ...presentPage(
      packages,
      ({ packageCode, name, packageType, regionCode, cost, validFrom, validTo, ...price }) => ({
        ...{ packageCode, name, packageType, regionCode, validFrom, validTo },
        costUsd: costJson(cost),
        userPriceUsd: priceOrNull(price.userPriceUsdMinor),
        merchantPriceUsd: priceOrNull(price.merchantPriceUsdMinor),
      }),
    ).data,
  };
}

export const onSaleRoutes: readonly Route<PricingCases>[] = [onSaleRoute];
