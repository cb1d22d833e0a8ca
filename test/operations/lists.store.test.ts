// Lists of all accounts: what they find, how they continue, and that of 200,000 rows a page reads few.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { exportLines, listLines, MAX_FILE_LINES } from '../../src/operations/lists.ts';
import { MAX_LOOKED, type ListName, type ListQuery } from '../../src/operations/store/lists.ts';
import { explain, rowsReadBy } from '../support/world/explain.ts';
import { forFile } from '../support/world/for-file.ts';
import { openBooks } from '../support/world/books.ts';
import { stockCatalogue } from '../support/money/stock.ts';

const books = await forFile(openBooks());
const { world, accounts, owner } = books;
const deps = { accounts, db: world };
const ROWS = 200_000;
const BIG = `acc-${'1'.repeat(32)}`;
const START = new Date('2026-01-01T00:00:00.000Z');
const NOBODY = {
  person: { personId: 'p', email: 'ada@operator.example', name: 'Ada', role: 'FINANCE' },
} as const;
await stockCatalogue(world, START);

/** One a second; the oldest twenty failed, every tenth is of one account. */
await sql`
  insert into accounts.accounts (id, type, name, email, currency, plan)
  values (${BIG}, 'MERCHANT', '=Ada, "Travel"', 'ada@merchant.example', 'USD', 'STANDARD')`.execute(owner);
await sql`
  insert into purchases (transaction_id, account_id, package_type, payment_method, status, reason, package_code, package_name,
    volume_bytes, duration, esim_id, price_minor, currency, price_usd_minor, cost_usd_e4, settings_id, request_id, reference, created_at, closed_at)
  select 'txn-' || lpad(nth::text, 32, '0'), case when nth % 10 = 0 then ${BIG} else 'acc-' || lpad((nth % 1000)::text, 32, '2') end,
         'BASE', case when nth % 7 = 0 then 'CARD' else 'WALLET' end, case when nth <= 20 then 'FAILED' else 'SUCCESS' end,
         case when nth <= 20 then 'OUT_OF_STOCK' end, case when nth % 5 = 0 then 'SIM-OK' else 'OTHER' end,
         case when nth = ${ROWS} then '=cmd()' else 'Nigeria 1GB' end, 1, 7, 'esim-' || lpad(nth::text, 32, '0'),
         1250 + nth % 100, 'USD', 1250, 5000, 'initial', 'req', case when nth = 77777 then 'order-1' end,
         ${START}::timestamptz + nth * interval '1 second', ${START}::timestamptz + nth * interval '1 second'
    from generate_series(1, ${ROWS}) nth`.execute(owner);
await sql`
  insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
    iccid, total_volume_bytes, total_duration, duration_unit, data_type, created_at)
  select esim_id, account_id, transaction_id, package_code, package_name, case when price_minor = 1300 then 'EXPIRED' else 'ACTIVE' end,
         price_minor, currency, '{}', 'esim-access', '8944' || right(transaction_id, 15), 1, 7, 'DAY', 1, created_at
    from purchases`.execute(owner);
await sql`
  insert into fundings (transaction_id, account_id, payment_method, status, amount_minor, currency, request_id, created_at, closed_at)
  select transaction_id || 'f', account_id, 'CARD', 'SUCCESS', price_minor, currency, request_id, created_at, closed_at from purchases`.execute(
  owner,
);
await sql`analyze`.execute(owner);

const numbersOf = (lines: readonly { readonly transactionId: string }[]) =>
  lines.map(({ transactionId }) => Number(/\d+/.exec(transactionId)?.[0]));
const list = (name: ListName, query: Partial<ListQuery>) => listLines(deps, name, { limit: 50, ...query });

/** Found nowhere, so all that may be looked at is, twice: then for the place where the next page begins. */
const ALL = 2 * MAX_LOOKED + 200;

describe.each<[ListName, Partial<ListQuery>, mostRows?: number]>([
  ['purchases', {}],
  ['purchases', { accountId: BIG }],
  ['purchases', { status: 'FAILED' }],
  ['purchases', { paymentMethod: 'CARD', country: 'NG', packageCode: 'SIM-OK' }],
  ['purchases', { country: 'XX' }],
  ['purchases', { reference: 'order-1' }],
  ['purchases', { from: new Date('2026-01-02T00:00:00Z'), to: new Date('2026-01-02T00:01:00Z') }],
  ['purchases', { after: `txn-${'100000'.padStart(32, '0')}`, status: 'FAILED' }],
  ['fundings', { status: 'PENDING' }],
  ['fundings', { accountId: BIG, paymentMethod: 'CARD' }],
  ['esims', { status: 'CANCELLED' }],
  ['esims', { iccid: `8944${'5'.padStart(15, '0')}` }],
  ['esims', { accountId: `acc-${'222'.padStart(32, '2')}`, country: 'XX' }],
  // Of an account with a tenth of all rows Postgres may read the index by time, and ten times as many.
  ['esims', { accountId: BIG, country: 'XX' }, 10 * ALL],
])('%s by %j', (name, query, mostRows = ALL) => {
  it('reads an index, and no more rows than the limit', async () => {
    const { scans } = await explain(books, (db) =>
      listLines({ accounts, db }, name, { limit: 50, ...query }),
    );
    const whole = scans.filter((scan) => scan['Node Type'] === 'Seq Scan' && scan['Relation Name'] === name);
    expect(whole).toEqual([]);
    const own = scans.filter((scan) => scan['Relation Name'] === name && scan['Node Type'] !== 'CTE Scan');
    expect(rowsReadBy(own)).toBeLessThanOrEqual(mostRows);
  });
});

describe('a list', () => {
  it('is newest first, and continues behind its cursor without a gap', async () => {
    const first = await list('purchases', { accountId: BIG, limit: 3 });
    const rest = await list('purchases', { accountId: BIG, limit: 3, after: first.next });
    expect(numbersOf([...first.items, ...rest.items])).toEqual(
      [0, 1, 2, 3, 4, 5].map((nth) => ROWS - nth * 10),
    );
    expect(first.items[0]).toMatchObject({ accountName: '=Ada, "Travel"', status: 'SUCCESS' });
  });

  it('finds what lies behind many rows that do not match, page by page, and ends', async () => {
    const found: number[] = [];
    let after: string | undefined;
    let pages = 0;
    do {
      const page = await list('purchases', { status: 'FAILED', after, limit: 15 });
      expect(page.items.length).toBeLessThanOrEqual(15);
      found.push(...numbersOf(page.items));
      after = page.next;
      pages += 1;
    } while (after !== undefined);
    expect(found).toEqual(Array.from({ length: 20 }, (_, nth) => 20 - nth));
    expect(pages).toBe(ROWS / MAX_LOOKED + 1);
  });

  it('has rows of one moment each once', async () => {
    await sql`update fundings set created_at = ${START} where account_id = ${BIG} and created_at < ${START}::timestamptz + interval '200 seconds'`.execute(
      owner,
    );
    const query = { accountId: BIG, to: new Date(START.getTime() + 1), limit: 6 };
    const all: number[] = [];
    for (let after: string | undefined, page = 0; page < 5; page += 1) {
      const found = await list('fundings', { ...query, after });
      all.push(...numbersOf(found.items));
      after = found.next;
      if (after === undefined) break;
    }
    expect(all).toHaveLength(19);
    expect(new Set(all).size).toBe(19);
  });

  it('refuses days the wrong way round and cursors of nothing', async () => {
    const code = 'VALIDATION_ERROR';
    await expect(list('purchases', { from: START, to: START })).rejects.toMatchObject({ code });
    await expect(list('esims', { after: `esim-${'f'.repeat(32)}` })).rejects.toMatchObject({ code });
  });
});

describe('a file', () => {
  it('has at most its number of lines, continues, and is on record', async () => {
    const { lines, next } = await exportLines(deps, NOBODY, 'purchases', {});
    expect(lines).toHaveLength(MAX_FILE_LINES);
    expect(next).toBe(lines.at(-1)?.transactionId);
    expect(numbersOf(lines.slice(-1))).toEqual([ROWS - MAX_FILE_LINES + 1]);
    let [after, count] = [next, 0];
    for (; after !== undefined; count += 1) {
      const more = await exportLines(deps, NOBODY, 'purchases', { after });
      if (count === 0) expect(numbersOf(more.lines.slice(0, 1))).toEqual([ROWS - MAX_FILE_LINES]);
      after = more.next;
    }
    const log = await accounts
      .selectFrom('audit_log')
      .select(['actor', 'subject', sql<string>`detail->>'which'`.as('which')])
      .where('action', '=', 'list.export')
      .orderBy('at')
      .execute();
    const of = { actor: NOBODY.person.email, subject: 'purchases' };
    expect(log).toHaveLength(count + 1);
    expect(log[0]).toEqual({ ...of, which: '10000 lines, and more match' });
    expect(log.at(-1)).toEqual({ ...of, which: expect.stringMatching(/^\d+ lines$/) as string });
  });

  it('leaves nothing out where few rows match', async () => {
    const { lines, next } = await exportLines(deps, NOBODY, 'purchases', { status: 'FAILED' });
    expect(lines).toHaveLength(20);
    expect(next).toBeUndefined();
  });
});
