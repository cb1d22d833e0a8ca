/** The filters of the merchants' lists, in their addresses. */
import type { components, operations } from 'simway-client/generated/api.ts';
import {
  listTransactionsPaymentMethod,
  listTransactionsStatus,
  listTransactionsType,
  listWalletEntriesKind,
  listWebhookMessagesStatus,
} from 'simway-client/generated/api-lists.ts';
import { daysIn, oneOf, textIn, type Days, type Search } from '../ui/address.ts';

type Entries = NonNullable<operations['listWalletEntries']['parameters']['query']>;
type Transactions = NonNullable<operations['listTransactions']['parameters']['query']>;

export const ENTRY_KINDS: Readonly<Record<NonNullable<Entries['kind']>, string>> = {
  HOLD: 'Hold for a purchase',
  RELEASE: 'Released',
  FUNDING: 'Funding',
  REFUND: 'Refund',
  CREDIT: 'Credit',
  WITHDRAWAL: 'Withdrawal',
  DISPUTE: 'Dispute',
  ADJUSTMENT: 'Adjustment',
};

export const TRANSACTION_TYPES: Readonly<Record<NonNullable<Transactions['type']>, string>> = {
  BASE: 'eSIM',
  TOPUP: 'Top-up',
  FUNDING: 'Funding',
};
export type PaymentMethod = components['schemas']['BuyRequest']['paymentMethod'];
export const PAYMENT_METHODS: Readonly<Record<PaymentMethod, string>> = {
  WALLET: 'Wallet',
  CARD: 'Card',
  BANK_TRANSFER: 'Bank transfer',
  MOBILE_MONEY: 'Mobile money',
  APPLE_PAY: 'Apple Pay',
};
/** With the words for them. */
export const METHOD_CHOICES = Object.entries(PAYMENT_METHODS) as [PaymentMethod, string][];

export interface EntryFilters extends Days {
  readonly kind?: Entries['kind'] | undefined;
}

export const entryFilters = (search: Search): EntryFilters => ({
  ...daysIn(search),
  kind: oneOf(listWalletEntriesKind, search['kind']),
});

export interface TransactionFilters extends Days {
  readonly search?: string | undefined;
  readonly type?: Transactions['type'] | undefined;
  readonly status?: Transactions['status'] | undefined;
  readonly paymentMethod?: Transactions['paymentMethod'] | undefined;
}

export const transactionFilters = (search: Search): TransactionFilters => ({
  ...daysIn(search),
  search: textIn(search['search']),
  type: oneOf(listTransactionsType, search['type']),
  status: oneOf(listTransactionsStatus, search['status']),
  paymentMethod: oneOf(listTransactionsPaymentMethod, search['paymentMethod']),
});

export interface MessageFilters {
  readonly status?: components['schemas']['WebhookMessage']['status'] | undefined;
  readonly endpointId?: string | undefined;
}

export const messageFilters = (search: Search): MessageFilters => ({
  status: oneOf(listWebhookMessagesStatus, search['status']),
  endpointId: textIn(search['endpointId']),
});

/** Of the list of API requests. */
export const requestFilters = (search: Search): { readonly requestId?: string | undefined } => ({
  requestId: textIn(search['requestId']),
});
