/**
 * The search attributes of the Temporal UI, typed. No personal data: values are stored in clear and indexed.
 */
import { defineSearchAttributeKey } from '@temporalio/common';

export const PURCHASE_STATUS = defineSearchAttributeKey('PurchaseStatus', 'KEYWORD');
export const PAYMENT_METHOD = defineSearchAttributeKey('PaymentMethod', 'KEYWORD');
export const ACCOUNT_ID = defineSearchAttributeKey('AccountId', 'KEYWORD');
export const TRANSACTION_ID = defineSearchAttributeKey('TransactionId', 'KEYWORD');
export const GATEWAY_REFERENCE = defineSearchAttributeKey('GatewayReference', 'KEYWORD');
export const ICCID = defineSearchAttributeKey('Iccid', 'KEYWORD');
export const REASON = defineSearchAttributeKey('Reason', 'KEYWORD');
export const NEEDS_ATTENTION = defineSearchAttributeKey('NeedsAttention', 'BOOL');

/** Registered before the first workflow starts: by the dev server's flags, or by `migrate` elsewhere. */
export const SEARCH_ATTRIBUTES = [
  PURCHASE_STATUS,
  PAYMENT_METHOD,
  ACCOUNT_ID,
  TRANSACTION_ID,
  GATEWAY_REFERENCE,
  ICCID,
  REASON,
  NEEDS_ATTENTION,
] as const;
