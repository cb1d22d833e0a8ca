// The operator's commands as a shell runs them: one JSON object on standard output, or a clear sentence on
// standard error, exit code 1 and nothing written.
import { describe, expect, it } from 'vitest';
import { unreachableUrl } from '../support/vendors/answering-server.ts';
import { startOperator, type Operator } from '../support/people/operator-commands.ts';
import { forFile } from '../support/world/for-file.ts';

const operator = await forFile(startOperator());
const unreachable = await unreachableUrl();
const ngn = await operator.makeAccount('NGN');
const usd = await operator.makeAccount('USD');

const run: Operator['run'] = (...given) => operator.run(...given);
const answerOf: Operator['answerOf'] = (running) => operator.answerOf(running);

const accountRow = (accountId: unknown) =>
  operator.accounts
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', String(accountId))
    .executeTakeFirstOrThrow();

async function balanceOf(account: string): Promise<string | undefined> {
  const wallet = await operator.world
    .selectFrom('wallets')
    .select('balance_minor')
    .where('account_id', '=', account)
    .executeTakeFirst();
  return wallet && String(wallet.balance_minor);
}

describe('account create', () => {
  it('makes a merchant on the Standard plan in naira by default, and records the author', async () => {
    const { accountId } = await answerOf(
      operator.shell('account create --email ops@merchant.example --by ada', ['--name', 'A merchant']),
    );
    expect(await accountRow(accountId)).toMatchObject({
      type: 'MERCHANT',
      name: 'A merchant',
      email: 'ops@merchant.example',
      currency: 'NGN',
      plan: 'STANDARD',
      enterprise_requests_per_minute: null,
    });
    expect(await operator.auditOf(accountId)).toMatchObject([{ actor: 'ada', action: 'account.create' }]);
  });

  it('accepts every flag', async () => {
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

describe('key revoke', () => {
  it('revokes one key, and none the second time', async () => {
    const [one, other] = [await operator.makeKey(ngn), await operator.makeKey(ngn)];
    expect(await answerOf(run(`key revoke --key ${one} --by ada`))).toEqual({ revoked: 1 });
    const { revoked_at } = await operator.keyRow(one);
    expect(revoked_at).toBeInstanceOf(Date);
    expect((await operator.keyRow(other)).revoked_at).toBeNull();
    expect(await answerOf(run(`key revoke --key ${one} --by bo`))).toEqual({ revoked: 0 });
    expect((await operator.keyRow(one)).revoked_at).toEqual(revoked_at);
    expect(await operator.auditOf(one)).toMatchObject([
      { action: 'key.create' },
      { actor: 'ada', action: 'key.revoke', detail: { revoked: 1 } },
      { actor: 'bo', action: 'key.revoke', detail: { revoked: 0 } },
    ]);
  });

  it('revokes all keys of an account, and no other', async () => {
    const account = await operator.makeAccount('USD');
    const keys = [await operator.makeKey(account), await operator.makeKey(account)];
    const other = await operator.makeKey(usd);
    expect(await answerOf(run(`key revoke --account ${account} --by ada`))).toEqual({ revoked: 2 });
    for (const keyId of keys) expect((await operator.keyRow(keyId)).revoked_at).not.toBeNull();
    expect((await operator.keyRow(other)).revoked_at).toBeNull();
  });
});

describe('wallet fund', () => {
  const fund = (account: string, flags: string) =>
    run(`wallet fund --account ${account} --environment test --reason opening --by ada ${flags}`);

  it('pays into a wallet once per reference, exact to the cent', async () => {
    const flags = '--amount 1250.5 --currency USD --reference bank-1';
    const funded = { balance: '1250.50', currency: 'USD' };
    expect(await answerOf(fund(usd, flags))).toEqual(funded);
    expect(await answerOf(fund(usd, flags))).toEqual(funded);
    expect(await balanceOf(usd)).toBe('125050');
    expect(await answerOf(fund(usd, '--amount 0.01 --currency USD --reference bank-2'))).toEqual({
      balance: '1250.51',
      currency: 'USD',
    });
    expect(await operator.auditOf(usd)).toMatchObject([
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

  it('refuses a reference that has paid for something else, names that, and writes nothing', async () => {
    const FLAGS = '--environment test --reference used-once --reason x --by ada';
    const pay = (account: string, flags: string) => run(`wallet fund --account ${account} ${FLAGS} ${flags}`);
    const [paid, other] = [await operator.makeAccount('USD'), await operator.makeAccount('USD')];
    await answerOf(pay(paid, '--amount 12.50 --currency USD'));
    const before = await operator.everything();
    const refused = {
      code: 1,
      stdout: '',
      stderr: `--reference used-once was used before, for 12.50 USD to ${paid}; nothing was paid\n`,
    };
    expect(await pay(paid, '--amount 12.51 --currency USD'), 'another amount').toEqual(refused);
    expect(await pay(other, '--amount 12.50 --currency USD'), 'another account').toEqual(refused);
    expect(await pay(ngn, '--amount 12.50 --currency NGN'), 'another currency').toEqual(refused);
    expect(await operator.everything()).toEqual(before);
  });
});

describe('bad input', () => {
  const PERSON = 'account create --name M --email a@b.example --by ada';
  const FUND = 'wallet fund --environment test --reason x --by ada --reference r';
  const KEY = 'key create --account {ngn} {flags}';
  /** With what was made before the tests. */
  const filled = (line: string): string =>
    line.replace('{ngn}', ngn).replace('{flags}', operator.keyFlags()).replace('{unreachable}', unreachable);

  it.each<[what: string, line: string, word: string]>([
    ['an unknown flag', 'account create --nmae M --email a@b.example --by ada', '--nmae'],
    [
      'an environment that is off',
      `${FUND} --environment live --account {ngn} --amount 1 --currency NGN`,
      'live',
    ],
  ])('%s, in a shell, is explained on standard error, and writes nothing', async (_what, line, word) => {
    const before = await operator.everything();
    const { code, stdout, stderr } = await operator.shell(filled(line));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(word);
    // The mistake is the operator's, so a stack trace would not help.
    expect(stderr).not.toMatch(/^ +at /m);
    expect(await operator.everything()).toEqual(before);
  });

  it.each<[what: string, line: string, ...words: string[]]>([
    ['no verb', 'account', 'account create'],
    ['an unknown role', 'acount create', 'Usage:', 'account create'],
    ['nothing that is needed', 'account create', '--name', '--email', '--by'],
    ['an account that is not there', 'key create --account acc-none {flags}', 'acc-none'],
    ['no money', `${FUND} --account {ngn} --amount 0 --currency NGN`, '--amount'],
    ['an unknown verb', 'wallet drain', 'wallet fund'],
    ['no e-mail address', `${PERSON} --email not-an-address`, '--email'],
    ['another currency', `${PERSON} --currency EUR`, '--currency', 'NGN'],
    ['a plan without its number', `${PERSON} --plan ENTERPRISE`, '--requests-per-minute'],
    ['a number without its plan', `${PERSON} --requests-per-minute 5`, '--requests-per-minute'],
    ['no number', `${PERSON} --plan ENTERPRISE --requests-per-minute many`, '--requests-per-minute'],
    ['no author', 'account create --name M --email a@b.example', '--by'],
    ['an extra argument', 'account create M --name M --email a@b.example --by ada', "'M'"],
    ['a flag without its value', 'account create --email a@b.example --by ada --name', '--name'],
    ['another environment', `${KEY} --environment prod`, '--environment'],
    ['an invalid address', `${KEY} --addresses 127.0.0.1,host`, '--addresses'],
    ['eleven addresses', `${KEY} --addresses ${Array(11).fill('10.0.0.1').join()}`, '--addresses'],
    ['no website', `${KEY} --website shop`, '--website'],
    ['a website that does not answer', `${KEY} --website {unreachable}`, 'a web server that answers'],
    ['a website inside another network', `${KEY} --website http://169.254.169.254/`, 'public address'],
    ['another scope', `${KEY} --scopes read,admin`, '--scopes'],
    ['an invalid time', `${KEY} --expires tomorrow`, '--expires'],
    ['an expiry that has passed', `${KEY} --expires 2020-01-01T00:00:00Z`, '--expires'],
    ['neither key nor account', 'key revoke --by ada', '--key', '--account'],
    ['both key and account', 'key revoke --key key-x --account {ngn} --by ada', '--key', '--account'],
    ['an account without a wallet to be', `${FUND} --account acc-none --amount 1 --currency NGN`, 'acc-none'],
    ['the other currency', `${FUND} --account {ngn} --amount 1 --currency USD`, 'NGN'],
    ['money to take away', `${FUND} --account {ngn} --amount=-5 --currency NGN`, '--amount'],
    ['a third decimal', `${FUND} --account {ngn} --amount 1.005 --currency NGN`, '--amount'],
    ['more than there is', `${FUND} --account {ngn} --amount ${'9'.repeat(20)} --currency NGN`, '--amount'],
  ])('%s is refused and named, and writes nothing', async (_what, line, ...words) => {
    const before = await operator.everything();
    const { code, stdout, stderr } = await run(filled(line));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    for (const word of words) expect(stderr).toContain(word);
    expect(await operator.everything()).toEqual(before);
  });

  it('an environment that lacks a setting is refused, the setting named, and no value printed', async () => {
    const { code, stderr } = await run('account create --name M --email a@b.example --by ada', [], {
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

it('help is printed to standard output with exit code 0', async () => {
  const { code, stdout, stderr } = await run('help');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const word of ['dev', 'api', 'worker', 'migrate', 'account create', 'key create', 'wallet fund'])
    expect(stdout).toContain(word);
});
