import { describe, expect, it } from 'vitest';
import {
  judgeReplaceable,
  replacementPauseMs,
  replacementPrice,
  sameShare,
} from '../../src/purchases/replacements/rules.ts';

const DELETED: Parameters<typeof judgeReplaceable>[0] = {
  ...{ status: 'ACTIVE', smdpStatus: 'DELETED', eid: '8904' },
  ...{ orderUsageBytes: 10, totalVolumeBytes: 100, dataType: 1 },
};

describe('what the supplier says of a profile means for a replacement', () => {
  it.each([
    ['deleted from its phone', {}, 'replace'],
    ['deleted before it was used', { status: 'CREATED', orderUsageBytes: 0 }, 'replace'],
    ['on a phone', { smdpStatus: 'ENABLED' }, 'review'],
    ['switched off', { smdpStatus: 'DISABLED' }, 'review'],
    ['suspended', { status: 'SUSPENDED', smdpStatus: 'ENABLED' }, 'review'],
    ['released, and on a phone before', { status: 'CREATED', smdpStatus: 'RELEASED' }, 'review'],
    ['never installed', { status: 'CREATED', smdpStatus: 'RELEASED', eid: '' }, 'UNUSED'],
    ['used up', { orderUsageBytes: 100 }, 'USED_UP'],
    ['used up for a day only', { orderUsageBytes: 100, dataType: 2 }, 'replace'],
    ['expired', { status: 'EXPIRED' }, 'EXPIRED'],
    ['cancelled', { status: 'CANCELLED' }, 'CANCELLED'],
    ['not allocated', { status: 'PENDING' }, 'unknown'],
    ['in a state never seen before', { status: null }, 'unknown'],
  ] as const)('%s', (_what, said, verdict) => {
    expect(judgeReplaceable({ ...DELETED, ...said })).toBe(verdict);
  });
});

describe('the price of a replacement', () => {
  it.each([
    [1_001n, 0, 0n],
    [1_001n, 5_000, 501n],
    [1_001n, 10_000, 1_001n],
    [0n, 10_000, 0n],
  ])('of %s at %s is %s', (full, shareBps, price) => {
    expect(replacementPrice(full, shareBps)).toBe(price);
  });

  it('is the same share of what the package costs in dollars', () => {
    expect(sameShare(200n, 501n, 1_001n)).toBe(100n);
    expect(sameShare(200n, 0n, 0n)).toBe(0n);
  });
});

describe('the pause before the next step of a replacement', () => {
  it.each([
    [0, 1_000],
    [8_000, 2_000],
    [3_600_000, 60_000],
  ])('at the age of %s ms is %s ms', (ageMs, pauseMs) => {
    expect(replacementPauseMs(ageMs)).toBe(pauseMs);
  });
});
