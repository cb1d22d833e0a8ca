/**
 * Examples of the reference: requests and answers by case. A test checks each against its route's schemas. All are about one buyer; `SIM-OK` is a
 * package of the sandbox, so that requests can be tried as they stand.
 */
import { presentPage } from '../page.ts';
import { ACCOUNT_EXAMPLES, answered, unanswered } from './examples-account.ts';
import {
  TRANSACTION,
  ESIM,
  ICCID,
  OPENED,
  DELIVERED,
  install,
  listedEsim,
  coverage,
  sandboxCoverage,
  esimInUse,
  SANDBOX_EXAMPLES,
  installReady,
  installInUse,
  type Examples,
  type OperationExamples,
} from './examples-esims.ts';
import { PRICING_EXAMPLES } from './examples-pricing.ts';

const PAID = '2026-01-31T09:31:12.345Z';

function batch(status: string, counts: Readonly<Record<string, number>>) {
  return {
    batchId: 'batch-7c9e6679f4a84ba3a2c1f0d3b5e60a11',
    status,
    counts: { rows: 2, queued: 0, processing: 0, succeeded: 0, failed: 0, ...counts },
    totalPrice: 7580.8,
    currency: 'NGN',
    createdAt: OPENED,
    completedAt: status === 'COMPLETED' ? DELIVERED : '',
  };
}

const batchRows = [
  {
    row: 0,
    reference: 'booking-4711',
    packageCode: 'SIM-OK',
    transactionId: TRANSACTION,
    status: 'SUCCESS',
    reason: '',
    esimId: ESIM,
    email: 'traveller@example.com',
    emailStatus: 'SENT',
    emailSentAt: DELIVERED,
  },
  {
    row: 1,
    reference: 'booking-4712',
    packageCode: 'SIM-OK',
    transactionId: '',
    status: 'FAILED',
    reason: 'INSUFFICIENT_BALANCE',
    esimId: '',
    email: '',
    emailStatus: '',
    emailSentAt: '',
  },
];

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
const added = {
  esimDetails: {
    iccid: ICCID,
    totalVolume: 2147483648,
    dataRemaining: 1912602624,
    usageAsOf: '2026-02-01T08:00:00.000Z',
  },
};
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

const noPurchases = { PENDING: 0, PROCESSING: 0, SUCCESS: 0, FAILED: 0 };

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

const QUOTE = 'quote-3b241101e2bb4255896c79a3f0f2d1c7';
const quote = {
  quoteId: QUOTE,
  ...{ packageCode: 'SIM-OK', packageName: 'Sandbox SIM-OK 1GB 7Days', packageType: 'BASE', esimId: '' },
  ...{ price: 3790.4, currency: 'NGN', originalPriceUSD: 2.3 },
  ...{ createdAt: OPENED, expiresAt: '2026-01-31T09:45:00.000Z' },
};
const CURSOR = 'cGFja2FnZS1jaGFuZ2VzOjMwNDI';
const change = {
  at: OPENED,
  packageCode: 'PJW5VJXA1P',
  packageName: 'Nigeria 1GB 7Days',
  regionCode: 'NG',
  currency: 'NGN',
};

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
  eventId: 'evt-3f2504e04f8941d39a0c0305e82c3301',
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
const purchased = {
  event: 'esim.purchased',
  data: {
    transactionId: message.transactionId,
    status: 'SUCCESS',
    esimId: ESIM,
    iccid: ICCID,
    qrCodeUrl: install.esimDetails.qrCodeUrl,
  },
  timestamp: OPENED,
};
const messageBody = JSON.stringify(purchased);
const feedOf = (items: readonly object[], hasMore: boolean) => ({
  success: true,
  data: { items, nextCursor: 'AAAAAAAAEtYAAAAAAAAAAHrS5k0pWQ4c', hasMore },
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
    201: { 'on its way': { ...fresh, eventId: null, transactionId: null } },
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
      answered: pageOf({ ...attempt, ...answered }),
      'no answer': pageOf({ ...attempt, outcome: 'no-connection', status: null, ...unanswered }),
    },
  },
  listEvents: {
    200: {
      'one event': feedOf([{ id: message.eventId, ...purchased }], false),
      'nothing new': feedOf([], false),
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
  createQuote: {
    request: {
      'new eSIM': { packageCode: 'SIM-OK', packageType: 'BASE' },
      'new eSIM, BANK_TRANSFER': {
        packageCode: 'SIM-OK',
        packageType: 'BASE',
        paymentMethod: 'BANK_TRANSFER',
      },
      'top-up': { packageCode: 'TOPUP_SIM-OK', packageType: 'TOPUP', esimId: ESIM },
    },
    201: {
      'new eSIM': { success: true, data: quote },
      'top-up': {
        success: true,
        data: { ...quote, packageCode: 'TOPUP_SIM-OK', packageType: 'TOPUP', esimId: ESIM },
      },
    },
  },
  buy: {
    request: {
      'new eSIM, at most at this price': {
        ...buyRequest('BASE', 'WALLET'),
        maxPrice: 3800,
        maxPriceCurrency: 'NGN',
      },
      'new eSIM, by a quote': { ...buyRequest('BASE', 'WALLET'), quoteId: QUOTE },
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
        totalIsMinimum: false,
        nextCursor: '',
      },
    },
  },
  listTopDestinations: {
    200: {
      'the first two': [
        {
          regionCode: 'NG',
          regionName: 'Nigeria',
          regionType: 'LC',
          countryCode: 'NG',
          ...flag('ng', 9),
          purchases: 1204,
        },
        {
          regionCode: 'AF-34',
          regionName: 'Africa',
          regionType: 'RG',
          countryCode: null,
          ...flag('af-34', 13),
          purchases: 311,
        },
      ],
    },
  },
  getStatistics: {
    200: {
      'a month': {
        from: '2026-01-02',
        to: '2026-01-31',
        purchases: {
          total: 5,
          byStatus: { PENDING: 1, PROCESSING: 0, SUCCESS: 3, FAILED: 1 },
          byPaymentMethod: {
            WALLET: { ...noPurchases, SUCCESS: 2 },
            CARD: { ...noPurchases, PENDING: 1, SUCCESS: 1, FAILED: 1 },
            BANK_TRANSFER: noPurchases,
            MOBILE_MONEY: noPurchases,
            APPLE_PAY: noPurchases,
          },
        },
        spend: [{ currency: 'NGN', amount: 9096.96 }],
        esims: {
          total: 4,
          byStatus: { PENDING: 1, CREATED: 0, ACTIVE: 2, EXPIRED: 0, FAILED: 0, CANCELLED: 1, SUSPENDED: 0 },
        },
        boughtBytes: 3221225472,
        usedBytes: 536870912,
        usageAsOf: '2026-01-31T08:00:00.000Z',
      },
    },
  },
  getEsim: { 200: { 'in use': esimInUse } },
  ...SANDBOX_EXAMPLES,
  getEsimInstall: { 200: { ready: installReady, installed: installInUse } },
  revokeInstallLink: { 200: { revoked: { esimId: ESIM, revoked: true } } },
  diagnoseEsim: {
    200: {
      'not installed yet': {
        esimId: ESIM,
        code: 'NOT_SCANNED',
        summary: 'The eSIM has not been installed yet.',
        nextStep: 'Open the install page on the phone and install it, on Wi-Fi.',
        esimStatus: 'CREATED',
        smdpStatus: 'RELEASED',
        usageAsOf: DELIVERED,
      },
      'roaming off': {
        esimId: ESIM,
        code: 'ROAMING_LIKELY_OFF',
        summary: 'The eSIM has connected, but uses no data: data roaming is probably off.',
        nextStep:
          'Switch on data roaming for the eSIM, choose it for mobile data, then switch flight mode on and off.',
        esimStatus: 'ACTIVE',
        smdpStatus: 'ENABLED',
        usageAsOf: '2026-01-31T16:00:00.000Z',
      },
    },
  },
  getWalletBalance: {
    200: {
      balance: {
        success: true,
        data: { balance: 45880, currency: 'NGN', onHold: 3790.4, lastUpdated: OPENED },
      },
    },
  },
  ...ACCOUNT_EXAMPLES,
  ...PRICING_EXAMPLES,
  orderBatch: {
    request: {
      'two travellers': {
        rows: [
          {
            reference: 'booking-4711',
            packageCode: 'SIM-OK',
            email: 'traveller@example.com',
            language: 'fr',
          },
          { reference: 'booking-4712', packageCode: 'SIM-OK' },
        ],
        maxTotalPrice: { amount: 8000, currency: 'NGN' },
      },
    },
    202: { accepted: { success: true, data: batch('PROCESSING', { queued: 2 }) } },
  },
  listBatches: {
    200: {
      'one batch': presentPage(
        { items: [batch('COMPLETED', { succeeded: 1, failed: 1 })], total: 1, page: 1, limit: 10 },
        (item) => item,
      ),
    },
  },
  getBatch: {
    200: {
      completed: {
        success: true,
        data: {
          ...batch('COMPLETED', { succeeded: 1, failed: 1 }),
          ...presentPage({ items: batchRows, total: 2, page: 1, limit: 10 }, (item) => item).data,
        },
      },
    },
  },
  getBatchCsv: {
    200: {
      completed: [
        'row,reference,packageCode,transactionId,status,reason,esimId,email,emailStatus',
        `0,booking-4711,SIM-OK,${TRANSACTION},SUCCESS,,${ESIM},traveller@example.com,SENT`,
        '1,booking-4712,SIM-OK,,FAILED,INSUFFICIENT_BALANCE,,,',
        '',
      ].join('\r\n'),
    },
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
