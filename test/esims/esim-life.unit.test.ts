/** Which changes of an eSIM a merchant is notified of, and when the supplier is asked again. */
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/domain/clock.ts';
import type { EsimStatus } from '../../src/domain/states.ts';
import {
  nextCheckAt,
  nextUsageAt,
  fresherUsage,
  nextStatus,
  unnotified,
  type EsimLife,
} from '../../src/esims/life-rules.ts';

const NOW = new Date('2026-06-01T00:00:00.000Z');
const inHours = (hours: number): Date => new Date(NOW.getTime() + hours * HOUR_MS);

const esim = (given: Partial<EsimLife> = {}): EsimLife => ({
  status: 'ACTIVE',
  total_volume_bytes: 1_000n,
  order_usage_bytes: 0n,
  usage_as_of: NOW,
  checked_at: NOW,
  expired_time: inHours(24 * 30),
  notified_status: 'ACTIVE',
  status_changes: 0,
  notified_usage_percent: 0,
  notified_usage_total_bytes: 1_000n,
  notified_expiry_days: 0,
  ...given,
});

/** The events in short, and the row with what is recorded of them. */
function went(before: EsimLife, change: Partial<EsimLife>, now = NOW) {
  const after = { ...before, ...change };
  const { events, notified } = unnotified(before, after, now);
  const names = events.map((event) => {
    if (event.kind === 'status') return `${event.from}→${event.to} ${event.nth}`;
    if (event.kind === 'threshold') return `${event.percent} %`;
    return event.kind === 'expiring' ? `${event.daysBefore} d` : 'expired';
  });
  return { names, row: { ...after, ...notified } };
}

describe('status', () => {
  it.each<[EsimStatus | null, EsimStatus, string[]]>([
    ['CREATED', 'ACTIVE', ['CREATED→ACTIVE 1']],
    ['ACTIVE', 'EXPIRED', ['ACTIVE→EXPIRED 1', 'expired']],
    ['ACTIVE', 'CANCELLED', ['ACTIVE→CANCELLED 1']],
    ['ACTIVE', 'ACTIVE', []],
    // Nobody was notified of the change before.
    ['CREATED', 'SUSPENDED', ['CREATED→SUSPENDED 1']],
  ])('after an event with %s, a change to %s sends the right events', (notified, to, names) => {
    expect(went(esim({ notified_status: notified }), { status: to }).names).toEqual(names);
  });

  it('counts changes between the same two states', () => {
    const first = went(esim(), { status: 'SUSPENDED' });
    const second = went(first.row, { status: 'ACTIVE' });
    const third = went(second.row, { status: 'SUSPENDED' });
    expect([first, second, third].flatMap(({ names }) => names)).toEqual([
      'ACTIVE→SUSPENDED 1',
      'SUSPENDED→ACTIVE 2',
      'ACTIVE→SUSPENDED 3',
    ]);
    expect(went(third.row, {}).names).toEqual([]);
  });

  it('starts from the status before, if there was no event yet; an undelivered order sends no event', () => {
    expect(went(esim({ status: 'CREATED', notified_status: null }), { status: 'ACTIVE' }).names).toEqual([
      'CREATED→ACTIVE 1',
    ]);
    expect(went(esim({ status: 'PENDING', notified_status: null }), { status: 'CREATED' }).names).toEqual([]);
  });

  it.each<[EsimStatus, EsimStatus | null, EsimStatus]>([
    ['ACTIVE', 'CREATED', 'ACTIVE'],
    ['EXPIRED', 'ACTIVE', 'EXPIRED'],
    ['SUSPENDED', 'CREATED', 'CREATED'],
    ['ACTIVE', null, 'ACTIVE'],
  ])('%s becomes, when the supplier says %s, %s', (from, to, next) =>
    expect(nextStatus(from, to)).toBe(next),
  );
});

describe('thresholds', () => {
  const use = (row: EsimLife, bytes: bigint) => went(row, { order_usage_bytes: bytes });

  it('send one event each, at exactly their share; a jump sends all of them', () => {
    expect(use(esim(), 499n).names).toEqual([]);
    const half = use(esim(), 500n);
    expect(half.names).toEqual(['50 %']);
    expect(use(half.row, 799n).names).toEqual([]);
    expect(use(half.row, 900n).names).toEqual(['80 %', '90 %']);
    expect(use(esim(), 950n).names).toEqual(['50 %', '80 %', '90 %']);
  });

  it('send no second event when a figure falls and grows again', () => {
    const { row } = use(esim(), 900n);
    expect(use(use(row, 100n).row, 950n).names).toEqual([]);
  });

  it('above the used share are armed again by a larger allowance', () => {
    const { row } = use(esim(), 950n);
    const doubled = went(row, { total_volume_bytes: 2_000n });
    expect(doubled.names).toEqual([]);
    expect(use(doubled.row, 1_600n).names).toEqual(['50 %', '80 %']);
    const alittle = went(row, { total_volume_bytes: 1_100n });
    expect(use(alittle.row, 1_000n).names).toEqual(['90 %']);
  });

  it('are right for a top-up and missed usage that become known at the same time', () => {
    const both = went(esim(), { total_volume_bytes: 2_000n, order_usage_bytes: 1_000n });
    expect(both.names).toEqual(['50 %']);
  });

  it('start from what is known of an eSIM that nobody was notified of', () => {
    const old = esim({ order_usage_bytes: 850n, notified_usage_total_bytes: null });
    expect(use(old, 860n).names).toEqual([]);
    expect(use(old, 950n).names).toEqual(['90 %']);
  });

  it('do not apply without an allowance', () =>
    expect(went(esim({ notified_usage_total_bytes: 0n }), { total_volume_bytes: 0n }).names).toEqual([]));
});

describe('expiry', () => {
  const end = inHours(24 * 30);
  const at = (row: EsimLife, daysBefore: number) =>
    went(row, {}, new Date(end.getTime() - daysBefore * 24 * HOUR_MS));

  it('is announced three days before and one day before, once each', () => {
    expect(at(esim(), 3.01).names).toEqual([]);
    const three = at(esim(), 3);
    expect(three.names).toEqual(['3 d']);
    expect(at(three.row, 2).names).toEqual([]);
    const one = at(three.row, 1);
    expect(one.names).toEqual(['1 d']);
    expect(at(one.row, 0.5).names).toEqual([]);
  });

  it('is announced late only with what is still true', () => {
    const one = at(esim(), 0.9);
    expect(one.names).toEqual(['1 d']);
    expect(at(one.row, 0.5).names).toEqual([]);
    expect(at(esim(), 0).names).toEqual([]);
    expect(at(esim(), -1).names).toEqual([]);
  });

  it('is announced again when the end moves to later, not when the supplier rounds it differently', () => {
    const { row } = at(esim(), 1);
    const now = new Date(end.getTime() - 24 * HOUR_MS);
    const later = went(row, { expired_time: inHours(24 * 40) }, now);
    expect(later.names).toEqual([]);
    expect(went(later.row, {}, inHours(24 * 38)).names).toEqual(['3 d']);
    expect(went(row, { expired_time: inHours(24 * 30 + 0.5) }, now).names).toEqual([]);
  });

  it.each<EsimStatus>(['EXPIRED', 'CANCELLED', 'FAILED'])(
    'is not announced for an eSIM that is %s',
    (status) => expect(at(esim({ status, notified_status: status }), 2).names).toEqual([]),
  );

  it.each<EsimStatus>(['CREATED', 'SUSPENDED'])('is announced for an eSIM that is %s', (status) =>
    expect(at(esim({ status, notified_status: status }), 2).names).toEqual(['3 d']),
  );
});

describe('the fresher of two usage figures', () => {
  const known = { order_usage_bytes: 100n, usage_as_of: NOW, checked_at: NOW };
  it.each<[bigint, number, bigint, number]>([
    [200n, 1, 200n, 1],
    // The higher one, regardless of which was read last.
    [200n, -2, 200n, -2],
    [90n, 2, 100n, 0],
    [100n, 2, 100n, 2],
    [100n, -2, 100n, 0],
    // Too late for a lagging answer to explain it.
    [90n, 7, 90n, 7],
    [200n, -7, 100n, 0],
  ])('of 100 now and %i at %i h is %i of %i h', (used, hours, expected, asOf) =>
    expect(fresherUsage(known, used, inHours(hours))).toEqual({
      order_usage_bytes: expected,
      usage_as_of: inHours(asOf),
    }),
  );

  it('is any figure when there was none', () =>
    expect(fresherUsage({ ...known, usage_as_of: null, checked_at: null }, 5n, NOW)).toEqual({
      order_usage_bytes: 5n,
      usage_as_of: NOW,
    }));
});

describe('when the supplier is asked again', () => {
  it.each<[EsimStatus, number | null, number]>([
    ['ACTIVE', null, 6],
    ['ACTIVE', 100, 6],
    ['SUSPENDED', 100, 24],
    ['CREATED', 1_000, 72],
    // A minute after its end, and then at growing intervals.
    ['CREATED', 2, 2 + 1 / 60],
    ['ACTIVE', 0, 1 / 60],
    ['ACTIVE', -1, 1],
    ['ACTIVE', -100, 6],
  ])('for %s with its end in %d hours: in %d hours', (status, end, hours) => {
    const row = { ...esim({ status }), expired_time: end === null ? null : inHours(end) };
    expect(nextCheckAt(row, NOW)).toEqual(inHours(hours));
  });

  it.each<[Partial<EsimLife>, boolean, number]>([
    [{ order_usage_bytes: 100n }, true, 0.5],
    [{ order_usage_bytes: 450n }, true, 0.25],
    [{ order_usage_bytes: 990n }, true, 0.25],
    [{ order_usage_bytes: 450n }, false, 3],
    [{ order_usage_bytes: 1_000n }, true, 12],
    [{ status: 'CREATED' }, true, 12],
    [{ status: 'SUSPENDED' }, true, 24],
    [{ total_volume_bytes: 0n }, true, 0.5],
  ])('for the usage of %o, moving %s: in %d hours', (given, hasMoved, hours) =>
    expect(nextUsageAt(esim(given), hasMoved, NOW)).toEqual(inHours(hours)),
  );
});
