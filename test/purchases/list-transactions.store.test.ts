/**
 * The list of transactions of an account with 10,800 purchases: every answer equals a plain query over all of
 * its rows.
 */
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../src/domain/account.ts';
import { PURCHASE_STATUSES } from '../../src/domain/states.ts';
import { listTransactions, MAX_COUNTED, type TransactionPage } from '../../src/purchases/transactions.ts';
import { TRANSACTION_TYPES } from '../../src/purchases/store/list-transactions.ts';
import { openBooks, type Books } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

type Command = Parameters<typeof listTransactions>[2];

const PURCHASES = 12_000;
const FUNDINGS = 300;
const BIG = 'acc-big';
const books: Books = await forFile(openBooks({ statementTimeoutMs: 30_000 }));
/**
 * i % 10 = 9 belongs to other accounts. One in fifty failed, one in seven is a top-up of an earlier
 * purchase's eSIM, one in nine was paid by card.
 */
await sql`
    insert into purchases (transaction_id, account_id, package_type, payment_method, status, reason, package_code, package_name, volume_bytes,
                           duration, esim_id, price_minor, currency, price_usd_minor, cost_usd_e4, settings_id, request_id, created_at, closed_at)
    select 'txn-' || md5('t' || i), case when i % 10 = 9 then 'acc-other' else ${BIG} end,
           case when i % 7 = 0 then 'TOPUP' else 'BASE' end, case when i % 9 = 0 then 'CARD' else 'WALLET' end,
           case when i % 50 = 0 then 'FAILED' else 'SUCCESS' end, case when i % 50 = 0 then 'OUT_OF_STOCK' end, 'P',
           case when i < 20 then 'Old Europe' when i % 100 = 0 then 'Rare ' || i else 'Nigeria 5GB' end, 1000, 30,
           'esim-' || md5('e' || case when i % 7 = 0 then i - 6 else i end), 100, 'USD', 100, 50, (select id from pricing_settings limit 1), 'r',
           timestamptz '2026-01-01' + (i / 2) * interval '5 minutes', timestamptz '2026-03-01'
      from generate_series(1, ${sql.lit(PURCHASES)}) i`.execute(books.owner);
await sql`
    insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
                       iccid, total_volume_bytes, total_duration, duration_unit, data_type, created_at)
    select esim_id, account_id, transaction_id, 'P', package_name, 'CREATED', 100, 'USD', '{}', 'esim-access',
           '89440' || lpad((row_number() over (order by created_at, transaction_id) * 7919 % 10000000000)::text, 14, '0'), 1000, 30, 'DAY', 1, created_at
      from purchases where package_type = 'BASE'`.execute(books.owner);
await sql`
    insert into fundings (transaction_id, account_id, payment_method, status, amount_minor, currency, request_id, created_at, closed_at)
    select 'txn-' || md5('f' || i), ${BIG}, 'CARD', 'SUCCESS', 5000, 'USD', 'r', timestamptz '2026-01-01' + i * interval '3 hours', timestamptz '2026-03-01'
      from generate_series(1, ${sql.lit(FUNDINGS)}) i`.execute(books.owner);
await sql`vacuum analyze purchases, fundings, esims`.execute(books.owner);

const principal = { account: { id: BIG, currency: 'USD' } } as Principal;
const list = (command: Partial<Command>): Promise<TransactionPage> =>
  listTransactions({ db: books.world }, principal, { page: 1, limit: 10, ...command });

/** The plain query, which reads everything. */
async function plainly({
  status,
  type,
  paymentMethod,
  from,
  to,
  search,
}: Partial<Command>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from (
      select p.transaction_id as id, p.created_at, p.status, package_type as type, payment_method as method, lower(p.package_name || '\n' || p.transaction_id ||
             '\n' || coalesce(iccid, '') || '\n' || case when length(${search ?? ''}) = 37 then p.esim_id else '' end) as text
        from purchases p left join esims on esims.id = p.esim_id and esims.account_id = p.account_id where p.account_id = ${BIG}
      union all
      select transaction_id, created_at, status, 'FUNDING', payment_method, transaction_id from fundings where account_id = ${BIG}
    ) every_one
     where (${status ?? null}::text is null or status = ${status ?? null}) and (${type ?? null}::text is null or type = ${type ?? null})
       and (${paymentMethod ?? null}::text is null or method = ${paymentMethod ?? null})
       and (${from ?? null}::timestamptz is null or created_at >= ${from ?? null}) and (${to ?? null}::timestamptz is null or created_at < ${to ?? null})
       and (${search ?? null}::text is null or strpos(text, lower(${search ?? ''})) > 0)
     order by created_at desc, id desc`.execute(books.owner);
  return rows.map((row) => row.id);
}

const idsOf = (page: TransactionPage): string[] => page.items.map((item) => item.transactionId);

describe('a page equals the plain query', () => {
  it('any filters, part of a text and page', async () => {
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
    const day = (first: number) => fc.integer({ min: first, max: first + 9 });
    const command = fc.record(
      {
        status: fc.constantFrom(...PURCHASE_STATUSES),
        type: fc.constantFrom(...TRANSACTION_TYPES),
        paymentMethod: fc.constantFrom('WALLET' as const, 'CARD' as const),
        from: day(1).map((date) => new Date(Date.UTC(2026, 0, date))),
        to: day(11).map((date) => new Date(Date.UTC(2026, 0, date))),
        search: part,
        page: fc.integer({ min: 1, max: 4 }),
        limit: fc.integer({ min: 1, max: 30 }),
      },
      { requiredKeys: ['page', 'limit'] },
    );
    await fc.assert(
      fc.asyncProperty(command, async ({ page, limit, ...filters }) => {
        const [found, expected] = [await list({ page, limit, ...filters }), await plainly(filters)];
        expect(idsOf(found)).toEqual(expected.slice((page - 1) * limit, page * limit));
        expect([found.total, found.totalIsMinimum]).toEqual([
          Math.min(expected.length, MAX_COUNTED),
          expected.length > MAX_COUNTED,
        ]);
      }),
      { numRuns: 60 },
    );
  });

  it('a list shows the needed fields of a purchase and of a funding', async () => {
    const [purchase] = (await list({ type: 'BASE', status: 'SUCCESS' })).items;
    expect(purchase).toMatchObject({
      type: 'BASE',
      status: 'SUCCESS',
      reason: null,
      paymentMethod: 'WALLET',
      amountMinor: 100n,
      packageName: 'Nigeria 5GB',
      dataBytes: 1000n,
      iccid: expect.stringMatching(/^89440\d{14}$/) as unknown,
    });
    const [funding] = (await list({ type: 'FUNDING' })).items;
    expect(funding).toMatchObject({ amountMinor: 5000n, packageName: null, esimId: null, iccid: null });
    const [failed] = (await list({ status: 'FAILED' })).items;
    expect(failed).toMatchObject({ reason: 'OUT_OF_STOCK' });
  });
});

describe('a cursor', () => {
  it.each<Partial<Command>>([
    {},
    { status: 'FAILED' },
    { type: 'TOPUP', paymentMethod: 'CARD' },
    { type: 'FUNDING' },
    { search: 'rare' },
    { search: 'old europe' },
    { search: '7919' },
    { search: 'f', type: 'FUNDING' },
  ])('reads all rows once, in order: %j', async (command) => {
    const ids: string[] = [];
    for (let after: string | undefined, more = true; more; more = after !== undefined) {
      const page = await list({ ...command, limit: 100, after });
      ids.push(...idsOf(page));
      after = page.next;
    }
    expect(ids).toEqual(await plainly(command));
  });
});

describe('a search', () => {
  const one = async () =>
    books.owner
      .selectFrom('purchases')
      .innerJoin('esims', 'esims.id', 'purchases.esim_id')
      .select(['purchases.transaction_id', 'purchases.esim_id', 'esims.iccid'])
      .where('purchases.package_type', '=', 'TOPUP')
      .where('purchases.account_id', '=', BIG)
      .where('esims.account_id', '=', BIG)
      .orderBy('purchases.created_at')
      .limit(1)
      .executeTakeFirstOrThrow();

  it('finds by a complete id among all rows: the top-up and the purchase of its eSIM', async () => {
    const { transaction_id, esim_id, iccid } = await one();
    for (const [search, many] of [
      [transaction_id, 1],
      [transaction_id.toUpperCase().replace('TXN', 'txn'), 1],
      [esim_id, 2],
      [iccid, 2],
    ] as const) {
      const found = await list({ search });
      expect(idsOf(found)).toEqual(await plainly({ search }));
      expect([found.items.length, found.total, found.totalIsMinimum]).toEqual([many, many, false]);
    }
  });

  it('respects the filters and the account', async () => {
    const { esim_id } = await one();
    expect((await list({ search: esim_id, type: 'TOPUP' })).total).toBe(1);
    const other = { account: { id: 'acc-other', currency: 'USD' } } as Principal;
    const found = await listTransactions({ db: books.world }, other, { page: 1, limit: 10, search: esim_id });
    expect(found.items).toEqual([]);
  });

  it.each(['%', '_', '\\', "'"])('does not read %s as a pattern', async (search) => {
    expect((await list({ search })).items).toEqual([]);
  });
});
