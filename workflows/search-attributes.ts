/**
 * What the Temporal UI finds a workflow by: search attributes, typed. No personal data: values are stored in
 * clear and indexed.
 */
import { defineSearchAttributeKey, type SearchAttributeUpdatePair } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';

export const PURCHASE_STATUS = defineSearchAttributeKey('PurchaseStatus', 'KEYWORD');
export const PAYMENT_METHOD = defineSearchAttributeKey('PaymentMethod', 'KEYWORD');
export const ACCOUNT_ID = defineSearchAttributeKey('AccountId', 'KEYWORD');
export const TRANSACTION_ID = defineSearchAttributeKey('TransactionId', 'KEYWORD');
export const GATEWAY_REFERENCE = defineSearchAttributeKey('GatewayReference', 'KEYWORD');
export const ICCID = defineSearchAttributeKey('Iccid', 'KEYWORD');
/** What was bought, for people who look at the list. */
export const TITLE = defineSearchAttributeKey('Title', 'KEYWORD');
export const REASON = defineSearchAttributeKey('Reason', 'KEYWORD');
export const NEEDS_ATTENTION = defineSearchAttributeKey('NeedsAttention', 'BOOL');

/** Registered before the first workflow starts: by the dev server's flags, or by `migrate` elsewhere. */
export const SEARCH_ATTRIBUTES = [
  PURCHASE_STATUS,
  PAYMENT_METHOD,
  ACCOUNT_ID,
  TRANSACTION_ID,
  TITLE,
  GATEWAY_REFERENCE,
  ICCID,
  REASON,
  NEEDS_ATTENTION,
] as const;

/**
 * Shows these values; null takes one away. Writes what changes, and no event where nothing does. A flag that
 * was never shown is false.
 */
export function show(values: SearchAttributeUpdatePair[]): void {
  const { typedSearchAttributes: shown } = workflowInfo();
  const changed = values.filter(
    ({ key, value }) => (shown.get(key) ?? (key.type === 'BOOL' ? false : null)) !== value,
  );
  if (changed.length > 0) upsertSearchAttributes(changed);
}
