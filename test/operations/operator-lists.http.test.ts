// Lists of all accounts, as JSON and as CSV, over HTTP; and notes, which no merchant reads.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { ROLES, type Role } from '../../src/domain/operator-roles.ts';
import { refusalOf, openBooks } from '../support/world/books.ts';
import { startApi, type Ask } from '../support/http/api.ts';
import { openOperators, tokenOf } from '../support/http/operators.ts';
import { ACCOUNT, plantSales, plantWork, SOLD, TXN } from '../support/http/operator-rows.ts';
import { keyOf } from '../support/http/shop.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
await plantSales(books);
const ops = openOperators(books);
await ops.reset();
await plantWork(books);
const api = await forFile(startApi({ ops }));
const { owner, accounts } = books;

const as = (who: Role, more: Ask = {}): Ask => ({
  ...more,
  headers: { authorization: `Bearer ${tokenOf(who)}`, ...more.headers },
});
const csv = { headers: { accept: 'text/csv' } };
interface Page {
  readonly data: { readonly items: readonly Record<string, unknown>[]; readonly nextCursor: string | null };
}
const pageOf = (json: unknown) => (json as Page).data;

const EVIL = '=HYPERLINK("http://evil.example","x")';
await sql`update purchases set package_name = ${EVIL}, reference = '@SUM(1+1)', metadata = null where transaction_id = ${TXN}`.execute(
  owner,
);
await sql`update accounts.accounts set name = '+cmd|''/c calc''!A0' where id = ${ACCOUNT}`.execute(owner);
const SECRETS = ['LPA:1$secret.example$CODE', 'MATCHING-1', 'PIN-4711', 'PUK-4711'];
await sql`
  insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
    iccid, smdp_status, install_sealed, total_volume_bytes, total_duration, duration_unit, data_type, created_at)
  values (${`esim-${'1'.repeat(32)}`}, ${ACCOUNT}, ${TXN}, 'SIM-OK', 'Nigeria', 'ACTIVE', 1250, 'USD', ${JSON.stringify({ ac: SECRETS })}, 'esim-access',
    '8944000000000000001', 'ENABLED', ${Buffer.from(SECRETS.join(' '))}, 1, 7, 'DAY', 1, now())`.execute(
  owner,
);

describe.each(['purchases', 'fundings', 'esims'] as const)('the list of %s', (name) => {
  it('has the same fields and values in its file as in JSON', async () => {
    const json = pageOf((await api.ask(`/ops/lists/${name}`, as('SUPPORT'))).json);
    const file = await api.ask(`/ops/lists/${name}`, as('SUPPORT', csv));
    expect(file.status, file.text).toBe(200);
    const [heads = '', ...lines] = file.text.trimEnd().split('\r\n');
    if (json.items[0]) expect(heads.split(',')).toEqual(Object.keys(json.items[0]));
    expect(lines.filter((line) => line !== '')).toHaveLength(json.items.length);
    if (name === 'purchases') expect(file.text).toContain('1000.00');
  });

  it('has nothing that installs an eSIM, and no request of a merchant reads it', async () => {
    const found = await Promise.all([
      api.ask(`/ops/lists/${name}`, as('ADMIN')),
      api.ask(`/ops/lists/${name}`, as('ADMIN', csv)),
    ]);
    for (const { text } of found) for (const secret of SECRETS) expect(text).not.toContain(secret);
    expect(
      (await api.ask(`/ops/lists/${name}`, { headers: { 'X-API-Key': keyOf('test', 'usd') } })).status,
    ).toBe(401);
    expect((await api.ask(`/ops/lists/${name}`)).status).toBe(401);
  });
});

it('no cell of a file begins a formula', async () => {
  const purchases = await api.ask('/ops/lists/purchases', as('FINANCE', csv));
  const listed = await api.ask('/ops/accounts', as('FINANCE', csv));
  expect(purchases.text).toContain(`"'=HYPERLINK(""http://evil.example"",""x"")"`);
  expect(purchases.text).toContain("'@SUM(1+1)");
  for (const { text } of [purchases, listed]) {
    expect(text).toContain("'+cmd|");
    expect(text).not.toMatch(/(^|,)"?[=+@]/m);
  }
});

it('a file is on record, a page is not', async () => {
  const count = async () =>
    (await accounts.selectFrom('audit_log').select('actor').where('action', '=', 'list.export').execute())
      .length;
  const before = await count();
  await api.ask('/ops/lists/purchases', as('SUPPORT'));
  await api.ask('/ops/accounts', as('SUPPORT'));
  expect(await count()).toBe(before);
  await api.ask('/ops/lists/purchases', as('SUPPORT', csv));
  await api.ask('/ops/accounts', as('SUPPORT', csv));
  expect(await count()).toBe(before + 2);
});

it('accounts are found by plan, currency and whether they work', async () => {
  const idsOf = async (query: string) =>
    pageOf((await api.ask(`/ops/accounts?${query}`, as('SUPPORT'))).json).items.length;
  expect(await idsOf('currency=NGN')).toBe(1);
  expect(await idsOf('plan=PREMIUM')).toBe(0);
  expect(await idsOf('disabled=false')).toBe(2);
  expect(await idsOf('disabled=true&type=MERCHANT')).toBe(0);
});

describe('notes', () => {
  const PATHS = [`/ops/accounts/${ACCOUNT}/notes`, `/ops/purchases/${SOLD}/notes`];

  it.each(PATHS)('are read and written by every role, newest first: %s', async (path) => {
    for (const role of ROLES) {
      const written = await api.ask(
        path,
        as(role, { method: 'POST', body: { text: ` By ${role}\r\nLine 2 ` } }),
      );
      expect(written.json).toMatchObject({ data: { text: `By ${role}\nLine 2` } });
    }
    const first = pageOf((await api.ask(`${path}?limit=3`, as('SUPPORT'))).json);
    const rest = pageOf((await api.ask(`${path}?after=${first.nextCursor}`, as('SUPPORT'))).json);
    expect([...first.items, ...rest.items].map(({ writtenBy }) => writtenBy)).toEqual(
      ROLES.toReversed().map((role) => `${role.toLowerCase()}@operator.example`),
    );
  });

  it('sent twice, also at once, are one', async () => {
    const body = { text: 'Sent twice' };
    const ask = () => api.ask(PATHS[0]!, as('FINANCE', { method: 'POST', body }));
    const found = await Promise.all([ask(), ask(), ask()]);
    expect(new Set(found.map(({ text }) => text)).size).toBe(1);
    await api.ask(PATHS[0]!, as('SUPPORT', { method: 'POST', body }));
    const notes = await accounts.selectFrom('notes').select('id').where('text', '=', body.text).execute();
    expect(notes).toHaveLength(2);
  });

  it('never change, for nobody', async () => {
    for (const change of ['update accounts.notes set text = text', 'delete from accounts.notes'])
      expect(await refusalOf(sql.raw(change).execute(owner))).toBe('note_stays');
    expect(await refusalOf(sql`update notes set text = 'x'`.execute(accounts))).toBe('permission denied');
  });

  it('are in no answer to a merchant', async () => {
    const key = { headers: { 'X-API-Key': keyOf('test', 'usd') } };
    for (const path of PATHS) expect((await api.ask(path, key)).status).toBe(401);
  });
});

it('what all wallets had, by day, is the ledger’s sum at its end', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const before = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const { json } = await api.ask(`/ops/books/balances?from=${before}&to=${today}`, as('FINANCE'));
  const { lines } = (json as { data: { lines: { day: string; currency: string; balance: number }[] } }).data;
  const { rows } = await sql<{ currency: string; minor: bigint }>`
    select currency, sum(balance_minor)::int8 as minor from wallets group by 1`.execute(owner);
  for (const { currency, minor } of rows) {
    const own = lines.filter((line) => line.currency === currency);
    expect(own.map(({ day }) => day)).toEqual([before, today]);
    expect(own.map(({ balance }) => Math.round(balance * 100))).toEqual([0, Number(minor)]);
  }
});
