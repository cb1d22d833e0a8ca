/** The filters of the merchants' lists, in their addresses. */
import type { components, operations } from '../api/generated/api.ts';
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
  ADJUSTMENT: 'Adjustment',
};

export const TRANSACTION_TYPES = { BASE: 'eSIM', TOPUP: 'Top-up', FUNDING: 'Funding' } as const;
export const TRANSACTION_STATUSES = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'] as const;
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
export const MESSAGE_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;

const keysOf = <Key extends string>(words: Readonly<Record<Key, string>>): Key[] =>
  Object.keys(words) as Key[];

export interface EntryFilters extends Days {
  readonly kind?: Entries['kind'] | undefined;
}

export const entryFilters = (search: Search): EntryFilters => ({
  ...daysIn(search),
  kind: oneOf(keysOf(ENTRY_KINDS), search['kind']),
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
  type: oneOf(keysOf(TRANSACTION_TYPES), search['type']),
  status: oneOf(TRANSACTION_STATUSES, search['status']),
  paymentMethod: oneOf(keysOf(PAYMENT_METHODS), search['paymentMethod']),
});

export interface MessageFilters {
  readonly status?: components['schemas']['WebhookMessage']['status'] | undefined;
  readonly endpointId?: string | undefined;
}

export const messageFilters = (search: Search): MessageFilters => ({
  status: oneOf(MESSAGE_STATUSES, search['status']),
  endpointId: textIn(search['endpointId']),
});

/** Of the list of API requests. */
export const requestFilters = (search: Search): { readonly requestId?: string | undefined } => ({
  requestId: textIn(search['requestId']),
});
