// Accounts and their API keys as rows, for tests of what comes before HTTP.
import type { Pool } from 'pg';
import { createKey, type CreateKey } from '../../../src/accounts/keys/manage-keys.ts';
import { createAccount } from '../../../src/accounts/manage-accounts.ts';
import { openPool } from '../../../src/platform/database/database.ts';
import type { AccountsDb } from '../../../src/platform/database/tables.ts';

const ACTOR = 'a test';

export const makeAccount = (
  db: AccountsDb,
  given: Partial<Parameters<typeof createAccount>[1]> = {},
): Promise<string> => {
  const account = { type: 'USER', name: 'Ada', email: 'ada@example.com', currency: 'USD' } as const;
  return createAccount(db, { ...account, plan: 'STANDARD', ...given }, ACTOR);
};

/** A key that may read from this machine, in the test environment. */
export const makeKey = (
  db: AccountsDb,
  accountId: string,
  given: Partial<CreateKey> = {},
  maker = ACTOR,
): ReturnType<typeof createKey> => {
  const company = { companyName: 'Ada Ltd', websiteUrl: 'https://ada.example.com', expiresAt: null };
  const key = { environment: 'test', brand: 'simway', scopes: ['read'] } as const;
  return createKey(
    db,
    { accountId, ...key, allowedAddresses: ['127.0.0.1', '::1'], ...company, ...given },
    maker,
  );
};

/** Connections to the accounts apart from those of the books. */
export const openAccountsPool = (url: string, maxConnections: number): Pool =>
  openPool({
    ...{ url, schema: 'accounts', role: 'simway_accounts', maxConnections },
    ...{ statementTimeoutMs: 60_000, applicationName: 'simway-tests' },
  });
