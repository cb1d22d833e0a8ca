/** Where packages are sold, and from which price on. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { money } from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { moneyJson } from '../../platform/http/json.ts';
import type { RenderCache } from '../../platform/http/render-cache.ts';
import type { Route } from '../../platform/http/route.ts';
import type { CatalogueCases } from '../use-cases.ts';
import { regionSchema } from './shared.ts';

const routes = merchantRoutes<CatalogueCases>('Catalogue');

const regionsQuery = z.object({
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

const offeredRegion = regionSchema
  .extend({
    fromPrice: money(
      'The lowest price of a package in it; null while there is no current exchange rate',
    ).nullable(),
    currency: z.enum(ACCOUNT_CURRENCIES).describe('Of the account'),
  })
  .meta({ id: 'OfferedRegion' });

const catalogueRegions = z.array(offeredRegion);

const regionsRoute = (cache: RenderCache) =>
  routes.get('/api/esim/regions', {
    shapes: ['base'],
    query: regionsQuery,
    hasETag: true,
    answer: { 200: { description: 'All regions, or those of one kind', schema: catalogueRegions } },
    operationId: 'listRegions',
    summary: 'List regions',
    description:
      'Countries, multi-country regions and global offers, with the number of packages sold in each, and their lowest price.',
    handle({ cases, environment, principal: { account }, query: { type } }) {
      const { currency } = account;
      const render = async () => {
        const regions = await cases.listRegions(account, type === undefined ? {} : { type });
        return regions.map(({ fromPrice, ...region }) => ({
          ...region,
          fromPrice: fromPrice && moneyJson(fromPrice.amountMinor),
          currency,
        }));
      };
      const revision = cases.priceRevision(account);
      return cache.answer({ environment, revision }, ['regions', currency, type], render);
    },
  });

export const regionRoutes = (cache: RenderCache): readonly Route<CatalogueCases>[] => [regionsRoute(cache)];
