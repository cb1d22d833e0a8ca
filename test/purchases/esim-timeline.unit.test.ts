import { describe, expect, it } from 'vitest';
import { installEventOf, isNewInstallEvent } from '../../src/esims/life-rules.ts';
import {
  expiringLine,
  messageLine,
  purchaseLine,
  statusLine,
  usageLine,
} from '../../src/purchases/esim-timeline-rules.ts';

const at = new Date('2026-01-31T09:30:00Z');
const event = { at, transactionId: 'txn-1', isTopUp: false, packageName: 'Nigeria 5GB' };

describe('events of a purchase', () => {
  it.each([
    ['wallet-held', 'purchase', 'Nigeria 5GB: Ordered, paid from the wallet'],
    ['delivered', 'purchase', 'Nigeria 5GB: Delivered'],
    ['refunded', 'payment', 'Nigeria 5GB: Refunded to where it was paid from'],
    ['installed', 'install', 'Installed on a device'],
    ['install-link-revoked', 'install', 'The install link was revoked'],
  ])('have a line for %s', (what, source, description) => {
    expect(purchaseLine({ ...event, what })).toEqual({
      at,
      source,
      what,
      description,
      transactionId: 'txn-1',
      messageId: null,
    });
  });

  it('that is a top-up mention it', () => {
    const line = purchaseLine({ ...event, what: 'delivered', isTopUp: true });
    expect(line?.description).toBe('Top-up Nigeria 5GB: Delivered');
  });

  it.each(['needs-attention', 'ordered-at-supplier', 'refund-blocked', 'something-new', 'constructor'])(
    'hide %s from merchants',
    (what) => {
      expect(purchaseLine({ ...event, what })).toBeUndefined();
    },
  );
});

describe('the life of an eSIM', () => {
  it.each([
    ['CREATED', 'ACTIVE', 'in-use', 'In use'],
    ['ACTIVE', 'SUSPENDED', 'suspended', 'Suspended'],
    ['SUSPENDED', 'ACTIVE', 'resumed', 'In use again'],
    ['SUSPENDED', 'CREATED', 'resumed', 'Not suspended any more'],
    ['ACTIVE', 'EXPIRED', 'expired', 'Expired'],
    ['CREATED', 'CANCELLED', 'cancelled', 'Cancelled'],
    [null, 'ACTIVE', 'in-use', 'In use'],
  ] as const)('has a line from %s to %s', (from, to, what, description) => {
    expect(statusLine(at, from, to)).toMatchObject({ at, source: 'esim', what, description });
  });

  it('has no line for an unexpected status', () => {
    expect(statusLine(at, 'PENDING', 'FAILED')).toBeUndefined();
  });

  it('includes usage and expiry', () => {
    expect(usageLine(at, 80).description).toBe('80% of the data is used');
    expect(expiringLine(at, 3).description).toBe('Expires within 3 days');
    expect(expiringLine(at, 1).description).toBe('Expires within a day');
  });

  it.each([
    ['RELEASED', 'INSTALLATION', 'installed'],
    ['DOWNLOAD', 'ENABLED', 'installed'],
    ['INSTALLATION', 'ENABLED', undefined],
    ['ENABLED', 'DISABLED', undefined],
    ['ENABLED', 'DELETED', 'profile-deleted'],
    ['DELETED', 'DELETED', undefined],
    ['DELETED', 'ENABLED', 'installed'],
    ['RELEASED', 'DOWNLOAD', undefined],
  ])('has for a profile from %s to %s: %s', (before, after, expected) => {
    expect(installEventOf(before, after)).toBe(expected);
  });

  it.each([
    ['installed', undefined, 0, true],
    ['profile-deleted', undefined, 0, true],
    ['installed', 'installed', 24, false],
    ['profile-deleted', 'profile-deleted', 24, false],
    ['profile-deleted', 'installed', 0, true],
    // An old answer, and a profile that was installed again.
    ['installed', 'profile-deleted', 6, false],
    ['installed', 'profile-deleted', 6.1, true],
  ] as const)(
    'has, for a profile %s with %s as the last line %s hours ago: %s',
    (what, last, hoursAgo, expected) => {
      const before = last && { what: last, at: new Date(at.getTime() - hoursAgo * 3_600_000) };
      expect(isNewInstallEvent(what, before, at)).toBe(expected);
    },
  );
});

it.each([
  ['DELIVERED', new Date('2026-01-31T09:31:00Z'), 'Webhook esim.purchased to shop.example delivered'],
  [
    'FAILED',
    new Date('2026-02-03T09:31:00Z'),
    'Webhook esim.purchased to shop.example could not be delivered',
  ],
  ['PENDING', null, 'Webhook esim.purchased to shop.example is not delivered yet, 2 attempts'],
] as const)('a webhook that is %s has a line', (status, closedAt, description) => {
  const sent = { messageId: 'msg-1', transactionId: 'txn-1', createdAt: at, attempts: 2 };
  const message = { ...sent, event: 'esim.purchased', host: 'shop.example' };
  expect(messageLine({ ...message, status, closedAt })).toEqual({
    at: closedAt ?? at,
    source: 'webhook',
    what: `webhook-${status.toLowerCase()}`,
    description,
    transactionId: 'txn-1',
    messageId: 'msg-1',
  });
});
