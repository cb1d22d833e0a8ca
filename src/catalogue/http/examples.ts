/** Examples of the reference: regions, packages and rates. */
import { OPENED, type ExamplesByOperation } from '../../platform/http/docs/sample.ts';

export const flag = (name: string, packageCount: number) => ({
  flagUrl: `https://p.qrsim.net/img/flags/${name}.png`,
  packageCount,
});
const nigeria = {
  locationName: 'Nigeria',
  locationCode: 'NG',
  operatorList: [{ operatorName: 'MTN', networkType: '4G' }],
};
const usdPackage = {
  name: 'Nigeria 1GB 7Days',
  price: 1.84,
  currencyCode: 'USD',
  volume: 1073741824,
  duration: 7,
  durationUnit: 'DAY',
  speed: '3G/4G/5G',
  description: 'Nigeria 1GB 7Days',
};
const coverage = { coverage: ['Nigeria'], networkProviders: ['MTN', 'Airtel'] };
const CURSOR = 'cGFja2FnZS1jaGFuZ2VzOjMwNDI';
const change = {
  at: OPENED,
  packageCode: 'PJW5VJXA1P',
  packageName: 'Nigeria 1GB 7Days',
  regionCode: 'NG',
  currency: 'NGN',
};

export const CATALOGUE_EXAMPLES: ExamplesByOperation = {
  listRegions: {
    200: {
      'a country and a region': [
        { regionCode: 'NG', regionName: 'Nigeria', regionType: 'LC', countryCode: 'NG', ...flag('ng', 9) },
        {
          regionCode: 'AF-34',
          regionName: 'Africa',
          regionType: 'RG',
          countryCode: null,
          ...flag('af-34', 13),
        },
      ],
    },
  },
  listPackages: {
    200: {
      BASE: [
        {
          packageCode: 'PJW5VJXA1P',
          packageName: 'Nigeria 1GB 7Days',
          data: '1 GB',
          validity: 7,
          price: 3032.32,
          currency: 'NGN',
          originalPriceUSD: 1.84,
          ...coverage,
          dataType: 'Data only',
          speed: '3G/4G/5G',
          activation: 'Validity starts when the eSIM first connects to a network',
          topUpAvailable: true,
        },
      ],
      TOPUP: [{ packageCode: 'TOPUP_PJW5VJXA1P', ...usdPackage, locationNetworkList: [nigeria] }],
      'TOPUP, the package takes none': [],
    },
  },
  getPackage: {
    200: {
      'in US dollars': {
        packageCode: 'PJW5VJXA1P',
        ...usdPackage,
        unusedValidTime: 180,
        location: 'NG',
        locationCode: 'NG',
        locationNetworkList: [{ ...nigeria, locationLogo: 'https://p.qrsim.net/img/flags/ng.png' }],
      },
    },
  },
  listPackageChanges: {
    200: {
      'a new price and a withdrawal': {
        success: true,
        data: {
          items: [
            { ...change, kind: 'CHANGED', changedFields: ['price'], price: 3032.32 },
            { ...change, kind: 'WITHDRAWN', changedFields: ['availability'], price: null },
          ],
          nextCursor: CURSOR,
          hasMore: false,
        },
      },
      'nothing new': { success: true, data: { items: [], nextCursor: CURSOR, hasMore: false } },
    },
  },
  getExchangeRate: {
    200: {
      rate: {
        success: true,
        message: 'Current exchange rate',
        data: { rate: 1600, baseCurrency: 'USD', currency: 'NGN' },
      },
    },
  },
};
