/** The one search of operators, and accounts as they see them: what each id leads to, in one world, and for whom. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount, createKey } from '../../src/accounts/manage-accounts.ts';
import { insertPerson } from '../../src/accounts/store/people.ts';
import { insertMember, insertUser } from '../../src/accounts/store/users.ts';
import { changeAccount, listAccounts, readAccount } from '../../src/operations/accounts.ts';
import { MOST_FOUND, search } from '../../src/operations/search.ts';
import { findTransactions } from '../../src/operations/store/search.ts';
import { stuckLimits } from '../../src/operations/stuck-rules.ts';
import { createOverview } from '../../src/reconciliation/overview.ts';
import type { Role } from '../../src/accounts/roles.ts';
import type { Session } from '../../src/accounts/sessions.ts';
import { openBooks } from '../support/books.ts';
import { explain } from '../support/explain.ts';
import { ago, HOUR, NOW, rowsOf } from './stuck.support.ts';

const books = await openBooks();
const rows = rowsOf(books.owner);
afterAll(() => books.close());

const stuck = {
  db: books.world,
  workflows: {
    findUncarried: () => Promise.resolve(new Set<string>()),
    ofTransaction: () => Promise.resolve([]),
  },
  clock: { now: () => NOW },
  limits: stuckLimits({ attentionAfterMs: 600_000, openChargeForMs: 600_000 }),
};
const deps = { accounts: books.accounts, environment: 'test' as const, stuck };
const session = { person: { email: 'finance@operator.example' } } as Session;
const hex = () => randomBytes(16).toString('hex');
const PERSON = `person-${hex()}`;
const ICCID = '8944300000000000017';

let accountId: string;
let other: string;
let ids: Record<'purchase' | 'topUp' | 'funding' | 'message' | 'loose' | 'key' | 'esim' | 'move', string>;

const newAccount = (name: string, email: string) =>
  createAccount(
    books.accounts,
    { type: 'MERCHANT', name, email, currency: 'NGN', plan: 'STANDARD' },
    'a test',
  );

beforeAll(async () => {
  accountId = await newAccount('Merchant 100% Travel', 'shop@merchant.example');
  other = await newAccount('Other Ltd', 'other@else.example');
  const user = `user-${hex()}`;
  await insertUser(books.accounts, {
    ...{ id: user, email: 'ada.owner@private.example', name: 'Ada', passwordHash: 'scrypt$1$1$1$x$x' },
  });
  await insertMember(books.accounts, { account_id: accountId, user_id: user, role: 'OWNER' });
  await insertPerson(books.accounts, {
    ...{ id: PERSON, email: 'support@operator.example', name: 'Sam', role: 'SUPPORT' },
    ...{ password_hash: 'scrypt$1$1$1$x$x', one_time_until: null, locked_until: null },
  });
  const key = await createKey(
    books.accounts,
    {
      ...{
        accountId,
        environment: 'test',
        brand: 'simway',
        scopes: ['read'],
        allowedAddresses: ['127.0.0.1'],
      },
      ...{ companyName: 'Merchant', websiteUrl: 'https://merchant.example', expiresAt: null },
    },
    'a test',
  );
  const own = { account_id: accountId };
  const esim = `esim-${hex()}`;
  const purchase = await rows.purchase({
    ...own,
    esim_id: esim,
    request_id: 'request-1',
    created_at: ago(3),
  });
  const topUp = await rows.purchase({ ...own, esim_id: esim, package_type: 'TOPUP', created_at: ago(2) });
  const funding = await rows.funding({ ...own, request_id: 'request-1' });
  await rows.payment(purchase, { reference: 'pay-1', account_id: accountId });
  const endpoint = await rows.endpoint(own);
  const message = await rows.message(endpoint, { ...own, subject: purchase });
  const loose = await rows.message(endpoint, own);
  await rows.move(purchase, { move: 'cancel', status: 'BEGUN', created_at: ago(1) });
  await sql`
    insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier, iccid,
                       total_volume_bytes, total_duration, duration_unit, data_type, created_at)
    values (${esim}, ${accountId}, ${purchase}, 'P', 'P', 'ACTIVE', 1, 'USD', '{}', 's', ${ICCID}, 1, 30, 'DAY', 1, now())`.execute(
    books.owner,
  );
  const { id: move } = await books.owner.selectFrom('operator_moves').select('id').executeTakeFirstOrThrow();
  await sql`
    insert into accounts.api_requests (account_id, environment, request_id, at, method, path, status, duration_ms, key_id)
    values (${accountId}, 'test', 'request-1', now(), 'POST', '/api/esim/buy', 200, 5, ${key.keyId}),
           (${accountId}, 'live', 'request-1', now(), 'POST', '/api/esim/buy', 200, 5, ${key.keyId})`.execute(
    books.owner,
  );
  ids = { purchase, topUp, funding, message, loose, key: key.keyId, esim, move };
});

/** `<kind> <id> by <how>` of what is found. */
async function found(text: string, role: Role = 'SUPPORT'): Promise<string[]> {
  const { items } = await search(deps, text, role);
  return items.map(({ kind, id, foundBy }) => `${kind} ${id} by ${foundBy}`);
}

describe('the search', () => {
  it('finds purchases and fundings by whatever leads to them', async () => {
    expect(await found(ids.purchase)).toEqual([`purchase ${ids.purchase} by id`]);
    expect(await found(ids.funding)).toEqual([`funding ${ids.funding} by id`]);
    expect(await found('pay-1')).toEqual([`purchase ${ids.purchase} by reference`]);
    expect(await found(ids.message)).toEqual([`purchase ${ids.purchase} by message`]);
    expect(await found(ids.move)).toEqual([`purchase ${ids.purchase} by move`]);
    const both = [ids.topUp, ids.purchase].map((id) => `purchase ${id}`);
    expect(await found(ids.esim)).toEqual(both.map((one) => `${one} by esim`));
    expect(await found(ICCID)).toEqual(both.map((one) => `${one} by iccid`));
  });

  it('finds messages about nothing, keys, requests and accounts, each with whose it is', async () => {
    expect(await found(ids.loose)).toEqual([`message ${ids.loose} by id`]);
    expect(await found(ids.key)).toEqual([`key ${ids.key} by id`]);
    expect(await found('request-1')).toEqual([
      `funding ${ids.funding} by request`,
      `purchase ${ids.purchase} by request`,
      'request request-1 by id',
    ]);
    expect(await found(accountId)).toEqual([`account ${accountId} by id`]);
    for (const text of ['100% trav', 'SHOP@merchant', 'ada.owner@private.example'])
      expect(await found(text), text).toEqual([`account ${accountId} by name or e-mail`]);
    const { items } = await search(deps, ids.key, 'SUPPORT');
    expect(items[0]).toMatchObject({
      account: { accountId, name: 'Merchant 100% Travel' },
      title: expect.stringMatching(/^simway_test_….{4}, Merchant$/) as string,
    });
    expect((await search(deps, ids.purchase, 'SUPPORT')).items[0]?.title).toBe(
      'A package, USD 2.30, PROCESSING',
    );
  });

  it('finds people for those who manage people, and for nobody else', async () => {
    expect(await found(PERSON, 'ADMIN')).toEqual([`person ${PERSON} by id`]);
    expect(await found('Support@operator.example', 'ADMIN')).toEqual([`person ${PERSON} by name or e-mail`]);
    for (const role of ['SUPPORT', 'OPERATIONS', 'FINANCE'] as const)
      expect(await found('support@operator.example', role)).toEqual([]);
  });

  it('keeps the worlds apart', async () => {
    const live = { ...deps, environment: 'live' as const };
    expect((await search(live, ids.key, 'SUPPORT')).items).toEqual([]);
  });

  it.each(['', '%', '_', "'; drop table accounts", '\\', 'txn-', 'nothing'])(
    'takes any text: %j',
    async (text) => {
      const { items, isCut } = await search(deps, text, 'ADMIN');
      expect([items.length <= MOST_FOUND, isCut]).toEqual([true, false]);
    },
  );

  it('reads no table of purchases whole', async () => {
    await sql`
      insert into purchases (transaction_id, account_id, package_type, payment_method, status, package_code, package_name, volume_bytes,
                             duration, esim_id, price_minor, currency, price_usd_minor, cost_usd_e4, settings_id, request_id, created_at, closed_at)
      select 't' || i, 'acc-x', 'BASE', 'WALLET', 'SUCCESS', 'P', 'P', 1, 1, 'e' || i, 230, 'USD', 230, 1, 'initial', 'r' || i, now(), now()
        from generate_series(1, 20000) i`.execute(books.owner);
    await sql`analyze purchases`.execute(books.owner);
    const { scans } = await explain(books, (db) => findTransactions(db, 'r77', 21), {
      statementTimeoutMs: 10_000,
    });
    const whole = scans.filter((scan) => scan['Node Type'] === 'Seq Scan' && scan['Actual Rows'] > 100);
    expect(whole).toEqual([]);
    expect((await findTransactions(books.world, 'r77', 21)).map((one) => one.transactionId)).toEqual(['t77']);
  });
});

describe('accounts', () => {
  it('are listed newest first, and found by a part of what they are called', async () => {
    const all = await listAccounts(deps, { page: 1, limit: 10 });
    expect(all.items.map(({ id }) => id)).toEqual([other, accountId]);
    expect(all.items[0]).toMatchObject({ balance: { amountMinor: 0n, currency: 'NGN' }, disabledAt: null });
    const second = await listAccounts(deps, { page: 2, limit: 1 });
    expect([second.total, second.items.map(({ id }) => id)]).toEqual([2, [accountId]]);
    const found = await listAccounts(deps, { text: 'else.example', page: 1, limit: 10 });
    expect(found.items.map(({ id }) => id)).toEqual([other]);
  });

  it('show what they have in this world', async () => {
    const overview = await readAccount(deps, accountId);
    expect(overview).toMatchObject({
      ...{ keys: 1, members: 1, endpoints: 1, openPurchases: 2, openFundings: 1, onHoldMinor: 0n },
    });
    await rows.purchase({
      ...{ account_id: accountId, attention_reason: 'UNDO_FAILED', needs_attention_since: ago(5) },
    });
    expect((await readAccount(deps, accountId)).stuck).toBe(overview.stuck + 1);
    expect((await readAccount(deps, other)).stuck).toBe(0);
    await expect(readAccount(deps, `acc-${hex()}`)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('change with a reason on record, once', async () => {
    const change = {
      plan: 'ENTERPRISE',
      requestsPerMinute: 2_000,
      disabled: true,
      reason: 'a test',
    } as const;
    const changed = await changeAccount(deps, session, other, change);
    expect(changed).toMatchObject({ plan: 'ENTERPRISE', requestsPerMinute: 2_000, disabledAt: NOW });
    await changeAccount(deps, session, other, change);
    const back = await changeAccount(deps, session, other, {
      plan: 'PREMIUM',
      disabled: false,
      reason: 'back',
    });
    expect(back).toMatchObject({ plan: 'PREMIUM', requestsPerMinute: 500, disabledAt: null });
    const audit = await books.accounts
      .selectFrom('audit_log')
      .select(['actor', 'detail'])
      .where('action', '=', 'account.change')
      .orderBy('id')
      .execute();
    expect(audit).toEqual([
      {
        actor: 'finance@operator.example',
        detail: {
          plan: 'STANDARD → ENTERPRISE',
          requestsPerMinute: 'none → 2000',
          disabled: 'false → true',
          reason: 'a test',
        },
      },
      {
        actor: 'finance@operator.example',
        detail: {
          plan: 'ENTERPRISE → PREMIUM',
          requestsPerMinute: '2000 → none',
          disabled: 'true → false',
          reason: 'back',
        },
      },
    ]);
    await expect(changeAccount(deps, session, `acc-${hex()}`, change)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('the overview', () => {
  it('counts all that is stuck, with the oldest of each class, and leaves out what the role may not see', async () => {
    for (let i = 0; i < 150; i += 1)
      await rows.purchase({
        attention_reason: 'SUPPLIER_OUTCOME_UNKNOWN',
        needs_attention_since: ago(HOUR + i),
      });
    let asked = 0;
    const waiting = () => {
      asked += 1;
      return Promise.resolve({ report: 'waiting' as const, lines: [] });
    };
    const overview = createOverview({ stuck, books: { waiting } });
    const seen = await overview('FINANCE');
    expect(seen.stuck.count).toBeGreaterThanOrEqual(150);
    expect(seen.stuck.classes).toContainEqual({
      ...{ class: 'supplier-unknown', count: 150, oldestAgeSeconds: (HOUR + 149) * 60 },
    });
    expect(seen.stuck.oldestAgeSeconds).toBe((HOUR + 149) * 60);
    expect(seen).toMatchObject({
      approvals: { count: 0, oldestAgeSeconds: null },
      differences: { count: 0, oldestAgeSeconds: null },
      waiting: { asOf: NOW, lines: [] },
    });
    await overview('ADMIN');
    expect(asked).toBe(1);
    expect(await overview('SUPPORT')).toMatchObject({ differences: null, waiting: null });
    expect((await overview('ADMIN')).differences).toBeNull();
  });

  it('asks again for what money waits for where it could not be read', async () => {
    let asked = 0;
    const waiting = () => {
      asked += 1;
      return Promise.reject(new Error('too slow'));
    };
    const overview = createOverview({ stuck, books: { waiting } });
    await expect(overview('FINANCE')).rejects.toThrow('too slow');
    await expect(overview('FINANCE')).rejects.toThrow('too slow');
    expect(asked).toBe(2);
  });
});
