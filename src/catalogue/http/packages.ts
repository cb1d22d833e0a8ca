/** Packages of a region, top-ups of a package, and one of them. */
import { z } from 'zod';
import type { Account } from '../../domain/account.ts';
import { ACCOUNT_CURRENCIES, type AccountCurrency } from '../../domain/money.ts';
import { PACKAGE_TYPES } from '../../domain/states.ts';
import { money, text, count, namedObject } from '../../platform/http/answer-fields.ts';
import { merchantRoutes, routesWith } from '../../platform/http/define-routes.ts';
import { choiceField, currencyField, isCleanText, textField } from '../../platform/http/fields.ts';
import { moneyJson } from '../../platform/http/json.ts';
import { MAX_PACKAGE_CODE_CHARACTERS, MAX_REGION_CODE_CHARACTERS } from '../../platform/http/limits.ts';
import { presenter, type View } from '../../platform/http/present.ts';
import type { RenderCache } from '../../platform/http/render-cache.ts';
import { type MissingFields, type RawInput, type Route } from '../../platform/http/route.ts';
import type { PricedPackage } from '../prices.ts';
import { DURATION_UNITS, REGION_TYPES, snapshotOf, validityDays } from '../rules.ts';
import type { CatalogueCases } from '../use-cases.ts';

const TAG = 'Catalogue';
const routes = merchantRoutes<CatalogueCases>(TAG);
const openRoutes = routesWith<CatalogueCases, 'optional'>('optional', TAG, {
  params: {
    packageCode: {
      description: 'A package code; with `TOPUP_` in front, or with `type=TOPUP`, a top-up',
      example: 'SIM-OK',
      isPossible: (code) => code.length <= MAX_PACKAGE_CODE_CHARACTERS && isCleanText(code),
      notFound: { code: 'PACKAGE_NOT_FOUND', message: 'Package not found' },
    },
  },
});

const packageType = choiceField(PACKAGE_TYPES, {
  description: 'BASE makes a new eSIM, TOPUP adds data to one',
});

const packagesQuery = z.object({
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

const packageDetailsQuery = z.object({
  type: packageType.default('BASE'),
  currency: currencyField({ description: 'The currency of `price`' }),
});

const packageSchema = namedObject('Package', {
  packageCode: z.string(),
  packageName: z.string(),
  data: text('Allowance', '5 GB'),
  validity: count('Days'),
  price: money('In the account currency'),
  currency: z.enum(ACCOUNT_CURRENCIES),
  originalPriceUSD: money('The same price in US dollars'),
  coverage: z.array(z.string()).describe('Covered countries'),
  networkProviders: z.array(z.string()).describe('Operators'),
  dataType: z.string().meta({ example: 'Data only' }),
  speed: z.string().meta({ example: '3G/4G/5G' }),
  activation: text('When validity starts'),
  topUpAvailable: z.boolean(),
});

const networkSchema = z.object({
  locationName: z.string(),
  locationCode: z.string(),
  operatorList: z.array(z.object({ operatorName: z.string(), networkType: z.string() })),
});

const topUpPackageSchema = namedObject('TopUpPackage', {
  packageCode: text('The code to send when buying'),
  name: z.string(),
  price: money('In `currencyCode`'),
  currencyCode: z.string().meta({ example: 'USD' }),
  volume: count('Bytes; for a top-up the bytes added'),
  duration: count('In `durationUnit`'),
  durationUnit: z.enum(DURATION_UNITS),
  speed: z.string(),
  description: z.string(),
  locationNetworkList: z.array(networkSchema),
});

const packageDetailsSchema = namedObject('PackageDetails', {
  ...topUpPackageSchema.shape,
  unusedValidTime: count('Days to install before it lapses'),
  location: z.string(),
  locationCode: z.string(),
  locationNetworkList: z.array(networkSchema.extend({ locationLogo: z.string() })),
});

const packageList = z.union([z.array(packageSchema), z.array(topUpPackageSchema)]);

const packagesRoute = (cache: RenderCache) =>
  routes.get('/api/esim/packages', {
    shapes: ['base', 'top-up'],
    pickShape: (raw) => (isTopUpList(raw) ? 'top-up' : 'base'),
    query: packagesQuery,
    missing: missingForPackages,
    errors: ['MISSING_REGION_CODE', 'REGION_NOT_FOUND', 'PACKAGE_NOT_FOUND', 'EXCHANGE_RATE_UNAVAILABLE'],
    hasETag: true,
    answer: {
      200: {
        description: 'BASE: packages in the account currency. TOPUP: top-ups that fit the package',
        schema: packageList,
      },
    },
    operationId: 'listPackages',
    summary: 'List packages of a region, or top-ups of a package',
    description:
      'BASE lists what is sold in a region, at the final price in the account currency. TOPUP lists what can be added to an ' +
      'eSIM bought as `packageCode`; the list is empty when that package takes no top-ups.',
    handle({ cases, environment, principal, query }) {
      const { account } = principal;
      const revision = cases.priceRevision(account);
      const { regionCode, packageCode = '', currency, regionType } = query;
      if (query.type === 'TOPUP') {
        const cacheKey = ['top-ups', currency, regionCode, packageCode];
        const render = async () =>
          (await cases.listTopUps(account, { regionCode, packageCode, currency })).map((one) =>
            presentTopUp(offerOf(one)),
          );
        return cache.answer({ environment, revision }, cacheKey, render);
      }
      const cacheKey = ['packages', account.currency, regionCode, regionType];
      const filter = regionType === undefined ? { regionCode } : { regionCode, regionType };
      const render = async () => (await cases.listPackages(account, filter)).map(presentPackage);
      return cache.answer({ environment, revision }, cacheKey, render);
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

const packageDetailsRoute = (cache: RenderCache) =>
  openRoutes.get('/api/esim/packages/{packageCode}', {
    shapes: ['top-up'],
    query: packageDetailsQuery,
    errors: ['EXCHANGE_RATE_UNAVAILABLE'],
    hasETag: true,
    answer: { 200: { description: 'The package', schema: packageDetailsSchema } },
    operationId: 'getPackage',
    summary: 'Read one package',
    description: 'Works without a key; with one, the price follows the account type (User or Merchant).',
    handle({ cases, environment, principal, params, query }) {
      const packageCode = params.packageCode;
      const { type: packageType, currency } = query;
      const account: Account | undefined = principal?.account;
      const revision = cases.priceRevision(account);
      const cacheKey = ['package', currency, packageType, packageCode];
      const render = async () =>
        presentDetails(offerOf(await cases.getPackage(account, { packageCode, packageType, currency })));
      return cache.answer({ environment, revision }, cacheKey, render);
    },
  });

function presentPackage(view: PricedPackage): View<z.output<typeof packageSchema>> {
  const { item, price, priceUsdMinor } = view;
  return {
    packageCode: item.packageCode,
    packageName: item.name,
    validity: validityDays(item.duration, item.durationUnit),
    price: moneyJson(price.amountMinor),
    currency: price.currency as AccountCurrency,
    originalPriceUSD: moneyJson(priceUsdMinor),
    // As it is stored with the order.
    ...snapshotOf(item),
    activation:
      item.activeType === 1
        ? 'Validity starts when the eSIM is installed'
        : 'Validity starts when the eSIM first connects to a network',
    topUpAvailable: item.topUpAvailable,
  };
}

const presentTopUp = presenter(topUpPackageSchema);
const presentDetails = presenter(packageDetailsSchema);

const offerOf = ({ item, price }: PricedPackage) => ({
  ...item,
  price,
  currencyCode: price.currency,
  volume: item.volumeBytes,
  unusedValidTime: item.unusedValidDays,
  locationNetworkList: item.networks,
});

/** Many callers read the same lists, so each body is rendered once per catalogue revision. */
export const packageRoutes = (cache: RenderCache): readonly Route<CatalogueCases>[] => [
  packagesRoute(cache),
  packageDetailsRoute(cache),
];
