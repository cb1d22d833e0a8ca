/**
 * An eSIM's timeline as its owner sees it. Pure. Nothing here names suppliers, costs, or what operators
 * wrote.
 */
import type { EsimStatus } from '../domain/states.ts';
import type { MessageStatus } from '../webhooks/rules.ts';

export const TIMELINE_SOURCES = ['purchase', 'payment', 'esim', 'install', 'webhook'] as const;
type TimelineSource = (typeof TIMELINE_SOURCES)[number];

export interface EsimTimelineLine {
  readonly at: Date;
  readonly source: TimelineSource;
  /** For programs. */
  readonly what: string;
  readonly description: string;
  readonly transactionId: string | null;
  readonly messageId: string | null;
}

type Words = readonly [source: TimelineSource, description: string];

/**
 * Of the events of a purchase those that concern its buyer. Others, such as what operators were alerted of,
 * are left out.
 */
const PURCHASE_WORDS = new Map<string, Words>(
  Object.entries({
    opened: ['purchase', 'Ordered, not paid yet'],
    'wallet-held': ['purchase', 'Ordered, paid from the wallet'],
    delivered: ['purchase', 'Delivered'],
    failed: ['purchase', 'Failed'],
    'package-replaced': ['purchase', 'Another package is ordered instead'],
    'hold-released': ['payment', 'The money is back in the wallet'],
    'payment-received': ['payment', 'Payment received'],
    'payment-received-over': ['payment', 'Payment received; what was paid too much is in the wallet'],
    'payment-received-short': ['payment', 'Payment received that was too low; it is in the wallet'],
    'payment-received-late': ['payment', 'Payment received too late; it is in the wallet'],
    'payment-received-again': ['payment', 'Second payment received; it is in the wallet'],
    'payment-received-in-other-currency': [
      'payment',
      'Payment received in another currency; it is sent back',
    ],
    'payment-vouched-for': ['payment', 'Payment confirmed by us'],
    'payment-reversed': ['payment', 'The payment was taken back'],
    'payment-disputed': ['payment', 'The payment is disputed'],
    'transfer-returned-by-the-bank': [
      'payment',
      'The bank returned a transfer of this account, perhaps this one',
    ],
    refunded: ['payment', 'Refunded to where it was paid from'],
    'refund-credited-to-wallet': ['payment', 'Refunded to the wallet'],
    'goodwill-refund': ['payment', 'Refunded by us to where it was paid from'],
    'goodwill-credit': ['payment', 'Credited by us to the wallet'],
    installed: ['install', 'Installed on a device'],
    'profile-deleted': ['install', 'Deleted from its device'],
    'return-requested': ['purchase', 'A return was asked for'],
    'return-refused': ['purchase', 'The return was refused'],
    returned: ['purchase', 'Returned: cancelled, and its money given back'],
    'replacement-opened': ['purchase', 'Ordered in place of another eSIM'],
    'replacement-requested': ['purchase', 'A replacement was asked for'],
    'replacement-granted': ['purchase', 'The replacement was granted'],
    'replacement-refused': ['purchase', 'The replacement was refused'],
    'replacement-delivered': ['purchase', 'The new eSIM is delivered'],
    replaced: ['purchase', 'Replaced: the old eSIM cannot be used any more'],
    'install-link-revoked': ['install', 'The install link was revoked'],
  }),
);

interface PurchaseEvent {
  readonly at: Date;
  readonly what: string;
  readonly transactionId: string;
  readonly isTopUp: boolean;
  readonly packageName: string;
}

/** An event of a purchase or a top-up; undefined for one that its buyer does not see. */
export function purchaseLine(event: PurchaseEvent): EsimTimelineLine | undefined {
  const { at, what, transactionId } = event;
  const words = PURCHASE_WORDS.get(what);
  if (!words) return undefined;
  const [source, said] = words;
  const name = event.isTopUp ? `Top-up ${event.packageName}` : event.packageName;
  const description = source === 'install' ? said : `${name}: ${said}`;
  return { at, source, what, description, transactionId, messageId: null };
}

const STATUS_WORDS: Readonly<Record<EsimStatus, readonly [what: string, description: string] | undefined>> = {
  PENDING: undefined,
  FAILED: undefined,
  CREATED: ['resumed', 'Not suspended any more'],
  ACTIVE: ['in-use', 'In use'],
  SUSPENDED: ['suspended', 'Suspended'],
  EXPIRED: ['expired', 'Expired'],
  CANCELLED: ['cancelled', 'Cancelled'],
};

function esimLine(at: Date, what: string, description: string): EsimTimelineLine {
  return { at, source: 'esim', what, description, transactionId: null, messageId: null };
}

/** The eSIM is in another state. */
export function statusLine(at: Date, from: EsimStatus | null, to: EsimStatus): EsimTimelineLine | undefined {
  if (from === 'SUSPENDED' && to === 'ACTIVE') return esimLine(at, 'resumed', 'In use again');
  const words = STATUS_WORDS[to];
  return words && esimLine(at, ...words);
}

export function usageLine(at: Date, percent: number): EsimTimelineLine {
  return esimLine(at, 'usage-threshold', `${percent}% of the data is used`);
}

export function expiringLine(at: Date, days: number): EsimTimelineLine {
  return esimLine(at, 'expiring', days === 1 ? 'Expires within a day' : `Expires within ${days} days`);
}

export function linkLine(at: Date): EsimTimelineLine {
  const description = 'The install link was made';
  return {
    at,
    source: 'install',
    what: 'install-link-made',
    description,
    transactionId: null,
    messageId: null,
  };
}

interface SentMessage {
  readonly messageId: string;
  readonly event: string;
  readonly host: string;
  readonly attempts: number;
  readonly status: MessageStatus;
  readonly transactionId: string;
  readonly createdAt: Date;
  readonly closedAt: Date | null;
}

const MESSAGE_WORDS: Readonly<Record<MessageStatus, string>> = {
  PENDING: 'is not delivered yet',
  DELIVERED: 'delivered',
  FAILED: 'could not be delivered',
};

/** A webhook message, at the moment when it ended. */
export function messageLine({
  event,
  host,
  attempts,
  status,
  messageId,
  transactionId,
  ...times
}: SentMessage): EsimTimelineLine {
  const what = `webhook-${status.toLowerCase()}`;
  const tried = status !== 'PENDING' ? '' : attempts === 1 ? ', 1 attempt' : `, ${attempts} attempts`;
  const description = `Webhook ${event} to ${host} ${MESSAGE_WORDS[status]}${tried}`;
  const at = times.closedAt ?? times.createdAt;
  return { at, source: 'webhook', what, description, transactionId, messageId };
}
