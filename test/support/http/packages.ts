// What the shop of HTTP tests sells: fixed values that the shape tests compare with.
import type { CataloguePackage, Region } from '../../../src/catalogue/rules.ts';

export const NOW = new Date('2026-01-31T09:30:00.250Z');

export const regions: readonly Region[] = [
  {
    regionCode: 'NG',
    regionName: 'Nigeria',
    regionType: 'LC',
    countryCode: 'NG',
    flagUrl: 'https://img.example.com/ng.png',
  },
  {
    regionCode: 'EU-42',
    regionName: 'Europe',
    regionType: 'RG',
    countryCode: null,
    flagUrl: 'https://img.example.com/eu.png',
  },
  {
    regionCode: 'GL-120',
    regionName: 'Global',
    regionType: 'GL',
    countryCode: null,
    flagUrl: 'https://img.example.com/gl.png',
  },
];

export const baseItem: CataloguePackage = {
  packageCode: 'NG-5GB-30D',
  packageType: 'BASE',
  slug: 'NG_5_30',
  name: 'Nigeria 5GB 30Days',
  regionCode: 'NG',
  regionType: 'LC',
  cost: 100_000n,
  volumeBytes: 5_368_709_120,
  dataType: 1,
  duration: 30,
  durationUnit: 'DAY',
  unusedValidDays: 180,
  speed: '3G/4G',
  description: 'Nigeria 5GB 30Days',
  activeType: 2,
  topUpAvailable: true,
  location: 'NG',
  locationCode: 'NG',
  networks: [
    {
      locationName: 'Nigeria',
      locationLogo: 'https://img.example.com/ng.png',
      locationCode: 'NG',
      operatorList: [
        { operatorName: 'MTN', networkType: '4G' },
        { operatorName: 'Airtel', networkType: '4G' },
        { operatorName: 'MTN', networkType: '5G' },
      ],
    },
  ],
};

export const topUpItem: CataloguePackage = {
  ...baseItem,
  packageCode: 'TOPUP_NG-1GB-7D',
  packageType: 'TOPUP',
  name: 'Nigeria 1GB 7Days',
  cost: 20_000n,
  volumeBytes: 1_073_741_824,
  duration: 7,
};

/** One package each for the regions of many countries. */
export const regionItems: readonly CataloguePackage[] = (['EU-42', 'GL-120'] as const).map((regionCode) => ({
  ...baseItem,
  packageCode: `${regionCode}-5GB-30D`,
  regionCode,
  regionType: regionCode === 'EU-42' ? 'RG' : 'GL',
}));
