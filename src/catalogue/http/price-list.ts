/** All prices of the caller's account, to read or to download. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import {
  count,
  CSV,
  csvAnswer,
  dataObject,
  isoTime,
  money,
  text,
} from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { pageFields, paginationSchema, presentPage } from '../../platform/http/page.ts';
import { presenter } from '../../platform/http/present.ts';
import type { RenderCache } from '../../platform/http/render-cache.ts';
import type { Route } from '../../platform/http/route.ts';
import { PRICE_LIST_COLUMNS } from '../price-list.ts';
import type { CatalogueCases } from '../use-cases.ts';

const routes = merchantRoutes<CatalogueCases>('Catalogue');

const priceListQuery = z.object(pageFields);

const priceListSchema = dataObject('PriceList', {
  items: z.array(
    z.object({
      packageCode: z.string(),
      packageName: z.string(),
      regionCode: z.string(),
      regionName: z.string(),
      countries: text('Country codes', 'NG'),
      data: text('Allowance', '5 GB'),
      validity: count('Days'),
      price: money('In the account currency: what buying charges'),
      currency: z.enum(ACCOUNT_CURRENCIES).describe('Of the account'),
      validUntil: isoTime(
        'When this price changes because an agreed price begins or ends; null: no such time is known. ' +
          'The cost, the markup and the exchange rate may change it earlier',
      ).nullable(),
    }),
  ),
  pagination: paginationSchema,
});

const present = presenter(priceListSchema);
const csvSchema = text(`The columns ${PRICE_LIST_COLUMNS.join(', ')}`);

export const priceListRoutes = (cache: RenderCache): readonly Route<CatalogueCases>[] => [
  routes.get('/api/esim/price-list', {
    query: priceListQuery,
    errors: ['EXCHANGE_RATE_UNAVAILABLE'],
    hasETag: true,
    answer: {
      200: { description: 'One page, by region', schema: priceListSchema, alsoAs: { [CSV]: csvSchema } },
    },
    operationId: 'getPriceList',
    summary: 'Read or download your price list',
    description:
      'Every BASE package at the prices of your account, in its currency. With `Accept: text/csv` the whole list as a CSV file, without pages.',
    async handle({ cases, environment, principal: { account }, query, visitor }) {
      if (visitor.preferredType('application/json', CSV) === CSV)
        return csvAnswer('price-list', await cases.exportPrices(account));
      const revision = cases.priceRevision(account);
      return cache.answer(
        { environment, revision },
        ['price-list', account.currency, query.page, query.limit],
        async () => present({ success: true, data: presentPage(await cases.listPrices(account, query)) }),
      );
    },
  }),
];
