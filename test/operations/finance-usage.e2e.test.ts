// Help and usage errors of finance's command line: it exits with its documented code, says what is wrong, and
// does nothing.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import type { CommandResult } from '../support/world/commands.ts';
import { json, startAnsweringServer } from '../support/vendors/answering-server.ts';
import { commander, envOf, hereFinance, shellFinance } from '../support/people/finance.ts';
import { startStack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';

const WHY = ['--reason', 'a test says so'];

const stack = await forFile(startStack({ worker: false }));
const ada = (await commander(stack)).env;

const shell = (line: string): Promise<CommandResult> => shellFinance(ada, line);
const here = (line: string, more: readonly string[] = []): Promise<CommandResult> =>
  hereFinance(ada, line, { more });

it('finance’s command line lists the commands, and the help of each lists its flags', async () => {
  const [all, one] = await Promise.all([shell('help'), here('stuck --help')]);
  expect({ ...all, stdout: '' }).toEqual({ code: 0, stdout: '', stderr: '' });
  for (const name of [
    'stuck',
    'show',
    'replay',
    'refund',
    'credit',
    'mark-paid',
    'deliver-other',
    'cancel',
    'settle',
    'dismiss',
    'approve',
    'reconcile',
    'ledger',
    'trial-balance',
    'rates set',
    'rates confirm',
    'prices set',
    'prices preview',
  ])
    expect(all.stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  expect(one.stdout).toContain('--older-than');
});

it.each([
  ['no such command', 'stucked', 'Usage:'],
  ['an unknown flag', 'stuck --colour red', '--colour'],
  ['an invalid class', 'stuck --class lost', 'paid-not-delivered'],
  ['an invalid time', 'stuck --older-than soon', '--older-than'],
  ['an extra argument', 'show txn-1 txn-2', 'txn-2'],
  ['no id', 'show', 'usage: npm run finance -- show'],
  ['no reason to replay', 'replay txn-1', '--reason'],
  ['no reason', 'refund txn-1', '--reason'],
  ['the name of a person', 'refund txn-1 --by ada', '--by'],
  ['neither id nor class', 'replay --currency USD --reason because', '--class'],
  ['both id and class', 'replay txn-1 --class workflow-gone --reason because', 'not both'],
  ['an amount of three decimals', 'refund txn-1 --amount 1.005 --currency USD --reason because', '--amount'],
  ['an amount of no currency', 'refund txn-1 --amount 1.00 --reason because', '--currency'],
  ['an amount for many', 'refund --class refund-stuck --amount 1 --currency USD --reason because', 'one id'],
  ['a flag of another action', 'cancel txn-1 --amount 1 --reason because', '--amount'],
  ['an invalid environment', 'stuck --environment moon', '--environment'],
  ['an invalid rate', 'rates set --currency NGN --rate many --yes --reason because', '--rate'],
  ['a rate of nothing', 'rates set --currency NGN --rate 0 --yes --reason because', '--rate'],
  ['an invalid currency', 'rates set --currency naira --rate 1 --yes --reason because', '--currency'],
  ['no reason to set a rate', 'rates set --currency NGN --rate 1 --yes', '--reason'],
  ['no change of prices', 'prices set --yes --reason because', 'Give at least one'],
  ['an invalid markup', 'prices set --user-markup lots --yes --reason because', '--user-markup'],
  ['a markup below nothing', 'prices set --user-markup=-1 --yes --reason because', '--user-markup'],
  ['no examples of prices', 'prices preview --examples 0', '--examples'],
])(
  'finance’s command line exits with 2, names the mistake, and does nothing: %s',
  async (_what, line, word) => {
    const { code, stdout, stderr } = await here(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(word);
    expect(stderr).not.toMatch(/^ +at .+:\d+/m);
  },
);

it('finance’s command line exits with 2 in a shell as well, and with 1 for an environment that is off or a service that is away', async () => {
  const away = await envOf('http://127.0.0.1:9', 'ops_x');
  const [wrong, off, gone] = await Promise.all([
    shell('stuck --colour red'),
    here('stuck --environment live'),
    hereFinance(away, 'stuck'),
  ]);
  expect({ code: wrong.code, stdout: wrong.stdout }).toEqual({ code: 2, stdout: '' });
  expect(off).toEqual({ code: 1, stdout: '', stderr: 'The live environment is not available here\n' });
  expect(gone).toEqual({ code: 1, stdout: '', stderr: 'http://127.0.0.1:9 cannot be reached\n' });
});

async function broken() {
  const env = await envOf(stack.apiUrl);
  await writeFile(join(env['XDG_CONFIG_HOME'] ?? '', 'simway/session.json'), '');
  return env;
}

it.each([
  ['without a session', () => envOf(stack.apiUrl)],
  ['with one of another installation', () => Promise.resolve({ ...ada, SIMWAY_URL: 'http://127.0.0.1:9' })],
  ['with a file that is no session', () => broken()],
  ['with one that has ended', () => envOf(stack.apiUrl, `ops_${'a'.repeat(43)}`)],
])('a command %s says how to sign in', async (_what, environment) => {
  const { code, stdout, stderr } = await hereFinance(await environment(), 'stuck');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('sign in with npm run finance -- login');
});

it('stuck says where the list is cut, and what is left out while Temporal is away', async () => {
  const server = await startAnsweringServer();
  const data = { items: [], pagination: { hasNextPage: false }, isCut: true, temporalAsked: false };
  server.answerWith(json(JSON.stringify({ success: true, data })));
  const { code, stderr } = await hereFinance(await envOf(server.baseUrl, 'ops_x'), 'stuck');
  await server.close();
  expect(code).toBe(0);
  expect(stderr).toContain('The list is cut');
  expect(stderr).toContain('workflow-gone is left out');
});

it('sends nothing over the network without encryption', async () => {
  const { code, stderr } = await here('stuck --url http://simway.example');
  expect(code).toBe(2);
  expect(stderr).toContain('--url: takes https');
});

it('login shows a code, and leaves a session that only this user can read; logout ends it', async () => {
  const person = await commander(stack, 'SUPPORT');
  const env = await envOf(stack.apiUrl);
  const file = join(env['XDG_CONFIG_HOME'] ?? '', 'simway/session.json');
  let stdout = '';
  const terminal = {
    ...{ stderr: (text: string) => void (stdout += text), isTerminal: false, ask: () => Promise.resolve('') },
    stdout: (text: string) => void (stdout += text),
  };
  const login = runCli(['finance', 'login'], { env, terminal, findRunning: () => Promise.resolve(null) });
  const userCode = await until(
    () => Promise.resolve(/type the code (\S+)/.exec(stdout)?.[1]),
    (code) => code !== undefined,
    { what: 'the code is shown' },
  );
  expect(stdout).toContain(`${stack.apiUrl}/dashboard/operators/test/device`);
  expect((await person.call('POST', '/ops/device-logins/approve', { userCode })).status).toBe(200);
  expect(await login).toBe(0);
  expect(stdout).toContain(`Signed in as ${person.email}`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await hereFinance(env, 'stuck')).toMatchObject({ code: 0 });
  const { token } = JSON.parse(await readFile(file, 'utf8')) as { token: string };
  expect(stdout).not.toContain(token);
  expect(await hereFinance(env, 'logout')).toMatchObject({ code: 0, stdout: 'Signed out\n' });
  expect(await hereFinance(env, 'stuck')).toMatchObject({ code: 1 });
  expect(await hereFinance(await envOf(stack.apiUrl, token), 'stuck')).toMatchObject({ code: 1 });
});

it('finance’s command line refuses unknown ids', async () => {
  for (const line of ['show', 'ledger', 'replay', 'refund', 'approve']) {
    const more = { replay: [...WHY, '--yes'], refund: [...WHY, '--yes'], approve: ['--yes'] }[line] ?? [];
    expect(await here(`${line} txn-none`, more), line).toMatchObject({ code: 1 });
  }
});
