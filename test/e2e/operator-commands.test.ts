// The operator's commands as a shell runs them: one JSON object on standard output, or a clear sentence on standard error, exit code 1
// and nothing written.
import { sql, type Kysely } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { hashApiKey } from '../../src/app/api-key.ts';
import type { Parts } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { createLogger } from '../../src/observe/logger.ts';
import { runAccountCommand } from '../../src/roles/accounts.ts';
import { OperatorMistake } from '../../src/roles/operator-mistake.ts';
import type { AccountsDatabase, WorldDatabase } from '../../src/store/tables.ts';
import { runCommand, type CommandResult } from '../support/commands.ts';
import { createTestDatabase, openSchema, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let accounts: Kysely<AccountsDatabase>;
let world: Kysely<WorldDatabase>;
let parts: Parts;
let ngn: string;
let usd: string;
beforeAll(async () => {
  database = await createTestDatabase();
  accounts = openSchema<AccountsDatabase>(database.url, 'accounts');
  world = openSchema<WorldDatabase>(database.url, 'test');
  parts = { ...readConfig(environment()), logger: createLogger({ level: 'error' }), processName: 'command' };
  ngn = await makeAccount('NGN');
  usd = await makeAccount('USD');
});
afterAll(async () => {
  await Promise.all([accounts.destroy(), world.destroy()]);
  await database.drop();
});

function run(
  line: string,
  more: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<CommandResult> {
  return runCommand([...line.split(' '), ...more], { ...environment(), ...env });
}

const environment = (): Record<string, string> => ({
  DATABASE_URL: database.url,
  // Neither is asked anything by a command.
  TEMPORAL_ADDRESS: inject('temporalAddress'),
  SIMWAY_TEST_SUPPLIER_URL: 'http://127.0.0.1:9',
  SIMWAY_TEST_SUPPLIER_ACCESS_CODE: 'unused',
  SIMWAY_ID_SECRET: 'a secret of at least 32 characters',
});

/** What a command that worked printed: one line, one object. */
async function answerOf(running: Promise<CommandResult>): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await running;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toHaveLength(1);
  return JSON.parse(stdout) as Record<string, unknown>;
}

const accountLine = (currency: string): string =>
  `account create --name Merchant --email ops@merchant.example --currency ${currency} --by ada`;
const KEY_FLAGS = '--environment test --addresses 127.0.0.1 --website https://m.example --company M --by ada';

/** What a test needs before its own command, made without a process. */
async function makeAccount(currency: 'NGN' | 'USD'): Promise<string> {
  const made = (await runAccountCommand(parts, accountLine(currency).split(' '))) as { accountId: string };
  return made.accountId;
}

async function makeKey(account: string): Promise<string> {
  const words = `key create --account ${account} ${KEY_FLAGS}`.split(' ');
  return ((await runAccountCommand(parts, words)) as { keyId: string }).keyId;
}

const accountRow = (accountId: unknown) =>
  accounts.selectFrom('accounts').selectAll().where('id', '=', String(accountId)).executeTakeFirstOrThrow();

const keyRow = (keyId: unknown) =>
  accounts.selectFrom('api_keys').selectAll().where('id', '=', String(keyId)).executeTakeFirstOrThrow();

async function balanceOf(account: string): Promise<string | undefined> {
  const wallet = await world
    .selectFrom('wallets')
    .select('balance_minor')
    .where('account_id', '=', account)
    .executeTakeFirst();
  return wallet && String(wallet.balance_minor);
}

const auditOf = (subject: unknown) =>
  accounts
    .selectFrom('audit_log')
    .select(['actor', 'action', 'detail'])
    .where('subject', '=', String(subject))
    .orderBy('id')
    .execute();

/** How many rows there are of everything that a command may write. */
async function everything(): Promise<unknown> {
  const { rows } = await sql`
    select (select count(*) from accounts.accounts) as accounts, (select count(*) from accounts.api_keys) as keys,
           (select count(*) from accounts.audit_log) as audit, (select count(*) from test.wallets) as wallets,
           (select count(*) from test.ledger_entries) as entries`.execute(accounts);
  return rows;
}

describe('account create', () => {
  it('makes a merchant on the Standard plan in naira unless told otherwise, and says who did', async () => {
    const { accountId } = await answerOf(
      run('account create --email ops@merchant.example --by ada', ['--name', 'A merchant']),
    );
    expect(await accountRow(accountId)).toMatchObject({
      type: 'MERCHANT',
      name: 'A merchant',
      email: 'ops@merchant.example',
      currency: 'NGN',
      plan: 'STANDARD',
      enterprise_requests_per_minute: null,
    });
    expect(await auditOf(accountId)).toMatchObject([{ actor: 'ada', action: 'account.create' }]);
  });

  it('takes every flag', async () => {
    const { accountId } = await answerOf(
      run(
        'account create --type USER --email a@b.example --currency USD --plan ENTERPRISE --requests-per-minute 6000 --by bo',
        ['--name', 'Ada Obi'],
      ),
    );
    expect(await accountRow(accountId)).toMatchObject({
      type: 'USER',
      name: 'Ada Obi',
      currency: 'USD',
      plan: 'ENTERPRISE',
      enterprise_requests_per_minute: 6_000,
    });
  });
});

describe('key create', () => {
  it('shows a key once and keeps its hash, both scopes and no expiry unless told otherwise', async () => {
    const { keyId, apiKey } = await answerOf(run(`key create --account ${ngn} ${KEY_FLAGS}`));
    expect(apiKey).toMatch(/^simway_test_/);
    const row = await keyRow(keyId);
    expect(row).toMatchObject({
      account_id: ngn,
      environment: 'test',
      scopes: ['read', 'purchase'],
      allowed_addresses: ['127.0.0.1'],
      company_name: 'M',
      website_url: 'https://m.example',
      expires_at: null,
      revoked_at: null,
    });
    expect(row.key_sha256.equals(hashApiKey(String(apiKey)))).toBe(true);
    expect(JSON.stringify(row)).not.toContain(String(apiKey).slice(-38));
    expect(await auditOf(keyId)).toMatchObject([{ actor: 'ada', action: 'key.create' }]);
  });

  it('takes scopes, expiry, ranges, the live world and another brand', async () => {
    const { keyId, apiKey } = await answerOf(
      run(
        `key create --account ${usd} --environment live --addresses 203.0.113.0/24,2001:db8::1 --website https://m.example --company M --scopes read --expires 2999-01-01T00:00:00Z --by ada`,
        [],
        { SIMWAY_BRAND: 'acme' },
      ),
    );
    expect(apiKey).toMatch(/^acme_live_/);
    expect(await keyRow(keyId)).toMatchObject({
      environment: 'live',
      scopes: ['read'],
      allowed_addresses: ['203.0.113.0/24', '2001:db8::1'],
      expires_at: new Date('2999-01-01T00:00:00Z'),
    });
  });
});

describe('key revoke', () => {
  it('revokes one key, and the second time none', async () => {
    const [one, other] = [await makeKey(ngn), await makeKey(ngn)];
    expect(await answerOf(run(`key revoke --key ${one} --by ada`))).toEqual({ revoked: 1 });
    const { revoked_at } = await keyRow(one);
    expect(revoked_at).toBeInstanceOf(Date);
    expect((await keyRow(other)).revoked_at).toBeNull();
    expect(await answerOf(run(`key revoke --key ${one} --by bo`))).toEqual({ revoked: 0 });
    expect((await keyRow(one)).revoked_at).toEqual(revoked_at);
    expect(await auditOf(one)).toMatchObject([
      { action: 'key.create' },
      { actor: 'ada', action: 'key.revoke', detail: { revoked: 1 } },
      { actor: 'bo', action: 'key.revoke', detail: { revoked: 0 } },
    ]);
  });

  it('revokes all of an account, and nobody else’s', async () => {
    const account = await makeAccount('USD');
    const keys = [await makeKey(account), await makeKey(account)];
    const other = await makeKey(usd);
    expect(await answerOf(run(`key revoke --account ${account} --by ada`))).toEqual({ revoked: 2 });
    for (const keyId of keys) expect((await keyRow(keyId)).revoked_at).not.toBeNull();
    expect((await keyRow(other)).revoked_at).toBeNull();
  });
});

describe('wallet fund', () => {
  const fund = (account: string, flags: string) =>
    run(`wallet fund --account ${account} --environment test --reason opening --by ada ${flags}`);

  it('pays into a wallet once per reference, to the cent', async () => {
    const flags = '--amount 1250.5 --currency USD --reference bank-1';
    const funded = { balance: '1250.50', currency: 'USD' };
    expect(await answerOf(fund(usd, flags))).toEqual(funded);
    expect(await answerOf(fund(usd, flags))).toEqual(funded);
    expect(await balanceOf(usd)).toBe('125050');
    expect(await answerOf(fund(usd, '--amount 0.01 --currency USD --reference bank-2'))).toEqual({
      balance: '1250.51',
      currency: 'USD',
    });
    expect(await auditOf(usd)).toMatchObject([
      { action: 'account.create' },
      {
        actor: 'ada',
        action: 'wallet.fund',
        detail: { amountMinor: '125050', outcome: 'done', reason: 'opening' },
      },
      { action: 'wallet.fund', detail: { outcome: 'already' } },
      { action: 'wallet.fund', detail: { amountMinor: '1', outcome: 'done' } },
    ]);
  });
});

describe('bad input', () => {
  const FUND = 'wallet fund --environment test --reason x --by ada';
  type Case = [what: string, line: () => string, words: string[]];

  it.each<Case>([
    ['no verb', () => 'account', ['account create']],
    ['an unknown role', () => 'acount create', ['usage:', 'account create']],
    ['nothing that is needed', () => 'account create', ['--name', '--email', '--by']],
    ['an unknown flag', () => 'account create --nmae M --email a@b.example --by ada', ['--nmae']],
    ['an account that is not there', () => `key create --account acc-none ${KEY_FLAGS}`, ['acc-none']],
    ['no money', () => `${FUND} --account ${ngn} --amount 0 --currency NGN --reference r`, ['--amount']],
    [
      'a world that is off',
      () => `${FUND.replace('test', 'live')} --account ${ngn} --amount 1 --currency NGN --reference r`,
      ['live'],
    ],
  ])('%s: what is wrong on standard error, nothing written', async (_what, line, words) => {
    const before = await everything();
    const { code, stdout, stderr } = await run(line());
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    for (const word of words) expect(stderr).toContain(word);
    // The mistake is the operator's: where in our code it was noticed helps nobody.
    expect(stderr).not.toMatch(/^ +at /m);
    expect(await everything()).toEqual(before);
  });

  // The rest without a process for each.
  it.each<Case>([
    ['an unknown verb', () => 'wallet drain', ['wallet fund']],
    ['no e-mail address', () => 'account create --name M --email nobody --by ada', ['--email']],
    [
      'another currency',
      () => 'account create --name M --email a@b.example --currency EUR --by ada',
      ['--currency', 'NGN'],
    ],
    [
      'a plan without its number',
      () => 'account create --name M --email a@b.example --plan ENTERPRISE --by ada',
      ['--requests-per-minute'],
    ],
    [
      'a number without its plan',
      () => 'account create --name M --email a@b.example --requests-per-minute 5 --by ada',
      ['--requests-per-minute'],
    ],
    [
      'a number that is none',
      () =>
        'account create --name M --email a@b.example --plan ENTERPRISE --requests-per-minute many --by ada',
      ['--requests-per-minute'],
    ],
    ['nobody who did it', () => 'account create --name M --email a@b.example', ['--by']],
    ['a word too many', () => 'account create M --name M --email a@b.example --by ada', ["'M'"]],
    ['a flag without its value', () => 'account create --email a@b.example --by ada --name', ['--name']],
    [
      'another environment',
      () => `key create --account ${ngn} ${KEY_FLAGS.replace('test', 'prod')}`,
      ['--environment'],
    ],
    [
      'an address that is none',
      () => `key create --account ${ngn} ${KEY_FLAGS.replace('127.0.0.1', '127.0.0.1,host')}`,
      ['--addresses'],
    ],
    [
      'eleven addresses',
      () =>
        `key create --account ${ngn} ${KEY_FLAGS.replace('127.0.0.1', Array(11).fill('10.0.0.1').join())}`,
      ['--addresses'],
    ],
    [
      'no website',
      () => `key create --account ${ngn} ${KEY_FLAGS.replace('https://m.example', 'shop')}`,
      ['--website'],
    ],
    ['another scope', () => `key create --account ${ngn} ${KEY_FLAGS} --scopes read,admin`, ['--scopes']],
    [
      'a day that is no time',
      () => `key create --account ${ngn} ${KEY_FLAGS} --expires tomorrow`,
      ['--expires'],
    ],
    [
      'an expiry that has passed',
      () => `key create --account ${ngn} ${KEY_FLAGS} --expires 2020-01-01T00:00:00Z`,
      ['--expires'],
    ],
    ['neither key nor account', () => 'key revoke --by ada', ['--key', '--account']],
    [
      'both key and account',
      () => `key revoke --key key-x --account ${ngn} --by ada`,
      ['--key', '--account'],
    ],
    [
      'an account without a wallet to be',
      () => `${FUND} --account acc-none --amount 1 --currency NGN --reference r`,
      ['acc-none'],
    ],
    ['the other currency', () => `${FUND} --account ${ngn} --amount 1 --currency USD --reference r`, ['NGN']],
    [
      'money to take away',
      () => `${FUND} --account ${ngn} --amount=-5 --currency NGN --reference r`,
      ['--amount'],
    ],
    [
      'a third decimal',
      () => `${FUND} --account ${ngn} --amount 1.005 --currency NGN --reference r`,
      ['--amount'],
    ],
    [
      'more than there is',
      () => `${FUND} --account ${ngn} --amount ${'9'.repeat(20)} --currency NGN --reference r`,
      ['--amount'],
    ],
  ])('%s: refused by name, nothing written', async (_what, line, words) => {
    const before = await everything();
    const mistake = await runAccountCommand(parts, line().split(' ')).then(
      () => 'no mistake',
      (error: unknown) => error,
    );
    expect(mistake).toBeInstanceOf(OperatorMistake);
    for (const word of words) expect((mistake as Error).message).toContain(word);
    expect(await everything()).toEqual(before);
  });

  it('an environment that lacks something: named, its values untold', async () => {
    const { code, stderr } = await run('account create --by ada', [], {
      SIMWAY_ID_SECRET: 'too-short-a-secret',
      DATABASE_URL: 'mysql://simway:hunter2@h/x',
    });
    expect(code).toBe(1);
    expect(stderr).toContain('DATABASE_URL');
    expect(stderr).toContain('SIMWAY_ID_SECRET');
    expect(stderr).not.toContain('hunter2');
    expect(stderr).not.toContain('too-short-a-secret');
  });
});

it('help is an answer, not an error', async () => {
  const { code, stdout, stderr } = await run('help');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const word of [
    'dev',
    'api',
    'worker',
    'migrate',
    'account create',
    'key create',
    'key revoke',
    'wallet fund',
  ])
    expect(stdout).toContain(word);
});
