/**
 * The windows of the gateway's list as rows: which process reads which and when, the unpaid payments in them,
 * and single checks while the list is down.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import {
  leaseWindow,
  findUnbooked,
  findUncheckedPayments,
  deleteWindow,
  saveWindow,
  openWindows,
  postponeWindow,
  unpaidIn,
  unpaidSince,
  monitorLagMs,
} from '../../src/payments/store/gateway-windows.ts';
import { closePayment } from '../../src/payments/store/payments.ts';
import { NOW, usePaymentBooks, type Payer } from './payments.support.ts';
import { MONITORED_FOR_MS, LIST_WINDOW_MS } from '../../src/payments/monitor-rules.ts';

const books = usePaymentBooks();
const LEASE_MS = 60_000;
const at = (afterMs: number): Date => new Date(NOW.getTime() + afterMs);

beforeEach(async () => {
  await books.owner.deleteFrom('gateway_windows').execute();
  await books.owner.updateTable('payments').set({ status: 'CLOSED' }).execute();
});

const openedAt = async ({ reference }: Payer, createdAt: Date): Promise<void> => {
  await books.owner
    .updateTable('payments')
    .set({ created_at: createdAt })
    .where('reference', '=', reference)
    .execute();
};
const lease = async (afterMs = 0) => (await leaseWindow(books.world, at(afterMs), LEASE_MS))?.startsAt;

describe('a window', () => {
  it('is read by one of many processes at a time, the youngest first, and again when it is due', async () => {
    const [older, newer] = [at(-LIST_WINDOW_MS), NOW];
    await openWindows(books.world, newer, at(0));
    await openWindows(books.world, older, at(0));
    await openWindows(books.world, older, at(5));
    expect(await lease()).toEqual(newer);
    await saveWindow(books.world, newer, { nextAt: at(0), totalWhenAllBooked: null });
    const leases = await Promise.all([lease(), lease(), lease()]);
    expect(leases.filter((window) => window !== undefined).toSorted((a, b) => Number(a) - Number(b))).toEqual(
      [older, newer],
    );
    await saveWindow(books.world, older, { nextAt: at(10_000), totalWhenAllBooked: 7 });
    expect(await lease(9_999)).toBeUndefined();
    expect(await leaseWindow(books.world, at(10_000), LEASE_MS)).toEqual({
      startsAt: older,
      totalWhenAllBooked: 7,
    });
  });

  it('is read by another process after a minute if its reader died, and counts as late from its due time', async () => {
    await openWindows(books.world, NOW, NOW);
    expect(await lease()).toEqual(NOW);
    expect(await lease(LEASE_MS - 1)).toBeUndefined();
    expect(await monitorLagMs(books.world, NOW, at(LEASE_MS))).toBe(LEASE_MS);
    expect(await lease(LEASE_MS)).toEqual(NOW);
  });

  it('that could not be read stays late until it is', async () => {
    await openWindows(books.world, NOW, NOW);
    await lease();
    await postponeWindow(books.world, NOW, at(10_000));
    expect(await lease(9_999)).toBeUndefined();
    expect(await lease(10_000)).toEqual(NOW);
    expect(await monitorLagMs(books.world, NOW, at(10_000))).toBe(10_000);
    await saveWindow(books.world, NOW, { nextAt: at(20_000), totalWhenAllBooked: null });
    expect(await monitorLagMs(books.world, NOW, at(11_000))).toBe(0);
    await deleteWindow(books.world, NOW);
    expect(await monitorLagMs(books.world, NOW, at(11_000)), 'no process reads windows').toBeNull();
  });

  it('exists from 15 minutes before the first unpaid payment on, even if no process has run since', async () => {
    expect(await unpaidSince(books.world, at(-MONITORED_FOR_MS), NOW)).toEqual(at(-15 * 60_000));
    for (const beforeMs of [MONITORED_FOR_MS + LIST_WINDOW_MS, 3 * LIST_WINDOW_MS, LIST_WINDOW_MS])
      await openedAt(await books.payer(), at(-beforeMs));
    const since = await unpaidSince(books.world, at(-MONITORED_FOR_MS), NOW);
    expect(since).toEqual(at(-3 * LIST_WINDOW_MS - 15 * 60_000));
    await openWindows(books.world, since, NOW);
    const windows = await books.owner
      .selectFrom('gateway_windows')
      .select('starts_at')
      .orderBy('starts_at')
      .execute();
    expect(windows.map(({ starts_at: startsAt }) => startsAt)).toEqual(
      [5, 4, 3, 2, 1, 0].map((nth) => at(-nth * LIST_WINDOW_MS)),
    );
  });
});

describe('the unpaid payments of a window', () => {
  it('include those possibly opened late at the gateway, and none that is booked or closed', async () => {
    expect(await unpaidIn(books.world, NOW)).toEqual({ any: false, transfers: false });
    const card = await books.payer();
    await openedAt(card, at(-10 * 60_000));
    expect(await unpaidIn(books.world, NOW)).toEqual({ any: true, transfers: false });
    const nextButOne = at(2 * LIST_WINDOW_MS);
    expect(await unpaidIn(books.world, nextButOne)).toEqual({ any: false, transfers: false });
    const transfer = await books.payer({ method: 'BANK_TRANSFER' });
    await openedAt(transfer, at(5 * 60_000));
    expect(await unpaidIn(books.world, NOW)).toEqual({ any: true, transfers: true });
    expect(
      await findUnbooked(books.world, [card.reference, transfer.reference, 'of-another-shop']),
    ).toHaveLength(2);
    await books.bookCheck(card);
    await closePayment(books.world, transfer.reference);
    expect(await unpaidIn(books.world, NOW)).toEqual({ any: false, transfers: false });
    expect(await findUnbooked(books.world, [card.reference, transfer.reference])).toEqual([]);
  });
});

describe('single checks while the list is down', () => {
  const unseen = async (nowAfterMs: number, limit: number): Promise<string[]> => {
    const which = { now: at(nowAfterMs), since: at(-MONITORED_FOR_MS), leastMs: 10_000, limit };
    return (await findUncheckedPayments(books.world, which)).map(({ reference }) => reference);
  };

  it('repeat after a tenth of the waiting time, at least ten seconds and at most a minute', async () => {
    const payer = await books.payer();
    await openedAt(payer, NOW);
    expect(await unseen(9_999, 9)).toEqual([]);
    expect(await unseen(10_001, 9)).toEqual([payer.reference]);
    await checkedAt(payer, at(300_000));
    expect(await unseen(329_000, 9)).toEqual([]);
    expect(await unseen(334_000, 9)).toEqual([payer.reference]);
    await checkedAt(payer, at(36_000_000));
    expect(await unseen(36_059_000, 9)).toEqual([]);
    expect(await unseen(36_061_000, 9)).toEqual([payer.reference]);
  });
});

const checkedAt = ({ reference }: Payer, at: Date) =>
  books.owner.updateTable('payments').set({ checked_at: at }).where('reference', '=', reference).execute();
