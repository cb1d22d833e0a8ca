// Every route's success answer, field by field as documented: exact names, exact numbers, exact amounts of
// money.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startApi, type TestApi, type Reply } from '../support/http/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const TIME: unknown = expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const ICCID: unknown = expect.stringMatching(/^8944300\d{12}$/);

const BUY_BASE = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };

async function buyBase(key = 'ngn'): Promise<{ transactionId: string; esimId: string }> {
  const reply = await api.ask('/api/esim/buy', { key, body: BUY_BASE });
  expect(reply.status).toBe(201);
  const bought = reply.json as { transactionId: string; esimDetails: { esimId: string } };
  return { transactionId: bought.transactionId, esimId: bought.esimDetails.esimId };
}

function expectJson(reply: Reply, status: number, body: unknown): void {
  expect(reply.json).toEqual(body);
  expect(reply.status).toBe(status);
  expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(reply.headers['x-content-type-options']).toBe('nosniff');
  // An answer with an ETag may be cached by the caller.
  expect(reply.headers['cache-control']).toBe(reply.headers['etag'] ? 'private, no-cache' : 'no-store');
}

const NIGERIA = {
  regionCode: 'NG',
  regionName: 'Nigeria',
  regionType: 'LC',
  countryCode: 'NG',
  flagUrl: 'https://img.example.com/ng.png',
  packageCount: 1,
  fromPrice: 19178.13,
  currency: 'NGN',
};

test('regions are a bare array, all or by kind', async () => {
  const all = await api.ask('/api/esim/regions', { key: 'ngn', example: 'a country and regions' });
  expect((all.json as unknown[]).length).toBe(3);
  expect(all.json).toContainEqual(NIGERIA);
  expectJson(await api.ask('/api/esim/regions?type=1', { key: 'ngn' }), 200, [NIGERIA]);
  const many = await api.ask('/api/esim/regions?type=2', { key: 'ngn' });
  expect((many.json as { regionType: string; countryCode: null }[]).map((one) => one.regionType)).toEqual([
    'RG',
    'GL',
  ]);
  expect((many.json as { countryCode: null }[]).map((one) => one.countryCode)).toEqual([null, null]);
  expect((await api.ask('/api/esim/regions?type=1', { key: 'usd' })).json).toEqual([
    { ...NIGERIA, fromPrice: 12.5, currency: 'USD' },
  ]);
});

test('packages (BASE) have the catalogue shape in the account currency', async () => {
  const reply = await api.ask('/api/esim/packages?regionCode=NG', { key: 'ngn', example: 'BASE' });
  expectJson(reply, 200, [
    {
      packageCode: 'NG-5GB-30D',
      packageName: 'Nigeria 5GB 30Days',
      data: '5 GB',
      validity: 30,
      price: 19178.13,
      currency: 'NGN',
      originalPriceUSD: 12.5,
      coverage: ['Nigeria'],
      networkProviders: ['MTN', 'Airtel'],
      dataType: 'Data only',
      speed: '3G/4G',
      activation: 'Validity starts when the eSIM first connects to a network',
      topUpAvailable: true,
    },
  ]);
  const usd = await api.ask('/api/esim/packages?regionCode=NG&type=BASE&regionType=LC', { key: 'usd' });
  expect(usd.json).toMatchObject([{ price: 12.5, currency: 'USD', originalPriceUSD: 12.5 }]);
});

const TOP_UP = {
  packageCode: 'TOPUP_NG-1GB-7D',
  name: 'Nigeria 1GB 7Days',
  price: 2.5,
  currencyCode: 'USD',
  volume: 1_073_741_824,
  duration: 7,
  durationUnit: 'DAY',
  speed: '3G/4G',
  description: 'Nigeria 5GB 30Days',
};
const OPERATORS = [
  { operatorName: 'MTN', networkType: '4G' },
  { operatorName: 'Airtel', networkType: '4G' },
  { operatorName: 'MTN', networkType: '5G' },
];

test('packages (TOPUP) have the top-up shape in USD unless another currency is requested, and may be empty', async () => {
  const query = 'type=TOPUP&regionCode=NG&packageCode=NG-5GB-30D';
  expectJson(await api.ask(`/api/esim/packages?${query}`, { key: 'ngn', example: 'TOPUP' }), 200, [
    {
      ...TOP_UP,
      locationNetworkList: [{ locationName: 'Nigeria', locationCode: 'NG', operatorList: OPERATORS }],
    },
  ]);
  const naira = await api.ask(`/api/esim/packages?${query}&currency=NGN`, { key: 'ngn' });
  expect(naira.json).toMatchObject([{ price: 3835.63, currencyCode: 'NGN' }]);
  const none = '/api/esim/packages?type=TOPUP&regionCode=EU-42&packageCode=EU-42-5GB-30D';
  expectJson(await api.ask(none, { key: 'ngn', example: 'TOPUP, the package takes none' }), 200, []);
});

test.each([
  ['/api/esim/packages/TOPUP_NG-1GB-7D', 'the prefix alone'],
  ['/api/esim/packages/TOPUP_NG-1GB-7D?type=TOPUP', 'prefix and type'],
  ['/api/esim/packages/TOPUP_NG-1GB-7D?type=BASE', 'prefix against type'],
])('package details have the top-up shape: %s (%s)', async (target) => {
  expect((await api.ask(target)).json).toMatchObject(TOP_UP);
});

test('package details have the detail shape, with and without a key', async () => {
  const details = {
    packageCode: 'NG-5GB-30D',
    name: 'Nigeria 5GB 30Days',
    price: 12.5,
    currencyCode: 'USD',
    volume: 5_368_709_120,
    duration: 30,
    durationUnit: 'DAY',
    speed: '3G/4G',
    description: 'Nigeria 5GB 30Days',
    unusedValidTime: 180,
    location: 'NG',
    locationCode: 'NG',
    locationNetworkList: [
      {
        locationName: 'Nigeria',
        locationLogo: 'https://img.example.com/ng.png',
        locationCode: 'NG',
        operatorList: OPERATORS,
      },
    ],
  };
  expectJson(await api.ask('/api/esim/packages/NG-5GB-30D', { example: 'in US dollars' }), 200, details);
  expectJson(await api.ask('/api/esim/packages/NG-5GB-30D', { key: 'ngn' }), 200, details);
  const naira = await api.ask('/api/esim/packages/NG-5GB-30D?currency=NGN');
  expect(naira.json).toMatchObject({ price: 19178.13, currencyCode: 'NGN' });
});

test('buy (BASE) answers 201 with install details on SUCCESS', async () => {
  expectJson(
    await api.ask('/api/esim/buy', { key: 'ngn', body: BUY_BASE, example: 'new eSIM, WALLET' }),
    201,
    {
      transactionId: 'txn-00000000000000000000000000000001',
      status: 'SUCCESS',
      reference: '',
      metadata: {},
      package: {
        packageCode: 'NG-5GB-30D',
        packageName: 'Nigeria 5GB 30Days',
        price: 19178.13,
        currency: 'NGN',
      },
      esimDetails: {
        esimId: 'esim-00000000000000000000000000000001',
        iccid: ICCID,
        qrCodeUrl: 'https://qr.example.com/0001.png',
        activationCode: 'LPA:1$rsp.example.com$MATCHING-0001',
        smdpAddress: 'rsp.example.com',
        matchingId: 'MATCHING-0001',
      },
    },
  );
});

test('buy (BASE) answers 201 without install details while PROCESSING', async () => {
  api.shop.vendors.supplier = 'is allocating';
  const example = { answer: 'new eSIM, WALLET, not delivered yet' };
  expectJson(await api.ask('/api/esim/buy', { key: 'usd', body: BUY_BASE, example }), 201, {
    transactionId: 'txn-00000000000000000000000000000001',
    status: 'PROCESSING',
    reference: '',
    metadata: {},
    package: { packageCode: 'NG-5GB-30D', packageName: 'Nigeria 5GB 30Days', price: 12.5, currency: 'USD' },
  });
});

test('buy (TOPUP) answers 200 with the new totals and a message', async () => {
  const { esimId } = await buyBase();
  const body = { packageCode: 'TOPUP_NG-1GB-7D', paymentMethod: 'WALLET', packageType: 'TOPUP', esimId };
  expectJson(await api.ask('/api/esim/buy', { key: 'ngn', body, example: 'top-up, WALLET' }), 200, {
    transactionId: 'txn-00000000000000000000000000000002',
    status: 'SUCCESS',
    reference: '',
    metadata: {},
    message: 'Top-up successful',
    package: {
      packageCode: 'TOPUP_NG-1GB-7D',
      name: 'Nigeria 1GB 7Days',
      price: 3835.63,
      currencyCode: 'NGN',
      volume: 1_073_741_824,
      duration: 7,
    },
    esimDetails: { iccid: ICCID, totalVolume: 6_442_450_944, dataRemaining: 6_000_000_000, usageAsOf: TIME },
  });
});

const LISTED = {
  _id: 'esim-00000000000000000000000000000001',
  packageCode: 'NG-5GB-30D',
  packageName: 'Nigeria 5GB 30Days',
  transactionId: 'txn-00000000000000000000000000000001',
  iccid: ICCID,
  qrCodeUrl: 'https://qr.example.com/0001.png',
  activationCode: 'LPA:1$rsp.example.com$MATCHING-0001',
  esimStatus: 'CREATED',
  data: '5 GB',
  totalVolume: 5_368_709_120,
  orderUsage: 442_450_944,
  data_usage_remain: 4_926_258_176,
  usageAsOf: TIME,
  validity: 30,
  activateTime: TIME,
  expiredTime: '',
  createdAt: TIME,
  price: 19178.13,
  currency: 'NGN',
};

test('my-esims is a flat page with exactly the listed fields', async () => {
  await buyBase();
  await buyBase();
  const reply = await api.ask('/api/esim/my-esims?limit=1&search=', { key: 'ngn', example: 'one eSIM' });
  expectJson(reply, 200, {
    esims: [
      {
        ...LISTED,
        _id: 'esim-00000000000000000000000000000002',
        transactionId: 'txn-00000000000000000000000000000002',
        packageDetails: { coverage: ['Nigeria'], networkProviders: ['MTN', 'Airtel'] },
      },
    ],
    total: 2,
    page: 1,
    limit: 1,
    totalPages: 2,
    totalIsMinimum: false,
    nextCursor: 'esim-00000000000000000000000000000002',
  });
  const next = `/api/esim/my-esims?limit=1&after=${api.idOf('esim-00000000000000000000000000000002')}`;
  expect((await api.ask(next, { key: 'ngn' })).json).toMatchObject({
    esims: [{ _id: 'esim-00000000000000000000000000000001' }],
    nextCursor: '',
  });
  await api.shop.setBalance(5_000_000n);
  await buyBase();
  const second = await api.ask('/api/esim/my-esims?limit=2&page=2', { key: 'ngn' });
  expect(second.json).toMatchObject({
    total: 3,
    page: 2,
    limit: 2,
    totalPages: 2,
    esims: [{ esimStatus: 'CREATED' }],
  });
  expectJson(await api.ask('/api/esim/my-esims', { key: 'usd' }), 200, {
    esims: [],
    total: 0,
    page: 1,
    limit: 10,
    totalPages: 0,
    totalIsMinimum: false,
    nextCursor: '',
  });
});

test('eSIM details have the full shape', async () => {
  const { esimId } = await buyBase();
  expectJson(await api.ask(`/api/esim/${esimId}`, { key: 'ngn', example: 'delivered' }), 200, {
    ...LISTED,
    orderNo: 'B-txn-00000000000000000000000000000001',
    esimTranNo: expect.stringMatching(/^\d{12}$/) as unknown,
    imsi: '454000000000001',
    msisdn: null,
    ac: 'LPA:1$rsp.example.com$MATCHING-0001',
    shortUrl: 'https://qr.example.com/0001',
    smdpAddress: 'rsp.example.com',
    matchingId: 'MATCHING-0001',
    eid: '',
    smdpStatus: 'RELEASED',
    activeType: '2',
    durationUnit: 'DAY',
    totalDuration: 30,
    validity_usage_remain: 30,
    pin: '1234',
    puk: null,
    apn: 'internet',
    smsStatus: 0,
    dataType: 1,
    packageDetails: {
      coverage: ['Nigeria'],
      networkProviders: ['MTN', 'Airtel'],
      dataType: 'Data only',
      speed: '3G/4G',
    },
    isActive: false,
    updatedAt: TIME,
  });
});

test('transactions have the purchase result with its timeline, and the reason when it failed', async () => {
  const { transactionId } = await buyBase();
  const timelineOf = (...steps: string[]) => steps.map((what) => ({ at: TIME, what }));
  const done = await api.ask(`/api/esim/transactions/${transactionId}`, {
    key: 'ngn',
    example: 'delivered, from the wallet',
  });
  expect(done.json).toMatchObject({
    transactionId,
    status: 'SUCCESS',
    reference: '',
    metadata: {},
    esimDetails: { iccid: ICCID },
    timeline: timelineOf('wallet-held', 'delivered'),
  });
  expect(done.json).not.toHaveProperty('reason');
  const paying = await api.ask('/api/esim/buy', {
    key: 'ngn',
    body: { ...BUY_BASE, paymentMethod: 'CARD' },
  });
  const { transactionId: failedId } = paying.json as { transactionId: string };
  await api.shop.engine.expire(api.idOf(failedId), 'purchase');
  const failed = `/api/esim/transactions/${failedId}`;
  expectJson(await api.ask(failed, { key: 'ngn', example: 'never paid' }), 200, {
    transactionId: failedId,
    status: 'FAILED',
    reference: '',
    metadata: {},
    reason: 'PAYMENT_EXPIRED',
    package: {
      packageCode: 'NG-5GB-30D',
      packageName: 'Nigeria 5GB 30Days',
      price: 19178.13,
      currency: 'NGN',
    },
    timeline: timelineOf('opened', 'failed'),
  });
});

test('the budget of a key has its limits and what is left', async () => {
  await api.shop.giveBudget('ngn', {
    dailyAmountMinor: 3_000_000n,
    maxPurchases: 20,
    countries: ['NG', 'GH'],
  });
  await buyBase();
  const limits = { dailyAmount: 30_000, orderAmount: null, maxPrice: null, maxPurchases: 20 };
  expectJson(await api.ask('/api/wallet/budget', { key: 'ngn', example: 'with a budget' }), 200, {
    success: true,
    data: {
      budget: { ...limits, countries: ['NG', 'GH'] },
      left: { dailyAmount: 10_821.87, purchases: 19 },
      currency: 'NGN',
    },
  });
});

test('wallet and exchange rate have their envelopes', async () => {
  expectJson(await api.ask('/api/wallet/balance', { key: 'ngn', example: 'balance' }), 200, {
    success: true,
    data: { balance: 50_000, currency: 'NGN', onHold: 0, owed: 0, lastUpdated: TIME },
  });
  const rate = { rate: 1534.25, baseCurrency: 'USD', currency: 'NGN' };
  expectJson(await api.ask('/api/settings/exchange-rate', { example: 'rate' }), 200, {
    success: true,
    message: 'Current exchange rate',
    data: rate,
  });
});

test.each([
  [0n, '0.00'],
  [5n, '0.05'],
  [1250n, '12.50'],
  [-7n, '-0.07'],
  [900_719_925_474_099_267n, '9007199254740992.67'],
])(
  'money leaves as a literal with two decimals, whatever its size: %s minor units',
  async (minor, literal) => {
    const balance = { amountMinor: minor, currency: 'NGN' } as const;
    api.shop.replace('test', 'getWallet', () =>
      Promise.resolve({ balance, onHoldMinor: 0n, owedMinor: 0n, updatedAt: new Date() }),
    );
    const { text } = await api.ask('/api/wallet/balance', { key: 'ngn' });
    expect(text).toContain(`"balance":${literal},`);
  },
);

test('a used-up eSIM has nothing left, never less', async () => {
  const { esimId } = await buyBase();
  await api.shop.owner
    .updateTable('esims')
    .set({ order_usage_bytes: 9_000_000_000n })
    .where('id', '=', api.idOf(esimId))
    .execute();
  expect((await api.ask(`/api/esim/${esimId}`, { key: 'ngn' })).json).toMatchObject({
    data_usage_remain: 0,
  });
});

test('catalogue answers are rendered once per revision and kept separate by account type, currency and query', async () => {
  for (let round = 0; round < 3; round += 1) {
    await api.ask('/api/esim/packages?regionCode=NG', { key: 'ngn' });
    await api.ask('/api/esim/packages?regionCode=NG', { key: 'usd' });
    await api.ask('/api/esim/packages?regionCode=NG', { key: 'usduser' });
    await api.ask('/api/esim/packages?regionCode=NG&regionType=LC', { key: 'ngn' });
    await api.ask('/api/esim/packages/NG-5GB-30D');
    await api.ask('/api/esim/packages/NG-5GB-30D', { key: 'ngn' });
    await api.ask('/api/esim/packages/NG-5GB-30D?currency=NGN');
    await api.ask('/api/esim/regions', { key: 'ngn' });
    await api.ask('/api/esim/regions', { key: 'usd' });
    await api.ask('/api/esim/regions?type=1', { key: 'ngn' });
  }
  expect(api.shop.calls.length).toBe(10);
  await api.shop.changePrices();
  await api.ask('/api/esim/regions', { key: 'ngn' });
  expect(api.shop.calls.length).toBe(11);
});

test('rendered answers of one environment are never sent in the other', async () => {
  const both = await startApi({ live: true });
  try {
    await both.ask('/api/esim/packages/NG-5GB-30D', { key: 'ngn' });
    await both.ask('/api/esim/packages/NG-5GB-30D', { key: 'live/ngn' });
    expect(both.shop.calls).toEqual(['getPackage', 'getPackage']);
  } finally {
    await both.close();
  }
});

test('HEAD answers like GET without a body; OPTIONS lists the methods', async () => {
  const get = await api.ask('/api/esim/regions', { key: 'ngn' });
  const head = await api.ask('/api/esim/regions', { key: 'ngn', method: 'HEAD' });
  expect([head.status, head.text, head.headers['content-length']]).toEqual([
    200,
    '',
    get.headers['content-length'],
  ]);
  const options = await api.ask('/api/esim/buy', { key: 'ngn', method: 'OPTIONS' });
  expect([options.status, options.text, options.headers['allow']]).toEqual([204, '', 'POST, OPTIONS']);
  expect(options.headers['content-type']).toBeUndefined();
});
