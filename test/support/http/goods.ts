// What the in-memory shop sells, and to whom: fixed values that the shape tests compare with.
import type { Account } from '../../../src/domain/account.ts';
import type { CataloguePackage } from '../../../src/catalogue/rules.ts';
import type { RegionView } from '../../../src/catalogue/memory.ts';

export const NOW = new Date('2026-01-31T09:30:00.250Z');

export function account(name: 'ngn' | 'usd' | 'slow' | 'usduser'): Account {
  const id = { ngn: '1', usd: '2', slow: '3', usduser: '4' }[name].padStart(32, '0');
  return {
    id: `acc-${id}`,
    type: name === 'usd' ? 'MERCHANT' : 'USER',
    name,
    email: `${name}@example.com`,
    currency: name.startsWith('usd') ? 'USD' : 'NGN',
    plan: name === 'slow' ? 'STANDARD' : 'ENTERPRISE',
    requestsPerMinute: name === 'slow' ? 5 : 1_000_000,
  };
}

export const regionViews: readonly RegionView[] = [
  {
    regionCode: 'NG',
    regionName: 'Nigeria',
    regionType: 'LC',
    countryCode: 'NG',
    flagUrl: 'https://img.example.com/ng.png',
    packageCount: 1,
  },
  {
    regionCode: 'EU-42',
    regionName: 'Europe',
    regionType: 'RG',
    countryCode: null,
    flagUrl: 'https://img.example.com/eu.png',
    packageCount: 7,
  },
  {
    regionCode: 'GL-120',
    regionName: 'Global',
    regionType: 'GL',
    countryCode: null,
    flagUrl: 'https://img.example.com/gl.png',
    packageCount: 3,
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
