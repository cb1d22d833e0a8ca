/** my-esims of an account with 10,800 eSIMs: every answer equals a plain query over all of its rows. */
import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { listEsims, MAX_FOUND, type EsimList, type EsimQuery } from '../../src/esims/store/list-esims.ts';
import { openBooks, type Books } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const ORDERS = 12_000;
const BIG = 'acc-big';
const books: Books = await forFile(openBooks({ statementTimeoutMs: 30_000 }));

/** One of the names is common, twenty are rare, and one is only among the oldest. */
const insert = (from: number, to: number) => sql`
  insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
                     iccid, total_volume_bytes, total_duration, duration_unit, data_type, created_at)
  select 'esim-' || md5('e' || i), case when i % 10 = 9 then 'acc-small-' || i % 500 else ${BIG} end, 'txn-' || md5('t' || i), 'P',
         case when i < 20 then 'Old Europe' when i % 100 = 0 then 'Rare ' || i % 2000 else 'Nigeria 5GB' end,
         (array['CREATED', 'ACTIVE', 'EXPIRED'])[1 + i % 3], 100, 'USD', '{}', 'esim-access', '89440' || lpad((i::bigint * 7919 % 10000000000)::text, 14, '0'),
         1000, 30, 'DAY', 1, timestamptz '2026-01-01' + i / 2 * interval '5 minutes'
    from generate_series(${sql.lit(from)}, ${sql.lit(to)}) i`;

beforeAll(async () => {
  await insert(1, ORDERS).execute(books.owner);
  await sql`vacuum analyze esims`.execute(books.owner);
});

async function list(query: Partial<EsimQuery>): Promise<EsimList> {
  const page = await listEsims(books.world, { accountId: BIG, page: 1, limit: 10, ...query });
  if (!page) throw new Error('unknown cursor');
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

describe('a page equals the plain query', () => {
  const check = async (query: Partial<EsimQuery>) => {
    const [found, expected] = await Promise.all([list(query), plainly(query)]);
    expect(found.rows.map((row) => row.id)).toEqual(expected.ids);
    expect([found.total, found.totalIsMinimum]).toEqual([expected.total, false]);
  };

  it('for any account of some rows, part of a text, status and page', async () => {
    const texts = [
      'Nigeria 5GB',
      'Rare 1700',
      'Old Europe',
      '8944000000000095028',
      `txn-${'0c4ca9'.repeat(5)}`,
    ];
    const part = fc
      .tuple(fc.constantFrom(...texts), fc.nat(20), fc.integer({ min: 1, max: 6 }))
      .map(([text, start, length]) => text.slice(start % text.length, (start % text.length) + length));
    const query = fc.record(
      {
        accountId: fc.nat(49).map((n) => `acc-small-${9 + n * 10}`),
        status: fc.constantFrom('CREATED' as const, 'ACTIVE' as const, 'EXPIRED' as const),
        search: fc.oneof(part, fc.string({ minLength: 1, maxLength: 3 }), fc.constantFrom('%', '_', '\\')),
        page: fc.integer({ min: 1, max: 4 }),
        limit: fc.integer({ min: 1, max: 30 }),
      },
      { requiredKeys: ['accountId', 'page', 'limit'] },
    );
    await fc.assert(fc.asyncProperty(query, check), { numRuns: 200 });
  });

  it('a search counts up to its limit, and says so; without one, all are counted', async () => {
    const found = await list({ search: 'TXN-' });
    expect([found.total, found.totalIsMinimum]).toEqual([MAX_FOUND, true]);
    expect(await list({})).toMatchObject({ total: 10_800, totalIsMinimum: false });
    const deep = { search: 'txn-', page: 1_080 };
    expect((await list(deep)).rows.map((row) => row.id)).toEqual((await plainly(deep)).ids);
  });
});

describe('what ends soon', () => {
  const now = new Date('2027-01-01T00:00:00Z');
  const DAY_MS = 86_400_000;
  const until = (days: number) => ({ now, by: new Date(now.getTime() + days * DAY_MS) });

  beforeAll(async () => {
    // Ends of one hour each, a thousand of them past; two eSIMs of the supplier share an end.
    await sql`update esims set esim_tran_no = id,
        expired_time = ${now}::timestamptz + (substr(iccid, 6)::bigint % 9000 - 1000) / 2 * interval '1 hour'
      where account_id = ${BIG} and iccid like '%7'`.execute(books.owner);
  });

  it.each([3, 30])(
    'within %i days, the soonest first, in any page size, and nothing that has ended',
    async (days) => {
      const { rows: expected } = await sql<{ id: string }>`
      select id from esims where account_id = ${BIG} and status in ('CREATED', 'ACTIVE')
         and expired_time > ${now} and expired_time <= ${until(days).by} order by expired_time, id`.execute(
        books.owner,
      );
      expect(expected.length).toBeGreaterThan(days === 3 ? 3 : 30);
      const ids: string[] = [];
      for (let after: string | undefined, pages = 0; pages === 0 || after !== undefined; pages += 1) {
        const page = await list({
          limit: 7,
          expiring: until(days),
          ...(after === undefined ? {} : { after }),
        });
        expect(page.total).toBe(expected.length);
        ids.push(...page.rows.map((row) => row.id));
        after = page.next;
      }
      expect(ids).toEqual(expected.map(({ id }) => id));
      const second = await list({ limit: 2, page: 2, expiring: until(days) });
      expect(second.rows.map(({ id }) => id)).toEqual(ids.slice(2, 4));
    },
  );
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
      expect(await listEsims(books.world, { accountId: BIG, page: 1, limit: 10, after })).toBeUndefined();
  });
});
