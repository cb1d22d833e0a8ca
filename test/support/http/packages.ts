// The packages of the shop in HTTP tests: fixed values that the shape tests compare with.
import type { CataloguePackage, Region } from '../../../src/catalogue/rules.ts';
import { basePackage, region } from '../money/facts.ts';

export const NOW = new Date('2026-01-31T09:30:00.250Z');

export const regions: readonly Region[] = [
  region(),
  region({
    regionCode: 'EU-42',
    regionName: 'Europe',
    regionType: 'RG',
    countryCode: null,
    flagUrl: 'https://img.example.com/eu.png',
  }),
  region({
    regionCode: 'GL-120',
    regionName: 'Global',
    regionType: 'GL',
    countryCode: null,
    flagUrl: 'https://img.example.com/gl.png',
  }),
];

export const baseItem: CataloguePackage = basePackage({
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
});

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
