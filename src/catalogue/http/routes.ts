import type { Account } from '../../domain/account.ts';
import { isCleanText } from '../../platform/http/fields.ts';
import { MAX_PACKAGE_CODE_CHARACTERS } from '../../platform/http/limits.ts';
import type { RenderCache } from '../../platform/http/render-cache.ts';
import { READ, routesFor, type MissingFields, type RawInput, type Route } from '../../platform/http/route.ts';
import { presentChanges, presentPackage, presentPackageDetails, presentTopUp } from './present.ts';
import {
  catalogueRegions,
  changesQuery,
  packageChangesSchema,
  packageDetailsQuery,
  packageDetailsSchema,
  packageList,
  packagesQuery,
  regionsQuery,
} from './schema.ts';
import { dataAnswer } from '../../platform/http/answer-fields.ts';
import type { CatalogueCases } from '../use-cases.ts';

const defineRoute = routesFor<CatalogueCases>();

const TAG = 'Catalogue';

const regionsRoute = (cache: RenderCache) =>
  defineRoute({
    ...READ,
    path: '/api/esim/regions',
    shapes: ['base'],
    query: regionsQuery,
    hasETag: true,
    responses: { 200: { description: 'All regions, or those of one kind', schema: catalogueRegions } },
    docs: {
      operationId: 'listRegions',
      tag: TAG,
      summary: 'List regions',
      description:
        'Countries, multi-country regions and global offers, with the number of packages sold in each.',
    },
    handle({ cases, environment, query }) {
      const { type } = query;
      const render = () => cases.listRegions(type === undefined ? {} : { type });
      return cache.answer({ environment, revision: cases.catalogueRevision() }, ['regions', type], render);
    },
  });

const packagesRoute = (cache: RenderCache) =>
  defineRoute({
    ...READ,
    path: '/api/esim/packages',
    shapes: ['base', 'top-up'],
    pickShape: (raw) => (isTopUpList(raw) ? 'top-up' : 'base'),
    query: packagesQuery,
    missing: missingForPackages,
    errors: ['MISSING_REGION_CODE', 'REGION_NOT_FOUND', 'PACKAGE_NOT_FOUND', 'EXCHANGE_RATE_UNAVAILABLE'],
    hasETag: true,
    responses: {
      200: {
        description: 'BASE: packages in the account currency. TOPUP: top-ups that fit the package',
        schema: packageList,
      },
    },
    docs: {
      operationId: 'listPackages',
      tag: TAG,
      summary: 'List packages of a region, or top-ups of a package',
      description:
        'BASE lists what is sold in a region, at the final price in the account currency. TOPUP lists what can be added to an ' +
        'eSIM bought as `packageCode`; the list is empty when that package takes no top-ups.',
    },
    handle({ cases, environment, principal, query }) {
      const { account } = principal;
      const { regionCode, packageCode = '', currency, regionType } = query;
      if (query.type === 'TOPUP') {
        const cacheKey = ['top-ups', account.type, currency, regionCode, packageCode];
        const render = async () =>
          (await cases.listTopUps(account, { regionCode, packageCode, currency })).map(presentTopUp);
        return cache.answer({ environment, revision: cases.catalogueRevision() }, cacheKey, render);
      }
      const cacheKey = ['packages', account.type, account.currency, regionCode, regionType];
      const filter = regionType === undefined ? { regionCode } : { regionCode, regionType };
      const render = async () => (await cases.listPackages(account, filter)).map(presentPackage);
      return cache.answer({ environment, revision: cases.catalogueRevision() }, cacheKey, render);
    },
  });

function isTopUpList(raw: RawInput): boolean {
  return raw.query.get('type') === 'TOPUP';
}

/** The published texts for missing fields. */
function missingForPackages(raw: RawInput): MissingFields | undefined {
  const needed = isTopUpList(raw) ? ['regionCode', 'packageCode'] : ['regionCode'];
  const fields = needed.filter((name) => (raw.query.get(name) ?? '') === '');
  if (fields.length === 0) return undefined;
  return isTopUpList(raw)
    ? { code: 'VALIDATION_ERROR', message: 'regionCode and packageCode are required for TOPUP type', fields }
    : { code: 'MISSING_REGION_CODE', message: 'regionCode is required', fields };
}

const changesRoute = defineRoute({
  ...READ,
  path: '/api/esim/packages/changes',
  query: changesQuery,
  responses: { 200: { description: 'Changes, oldest first', schema: packageChangesSchema } },
  docs: {
    operationId: 'listPackageChanges',
    tag: TAG,
    summary: 'List what changed in the catalogue',
    description:
      'Every BASE package that was added, changed or withdrawn, in the order in which it happened. Pass `nextCursor` as `since` to go on: nothing is ' +
      'left out and nothing comes twice. Markups and exchange rates change prices without a change here: the ETag of the lists shows those.',
  },
  async handle({ cases, principal: { account }, query }) {
    const page = await cases.listPackageChanges(account, query);
    return dataAnswer(presentChanges(page, account.currency));
  },
});

const packageDetailsRoute = (cache: RenderCache) =>
  defineRoute({
    method: 'GET',
    path: '/api/esim/packages/{packageCode}',
    key: 'optional',
    scope: undefined,
    shapes: ['top-up'],
    params: {
      packageCode: {
        description: 'A package code; with `TOPUP_` in front, or with `type=TOPUP`, a top-up',
        example: 'SIM-OK',
        isPossible: (text) => text.length <= MAX_PACKAGE_CODE_CHARACTERS && isCleanText(text),
        notFound: { code: 'PACKAGE_NOT_FOUND', message: 'Package not found' },
      },
    },
    query: packageDetailsQuery,
    errors: ['EXCHANGE_RATE_UNAVAILABLE'],
    hasETag: true,
    responses: { 200: { description: 'The package', schema: packageDetailsSchema } },
    docs: {
      operationId: 'getPackage',
      tag: TAG,
      summary: 'Read one package',
      description: 'Works without a key; with one, the price follows the account type (User or Merchant).',
    },
    handle({ cases, environment, principal, params, query }) {
      const packageCode = params['packageCode'] ?? '';
      const { type: packageType, currency } = query;
      const account: Account | undefined = principal?.account;
      const cacheKey = ['package', account?.type, currency, packageType, packageCode];
      const render = async () =>
        presentPackageDetails(await cases.getPackage(account, { packageCode, packageType, currency }));
      return cache.answer({ environment, revision: cases.catalogueRevision() }, cacheKey, render);
    },
  });

/** Many callers read the same lists, so each body is rendered once per catalogue revision. */
export const catalogueRoutes = (cache: RenderCache): readonly Route<CatalogueCases>[] => [
  regionsRoute(cache),
  packagesRoute(cache),
  changesRoute,
  packageDetailsRoute(cache),
];
