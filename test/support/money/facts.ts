// Complete, plausible domain values for tests; a test sets only the fields it is about.
import { randomBytes } from 'node:crypto';
import type { CataloguePackage, Region } from '../../../src/catalogue/rules.ts';
import type { ProfileFacts } from '../../../src/esims/rules.ts';
import type { PurchaseInput } from '../../../src/purchases/purchase.ts';
import type { NewAccount } from '../../../src/accounts/store/accounts.ts';

export const newAccount = (given: Partial<NewAccount> = {}): NewAccount => ({
  id: `acc-${randomBytes(16).toString('hex')}`,
  type: 'USER',
  name: 'Ada',
  email: 'ada@example.com',
  currency: 'NGN',
  plan: 'STANDARD',
  enterpriseRequestsPerMinute: null,
  ...given,
});

export const region = (given: Partial<Region> = {}): Region => ({
  regionCode: 'NG',
  regionName: 'Nigeria',
  regionType: 'LC',
  countryCode: 'NG',
  flagUrl: 'https://img.example.com/ng.png',
  ...given,
});

export const basePackage = (given: Partial<CataloguePackage> = {}): CataloguePackage => ({
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
      ],
    },
    {
      locationName: 'Ghana',
      locationLogo: 'https://img.example.com/gh.png',
      locationCode: 'GH',
      operatorList: [{ operatorName: 'MTN', networkType: '5G' }],
    },
  ],
  ...given,
});

export const profileFacts = (given: Partial<ProfileFacts> = {}): ProfileFacts => ({
  orderNo: 'B1',
  esimTranNo: 'T1',
  iccid: '8901000000000000001',
  imsi: '001010000000001',
  msisdn: null,
  ac: 'LPA:1$rsp.example.com$MATCH-1',
  qrCodeUrl: 'https://p.example.com/qr.png',
  shortUrl: 'https://p.example.com/s',
  pin: null,
  puk: null,
  eid: '',
  smdpStatus: 'RELEASED',
  activeType: '2',
  activateTime: null,
  expiredTime: '2026-07-30T00:00:00.000Z',
  totalVolumeBytes: 5_368_709_120,
  orderUsageBytes: 0,
  totalDuration: 30,
  durationUnit: 'DAY',
  apn: 'internet',
  smsStatus: 0,
  dataType: 1,
  status: 'CREATED',
  ...given,
});

export const purchaseInput = (given: Partial<PurchaseInput> & { transactionId: string }): PurchaseInput => ({
  accountId: 'acc-1',
  packageType: 'BASE',
  packageCode: 'NG-5GB-30D',
  paymentMethod: 'WALLET',
  esimId: `esim-of-${given.transactionId}`,
  quote: {
    priceMinor: '1250',
    currency: 'USD',
    priceUsdMinor: '1250',
    costUsdE4: '100000',
    settingsId: 'initial',
  },
  requestId: 'req-1',
  timings: {
    answerWithinMs: 8_000,
    checkFirstMs: 250,
    checkMaxMs: 3_000,
    attentionAfterMs: 120_000,
    slowCheckMs: 10_000,
    inFlightGraceMs: 10_000,
    openChargeForMs: 600_000,
    checkoutMs: 86_400_000,
    transferMs: 1_800_000,
    pollFirstMs: 2_000,
    pollMaxMs: 600_000,
    refundCheckFirstMs: 500,
    refundCheckMaxMs: 10_000,
  },
  ...given,
});

/** As configured by default. */
export const PRICE_LIMITS = { changeBps: 1_000, supplierChangeBps: 5_000, allowsBelowCost: false };

/** No amount of an operator's action needs a second person. */
export const NO_LIMITS = { perAction: {}, perPersonDay: {}, perAccountDay: {} };
