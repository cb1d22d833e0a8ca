/**
 * eSIMs on a table of 100,000: my-esims reads the orders of its own account through their index, and the
 * schedules what is due through theirs, whatever else is in the table.
 */
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { leaseForCheck, leaseForUsage, readOverdue } from '../../src/esims/store/due.ts';
import { findOldestUsage, findStaleEsims, notifyOfExpiry } from '../../src/esims/store/esims.ts';
import { listEsims, type EsimQuery } from '../../src/esims/store/list-esims.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { openBooks, type Books } from '../support/world/books.ts';
import { explain, rowsReadBy } from '../support/world/explain.ts';
import { forFile } from '../support/world/for-file.ts';

const BIG = 'acc-big';
const books: Books = await forFile(openBooks());

describe('with 100,000 orders in the table', () => {
  beforeAll(async () => {
    // One account has 200 of them, one 20,000; the rest belong to a thousand others.
    await sql`
      insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
                         iccid, total_volume_bytes, total_duration, duration_unit, data_type, created_at, checked_at, esim_tran_no,
                         next_usage_at, next_check_at, expired_time)
      select 'e' || i, case when i % 500 = 0 then 'acc-1' when i % 5 = 1 then ${BIG} else 'acc-' || (2 + i % 1000) end, 't' || i, 'P', 'Nigeria 5GB',
             (array['CREATED', 'ACTIVE', 'EXPIRED'])[1 + i % 3], 100, 'USD', '{}', 'esim-access', '', 1000, 30, 'DAY', 1,
             timestamptz '2026-01-01' + i * interval '1 second', timestamptz '2026-03-01' - i * interval '1 second', 'n' || i,
             timestamptz '2026-03-01' - i * interval '1 second', timestamptz '2026-03-01' - i * interval '1 second',
             timestamptz '2026-04-03' + i * interval '1 minute'
        from generate_series(1, 100000) i`.execute(books.owner);
    await sql`vacuum analyze esims`.execute(books.owner);
  });

  async function plansOf(query: EsimQuery): Promise<{ scans: string[]; rowsRead: number }> {
    const run = (db: WorldDb) => listEsims(db, query);
    const { statements, scans } = await explain(books, run);
    expect(statements).toBe(2);
    return {
      scans: scans.map((node) => `${node['Node Type']} ${node['Index Name'] ?? node['Relation Name'] ?? ''}`),
      // The rows of a bitmap were already counted at its index.
      rowsRead: rowsReadBy(
        scans.filter(
          (node) => !['Bitmap Heap Scan', 'CTE Scan', 'Subquery Scan'].includes(node['Node Type']),
        ),
      ),
    };
  }

  it.each<[string, Partial<EsimQuery>, number]>([
    // A page and one more row, found in the index and read; each of its eSIMs for the total, in the index.
    ['the first page', {}, 2 * 11 + 200],
    ['a later page', { page: 20 }, 200 + 10 + 200],
    // One in three is active.
    ['one status', { status: 'ACTIVE' }, 4 * 11 + 200],
    ['a search', { search: 'nothing like it' }, 2 * 200],
  ])("reads no more than the account's own orders for %s", async (_name, query, mostRows) => {
    const { scans, rowsRead } = await plansOf({ accountId: 'acc-1', page: 1, limit: 10, ...query });
    expect(scans).not.toContain('Seq Scan esims');
    expect(rowsRead).toBeGreaterThanOrEqual(mostRows / 4);
    expect(rowsRead).toBeLessThanOrEqual(mostRows);
  });

  const NOW = new Date('2026-04-02');

  it('reads what ends within a day by its own index, of an account with 20,000 eSIMs', async () => {
    const end = (day: string) => new Date(`2026-05-${day}T00:00:00Z`);
    const { scans, rowsRead } = await plansOf({
      ...{ accountId: BIG, page: 1, limit: 10, expiring: { now: end('04'), by: end('05') } },
    });
    expect(scans.join()).toContain('esims_by_account_expiry');
    expect(scans).not.toContain('Seq Scan esims');
    // One in five is of the account, and two in three of those in use: of 1,440 minutes, for the total.
    expect(rowsRead).toBeLessThanOrEqual(2 * 11 + 200);
  });

  it.each<[string, number, (db: WorldDb) => Promise<unknown>]>([
    ['the longest unseen', 5, (db) => findStaleEsims(db, { accountId: BIG, before: NOW, limit: 5 })],
    ['the oldest usage', 1, (db) => findOldestUsage(db, BIG)],
  ])('reads no more than it returns of an account with 20,000 eSIMs: %s', async (_name, most, read) => {
    const { scans } = await explain(books, read);
    expect(scans.map((node) => node['Node Type'])).toEqual([expect.stringMatching(/^Index (Only )?Scan$/)]);
    expect(rowsReadBy(scans)).toBe(most);
  });

  it.each<[string, string, (db: WorldDb) => Promise<unknown>]>([
    [
      'usage',
      'esims_by_next_usage',
      (db) => leaseForUsage(db, { supplier: 'esim-access', now: NOW, limit: 10 }),
    ],
    [
      'a check',
      'esims_by_next_check',
      (db) => leaseForCheck(db, { supplier: 'esim-access', now: NOW, limit: 10 }),
    ],
  ])(
    'takes what is overdue for %s longest through its index, and reads no more than it takes',
    async (_name, index, lease) => {
      const { statements, scans } = await explain(books, lease);
      expect(statements).toBe(1);
      const read = scans.map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`.trim());
      expect(read).toContain(`Index Scan ${index}`);
      expect(read.filter((scan) => scan.startsWith('Seq Scan'))).toEqual([]);
      // Ten are found, and read again to be changed; one more shows whether any is due. Those leased just
      // before are skipped, also by that one.
      expect(rowsReadBy(scans)).toBeLessThanOrEqual(3 * 10 + 1 + 2 * 10);
    },
  );

  it('finds eSIMs that expire soon through their index, and reads none whose merchant was notified already', async () => {
    const { scans } = await explain(books, (db) => notifyOfExpiry(db, NOW));
    const read = scans.map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`.trim());
    expect(read.filter((scan) => scan.startsWith('Seq Scan'))).toEqual([]);
    // A hundred are found, read again to be locked, and each one's event is written by a statement that reads
    // what it writes.
    expect(rowsReadBy(scans)).toBeLessThanOrEqual(6 * 100);
  });

  it('counts overdue eSIMs up to 10,000', async () => {
    const { scans } = await explain(books, (db) => readOverdue(db));
    expect(rowsReadBy(scans)).toBeLessThanOrEqual(2 * 10_000);
  });
});
