import { randomUUID } from 'node:crypto';
import { createKey, revoke } from '../accounts/keys/manage-keys.ts';
import { createAccount } from '../accounts/manage-accounts.ts';
import { openAccounts, openWorld, type ProcessContext } from '../app/composition/context.ts';
import { findAccountsByEmail } from '../accounts/store/accounts.ts';
import { ACCOUNT_CURRENCIES, type AccountCurrency } from '../domain/money.ts';
import { findWallet } from '../ledger/store/ledger.ts';
import { fund } from '../ledger/fund-by-hand.ts';
import type { SandboxKeys } from './running-file.ts';

const ACTOR = 'npm start';
const REQUESTS_PER_MINUTE = 6_000;
/** At every start: NGN 50,000,000 and USD 50,000. */
const FUNDS_MINOR: Record<AccountCurrency, bigint> = { NGN: 5_000_000_000n, USD: 5_000_000n };
const LOOPBACK = ['127.0.0.0/8', '::1'];

/** One account per currency, each with money and a fresh key. Keys of earlier starts are revoked. */
export async function prepareSandboxAccounts(context: ProcessContext): Promise<SandboxKeys> {
  const accounts = openAccounts(context);
  const world = openWorld(context, context.config.worlds.test);
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
    await revoke(accounts, { accountId }, ACTOR);
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
    return apiKey;
  };
  try {
    const keys: [string, string][] = [];
    for (const currency of ACCOUNT_CURRENCIES) keys.push([currency.toLowerCase(), await prepare(currency)]);
    return Object.fromEntries(keys) as SandboxKeys;
  } finally {
    await Promise.all([accounts.destroy(), world.destroy()]);
  }
}
