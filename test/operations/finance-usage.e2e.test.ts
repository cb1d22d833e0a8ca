// Help and usage errors of finance's command line: it exits with its documented code, says what is wrong, and does nothing.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CommandResult } from '../support/commands.ts';
import { hereFinance, shellFinance } from '../support/finance.ts';
import { startStack, type Stack } from '../support/stack.ts';

const WHO = ['--by', 'ada', '--reason', 'a test says so'];

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: false });
});
afterAll(() => stack.close());

const shell = (line: string): Promise<CommandResult> => shellFinance(stack.env, line);
const here = (line: string, more: readonly string[] = []): Promise<CommandResult> =>
  hereFinance(stack.env, line, { more });

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
  ['without an author', 'replay txn-1', '--by and --reason'],
  ['no reason', 'refund txn-1 --by ada', '--reason'],
  ['neither id nor class', 'replay --currency USD --by ada --reason because', '--class'],
  ['both id and class', 'replay txn-1 --class workflow-gone --by ada --reason because', 'not both'],
  [
    'an amount of three decimals',
    'refund txn-1 --amount 1.005 --currency USD --by ada --reason because',
    '--amount',
  ],
  ['an amount of no currency', 'refund txn-1 --amount 1.00 --by ada --reason because', '--currency'],
  [
    'an amount for many',
    'refund --class refund-stuck --amount 1 --currency USD --by ada --reason because',
    'one id',
  ],
  ['a flag of another action', 'cancel txn-1 --amount 1 --by ada --reason because', '--amount'],
  ['an invalid environment', 'stuck --environment moon', '--environment'],
])(
  'finance’s command line exits with 2, names the mistake, and does nothing: %s',
  async (_what, line, word) => {
    const { code, stdout, stderr } = await here(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(word);
    expect(stderr).not.toMatch(/^ +at /m);
  },
);

it('finance’s command line exits with 2 in a shell as well, with 1 for an environment that is off or a database that is down, and never prints the database’s address', async () => {
  const away = { ...stack.env, DATABASE_URL: 'postgres://finance:hunter2@127.0.0.1:9/simway' };
  const [wrong, off, gone] = await Promise.all([
    shell('stuck --colour red'),
    here('stuck --environment live'),
    hereFinance(away, 'stuck'),
  ]);
  expect({ code: wrong.code, stdout: wrong.stdout }).toEqual({ code: 2, stdout: '' });
  expect(off).toEqual({ code: 1, stdout: '', stderr: 'The live environment is switched off\n' });
  expect({ code: gone.code, stdout: gone.stdout }).toEqual({ code: 1, stdout: '' });
  expect(gone.stderr).toContain('Postgres');
  expect(gone.stderr).not.toContain('hunter2');
});

it('finance’s command line refuses unknown ids', async () => {
  for (const line of ['show', 'ledger', 'replay', 'refund', 'approve']) {
    const more =
      { replay: [...WHO, '--yes'], refund: [...WHO, '--yes'], approve: ['--by', 'ada', '--yes'] }[line] ?? [];
    expect(await here(`${line} txn-none`, more), line).toMatchObject({ code: 1 });
  }
});
