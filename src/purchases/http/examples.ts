/** Examples of the reference: buying, payments of a purchase, and batches. */
import { esimInUse, install } from '../../esims/http/examples.ts';
import { funding, hosted, pending, transfer } from '../../payments/http/examples.ts';
import { presentPage } from '../../platform/http/page.ts';
import {
  DELIVERED,
  ESIM,
  ICCID,
  OPENED,
  PACKAGE,
  TRANSACTION,
  type Examples,
  type ExamplesByOperation,
} from '../../platform/http/docs/sample.ts';

const PAID = '2026-01-31T09:31:12.345Z';

const base = {
  package: { packageCode: 'SIM-OK', packageName: PACKAGE, price: 3790.4, currency: 'NGN' },
};
const topUp = {
  package: {
    packageCode: 'TOPUP_SIM-OK',
    name: PACKAGE,
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
const success = { transactionId: TRANSACTION, status: 'SUCCESS' };
const inCedis = { charge: { amount: 29.61, currency: 'GHS' } };

const at = (...events: readonly (readonly [string, string])[]) => ({
  timeline: events.map(([time, what]) => ({ at: time, what })),
});
const paidByCard = at([OPENED, 'opened'], [PAID, 'payment-received'], [DELIVERED, 'delivered']);
const notPaid = at([OPENED, 'opened'], ['2026-02-01T09:31:00.000Z', 'failed']);

const STATUSES: Examples = {
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

const buyRequest = (packageType: 'BASE' | 'TOPUP', paymentMethod: string) => ({
  packageCode: packageType === 'BASE' ? 'SIM-OK' : 'TOPUP_SIM-OK',
  packageType,
  paymentMethod,
  ...(packageType === 'TOPUP' ? { esimId: ESIM } : {}),
});

const QUOTE = 'quote-3b241101e2bb4255896c79a3f0f2d1c7';
const quote = {
  quoteId: QUOTE,
  ...{ packageCode: 'SIM-OK', packageName: PACKAGE, packageType: 'BASE', esimId: '' },
  ...{ price: 3790.4, currency: 'NGN', originalPriceUSD: 2.3 },
  ...{ createdAt: OPENED, expiresAt: '2026-01-31T09:45:00.000Z' },
};

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

const suspendedEsim = { ...esimInUse, esimStatus: 'SUSPENDED', smdpStatus: 'DISABLED', isActive: false };
const expiredEsim = {
  ...esimInUse,
  esimStatus: 'EXPIRED',
  smdpStatus: 'DISABLED',
  validity_usage_remain: 0,
  isActive: false,
};

export const PURCHASE_EXAMPLES: ExamplesByOperation = {
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
  getTransaction: { 200: STATUSES },
  confirmPayment: {
    request: {
      'by transactionId': { transactionId: TRANSACTION },
      'by gatewayReference': { gatewayReference: TRANSACTION },
      'by trackingReference': { trackingReference: TRANSACTION },
    },
    200: STATUSES,
  },
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
  sandboxInstallEsim: {
    request: { 'all the way': { stage: 'CONNECTED' }, 'broken off': { stage: 'DOWNLOAD' } },
    200: {
      'all the way': esimInUse,
      'broken off': {
        ...esimInUse,
        esimStatus: 'CREATED',
        smdpStatus: 'DOWNLOAD',
        activateTime: '',
        orderUsage: 0,
        data_usage_remain: 1073741824,
        validity_usage_remain: 7,
        isActive: false,
      },
    },
  },
  sandboxUseEsim: { request: { 'some data': { bytes: 234881024 } }, 200: { 'in use': esimInUse } },
  sandboxUseUpEsim: {
    200: { 'used up': { ...esimInUse, orderUsage: 1073741824, data_usage_remain: 0 } },
  },
  sandboxExpireEsim: { 200: { expired: expiredEsim } },
  sandboxSuspendEsim: { 200: { suspended: suspendedEsim } },
  sandboxResumeEsim: { 200: { 'in use': esimInUse } },
  sandboxSwitchOffEsim: { 200: { 'switched off': { ...esimInUse, smdpStatus: 'DISABLED' } } },
  sandboxSwitchOnEsim: { 200: { 'in use': esimInUse } },
  sandboxDeleteEsimProfile: { 200: { deleted: { ...esimInUse, smdpStatus: 'DELETED' } } },
  sandboxAdvanceEsimClock: {
    request: { 'one day': { advanceSeconds: 86400 } },
    200: { 'one day older': esimInUse },
  },
};
