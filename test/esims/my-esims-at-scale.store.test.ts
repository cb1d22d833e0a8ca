/**
 * my-esims of an account with 10,000 eSIMs: every answer equals a plain query over all of its rows, and the number of rows read does not grow with
 * them. Rows are found whether or not they are folded.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listEsims, MAX_FOUND, type EsimList, type EsimQuery } from '../../src/esims/store/list-esims.ts';
import { foldFigures, rebuildFigures } from '../../src/purchases/store/kept-figures.ts';
import { openBooks, type Books } from '../support/books.ts';
import { explain, rowsReadBy } from '../support/explain.ts';

const ORDERS = 12_000;
const BIG = 'acc-big';
const books: Books = await openBooks({ statementTimeoutMs: 30_000 });
afterAll(() => books.close());

/** One of the names is common, twenty are rare, and one is only among the oldest. */
const insert = (from: number, to: number) => sql`
  insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
                     iccid, total_volume_bytes, total_duration, duration_unit, data_type, created_at)
  select 'esim-' || md5('e' || i), case when i % 10 = 9 then 'acc-small-' || i % 500 else ${BIG} end, 'txn-' || md5('t' || i), 'P',
         case when i < 20 then 'Old Europe' when i % 100 = 0 then 'Rare ' || i % 2000 else 'Nigeria 5GB' end,
         (array['CREATED', 'ACTIVE', 'EXPIRED'])[1 + i % 3], 100, 'USD', '{}', 's', '89440' || lpad((i::bigint * 7919 % 10000000000)::text, 14, '0'),
         1000, 30, 'DAY', 1, timestamptz '2026-01-01' + i * interval '5 minutes'
    from generate_series(${sql.lit(from)}, ${sql.lit(to)}) i`;

beforeAll(async () => {
  // The plans are compared by the current figures: autovacuum must not change them during the test.
  for (const table of ['esims', 'esim_search', 'esim_deltas'])
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = false)`.execute(books.owner);
  await insert(1, ORDERS).execute(books.owner);
  await rebuildFigures(books.world);
  await sql`vacuum analyze esims, esim_deltas, esim_search, esim_sums, esim_name_sums`.execute(books.owner);
});

async function list(query: Partial<EsimQuery>): Promise<EsimList> {
  const page = await listEsims(books.world, { accountId: BIG, page: 1, limit: 10, ...query });
  if (typeof page === 'string') throw new Error(page);
  return page;
}

/** The plain query, which reads everything. */
async function plainly({ accountId = BIG, page = 1, limit = 10, status, search }: Partial<EsimQuery>) {
  let matching = books.owner.selectFrom('esims').where('account_id', '=', accountId);
  if (status !== undefined) matching = matching.where('status', '=', status);
  if (search !== undefined)
    matching = matching.where(
      sql<boolean>`(strpos(lower(package_name), lower(${search})) > 0 or strpos(iccid, lower(${search})) > 0
        or strpos(transaction_id, lower(${search})) > 0)`,
    );
  const all = await matching.select('id').orderBy('created_at', 'desc').orderBy('id', 'desc').execute();
  const ids = all.map((row) => row.id);
  return { ids: ids.slice((page - 1) * limit, page * limit), total: ids.length };
}

const iccidOf = async (i: number): Promise<string> =>
  (
    await books.owner
      .selectFrom('esims')
      .select('iccid')
      .where('transaction_id', '=', sql<string>`'txn-' || md5(${`t${i}`})`)
      .executeTakeFirstOrThrow()
  ).iccid;

/** The most rows that may be read: windows, names and pages, however many the account has. */
const QUERIES: readonly (readonly [name: string, query: Partial<EsimQuery>, mostRows: number])[] = [
  ['the first page', {}, 500],
  ['one status', { status: 'ACTIVE' }, 500],
  ['a page in the middle', { page: 600 }, 3_000],
  ['the last page of a status', { page: 360, status: 'EXPIRED' }, 3_000],
  ['a page behind the last', { page: 100_000 }, 3_000],
  ['a common name', { search: 'nigeria' }, 500],
  ['a later page of a common name', { search: 'NIGERIA 5gb', page: 90 }, 5_000],
  ['a rare name', { search: 'rare 1700' }, 500],
  ['a rare name in a status', { search: 'rare', status: 'ACTIVE' }, 3_000],
  ['a name of the oldest', { search: 'old eu' }, 500],
  ['no name', { search: 'Atlantis' }, 500],
  ['the start of all ids', { search: 'txn-' }, 1_000],
  ['a part of a transaction id', { search: 'txn-c4c' }, 3_000],
  ['four digits', { search: '7919' }, 5_000],
  ['four digits in a status', { search: '7919', status: 'ACTIVE' }, 5_000],
  ['four digits of names and of ids', { search: '1700' }, 5_000],
  ['the same in a status', { search: '1700', status: 'EXPIRED' }, 5_000],
  ['three digits', { search: '791' }, 5_000],
  ['capital letters', { search: 'TXN-C4CA' }, 3_000],
  ['an ICCID that is replaced later', { search: '8944000000000095028' }, 3_000],
  ['what no id has', { search: 'fffffffffff' }, 3_000],
];

describe.each(['folded', 'partly unfolded', 'partly unfolded, with new statistics'])('%s', (state) => {
  beforeAll(async () => {
    if (state === 'folded') return;
    if (state !== 'partly unfolded') {
      await sql`vacuum analyze esims, esim_search, esim_deltas`.execute(books.owner);
      return;
    }
    await insert(ORDERS + 1, ORDERS + 300).execute(books.owner);
    // A folded row is found by its new id, and not by the old one.
    await sql`update esims set iccid = '8944099999999791900' where transaction_id = 'txn-' || md5('t12')`.execute(
      books.owner,
    );
  });

  it.each(QUERIES)('%s', async (_name, query, mostRows) => {
    const [found, expected] = await Promise.all([list(query), plainly(query)]);
    expect(found.rows.map((row) => row.id)).toEqual(expected.ids);
    expect([found.total, found.totalIsMinimum]).toEqual([expected.total, false]);
    const run = () => ({ accountId: BIG, page: 1, limit: 10, ...query });
    const { scans } = await explain(books, (db) => listEsims(db, run()), { statementTimeoutMs: 30_000 });
    const read = scans.filter(
      (node) =>
        !['CTE Scan', 'Subquery Scan', 'Bitmap Heap Scan', 'Function Scan'].includes(node['Node Type']),
    );
    // Each eSIM that is not folded is read separately.
    expect(rowsReadBy(read)).toBeLessThanOrEqual(mostRows + (state === 'folded' ? 0 : 6_000));
  });

  it('finds a whole ICCID, and its last digits', async () => {
    const iccid = await iccidOf(4_321);
    expect((await list({ search: iccid })).rows.map((row) => row.iccid)).toEqual([iccid]);
    for (const digits of [6, 3]) {
      const tail = { search: iccid.slice(-digits), limit: 100 };
      const ids = (await list(tail)).rows.map((row) => row.id);
      expect(ids).toEqual((await plainly(tail)).ids);
    }
  });

  it.each(['8', '89440', '1', 'd', '12'])(
    'answers %s, which most eSIMs match, with the right page and a total that says it is cut',
    async (search) => {
      const [found, expected] = await Promise.all([
        list({ search, page: 50 }),
        plainly({ search, page: 50 }),
      ]);
      expect(found.rows.map((row) => row.id)).toEqual(expected.ids);
      expect(expected.total).toBeGreaterThan(found.total);
      expect(found.total).toBeGreaterThanOrEqual(MAX_FOUND);
      expect(found.totalIsMinimum).toBe(true);
    },
  );

  it('refuses page numbers beyond what it counts', async () => {
    const query = { accountId: BIG, page: 101, limit: 10, search: 'nigeria' };
    expect(await listEsims(books.world, query)).toBe('TOO_DEEP');
  });
});

describe('a cursor', () => {
  it.each<Partial<EsimQuery>>([
    { limit: 100, search: 'rare 1' },
    { limit: 100, search: '7919' },
    { limit: 100, accountId: 'acc-small-19' },
    { limit: 100, accountId: 'acc-small-19', search: '2' },
  ])('reads all eSIMs once: %j', async (query) => {
    const expected = await plainly({ ...query, limit: ORDERS });
    const ids: string[] = [];
    for (let after: string | undefined, pages = 0; pages === 0 || after !== undefined; pages += 1) {
      const page = await list(after === undefined ? query : { ...query, after });
      ids.push(...page.rows.map((row) => row.id));
      after = page.next;
    }
    expect(ids).toEqual(expected.ids);
  });

  it('is not moved by new eSIMs', async () => {
    const first = await list({ limit: 3 });
    const before = await list({ limit: 3, after: first.next! });
    await insert(ORDERS + 1_000, ORDERS + 1_009).execute(books.owner);
    const after = await list({ limit: 3, after: first.next! });
    expect(after.rows.map((row) => row.id)).toEqual(before.rows.map((row) => row.id));
    expect((await list({ limit: 3 })).rows[0]!.id).not.toBe(first.rows[0]!.id);
  });

  it("of an unknown eSIM, or of another account's, is refused", async () => {
    const foreign = await list({ accountId: 'acc-small-19' });
    for (const after of ['esim-none', foreign.rows[0]!.id])
      expect(await listEsims(books.world, { accountId: BIG, page: 1, limit: 10, after })).toBe(
        'UNKNOWN_CURSOR',
      );
  });

  it('finds the eSIMs that it folds', async () => {
    expect(await foldFigures(books.world)).toBeGreaterThan(0);
    expect(await foldFigures(books.world)).toBe(0);
    for (const search of ['7919', 'rare', 'c4c'])
      expect((await list({ search })).rows.map((row) => row.id)).toEqual((await plainly({ search })).ids);
  });
});
