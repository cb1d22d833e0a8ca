/** Words for codes of the API, each table by its closed list: the compiler names what is missing. */
import type { ApiSchemas, OpsSchemas } from '../api/client.ts';

type Timeline = OpsSchemas['PurchaseTimeline']['data'];

/** A word; the code itself where it is not one of ours, such as the gateway's own. */
export const wordOf = (words: Readonly<Record<string, string>>, code: string): string => words[code] ?? code;

export const EVENTS: Readonly<Record<ApiSchemas['BaseTransaction']['timeline'][number]['what'], string>> = {
  opened: 'Ordered, not paid yet',
  'wallet-held': 'Ordered, paid from the wallet',
  refused: 'Refused before anything was ordered',
  'ordered-at-supplier': 'Ordered at the supplier',
  'needs-attention': 'Needs attention',
  delivered: 'Delivered',
  'other-package-delivered': 'Another package was delivered',
  'package-replaced': 'Another package is ordered instead',
  failed: 'Failed',
  'hold-released': 'The money is back in the wallet',
  'payment-received': 'Payment received',
  'payment-received-over': 'Payment received, more than due: the rest is in the wallet',
  'payment-received-short': 'Payment received, less than due: it is in the wallet',
  'payment-received-late': 'Payment received too late: it is in the wallet',
  'payment-received-again': 'Second payment received: it is in the wallet',
  'payment-received-in-other-currency': 'Payment received in another currency: it is sent back',
  'payment-confirmed': 'The gateway confirmed the payment',
  'payment-vouched-for': 'Payment confirmed by a person',
  'payment-reversed': 'Payment reversed',
  'payment-disputed': 'Payment disputed',
  'transfer-returned-by-the-bank': 'The bank returned a transfer of this account, perhaps this one',
  refunded: 'Refunded to where it was paid from',
  'refund-credited-to-wallet': 'Refunded to the wallet',
  'refund-blocked': 'The gateway does not send the refund',
  'goodwill-refund': 'Refunded as goodwill',
  'goodwill-credit': 'Credited to the wallet as goodwill',
  installed: 'Installed on a device',
  'profile-deleted': 'Deleted from its device',
  'install-link-revoked': 'Install link revoked',
  'return-requested': 'A return was asked for',
  'return-needs-review': 'The supplier does not answer about the return',
  'return-refused': 'The return was refused',
  returned: 'Returned: cancelled, and its money given back',
  'replacement-opened': 'Ordered in place of another eSIM',
  'replacement-requested': 'A replacement was asked for',
  'replacement-needs-review': 'We decide about the replacement',
  'replacement-granted': 'The replacement was granted',
  'replacement-refused': 'The replacement was refused',
  'replacement-delivered': 'The new eSIM is delivered',
  replaced: 'Replaced: the old eSIM cannot be used any more',
  'wallet-credited': 'The money is in the wallet',
  'owed-paid': 'What was owed is paid',
  'dispute-won': 'Dispute won',
  'dispute-lost': 'Dispute lost',
  'dispute-ended': 'Dispute ended',
};

export const OPERATIONS: Readonly<Record<Timeline['entries'][number]['operation'], string>> = {
  hold: 'Put on hold',
  post: 'Charged: delivered',
  void: 'Hold given back',
  fund: 'Funded by command',
  payment: 'Payment',
  'payment-received': EVENTS['payment-received'],
  'payment-received-over': EVENTS['payment-received-over'],
  'payment-received-short': EVENTS['payment-received-short'],
  'payment-received-late': EVENTS['payment-received-late'],
  'payment-received-again': EVENTS['payment-received-again'],
  'payment-received-in-other-currency': EVENTS['payment-received-in-other-currency'],
  'payment-confirmed': EVENTS['payment-confirmed'],
  'payment-reversed': EVENTS['payment-reversed'],
  'marked-paid': 'Marked as paid',
  refund: 'Refund sent by the gateway',
  'refund-credited': 'Refund credited to the wallet',
  'refund-by-hand': 'Refund sent by hand',
  'refund-to-source': 'Refund through the gateway',
  'credit-wallet': 'Wallet credited',
  disputed: 'Put aside for a dispute',
  'dispute-settled': 'Dispute settled',
  'reversal-settled': 'Reversal settled',
  return: 'Returned',
  'funded-by-hand': 'Funded outside the gateway',
  'credited-by-hand': 'Wallet credited by hand',
  'funding-corrected': 'Funding by hand corrected',
  'credit-corrected': 'Credit by hand corrected',
  OTHER: 'Other',
};

export const FAILURES: Readonly<Record<NonNullable<Timeline['reason']>, string>> = {
  INSUFFICIENT_BALANCE: 'The wallet had too little',
  KEY_BUDGET_EXCEEDED: 'The budget of the API key did not allow it',
  PACKAGE_WITHDRAWN: 'The package is no longer sold',
  PACKAGE_UNAVAILABLE: 'The package could not be delivered',
  OUT_OF_STOCK: 'Out of stock at the supplier',
  PRICE_CHANGED: 'The supplier’s price has changed',
  SUPPLIER_BALANCE_TOO_LOW: 'Our balance at the supplier is too low',
  SUPPLIER_REFUSED: 'The supplier refused it',
  ESIM_NOT_ACTIVE: 'The eSIM takes no top-up',
  MANDATE_NOT_VALID: 'The automatic top-up was not allowed any more',
  QUOTE_USED: 'Its quote was used before',
  REFERENCE_ALREADY_USED: 'Its reference was used before',
  TOO_MANY_UNPAID_PAYMENTS: 'Too many unpaid payments',
  PAYMENT_NOT_SERVED: 'Payment method not available',
  PAYMENT_NOT_OPENED: 'The gateway opened no payment',
  PAYMENT_EXPIRED: 'Not paid in time',
  PAYMENT_UNDERPAID: 'Paid too little',
  PAYMENT_WRONG_CURRENCY: 'Paid in another currency',
  PAYMENT_REVERSED: EVENTS['payment-reversed'],
  CANCELLED_BY_OPERATOR: 'Cancelled by a person',
  NOT_VERIFIED: 'The request could not be verified',
  NOT_RECORDED: 'The database refused it',
  SUPERSEDED: 'Another request with the same key came first',
  OTHER: 'Another reason',
};

export const ATTENTION: Readonly<Record<NonNullable<Timeline['attention']>['reason'], string>> = {
  SUPPLIER_NEVER_ALLOCATED: 'The supplier took the order and does not deliver',
  SUPPLIER_OUTCOME_UNKNOWN: 'The supplier does not say whether it took the order',
  DELIVERY_STEP_FAILED: 'A step of the delivery fails',
  SETTLE_FAILED: 'Delivered, and the hold cannot be charged',
  UNDO_FAILED: 'Refused, and the money cannot be given back',
  GATEWAY_OUTCOME_UNKNOWN: 'The gateway does not say whether it was paid',
  PAYMENT_STILL_OPEN: 'Closed, and the gateway still takes money for it',
  PAYMENT_REVERSED: EVENTS['payment-reversed'],
  PAYMENT_DISPUTED: EVENTS['payment-disputed'],
  REFUND_NEEDS_ATTENTION: 'A refund waits for the buyer’s details',
  REFUND_STUCK: 'The gateway does not send a refund',
  OTHER_PACKAGE_DELIVERED: EVENTS['other-package-delivered'],
  RETURN_NEEDS_REVIEW: EVENTS['return-needs-review'],
  REPLACEMENT_NEEDS_REVIEW: EVENTS['replacement-needs-review'],
  OTHER: 'Another reason',
};

/** Of money on hold for a purchase, the same in lists, filters and on pages. */
export const HOLDS = { HELD: 'Hold, open', CHARGED: 'Hold, charged', RELEASED: 'Hold, given back' } as const;
/** As the ledger calls them. */
export const LEDGER_HOLDS: Readonly<Record<NonNullable<Timeline['hold']>['status'], string>> = {
  HELD: 'on hold',
  POSTED: 'charged',
  VOIDED: 'given back',
};

export type PaymentMethod = ApiSchemas['BuyRequest']['paymentMethod'];
export const PAYMENT_METHODS: Readonly<Record<PaymentMethod, string>> = {
  WALLET: 'Wallet',
  CARD: 'Card',
  BANK_TRANSFER: 'Bank transfer',
  MOBILE_MONEY: 'Mobile money',
  APPLE_PAY: 'Apple Pay',
};

export const MEMBER_ROLES: Readonly<Record<ApiSchemas['Member']['role'], string>> = {
  OWNER: 'Owner',
  DEVELOPER: 'Developer',
  FINANCE: 'Finance',
  SUPPORT: 'Support',
};

export const PLANS: Readonly<Record<OpsSchemas['AccountOverview']['data']['plan'], string>> = {
  STANDARD: 'Standard',
  PREMIUM: 'Premium',
  ENTERPRISE: 'Enterprise',
};
export const ACCOUNT_TYPES: Readonly<Record<OpsSchemas['AccountOverview']['data']['type'], string>> = {
  USER: 'User',
  MERCHANT: 'Merchant',
};

/** What an attempt to send a message came to. */
export const ATTEMPT_OUTCOMES = {
  answered: 'Answered',
  'refused-url': 'Address not allowed',
  unresolved: 'Host name not found',
  'no-connection': 'No connection',
  tls: 'TLS failed',
  'connection-lost': 'Connection lost',
  'time-limit': 'No answer in time',
  'answer-too-long': 'Answer too long',
  'bad-answer': 'Not an HTTP answer',
} as const;

export const ITEM_RESULTS: Readonly<
  Record<OpsSchemas['BatchRepairDetails']['data']['items'][number]['status'], string>
> = {
  WAITING: 'Waiting',
  DONE: 'Done',
  REFUSED: 'Refused',
  UNKNOWN: 'Unknown',
  SKIPPED: 'Skipped',
};

export const FOUND_KINDS: Readonly<Record<OpsSchemas['Found']['kind'], string>> = {
  purchase: 'Purchase',
  funding: 'Funding',
  message: 'Webhook message',
  endpoint: 'Webhook endpoint',
  batch: 'Batch',
  quote: 'Quote',
  'gateway event': 'Gateway event',
  repair: 'Batch repair',
  difference: 'Difference',
  account: 'Account',
  member: 'Member',
  key: 'API key',
  person: 'Person',
  request: 'API request',
};
export const FOUND_BY: Readonly<Record<OpsSchemas['Found']['foundBy'], string>> = {
  id: 'Id',
  reference: 'Reference',
  'gateway id': 'The gateway’s id',
  refund: 'Refund',
  dispute: 'Dispute',
  'order number': 'Order number',
  esim: 'eSIM',
  iccid: 'ICCID',
  batch: 'Batch',
  quote: 'Quote',
  message: 'Webhook message',
  event: 'Event',
  'gateway event': 'Gateway event',
  'operator action': 'Operator action',
  'own reference': 'The shop’s own reference',
  request: 'API request',
  subject: 'What it is about',
  'name or e-mail': 'Name or e-mail',
};
