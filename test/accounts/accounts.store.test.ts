/**
 * Accounts and keys as stored: limits by plan, keys by hash only, and which changes the processes are
 * notified of.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { revoke } from '../../src/accounts/keys/manage-keys.ts';
import { hashApiKey } from '../../src/accounts/keys/api-key.ts';
import {
  findAccount,
  findAccountsByEmail,
  findKey,
  findKeysChangedSince,
  insertAccount,
  insertApiKey,
  type NewAccount,
  type NewApiKey,
} from '../../src/accounts/store/accounts.ts';
import { auditBooks, openBooks, refusalOf, untilStatementWaits } from '../support/world/books.ts';
import { makeAccount, makeKey } from '../support/people/keys.ts';
import { until } from '../support/time/until.ts';
import { newAccount } from '../support/money/facts.ts';
import { fund } from '../../src/ledger/fund-by-hand.ts';
import { fundWallet } from '../../src/ledger/store/ledger.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());

const hex = (): string => randomBytes(16).toString('hex');
const usd = (amountMinor: bigint) => ({ amountMinor, currency: 'USD' });

async function account(given: Partial<NewAccount> = {}): Promise<string> {
  const made = newAccount(given);
  await insertAccount(books.accounts, made);
  return made.id;
}

const newKey = (accountId: string, given: Partial<NewApiKey> = {}): NewApiKey => ({
  id: `key-${hex()}`,
  accountId,
  environment: 'test',
  sha256: randomBytes(32),
  displayPrefix: 'simway_test_',
  lastFour: 'abcd',
  scopes: ['read'],
  allowedAddresses: ['203.0.113.7', '2001:db8::/32'],
  companyName: 'Ada Ltd',
  websiteUrl: 'https://ada.example.com',
  expiresAt: null,
  ...given,
});

const dbNow = async (): Promise<Date> => {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(books.accounts);
  return rows[0]!.now;
};

describe('accounts', () => {
  it.each([
    ['STANDARD', null, 100],
    ['PREMIUM', null, 500],
    ['ENTERPRISE', 6_000, 6_000],
  ] as const)('on %s get their requests a minute', async (plan, enterpriseRequestsPerMinute, expected) => {
    const id = await account({ plan, enterpriseRequestsPerMinute });
    expect(await findAccount(books.accounts, id)).toEqual({
      id,
      type: 'USER',
      name: 'Ada',
      email: 'ada@example.com',
      currency: 'NGN',
      plan,
      requestsPerMinute: expected,
    });
  });

  it.each<[string, Partial<NewAccount>, string]>([
    ['Enterprise without its number', { plan: 'ENTERPRISE' }, 'enterprise_carries_its_own_number'],
    ['Standard with a number', { enterpriseRequestsPerMinute: 5 }, 'enterprise_carries_its_own_number'],
    [
      'no requests at all',
      { plan: 'ENTERPRISE', enterpriseRequestsPerMinute: 0 },
      'accounts_enterprise_requests_per_minute_check',
    ],
    ['no e-mail address', { email: 'nobody' }, 'accounts_email_check'],
    ['an address of two lines', { email: 'a@b\n@c' }, 'accounts_email_check'],
    ['no name', { name: '' }, 'accounts_name_check'],
    ['another currency', { currency: 'ZZZ' as 'USD' }, 'accounts_currency_check'],
  ])('are refused with %s', async (_name, given, constraint) => {
    expect(await refusalOf(insertAccount(books.accounts, newAccount(given)))).toBe(constraint);
  });

  it('are found by e-mail address, oldest first, and may share one', async () => {
    const email = `${hex()}@example.com`;
    const ids = [await account({ email }), await account({ email })];
    expect((await findAccountsByEmail(books.accounts, email)).map((found) => found.id)).toEqual(ids);
    expect(await findAccountsByEmail(books.accounts, 'nobody@example.com')).toEqual([]);
    expect(await findAccount(books.accounts, 'acc-none')).toBeUndefined();
  });
});

describe('keys', () => {
  it('are found by their hash, with their account', async () => {
    const accountId = await account({ plan: 'PREMIUM' });
    const key = newKey(accountId, { expiresAt: new Date('2030-01-01T00:00:00.000Z') });
    await insertApiKey(books.accounts, key, 'a test');
    expect(await findKey(books.accounts, key.sha256)).toEqual({
      keyId: key.id,
      sha256Hex: key.sha256.toString('hex'),
      environment: 'test',
      scopes: ['read'],
      mayInstall: true,
      maker: 'a test',
      allowedAddresses: ['203.0.113.7', '2001:db8::/32'],
      expiresAt: new Date('2030-01-01T00:00:00.000Z'),
      revokedAt: null,
      account: await findAccount(books.accounts, accountId),
    });
    expect(await findKey(books.accounts, randomBytes(32))).toBeUndefined();
  });

  it.each<[string, Partial<NewApiKey>, string]>([
    ['a hash of another length', { sha256: Buffer.from('short') }, 'api_keys_key_sha256_check'],
    ['no scope', { scopes: [] }, 'api_keys_scopes_check'],
    ['an unknown scope', { scopes: ['admin' as 'read'] }, 'api_keys_scopes_check'],
    ['no address', { allowedAddresses: [] }, 'api_keys_allowed_addresses_check'],
    [
      'eleven addresses',
      { allowedAddresses: Array<string>(11).fill('10.0.0.1') },
      'api_keys_allowed_addresses_check',
    ],
    ['another environment', { environment: 'staging' as 'test' }, 'api_keys_environment_check'],
    ['an account that is not there', { accountId: 'acc-none' }, 'api_keys_account_id_fkey'],
  ])('are refused with %s', async (_name, given, constraint) => {
    const accountId = await account();
    expect(await refusalOf(insertApiKey(books.accounts, newKey(accountId, given), 'a test'))).toBe(
      constraint,
    );
  });

  it('cannot be one hash for two accounts', async () => {
    const [first, second] = [newKey(await account()), newKey(await account())];
    await insertApiKey(books.accounts, first, 'a test');
    const copy = insertApiKey(books.accounts, { ...second, sha256: first.sha256 }, 'a test');
    expect(await refusalOf(copy)).toBe('api_keys_key_sha256_key');
  });

  it('that changed since a given time are listed: revoked keys, new keys, and keys of a changed account', async () => {
    const accountId = await account();
    const [kept, revoked] = [newKey(accountId), newKey(accountId)];
    await insertApiKey(books.accounts, kept, 'a test');
    await insertApiKey(books.accounts, revoked, 'a test');
    // A Date has no microseconds: rows of the same millisecond would count as changed since.
    const insertedBy = await dbNow();
    const since = await until(dbNow, (now) => now > insertedBy, { everyMs: 1 });
    const changed = async () =>
      (await findKeysChangedSince(books.accounts, since)).map((key) => [key.keyId, key.revokedAt !== null]);
    expect(await changed()).toEqual([]);
    expect(await revoke(books.accounts, { keyId: revoked.id }, 'a test')).toBe(1);
    expect(await changed()).toEqual([[revoked.id, true]]);
    await sql`update accounts set plan = 'PREMIUM', changed_at = clock_timestamp() where id = ${accountId}`.execute(
      books.accounts,
    );
    expect((await changed()).toSorted()).toEqual(
      [
        [kept.id, false],
        [revoked.id, true],
      ].toSorted(),
    );
  });
});

describe('an operator', () => {
  const actions = async (subject: string) =>
    (
      await books.accounts
        .selectFrom('audit_log')
        .select(['actor', 'action'])
        .where('subject', '=', subject)
        .orderBy('id')
        .execute()
    ).map((row) => `${row.actor} ${row.action}`);

  const make = async () => {
    const accountId = await makeAccount(books.accounts);
    return {
      accountId,
      one: await makeKey(books.accounts, accountId),
      two: await makeKey(books.accounts, accountId),
    };
  };

  it('revokes one key or all of an account, each once, and leaves an audit entry', async () => {
    const { accountId, one, two } = await make();
    expect(await revoke(books.accounts, { keyId: one.keyId }, 'olu')).toBe(1);
    expect(await revoke(books.accounts, { keyId: one.keyId }, 'olu')).toBe(0);
    expect(await revoke(books.accounts, { accountId }, 'olu')).toBe(1);
    for (const { apiKey } of [one, two])
      expect(
        (await findKey(books.accounts, Buffer.from(hashApiKey(apiKey), 'hex')))?.revokedAt,
      ).toBeInstanceOf(Date);
    expect(await actions(one.keyId)).toEqual(['a test key.create', 'olu key.revoke', 'olu key.revoke']);
    expect(await actions(accountId)).toEqual(['a test account.create', 'olu key.revoke']);
  });

  it('has at most 50 working keys in an environment', async () => {
    const { accountId, one } = await make();
    await sql`
      insert into accounts.api_keys (id, account_id, environment, key_sha256, display_prefix, last_four, scopes, allowed_addresses,
                                     company_name, website_url, created_by, expires_at, revoked_at)
      select 'key-' || md5(${accountId} || n), account_id, environment, sha256(convert_to(${accountId} || n, 'UTF8')), display_prefix,
             last_four, scopes, allowed_addresses, company_name, website_url, created_by,
             case when n = 100 then now() - interval '1 day' end, case when n = 101 then now() end
        from accounts.api_keys, generate_series(52, 101) n where id = ${one.keyId}`.execute(books.owner);
    const key = (environment: 'test' | 'live') => makeKey(books.accounts, accountId, { environment });
    // 50 so far, without the one that has expired and the one that was revoked.
    await expect(key('test')).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: 'an account has at most 50 working keys in an environment: revoke one first',
    });
    await key('live');
    await revoke(books.accounts, { keyId: one.keyId }, 'olu');
    const both = await Promise.allSettled([key('test'), key('test')]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('funds a wallet once per reference', async () => {
    const { accountId } = await make();
    const dbs = { accounts: books.accounts, world: books.world };
    const amount = { amountMinor: 500n, currency: 'USD' };
    const request = { accountId, amount, reason: 'a test', reference: `ref-${accountId}` };
    expect(await fund(dbs, request, 'olu')).toEqual(amount);
    expect(await fund(dbs, request, 'olu')).toEqual(amount);
    expect(await fund(dbs, { ...request, reference: `more-${accountId}` }, 'olu')).toMatchObject({
      amountMinor: 1_000n,
    });
    const naira = { ...request, amount: { amountMinor: 1n, currency: 'NGN' } };
    await expect(fund(dbs, naira, 'olu')).rejects.toThrow('keeps USD');
    await expect(fund(dbs, { ...request, accountId: 'acc-none' }, 'olu')).rejects.toThrow('no account');
    expect(await auditBooks(books.owner)).toEqual([]);
  });

  it('funds nothing under a reference that another request uses at the same moment for something else', async () => {
    const { accountId } = await make();
    const dbs = { accounts: books.accounts, world: books.world };
    const request = { accountId, reason: 'a test', reference: `race-${accountId}` };
    await fund(dbs, { ...request, reference: `first-${accountId}`, amount: usd(1n) }, 'olu');
    const other = await books.world.startTransaction().execute();
    await fundWallet(other, { ...request, operationKey: `fund:${request.reference}`, amount: usd(500n) });
    const funding = fund(dbs, { ...request, amount: usd(700n) }, 'olu');
    await untilStatementWaits(books.owner);
    await other.commit().execute();
    await expect(funding).rejects.toThrow('was used before, for 5.00 USD');
  });

  it('cannot rewrite the audit log', async () => {
    for (const change of ['update audit_log set actor = null', 'delete from audit_log', 'truncate audit_log'])
      expect(await refusalOf(sql.raw(change).execute(books.accounts))).toBe('permission denied');
  });
});
