/** The operator's commands for accounts, keys and wallets, until there is a dashboard. Each prints one JSON object. */
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { createCheckedKey } from '../webhooks/create-checked-key.ts';
import { createAccount, revoke } from '../accounts/manage-accounts.ts';
import {
  openAccounts,
  openWorld,
  systemClock,
  type ProcessContext,
} from '../platform/composition/compose.ts';
import { composeWebhooks } from '../platform/composition/webhooks.ts';
import { ENVIRONMENTS, PLANS, SCOPES } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { ACCOUNT_CURRENCIES, formatMinor, parseMinor } from '../domain/money.ts';
import { ACCOUNT_TYPES } from '../domain/account.ts';
import { readFlags } from './flags.ts';
import { OperatorMistake } from './operator-mistake.ts';
import { fund } from '../ledger/fund-by-hand.ts';

export const ACCOUNT_COMMANDS_USAGE = `  account create --name <name> --email <address> [--type MERCHANT|USER] [--currency NGN|USD]
                 [--plan STANDARD|PREMIUM|ENTERPRISE] [--requests-per-minute <n>] --by <person>
  key create     --account <id> --environment test|live --addresses <a,b,…> --company <name> --website <url>
                 [--webhook-url <url>] [--scopes read,purchase] [--expires <ISO 8601>] --by <person>
  key revoke     --key <id> | --account <id>   --by <person>
  wallet fund    --account <id> --environment test|live --amount <12.34> --currency NGN|USD
                 --reference <unique text> --reason <text> --by <person>`;

/** Far more than any wallet holds, and well within what a column takes. */
const MOST_MINOR = 10n ** 15n;

const text = (max: number) => z.string().trim().min(1).max(max);

const accountSchema = z
  .object({
    name: text(200),
    email: z.email().max(254),
    type: z.enum(ACCOUNT_TYPES).default('MERCHANT'),
    currency: z.enum(ACCOUNT_CURRENCIES).default('NGN'),
    plan: z.enum(PLANS).default('STANDARD'),
    'requests-per-minute': z.coerce.number().int().positive().max(1_000_000).optional(),
    by: text(200),
  })
  .refine((flags) => (flags.plan === 'ENTERPRISE') === (flags['requests-per-minute'] !== undefined), {
    message: '--requests-per-minute goes with --plan ENTERPRISE, and only with it',
  });

const keySchema = z.object({
  account: text(50),
  environment: z.enum(ENVIRONMENTS),
  addresses: text(1_000)
    .transform((list) => list.split(',').map((address) => address.trim()))
    .pipe(
      z
        .array(
          z
            .string()
            .refine(
              (address) => ipaddr.isValid(address) || ipaddr.isValidCIDR(address),
              'takes addresses or CIDR ranges',
            ),
        )
        .min(1)
        .max(10),
    ),
  company: text(200),
  website: z.url().max(2_000),
  'webhook-url': z.url().max(2_000).optional(),
  scopes: text(50)
    .default(SCOPES.join(','))
    .transform((list) => list.split(','))
    .pipe(z.array(z.enum(SCOPES)).min(1).max(2)),
  expires: z.iso
    .datetime()
    .refine((value) => Date.parse(value) > Date.now(), 'has passed already')
    .optional(),
  by: text(200),
});

const revokeSchema = z
  .object({ key: text(50).optional(), account: text(50).optional(), by: text(200) })
  .refine((flags) => (flags.key === undefined) !== (flags.account === undefined), {
    message: 'takes --key or --account',
  });

const fundSchema = z.object({
  account: text(50),
  environment: z.enum(ENVIRONMENTS),
  amount: z.string().transform((value, context) => {
    const minor = parseMinor(value);
    if (minor === undefined || minor <= 0n || minor > MOST_MINOR)
      context.addIssue({ code: 'custom', message: 'takes an amount such as 1250.00' });
    return minor ?? 0n;
  }),
  currency: z.enum(ACCOUNT_CURRENCIES),
  reference: text(200),
  reason: text(500),
  by: text(200),
});

/** Runs one command; `words` is what follows `main.ts`. Throws OperatorMistake, nothing written, where the command cannot be done. */
export async function runAccountCommand(parts: ProcessContext, words: readonly string[]): Promise<object> {
  try {
    return await run(parts, words);
  } catch (error) {
    throw error instanceof DomainError ? new OperatorMistake(error.message) : error;
  }
}

async function run(parts: ProcessContext, words: readonly string[]): Promise<object> {
  const [noun, verb, ...flags] = words;
  switch (`${noun} ${verb}`) {
    case 'account create':
      return withAccounts(parts, async (db) => {
        const f = readFlags(accountSchema, flags);
        const rate = f['requests-per-minute'];
        const account = { ...f, ...(rate === undefined ? {} : { requestsPerMinute: rate }) };
        return { accountId: await createAccount(db, pick(account), f.by) };
      });
    case 'key create':
      return keyCommand(parts, readFlags(keySchema, flags));
    case 'key revoke':
      return withAccounts(parts, async (db) => {
        const f = readFlags(revokeSchema, flags);
        return {
          revoked: await revoke(
            db,
            f.key === undefined ? { accountId: f.account ?? '' } : { keyId: f.key },
            f.by,
          ),
        };
      });
    case 'wallet fund':
      return fundCommand(parts, readFlags(fundSchema, flags));
    default:
      throw new OperatorMistake(`commands:\n${ACCOUNT_COMMANDS_USAGE}`);
  }
}

/** Answers the key, and the secret of its webhook endpoint where that is new, for the only time. */
async function keyCommand(parts: ProcessContext, flags: z.output<typeof keySchema>): Promise<object> {
  const { environment, 'webhook-url': webhookUrl } = flags;
  const world = parts.config.worlds[environment];
  if (webhookUrl !== undefined && !world)
    throw new OperatorMistake(`the ${environment} world is switched off`);
  return withAccounts(parts, async (accounts) => {
    const db = world && openWorld(parts, world);
    try {
      const request = {
        accountId: flags.account,
        environment,
        brand: parts.config.brand,
        scopes: flags.scopes,
        allowedAddresses: flags.addresses,
        companyName: flags.company,
        websiteUrl: flags.website,
        expiresAt: flags.expires === undefined ? null : new Date(flags.expires),
        ...(webhookUrl === undefined ? {} : { webhookUrl }),
      };
      const webhooks = composeWebhooks(parts, environment, systemClock);
      return await createCheckedKey({ accounts, db, clock: systemClock, ...webhooks }, request, flags.by);
    } finally {
      await db?.destroy();
    }
  });
}

async function fundCommand(parts: ProcessContext, flags: z.output<typeof fundSchema>): Promise<object> {
  const world = parts.config.worlds[flags.environment];
  if (!world) throw new OperatorMistake(`the ${flags.environment} world is switched off`);
  return withAccounts(parts, async (accounts) => {
    const db = openWorld(parts, world);
    try {
      const balance = await fund(
        { accounts, world: db },
        {
          accountId: flags.account,
          amount: { amountMinor: flags.amount, currency: flags.currency },
          reference: flags.reference,
          reason: flags.reason,
        },
        flags.by,
      );
      return { balance: formatMinor(balance.amountMinor), currency: balance.currency };
    } finally {
      await db.destroy();
    }
  });
}

type AccountFlags = Parameters<typeof createAccount>[1];

function pick({ type, name, email, currency, plan, requestsPerMinute }: AccountFlags): AccountFlags {
  return {
    type,
    name,
    email,
    currency,
    plan,
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
  };
}

async function withAccounts<T>(
  parts: ProcessContext,
  use: (db: ReturnType<typeof openAccounts>) => Promise<T>,
): Promise<T> {
  const db = openAccounts(parts);
  try {
    return await use(db);
  } finally {
    await db.destroy();
  }
}
