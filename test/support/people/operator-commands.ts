// An operator in a test: runs commands as a shell does, or without a process, on a separate database, and
// reads what they wrote. The website of the company that gets a key is a server of this machine.
import { sql, type Kysely } from 'kysely';
import { expect, inject } from 'vitest';
import type { ProcessContext } from '../../../src/app/composition/context.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { createLogger } from '../../../src/platform/telemetry/logger.ts';
import type { WorldDatabase } from '../../../src/platform/database/tables.ts';
import type { AccountsDatabase } from '../../../src/platform/database/tables.ts';
import { json, startAnsweringServer } from '../vendors/answering-server.ts';
import { runCommand, runHere, type CommandResult } from '../world/commands.ts';
import { createTestDatabase, openSchema } from '../world/database.ts';

export const SECRETS_KEY = 'a1'.repeat(32);

export type Operator = Awaited<ReturnType<typeof startOperator>>;

export async function startOperator() {
  const website = await startAnsweringServer();
  // A page that is not there is an answer.
  website.answerWith(json('', 404));
  const database = await createTestDatabase();
  const accounts = openSchema<AccountsDatabase>(database.url, 'accounts');
  const world = openSchema<WorldDatabase>(database.url, 'test');
  const environment = environmentFor(database.url);
  const context: ProcessContext = {
    ...readConfig(environment),
    logger: createLogger({ level: 'error' }),
    processName: 'command',
  };
  const keyFlags = (): string =>
    `--environment test --addresses 127.0.0.1 --website ${website.baseUrl} --company M --by ada`;
  const run = (line: string, more: readonly string[] = [], env: Record<string, string> = {}) =>
    runHere([...line.split(' '), ...more], { env: { ...environment, ...env } });
  const answerTo = async (line: string) => (await answerOf(run(line))) as Record<string, string>;
  return {
    context,
    accounts,
    world,
    website,
    /** A command as a shell runs it: in a separate process. */
    shell: (line: string, more: readonly string[] = [], env: Record<string, string> = {}) =>
      runCommand([...line.split(' '), ...more], { ...environment, ...env }),
    /** The same without a process, which is faster. */
    run,
    /** The output of a successful command: one line, one object. */
    answerOf,
    /** What a test needs before its own command. */
    makeAccount: async (currency: 'NGN' | 'USD') => {
      const flags = `--name Merchant --email ops@merchant.example --currency ${currency} --by ada`;
      return (await answerTo(`account create ${flags}`))['accountId']!;
    },
    makeKey: async (account: string) =>
      (await answerTo(`key create --account ${account} ${keyFlags()}`))['keyId']!,
    /** The flags of a valid key, in the test environment. */
    keyFlags,
    keyRow: (keyId: unknown) =>
      accounts.selectFrom('api_keys').selectAll().where('id', '=', String(keyId)).executeTakeFirstOrThrow(),
    auditOf: (subject: unknown) =>
      accounts
        .selectFrom('audit_log')
        .select(['actor', 'action', 'detail'])
        .where('subject', '=', String(subject))
        .orderBy('id')
        .execute(),
    /** The number of rows in every table that a command may write. */
    everything: () => countEverything(accounts),
    close: async () => {
      await website.close();
      await Promise.all([accounts.destroy(), world.destroy()]);
      await database.drop();
    },
  };
}

const environmentFor = (databaseUrl: string): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  // No command calls either.
  TEMPORAL_ADDRESS: inject('temporalAddress'),
  SIMWAY_TEST_SUPPLIER_URL: 'http://127.0.0.1:9',
  SIMWAY_TEST_SUPPLIER_ACCESS_CODE: 'unused',
  SIMWAY_ID_SECRET: 'a secret of at least 32 characters',
  SIMWAY_SECRETS_KEY: SECRETS_KEY,
  SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
  SIMWAY_LIVE_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
});

async function answerOf(running: Promise<CommandResult>): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await running;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toHaveLength(1);
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function countEverything(accounts: Kysely<AccountsDatabase>): Promise<unknown> {
  const { rows } = await sql`
    select (select count(*) from accounts.accounts) as accounts, (select count(*) from accounts.api_keys) as keys,
           (select count(*) from accounts.audit_log) as audit, (select count(*) from test.wallets) as wallets,
           (select count(*) from test.webhook_endpoints) as endpoints,
           (select count(*) from test.ledger_entries) as entries`.execute(accounts);
  return rows;
}
