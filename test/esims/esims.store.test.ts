/** eSIM orders: what a later check may change, how searches are read, and pages without gaps. */
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { canChangeStatus, ESIM_STATUSES, MOVING_ESIM_STATUSES } from '../../src/domain/states.ts';
import { checkEsim, type RefreshDeps } from '../../src/esims/refresh.ts';
import { leaseForCheck, leaseForUsage } from '../../src/esims/store/due.ts';
import type { SupplierEvent } from '../../src/esims/rules.ts';
import {
  findEsim,
  findEsimByTranNo,
  findStaleEsims,
  keepUsage,
  refreshEsim,
} from '../../src/esims/store/esims.ts';
import { keepSupplierEvent, leaseSupplierEvents } from '../../src/esims/store/supplier-events.ts';
import { openBooks, type Books } from '../support/world/books.ts';
import { profileFacts } from '../support/money/facts.ts';
import { plantEsim } from './esims.support.ts';
import { forFile } from '../support/world/for-file.ts';

const books: Books = await forFile(openBooks());
beforeEach(async () => {
  await sql`truncate esims cascade`.execute(books.owner);
  await sql`truncate purchases cascade`.execute(books.owner);
});

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute));

const plant = (id: string, given: Parameters<typeof plantEsim>[2] = {}) => plantEsim(books, id, given);

async function plantPurchase(transactionId: string): Promise<void> {
  await sql`
    insert into purchases (transaction_id, account_id, package_type, payment_method, status, package_code, package_name, volume_bytes, duration,
                           esim_id, price_minor, currency, price_usd_minor, cost_usd_e4, settings_id, request_id, created_at, closed_at)
    values (${transactionId}, 'acc-1', 'BASE', 'CARD', 'SUCCESS', 'P', 'P', 1000, 30, 'e', 100, 'USD', 100, 1, 'initial', 'r', ${at(0)}, ${at(0)})`.execute(
    books.owner,
  );
}

describe('refreshEsim', () => {
  const pairs = ESIM_STATUSES.flatMap((from) => ESIM_STATUSES.map((to) => [from, to] as const));

  it.each(pairs)('from %s, when the supplier says %s', async (from, to) => {
    await plant('e', { status: from });
    const row = await refreshEsim(books.world, 'e', profileFacts({ status: to, orderUsageBytes: 7 }), at(1));
    const moves = MOVING_ESIM_STATUSES.includes(from);
    expect(row?.status).toBe(moves && canChangeStatus(from, to) ? to : from);
    // A state that may not go back does not stop the other fields from being updated; a closed state does.
    expect(row?.order_usage_bytes).toBe(moves ? 7n : 0n);
  });

  it('updates everything but the state when the state is unknown', async () => {
    await plant('e', { status: 'ACTIVE' });
    const row = await refreshEsim(
      books.world,
      'e',
      profileFacts({ status: null, orderUsageBytes: 9 }),
      at(1),
    );
    expect(row).toMatchObject({ status: 'ACTIVE', order_usage_bytes: 9n, checked_at: at(1) });
  });

  it('ignores a check that is older than the one before, in whatever order they arrive', async () => {
    await plant('e', { status: 'CREATED' });
    await refreshEsim(books.world, 'e', profileFacts({ status: 'ACTIVE', orderUsageBytes: 500 }), at(5));
    const row = await refreshEsim(
      books.world,
      'e',
      profileFacts({ status: 'SUSPENDED', orderUsageBytes: 1 }),
      at(4),
    );
    expect(row).toMatchObject({ status: 'ACTIVE', order_usage_bytes: 500n, checked_at: at(5) });
  });

  it('keeps the newest of many checks at once', async () => {
    await plant('e', { status: 'ACTIVE' });
    const minutes = [3, 9, 1, 7, 5, 8, 2];
    await Promise.all(
      minutes.map((minute) =>
        refreshEsim(
          books.world,
          'e',
          profileFacts({ orderUsageBytes: minute, status: 'ACTIVE' }),
          at(minute),
        ),
      ),
    );
    expect(await findEsim(books.world, 'e')).toMatchObject({ order_usage_bytes: 9n, checked_at: at(9) });
  });

  it.each([
    ['an answer from before it was installed', ['ENABLED', 'RELEASED', 'ENABLED'], ['installed']],
    ['one from while it was downloaded', ['INSTALLATION', 'DOWNLOAD', 'ENABLED'], ['installed']],
    [
      'one from before it was deleted',
      ['ENABLED', 'DELETED', 'DISABLED', 'DELETED'],
      ['installed', 'profile-deleted'],
    ],
  ])(
    'writes no event of the profile twice where an old answer comes later: %s',
    async (_name, states, events) => {
      await plant('e');
      await plantPurchase('txn-of-e');
      for (const [nth, smdpStatus] of states.entries())
        await refreshEsim(books.world, 'e', profileFacts({ smdpStatus }), at(10 + nth));
      const written = books.owner.selectFrom('purchase_events').select('what').orderBy('id');
      const rows = await written.where('transaction_id', '=', 'txn-of-e').execute();
      expect(rows.map(({ what }) => what)).toEqual(events);
    },
  );

  it('finds nothing for an unknown eSIM', async () => {
    expect(await refreshEsim(books.world, 'none', profileFacts(), at(1))).toBeUndefined();
  });
});

describe('an eSIM of another supplier', () => {
  const NAME = 'esim-access';
  beforeEach(() => plant('other', { supplier: 'another', esim_tran_no: 'T1' }));

  it('is not asked about, whoever asks', async () => {
    // Later than the database's clock, which also counts parts of a millisecond.
    const lease = { supplier: NAME, now: new Date(Date.now() + 1_000), limit: 10 };
    expect(await leaseForUsage(books.world, lease)).toEqual([]);
    expect(await leaseForCheck(books.world, lease)).toEqual([]);
    const deps = { supplier: { name: NAME, profile: () => expect.unreachable() } };
    const row = await findEsim(books.world, 'other');
    expect(await checkEsim(deps as unknown as RefreshDeps, row!)).toEqual({ row, isAnswered: false });
    const due = await leaseForUsage(books.world, { ...lease, supplier: 'another' });
    expect(due).toEqual(['T1']);
  });

  it('keeps its usage, and is not found by the same number of ours', async () => {
    const usage = [{ esimTranNo: 'T1', usedBytes: 9, observedAt: null }];
    await keepUsage(books.world, NAME, usage, at(1));
    expect(await findEsim(books.world, 'other')).toMatchObject({ order_usage_bytes: 0n });
    expect(await findEsimByTranNo(books.world, NAME, 'T1')).toBeUndefined();
  });

  it('has its events left to its own worker, also under the same number', async () => {
    const event: SupplierEvent = {
      ...{ notifyId: 'n', type: 'ESIM_STATUS', about: 'esim', esimTranNo: 'T1', orderNo: null },
      ...{ transactionId: null, supplierStatus: null, isStatusKnown: true, generatedAt: null },
    };
    const from = { sender: '203.0.113.9', isForeign: false };
    for (const supplier of ['another', NAME])
      expect(await keepSupplierEvent(books.world, event, { supplier, ...from })).toBe('kept');
    const leased = await leaseSupplierEvents(books.world, NAME, 10);
    expect(leased.map(({ supplier }) => supplier)).toEqual([NAME]);
  });
});

describe('keepUsage', () => {
  it('keeps a higher figure and never goes back', async () => {
    await plant('e', { esim_tran_no: 'T1' });
    await plant('f', { esim_tran_no: 'T2' });
    const used = async () =>
      Promise.all(['e', 'f'].map(async (id) => (await findEsim(books.world, id))?.order_usage_bytes));
    const say = (used: Record<string, number>) =>
      keepUsage(
        books.world,
        'esim-access',
        Object.entries(used).map(([esimTranNo, usedBytes]) => ({ esimTranNo, usedBytes, observedAt: null })),
        at(1),
      );
    await say({});
    await say({ T1: 5_000_000_000, T2: 7, unknown: 9 });
    expect(await used()).toEqual([5_000_000_000n, 7n]);
    await say({ T1: 4, T2: 8 });
    expect(await used()).toEqual([5_000_000_000n, 8n]);
  });
});

describe('findUnseenEsims', () => {
  it('lists eSIMs that may have changed, the longest unchecked first', async () => {
    await plant('b', { checked_at: at(2) });
    await plant('a', { checked_at: at(1), status: 'ACTIVE' });
    await plant('c', { checked_at: at(3), account_id: 'acc-2', status: 'SUSPENDED' });
    await plant('fresh', { checked_at: at(9) });
    await plant('ended', { checked_at: at(1), status: 'EXPIRED' });
    await plant('pending', { checked_at: null, status: 'PENDING' });
    await plant('nameless', { checked_at: at(1), esim_tran_no: '' });
    const unseen = async (given: { accountId?: string; limit?: number } = {}) =>
      (await findStaleEsims(books.world, { accountId: 'acc-1', before: at(5), limit: 10, ...given })).map(
        (row) => row.id,
      );
    expect(await unseen()).toEqual(['a', 'b']);
    expect(await unseen({ limit: 1 })).toEqual(['a']);
    expect(await unseen({ accountId: 'acc-2' })).toEqual(['c']);
  });
});
