/**
 * eSIMs on a table of 100,000: my-esims reads the orders of its own account through their index, and the usage schedule the longest unseen
 * through its own, whatever else is in the table.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listEsims, claimForUsageRefresh, type EsimQuery } from '../../src/esims/store/esims.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { openBooks, type Books } from '../support/books.ts';
import { explain, rowsReadBy } from '../support/explain.ts';

const books: Books = await openBooks();
afterAll(() => books.close());

describe('with 100,000 orders in the table', () => {
  beforeAll(async () => {
    // One account has 200 of them; the rest belong to a thousand others.
    await sql`
      insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
                         iccid, total_volume_bytes, total_duration, duration_unit, data_type, created_at, looked_at, esim_tran_no)
      select 'e' || i, case when i % 500 = 0 then 'acc-1' else 'acc-' || (2 + i % 1000) end, 't' || i, 'P', 'Nigeria 5GB',
             (array['CREATED', 'ACTIVE', 'EXPIRED'])[1 + i % 3], 100, 'USD', '{}', 's', '', 1000, 30, 'DAY', 1,
             timestamptz '2026-01-01' + i * interval '1 second', timestamptz '2026-03-01' - i * interval '1 second', 'n' || i
        from generate_series(1, 100000) i`.execute(books.owner);
    await sql`analyze esims`.execute(books.owner);
  });

  async function plansOf(query: EsimQuery): Promise<{ scans: string[]; rowsRead: number }> {
    const run = (db: WorldDb) => listEsims(db, query);
    const { statements, scans } = await explain(books, run, { statementTimeoutMs: 5_000 });
    expect(statements).toBe(2);
    return {
      scans: scans.map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`.trim()),
      // The rows of a bitmap were counted where its index was read.
      rowsRead: rowsReadBy(scans.filter((node) => node['Node Type'] !== 'Bitmap Heap Scan')),
    };
  }

  it.each<[string, Partial<EsimQuery>, number]>([
    ['the first page', {}, 10 + 200],
    ['a later page', { page: 20 }, 200 + 200],
    ['one status', { status: 'ACTIVE' }, 10 + 67],
    ['a search', { search: 'nothing like it' }, 200 + 200],
  ])("reads no more than the account's own orders for %s", async (_name, query, mostRows) => {
    const { scans, rowsRead } = await plansOf({ accountId: 'acc-1', page: 1, limit: 10, ...query });
    for (const scan of scans)
      expect(scan).toMatch(/^(Bitmap Heap Scan|.*Index.* esims_by_account(_status)?)$/);
    expect(rowsRead).toBeGreaterThanOrEqual(mostRows / 4);
    expect(rowsRead).toBeLessThanOrEqual(mostRows);
  });

  it('takes the longest unseen through their index, and reads no more than it takes', async () => {
    const [before, now] = [new Date('2026-04-01'), new Date('2026-04-02')];
    const { statements, scans } = await explain(
      books,
      (db) => claimForUsageRefresh(db, { before, now, limit: 10 }),
      { statementTimeoutMs: 5_000 },
    );
    expect(statements).toBe(1);
    const read = scans.map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`.trim());
    expect(read).toContain('Index Scan esims_by_usage');
    expect(read.filter((scan) => scan.startsWith('Seq Scan'))).toEqual([]);
    // Ten are found, and read again to be changed.
    expect(rowsReadBy(scans)).toBeLessThanOrEqual(3 * 10);
  });
});
