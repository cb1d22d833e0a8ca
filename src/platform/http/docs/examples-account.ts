/** The examples about an account's money and its lists, and about what was sent to its endpoints. */
import { DELIVERED, ESIM, ICCID, OPENED, TRANSACTION, type OperationExamples } from './examples-esims.ts';
import { presentPage } from '../page.ts';

const FUNDING = 'txn-1f0d3b5e60a117c9e6679f4a84ba3a2c';
const PACKAGE = 'Sandbox SIM-OK 1GB 7Days';

const charged = {
  id: 'entry-2',
  at: OPENED,
  kind: 'HOLD',
  amount: -3790.4,
  currency: 'NGN',
  balanceAfter: 45880,
  holdStatus: 'CHARGED',
  transactionId: TRANSACTION,
  packageName: PACKAGE,
  description: `Paid for ${PACKAGE}`,
};
const funded = {
  id: 'entry-1',
  at: '2026-01-30T10:00:00.000Z',
  kind: 'FUNDING',
  amount: 49670.4,
  currency: 'NGN',
  balanceAfter: 49670.4,
  holdStatus: null,
  transactionId: FUNDING,
  packageName: null,
  description: 'Wallet funded',
};

const purchase = {
  transactionId: TRANSACTION,
  type: 'BASE',
  status: 'SUCCESS',
  reason: null,
  paymentMethod: 'WALLET',
  amount: 3790.4,
  currency: 'NGN',
  packageCode: 'SIM-OK',
  packageName: PACKAGE,
  dataBytes: 1073741824,
  esimId: ESIM,
  iccid: ICCID,
  createdAt: OPENED,
  closedAt: DELIVERED,
};
const funding = {
  transactionId: FUNDING,
  type: 'FUNDING',
  status: 'SUCCESS',
  reason: null,
  paymentMethod: 'CARD',
  amount: 49670.4,
  currency: 'NGN',
  packageCode: null,
  packageName: null,
  dataBytes: null,
  esimId: null,
  iccid: null,
  createdAt: '2026-01-30T09:58:00.000Z',
  closedAt: '2026-01-30T10:00:00.000Z',
};

const oneDay = { purchases: 1, failed: 0, spent: 3790.4, dataBytes: 1073741824, usedBytes: 234881024 };
const line = { transactionId: null, messageId: null };

export const ACCOUNT_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  listWalletEntries: {
    200: {
      'a purchase and a funding': {
        success: true,
        data: { items: [charged, funded], nextCursor: '', hasMore: false },
      },
    },
  },
  listTransactions: {
    200: {
      'a purchase and a funding': {
        success: true,
        data: {
          ...presentPage({ items: [purchase, funding], total: 2, page: 1, limit: 10 }, (one) => one).data,
          totalIsMinimum: false,
          nextCursor: '',
        },
      },
    },
  },
  getSpending: {
    200: {
      'two days': {
        from: '2026-01-30',
        to: '2026-01-31',
        currency: 'NGN',
        usageAsOf: '2026-01-31T08:00:00.000Z',
        total: oneDay,
        days: [
          { day: '2026-01-30', purchases: 0, failed: 0, spent: 0, dataBytes: 0, usedBytes: 0 },
          { day: '2026-01-31', ...oneDay },
        ],
        topDestinations: [{ regionCode: 'NG', regionName: 'Nigeria', purchases: oneDay.purchases }],
      },
    },
  },
  searchById: {
    200: {
      'an eSIM by its ICCID': {
        success: true,
        data: {
          items: [
            { kind: 'esim', id: ESIM, foundBy: 'iccid', title: 'Nigeria 5GB 30Days', status: 'ACTIVE' },
          ],
        },
      },
    },
  },
  getEsimTimeline: {
    200: {
      'bought and in use': {
        success: true,
        data: {
          esimId: ESIM,
          items: [
            {
              ...line,
              at: OPENED,
              source: 'purchase',
              what: 'wallet-held',
              description: `${PACKAGE}: Ordered, paid from the wallet`,
              transactionId: TRANSACTION,
            },
            {
              ...line,
              at: DELIVERED,
              source: 'purchase',
              what: 'delivered',
              description: `${PACKAGE}: Delivered`,
              transactionId: TRANSACTION,
            },
            {
              ...line,
              at: '2026-01-31T12:00:00.000Z',
              source: 'esim',
              what: 'in-use',
              description: 'In use',
            },
          ],
          isComplete: true,
        },
      },
    },
  },
};

const request = {
  method: 'POST',
  url: 'https://shop.example/hooks',
  headers: [
    { name: 'content-type', value: 'application/json' },
    { name: 'webhook-id', value: 'evt-3f2504e04f8941d39a0c0305e82c3301' },
    { name: 'webhook-timestamp', value: '1769851800' },
    { name: 'webhook-signature', value: 'v1,K5oZfzN9…' },
  ],
  body: `{"event":"esim.purchased","data":{"transactionId":"${TRANSACTION}","status":"PROCESSING","esimId":"","iccid":"","qrCodeUrl":""},"timestamp":"${OPENED}"}`,
};

/** Fields of an attempt. */
export const answered = { request, answerHeaders: [{ name: 'server', value: 'nginx' }] };
export const unanswered = { request: { ...request, headers: [] }, answerHeaders: null };
