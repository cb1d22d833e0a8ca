/** The filters of the merchants' lists, in their addresses. */
import {
  listEsimsStatus,
  listTransactionsPaymentMethod,
  listTransactionsStatus,
  listTransactionsType,
  listWalletEntriesKind,
  listWebhookMessagesStatus,
} from 'simway-client/generated/api-lists.ts';
import type { ApiSchemas } from '../api/client.ts';
import { oneOf, textIn, searchOf, DAYS } from '../ui/address.ts';

export const ENTRY_KINDS: Readonly<Record<(typeof listWalletEntriesKind)[number], string>> = {
  HOLD: 'Hold for a purchase',
  RELEASE: 'Released',
  FUNDING: 'Funding',
  REFUND: 'Refund',
  CREDIT: 'Credit',
  WITHDRAWAL: 'Withdrawal',
  DISPUTE: 'Dispute',
  ADJUSTMENT: 'Adjustment',
};

export const TRANSACTION_TYPES: Readonly<Record<(typeof listTransactionsType)[number], string>> = {
  BASE: 'eSIM',
  TOPUP: 'Top-up',
  FUNDING: 'Funding',
};
export type PaymentMethod = ApiSchemas['BuyRequest']['paymentMethod'];
export const PAYMENT_METHODS: Readonly<Record<PaymentMethod, string>> = {
  WALLET: 'Wallet',
  CARD: 'Card',
  BANK_TRANSFER: 'Bank transfer',
  MOBILE_MONEY: 'Mobile money',
  APPLE_PAY: 'Apple Pay',
};
/** With the words for them. */
export const METHOD_CHOICES = Object.entries(PAYMENT_METHODS) as [PaymentMethod, string][];

export const entryFilters = searchOf({ ...DAYS, kind: oneOf(listWalletEntriesKind) });
export type EntryFilters = ReturnType<typeof entryFilters>;

export const transactionFilters = searchOf({
  ...DAYS,
  search: textIn,
  type: oneOf(listTransactionsType),
  status: oneOf(listTransactionsStatus),
  paymentMethod: oneOf(listTransactionsPaymentMethod),
});

export const messageFilters = searchOf({ status: oneOf(listWebhookMessagesStatus), endpointId: textIn });

/** Of the list of API requests. */
export const requestFilters = searchOf({ requestId: textIn });

export const esimFilters = searchOf({ search: textIn, status: oneOf(listEsimsStatus) });
