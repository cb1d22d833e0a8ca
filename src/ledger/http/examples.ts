/** Examples of the reference: the wallet and its entries. */
import {
  FUNDING,
  OPENED,
  PACKAGE,
  TRANSACTION,
  type ExamplesByOperation,
} from '../../platform/http/docs/sample.ts';

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

export const WALLET_EXAMPLES: ExamplesByOperation = {
  getWalletBalance: {
    200: {
      balance: {
        success: true,
        data: { balance: 45880, currency: 'NGN', onHold: 3790.4, owed: 0, lastUpdated: OPENED },
      },
    },
  },
  getLowBalance: {
    200: { set: { amount: 250, currency: 'NGN' }, 'not set': { amount: null, currency: 'NGN' } },
  },
  setLowBalance: {
    request: { set: { amount: 250 }, end: { amount: null } },
    200: { set: { amount: 250, currency: 'NGN' }, end: { amount: null, currency: 'NGN' } },
  },
  listWalletEntries: {
    200: {
      'a purchase and a funding': {
        success: true,
        data: { items: [charged, funded], nextCursor: '', hasMore: false },
      },
    },
  },
};
