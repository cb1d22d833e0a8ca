/** Examples of the reference: lists, figures and search of an account. */
import { flag } from '../../catalogue/http/examples.ts';
import { presentPage } from '../../platform/http/page.ts';
import {
  DELIVERED,
  ESIM,
  FUNDING,
  ICCID,
  OPENED,
  PACKAGE,
  TRANSACTION,
  type ExamplesByOperation,
} from '../../platform/http/docs/sample.ts';

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

const noPurchases = { PENDING: 0, PROCESSING: 0, SUCCESS: 0, FAILED: 0 };
const oneDay = { purchases: 1, failed: 0, spent: 3790.4, dataBytes: 1073741824, usedBytes: 234881024 };
const line = { transactionId: null, messageId: null };

export const FIGURES_EXAMPLES: ExamplesByOperation = {
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
};
