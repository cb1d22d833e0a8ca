/** Where packages are sold. */
import { z } from 'zod';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
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

const catalogueRegions = z.array(regionSchema);

const regionsRoute = (cache: RenderCache) =>
  routes.get('/api/esim/regions', {
    shapes: ['base'],
    query: regionsQuery,
    hasETag: true,
    answer: { 200: { description: 'All regions, or those of one kind', schema: catalogueRegions } },
    operationId: 'listRegions',
    summary: 'List regions',
    description:
      'Countries, multi-country regions and global offers, with the number of packages sold in each.',
    handle({ cases, environment, query }) {
      const { type } = query;
      const render = () => cases.listRegions(type === undefined ? {} : { type });
      return cache.answer({ environment, revision: cases.catalogueRevision() }, ['regions', type], render);
    },
  });

export const regionRoutes = (cache: RenderCache): readonly Route<CatalogueCases>[] => [regionsRoute(cache)];
