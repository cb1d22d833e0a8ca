/** Accounts, keys and wallets. Each command prints one JSON object. */
import type { Command } from 'commander';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { revoke, showKeys } from '../accounts/keys/manage-keys.ts';
import { createAccount } from '../accounts/manage-accounts.ts';
import {
  ACCOUNT_TYPES,
  ENVIRONMENTS,
  hasOwnLimit,
  PLANS,
  SCOPES,
  type Environment,
} from '../domain/account.ts';
import { DAY_MS } from '../domain/clock.ts';
import { ACCOUNT_CURRENCIES, formatMinor } from '../domain/money.ts';
import { MAX_REASON_CHARACTERS } from '../domain/reasons.ts';
import { fund } from '../ledger/fund-by-hand.ts';
import { systemClock, openAccounts, openWorld, type ProcessContext } from '../app/composition/context.ts';
import { composeWebhooks } from '../app/composition/webhooks.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { isTooWide } from '../platform/client-addresses.ts';
import {
  MAX_ACCOUNT_NAME_CHARACTERS,
  MAX_ACCOUNT_REQUESTS_PER_MINUTE,
  MAX_ALLOWED_ADDRESSES,
  MAX_EMAIL_CHARACTERS,
} from '../platform/http/limits.ts';
import { createCheckedKey } from '../webhooks/create-checked-key.ts';
import { addCommand, defined, option, OperatorMistake } from '../platform/command.ts';
import { openCommand, print, type Cli } from './context.ts';
import { amount, BY, listOf, text } from './values.ts';

const ACCOUNT = option(text(50), "the account's id", 'id');
const ENVIRONMENT = option(z.enum(ENVIRONMENTS), 'the environment', ENVIRONMENTS.join('|'));

const isAddress = (value: string): boolean => ipaddr.isValid(value) || ipaddr.isValidCIDR(value);

const accountOptions = z
  .object({
    name: option(text(MAX_ACCOUNT_NAME_CHARACTERS), "the account's name", 'name'),
    email: option(z.email().max(MAX_EMAIL_CHARACTERS), "the owner's e-mail address", 'address'),
    type: option(z.enum(ACCOUNT_TYPES).default('MERCHANT'), 'MERCHANT by default', ACCOUNT_TYPES.join('|')),
    currency: option(
      z.enum(ACCOUNT_CURRENCIES).default('NGN'),
      "of the account's wallet, NGN by default",
      ACCOUNT_CURRENCIES.join('|'),
    ),
    plan: option(z.enum(PLANS).default('STANDARD'), 'STANDARD by default', PLANS.join('|')),
    requestsPerMinute: option(
      z.coerce
        .number('must be a whole number')
        .int()
        .positive()
        .max(MAX_ACCOUNT_REQUESTS_PER_MINUTE)
        .optional(),
      'only with --plan ENTERPRISE',
      'n',
    ),
    by: BY,
  })
  .refine(({ plan, requestsPerMinute }) => hasOwnLimit(plan) === (requestsPerMinute !== undefined), {
    message: '--requests-per-minute is required with --plan ENTERPRISE, and only valid there',
  });

const keyOptions = z.object({
  account: ACCOUNT,
  environment: ENVIRONMENT,
  addresses: option(
    text(1_000)
      .transform((list) => list.split(',').map((address) => address.trim()))
      .pipe(
        z
          .array(
            z
              .string()
              .refine(isAddress, 'must be IP addresses or CIDR ranges')
              .refine((text) => !isTooWide(text), 'must be at least /16 for IPv4 and /32 for IPv6'),
          )
          .max(MAX_ALLOWED_ADDRESSES),
      ),
    `IP addresses or CIDR ranges that may use the key, at most ${MAX_ALLOWED_ADDRESSES}`,
    'a,b',
  ),
  company: option(text(200), "the company's name", 'name'),
  website: option(z.url().max(2_000), "the company's website; it must answer", 'url'),
  webhookUrl: option(z.url().max(2_000).optional(), 'also adds a webhook endpoint at this URL', 'url'),
  scopes: option(listOf(SCOPES).default([...SCOPES]), `${SCOPES.join(',')} by default`, 'scopes'),
  expires: option(
    z
      .union(
        [z.literal('never'), z.iso.datetime()],
        'must be an ISO 8601 time such as 2030-01-31T00:00:00Z, or never',
      )
      .refine((value) => value === 'never' || Date.parse(value) > Date.now(), 'must be in the future')
      .optional(),
    'when the key stops working, or never; by default SIMWAY_API_KEY_LIFE_DAYS decides',
    'ISO 8601',
  ),
  by: BY,
});

const revokeOptions = z
  .object({
    key: option(text(50).optional(), 'one key', 'id'),
    account: option(text(50).optional(), 'all keys of an account', 'id'),
    by: BY,
  })
  .refine(({ key, account }) => (key === undefined) !== (account === undefined), {
    message: 'Give either --key or --account',
  });

const fundOptions = z.object({
  account: ACCOUNT,
  environment: ENVIRONMENT,
  amount: option(amount, 'such as 1250.00', 'amount'),
  currency: option(z.enum(ACCOUNT_CURRENCIES), "the account's currency", ACCOUNT_CURRENCIES.join('|')),
  reference: option(text(200), 'unique; the same reference pays once', 'text'),
  reason: option(text(MAX_REASON_CHARACTERS), 'why, for the record', 'text'),
  by: BY,
});

/** Prints what `work` returns as one JSON object. */
export async function answerJson(
  cli: Cli,
  work: (accounts: AccountsDb, context: ProcessContext) => Promise<object>,
): Promise<void> {
  print(cli, JSON.stringify(await withAccounts(cli, work)));
}

/** Opens the accounts for one command. */
export async function withAccounts<T>(
  cli: Cli,
  work: (accounts: AccountsDb, context: ProcessContext) => Promise<T>,
): Promise<T> {
  const context = await openCommand(cli);
  const accounts = openAccounts(context);
  try {
    return await work(accounts, context);
  } finally {
    await accounts.destroy();
  }
}

export function addAccountCommands(cli: Cli, program: Command): void {
  addCommand(program.command('account'), {
    syntax: 'create',
    summary: 'Creates an account',
    options: accountOptions,
    run: ({ by, ...account }) =>
      answerJson(cli, async (db) => ({ accountId: await createAccount(db, defined(account), by) })),
  });
  const key = program.command('key');
  addCommand(key, {
    syntax: 'create',
    summary: 'Creates an API key, shown only here; with a webhook endpoint also its secret',
    options: keyOptions,
    run: (options) => answerJson(cli, (db, context) => createKey(db, context, options)),
  });
  addCommand(key, {
    syntax: 'list',
    summary: "Lists an account's keys: where each may be used, when it expires and was last used",
    options: z.object({ account: ACCOUNT }),
    run: ({ account }) => answerJson(cli, async (db) => ({ keys: await showKeys(db, account) })),
  });
  addCommand(key, {
    syntax: 'revoke',
    summary: 'Revokes one key, or all keys of an account',
    options: revokeOptions,
    run: ({ key: keyId, account: accountId = '', by }) =>
      answerJson(cli, async (db) => ({
        revoked: await revoke(db, keyId === undefined ? { accountId } : { keyId }, by),
      })),
  });
  addCommand(program.command('wallet'), {
    syntax: 'fund',
    summary: 'Pays into a wallet',
    options: fundOptions,
    run: (options) => answerJson(cli, (db, context) => fundWallet(db, context, options)),
  });
}

async function createKey(
  accounts: AccountsDb,
  context: ProcessContext,
  options: z.output<typeof keyOptions>,
): Promise<object> {
  const { environment, webhookUrl, expires } = options;
  const world = webhookUrl === undefined ? context.config.worlds[environment] : worldOf(context, environment);
  const db = world && openWorld(context, world);
  try {
    const request = defined({
      accountId: options.account,
      environment,
      brand: context.config.brand,
      scopes: options.scopes,
      allowedAddresses: options.addresses,
      companyName: options.company,
      websiteUrl: options.website,
      expiresAt: expiryOf(expires, context.config.apiKeyLifeDays),
      webhookUrl,
    });
    const webhooks = composeWebhooks(context, environment, systemClock);
    const deps = { accounts, db, clock: systemClock, ...webhooks };
    const made = await createCheckedKey(deps, request, options.by);
    return { ...made, expiresAt: request.expiresAt };
  } finally {
    await db?.destroy();
  }
}

/** null: it works until it is revoked. */
function expiryOf(expires: string | undefined, lifeDays: number | undefined): Date | null {
  if (expires !== undefined) return expires === 'never' ? null : new Date(expires);
  return lifeDays === undefined ? null : new Date(Date.now() + lifeDays * DAY_MS);
}

async function fundWallet(
  accounts: AccountsDb,
  context: ProcessContext,
  options: z.output<typeof fundOptions>,
): Promise<object> {
  const { account: accountId, amount: amountMinor, currency, reference, reason, by } = options;
  const world = openWorld(context, worldOf(context, options.environment));
  try {
    const request = { accountId, amount: { amountMinor, currency }, reference, reason };
    const balance = await fund({ accounts, world }, request, by);
    return { balance: formatMinor(balance.amountMinor), currency: balance.currency };
  } finally {
    await world.destroy();
  }
}

function worldOf({ config }: ProcessContext, environment: Environment) {
  const world = config.worlds[environment];
  if (!world) throw new OperatorMistake(`The ${environment} environment is switched off`);
  return world;
}
