/** Examples of the reference: how a payment is made, and funding a wallet. */
import { TRANSACTION, type ExamplesByOperation } from '../../platform/http/docs/sample.ts';

export const pending = { transactionId: TRANSACTION, status: 'PENDING' };
export const hosted = {
  paymentUrl: 'https://checkout.paystack.com/3ni8kdavz62431k',
  gatewayReference: TRANSACTION,
};
export const transfer = {
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
export const funding = { transactionId: TRANSACTION, amount: 5000.5, currency: 'NGN' };

export const FUNDING_EXAMPLES: ExamplesByOperation = {
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
};
