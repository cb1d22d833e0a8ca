import { randomUUID } from 'node:crypto';
import { environmentOfKey, hashApiKey } from '../accounts/keys/api-key.ts';
import { createKey } from '../accounts/keys/manage-keys.ts';
import { createAccount } from '../accounts/manage-accounts.ts';
import { openAccounts, openWorld, type ProcessContext } from '../app/composition/context.ts';
import { findAccountsByEmail, findValidKeyHashes } from '../accounts/store/accounts.ts';
import { ACCOUNT_CURRENCIES, type AccountCurrency } from '../domain/money.ts';
import { findWallet } from '../ledger/store/ledger.ts';
import { fund } from '../ledger/fund-by-hand.ts';
import type { SandboxKeys } from './running-file.ts';

const ACTOR = 'npm start';
const REQUESTS_PER_MINUTE = 6_000;
/** At every start: NGN 50,000,000 and USD 50,000. */
const FUNDS_MINOR: Record<AccountCurrency, bigint> = { NGN: 5_000_000_000n, USD: 5_000_000n };
const LOOPBACK = ['127.0.0.0/8', '::1'];

/** Where a checkout keeps its keys: a restart must not break the programs that use them. */
export interface KeptKeys {
  read(currency: AccountCurrency): Promise<string | undefined>;
  write(currency: AccountCurrency, key: string): Promise<void>;
}

/** One account per currency, each with money and the key of earlier starts, or a new one if that ended. */
export async function prepareSandboxAccounts(context: ProcessContext, kept: KeptKeys): Promise<SandboxKeys> {
  const accounts = openAccounts(context);
  const world = openWorld(context, context.config.worlds.test);
  const working = new Set<string>();
  const isWorking = (key: string): boolean =>
    environmentOfKey(context.config.brand, key) === 'test' && working.has(hashApiKey(key));
  const prepare = async (currency: AccountCurrency): Promise<string> => {
    const email = `sandbox-${currency.toLowerCase()}@simway.example`;
    const [existing] = await findAccountsByEmail(accounts, email);
    const accountId =
      existing?.id ??
      (await createAccount(
        accounts,
        {
          type: 'MERCHANT',
          name: `Sandbox ${currency}`,
          email,
          currency,
          plan: 'ENTERPRISE',
          requestsPerMinute: REQUESTS_PER_MINUTE,
        },
        ACTOR,
      ));
    const balance = (await findWallet(world, accountId))?.balance.amountMinor ?? 0n;
    const missing = FUNDS_MINOR[currency] - balance;
    if (missing > 0n) {
      await fund(
        { accounts, world },
        {
          accountId,
          amount: { amountMinor: missing, currency },
          reason: 'sandbox money',
          reference: `start-${randomUUID()}`,
        },
        ACTOR,
      );
    }
    const keptKey = await kept.read(currency);
    if (keptKey !== undefined && isWorking(keptKey)) return keptKey;
    const { apiKey } = await createKey(
      accounts,
      {
        accountId,
        environment: 'test',
        brand: context.config.brand,
        scopes: ['read', 'purchase', 'fund'],
        allowedAddresses: LOOPBACK,
        companyName: `Sandbox ${currency}`,
        websiteUrl: 'https://simway.example',
        expiresAt: null,
      },
      ACTOR,
    );
    await kept.write(currency, apiKey);
    return apiKey;
  };
  try {
    for (const hash of await findValidKeyHashes(accounts)) working.add(hash);
    const keys: [string, string][] = [];
    for (const currency of ACCOUNT_CURRENCIES) keys.push([currency.toLowerCase(), await prepare(currency)]);
    return Object.fromEntries(keys) as SandboxKeys;
  } finally {
    await Promise.all([accounts.destroy(), world.destroy()]);
  }
}
