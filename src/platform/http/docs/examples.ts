/**
 * Examples of the reference: requests and answers by case. A test checks each against its route's schemas. All are about one buyer; `SIM-OK` is a
 * package of the sandbox, so that requests can be tried as they stand.
 */
import { presentPage } from '../page.ts';

/** Values by the name of the case that each is true for. */
export type Examples = Readonly<Record<string, unknown>>;

/** Of requests, and of answers by their status. */
interface OperationExamples {
  readonly request?: Examples;
  readonly [status: number]: Examples;
}

const TRANSACTION = 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11';
const ESIM = 'esim-0f8fad5bd9cb469fa16570867728950e';
const ICCID = '8944500102030405067';
const LPA = 'LPA:1$rsp.example.com$K2-1A2B3C-4D5E6F';
const OPENED = '2026-01-31T09:30:00.000Z';
const PAID = '2026-01-31T09:31:12.345Z';
const DELIVERED = '2026-01-31T09:31:13.021Z';

const base = {
  package: { packageCode: 'SIM-OK', packageName: 'Sandbox SIM-OK 1GB 7Days', price: 3790.4, currency: 'NGN' },
};
const topUp = {
  package: {
    packageCode: 'TOPUP_SIM-OK',
    name: 'Sandbox SIM-OK 1GB 7Days',
    price: 3790.4,
    currencyCode: 'NGN',
    volume: 1073741824,
    duration: 7,
  },
};
const install = {
  esimDetails: {
    esimId: ESIM,
    iccid: ICCID,
    qrCodeUrl: 'https://p.qrsim.net/1a2b3c.png',
    activationCode: LPA,
    smdpAddress: 'rsp.example.com',
    matchingId: 'K2-1A2B3C-4D5E6F',
  },
};
const added = { esimDetails: { iccid: ICCID, totalVolume: 2147483648, dataRemaining: 1912602624 } };
const pending = { transactionId: TRANSACTION, status: 'PENDING' };
const success = { transactionId: TRANSACTION, status: 'SUCCESS' };
const hosted = {
  paymentUrl: 'https://checkout.paystack.com/3ni8kdavz62431k',
  gatewayReference: TRANSACTION,
};
const transfer = {
  bankAccounts: [
    {
      bankName: 'Titan Bank',
      accountNumber: '9930001234',
      accountName: 'SIMWAY CHECKOUT',
      expiryDate: '2026-01-31T10:00:00.000Z',
    },
  ],
  trackingReference: TRANSACTION,
};
const inCedis = { charge: { amount: 29.61, currency: 'GHS' } };

const at = (...events: readonly (readonly [string, string])[]) => ({
  timeline: events.map(([time, what]) => ({ at: time, what })),
});
const paidByCard = at([OPENED, 'opened'], [PAID, 'payment-received'], [DELIVERED, 'delivered']);
const notPaid = at([OPENED, 'opened'], ['2026-02-01T09:31:00.000Z', 'failed']);
const funding = { transactionId: TRANSACTION, amount: 5000.5, currency: 'NGN' };

const STANDINGS: Examples = {
  'delivered, paid by card': { ...success, ...base, ...install, ...paidByCard },
  'delivered, from the wallet': {
    ...success,
    ...base,
    ...install,
    ...at([OPENED, 'wallet-held'], ['2026-01-31T09:30:00.412Z', 'delivered']),
  },
  'CARD, not paid yet': { ...pending, ...base, ...hosted, ...at([OPENED, 'opened']) },
  'BANK_TRANSFER, not paid yet': { ...pending, ...base, ...transfer, ...at([OPENED, 'opened']) },
  'paid, not delivered yet': {
    ...pending,
    status: 'PROCESSING',
    ...base,
    ...at([OPENED, 'opened'], [PAID, 'payment-received']),
  },
  'never paid': { ...pending, status: 'FAILED', reason: 'PAYMENT_EXPIRED', ...base, ...notPaid },
  'top-up, delivered': { ...success, message: 'Top-up successful', ...topUp, ...added, ...paidByCard },
  'funding of the wallet, not paid yet': { ...pending, ...funding, ...transfer, ...at([OPENED, 'opened']) },
  'funding of the wallet, done': {
    ...success,
    ...funding,
    ...at([OPENED, 'opened'], [PAID, 'wallet-credited']),
  },
};

const listedEsim = {
  _id: ESIM,
  packageCode: 'SIM-OK',
  packageName: 'Sandbox SIM-OK 1GB 7Days',
  transactionId: TRANSACTION,
  iccid: ICCID,
  qrCodeUrl: install.esimDetails.qrCodeUrl,
  activationCode: LPA,
  esimStatus: 'ACTIVE',
  data: '1 GB',
  totalVolume: 1073741824,
  orderUsage: 234881024,
  data_usage_remain: 838860800,
  validity: 7,
  activateTime: '2026-01-31T12:00:00.000Z',
  expiredTime: '2026-02-07T12:00:00.000Z',
  createdAt: OPENED,
  price: 3790.4,
  currency: 'NGN',
};
const coverage = { coverage: ['Nigeria'], networkProviders: ['MTN', 'Airtel'] };
const sandboxCoverage = { coverage: ['Sandbox scenarios'], networkProviders: ['Sandbox Mobile'] };

const esimInUse = {
  ...listedEsim,
  orderNo: 'B26013109300001',
  esimTranNo: '26013109300001',
  imsi: '234500102030405',
  msisdn: null,
  ac: LPA,
  shortUrl: 'https://p.qrsim.net/1a2b3c',
  smdpAddress: 'rsp.example.com',
  matchingId: 'K2-1A2B3C-4D5E6F',
  eid: '89049032000001000000012345678901',
  smdpStatus: 'ENABLED',
  activeType: '2',
  durationUnit: 'DAY',
  totalDuration: 7,
  validity_usage_remain: 6,
  pin: '1234',
  puk: '12345678',
  apn: 'internet',
  smsStatus: 0,
  dataType: 1,
  packageDetails: { ...sandboxCoverage, dataType: 'Data only', speed: '3G/4G/5G' },
  isActive: true,
  updatedAt: DELIVERED,
};

const flag = (name: string, packageCount: number) => ({
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

const buyRequest = (packageType: 'BASE' | 'TOPUP', paymentMethod: string) => ({
  packageCode: packageType === 'BASE' ? 'SIM-OK' : 'TOPUP_SIM-OK',
  packageType,
  paymentMethod,
  ...(packageType === 'TOPUP' ? { esimId: ESIM } : {}),
});

const endpoint = {
  id: 'ep-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  url: 'http://127.0.0.1:4000/hooks',
  events: ['esim.purchased'],
  enabled: true,
  disabledReason: null,
  failingSince: null,
  createdAt: OPENED,
  updatedAt: OPENED,
};
const withSecret = { ...endpoint, secret: 'whsec_…' };
const disabled = { ...endpoint, enabled: false, disabledReason: 'BY_OWNER' };
const message = {
  id: 'msg-1b4e28ba2fa14d2e883f0016d3cca427',
  endpointId: endpoint.id,
  event: 'esim.purchased',
  transactionId: TRANSACTION,
  attempts: 1,
  createdAt: OPENED,
};
const delivered = {
  ...message,
  status: 'DELIVERED',
  nextAttemptAt: null,
  closedAt: '2026-01-31T09:30:00.180Z',
};
const waiting = { ...message, status: 'PENDING', nextAttemptAt: '2026-01-31T09:30:05.000Z', closedAt: null };
const fresh = { ...waiting, attempts: 0, nextAttemptAt: OPENED };
const messageBody = JSON.stringify({
  event: 'esim.purchased',
  data: {
    transactionId: message.transactionId,
    status: 'SUCCESS',
    esimId: ESIM,
    iccid: ICCID,
    qrCodeUrl: install.esimDetails.qrCodeUrl,
  },
  timestamp: OPENED,
});
const attempt = { attempt: 1, at: OPENED, milliseconds: 180, outcome: 'answered', status: 204, answer: '' };

/** A list with this one item. */
const pageOf = (item: object) => presentPage({ items: [item], total: 1, page: 1, limit: 10 }, (one) => one);

const WEBHOOK_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  createWebhookEndpoint: {
    request: {
      'for purchases': { url: endpoint.url },
      'for events of your choice': { url: endpoint.url, events: ['esim.purchased', 'payment.received'] },
    },
    201: { 'with its secret': withSecret },
  },
  listWebhookEndpoints: { 200: { 'one endpoint': pageOf(endpoint) } },
  getWebhookEndpoint: { 200: { enabled: endpoint, disabled } },
  updateWebhookEndpoint: {
    request: { disable: { enabled: false }, enable: { enabled: true }, move: { url: endpoint.url } },
    200: { disable: disabled, enable: endpoint, move: endpoint },
  },
  deleteWebhookEndpoint: { 200: { deleted: { id: endpoint.id, deleted: true } } },
  rotateWebhookSecret: { 200: { 'with its new secret': withSecret } },
  sendWebhookSample: {
    request: {
      'a purchase that failed': { event: 'esim.purchased', status: 'FAILED' },
      'a wallet that runs low': { event: 'wallet.low_balance' },
    },
    201: { 'on its way': { ...fresh, transactionId: null } },
  },
  recoverWebhookMessages: {
    request: { 'since a time': { from: OPENED } },
    200: { 'sent again': { recovered: 12 } },
  },
  listWebhookMessages: { 200: { 'one message': pageOf(delivered) } },
  getWebhookMessage: {
    200: {
      delivered: { ...delivered, body: messageBody },
      'to be tried again': { ...waiting, body: messageBody },
    },
  },
  listWebhookAttempts: {
    200: {
      answered: pageOf(attempt),
      'no answer': pageOf({ ...attempt, outcome: 'no-connection', status: null }),
    },
  },
  resendWebhookMessage: { 200: { 'on its way': fresh } },
};

/** By operation id. */
export const EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  ...WEBHOOK_EXAMPLES,
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
  buy: {
    request: {
      'new eSIM, WALLET': buyRequest('BASE', 'WALLET'),
      'new eSIM, CARD': buyRequest('BASE', 'CARD'),
      'new eSIM, BANK_TRANSFER': buyRequest('BASE', 'BANK_TRANSFER'),
      'new eSIM, MOBILE_MONEY': buyRequest('BASE', 'MOBILE_MONEY'),
      'new eSIM, APPLE_PAY': buyRequest('BASE', 'APPLE_PAY'),
      'top-up, WALLET': buyRequest('TOPUP', 'WALLET'),
      'top-up, CARD': buyRequest('TOPUP', 'CARD'),
    },
    200: {
      'top-up, WALLET': { ...success, message: 'Top-up successful', ...topUp, ...added },
      'top-up, CARD': { ...pending, ...topUp, ...hosted },
      'top-up, BANK_TRANSFER': { ...pending, ...topUp, ...transfer },
    },
    201: {
      'new eSIM, WALLET': { ...success, ...base, ...install },
      'new eSIM, WALLET, not delivered yet': { ...success, status: 'PROCESSING', ...base },
      'new eSIM, CARD': { ...pending, ...base, ...hosted },
      'new eSIM, BANK_TRANSFER': { ...pending, ...base, ...transfer },
      'new eSIM, MOBILE_MONEY': { ...pending, ...base, ...hosted, ...inCedis },
      'new eSIM, APPLE_PAY': { ...pending, ...base, ...hosted },
    },
  },
  getTransaction: { 200: STANDINGS },
  confirmPayment: {
    request: {
      'by transactionId': { transactionId: TRANSACTION },
      'by gatewayReference': { gatewayReference: TRANSACTION },
      'by trackingReference': { trackingReference: TRANSACTION },
    },
    200: STANDINGS,
  },
  listEsims: {
    200: {
      'one eSIM': {
        esims: [{ ...listedEsim, packageDetails: sandboxCoverage }],
        total: 1,
        page: 1,
        limit: 10,
        totalPages: 1,
      },
    },
  },
  getEsim: { 200: { 'in use': esimInUse } },
  getWalletBalance: {
    200: { balance: { success: true, data: { balance: 45880, currency: 'NGN', lastUpdated: OPENED } } },
  },
  fundWallet: {
    request: {
      CARD: { amount: 5000.5, paymentMethod: 'CARD' },
      BANK_TRANSFER: { amount: 5000.5, paymentMethod: 'BANK_TRANSFER' },
    },
    201: {
      CARD: { ...pending, ...funding, ...hosted },
      BANK_TRANSFER: { ...pending, ...funding, ...transfer },
    },
  },
  getLowBalance: {
    200: { set: { amount: 250, currency: 'NGN' }, 'not set': { amount: null, currency: 'NGN' } },
  },
  setLowBalance: {
    request: { set: { amount: 250 }, end: { amount: null } },
    200: { set: { amount: 250, currency: 'NGN' }, end: { amount: null, currency: 'NGN' } },
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
