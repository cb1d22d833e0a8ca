/** Accounts as operators see them: who they are, and what they have in one environment. */
import type { Session } from '../domain/callers.ts';
import { changeAccountTerms, type ChangeAccountTerms } from '../accounts/manage-accounts.ts';
import { findAccountRow, type FoundAccount } from '../accounts/store/accounts.ts';
import { countAccess, listAccountRows } from '../accounts/store/find-accounts.ts';
import type { Environment } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import type { Money } from '../domain/money.ts';
import type { Page, PageQuery } from '../domain/page.ts';
import { findWallet } from '../ledger/store/ledger.ts';
import {
  isOwnTransaction,
  readTransactions,
  type FoundTransactions,
} from '../purchases/store/list-transactions.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { countOpen, findOwn, readBalances, type OpenOfAccount } from './store/accounts.ts';
import { findStuck, type StuckDeps } from './stuck.ts';

export interface AccountDeps {
  readonly accounts: AccountsDb;
  readonly environment: Environment;
  readonly stuck: StuckDeps;
}

export interface ListedAccount extends FoundAccount {
  /** Zero where the account has no wallet in this environment yet. */
  readonly balance: Money;
}

export interface AccountOverview extends ListedAccount, OpenOfAccount {
  readonly onHoldMinor: bigint;
  /** What a bank took back after the wallet had spent it, and no payment has paid since. */
  readonly owedMinor: bigint;
  /** Of this environment, and not revoked or expired. */
  readonly keys: number;
  readonly members: number;
  /** Lines of the stuck list. */
  readonly stuck: number;
}

/** One page, the newest first. */
export async function listAccounts(
  { accounts, stuck: { db } }: AccountDeps,
  query: PageQuery & { readonly text?: string | undefined },
): Promise<Page<ListedAccount>> {
  const found = await listAccountRows(accounts, query);
  const balances = await readBalances(
    db,
    found.items.map(({ id }) => id),
  );
  const items = found.items.map((account) => ({
    ...account,
    balance: balances.get(account.id) ?? { amountMinor: 0n, currency: account.currency },
  }));
  return { ...found, items };
}

/** NOT_FOUND. */
export async function readAccount(
  { accounts, environment, stuck }: AccountDeps,
  accountId: string,
): Promise<AccountOverview> {
  const account = await requireAccount(accounts, accountId);
  const [wallet, access, open, { items }] = await Promise.all([
    findWallet(stuck.db, accountId),
    countAccess(accounts, accountId, environment),
    countOpen(stuck.db, accountId),
    findStuck(stuck),
  ]);
  const own = await findOwn(
    stuck.db,
    accountId,
    items.map(({ transactionId }) => transactionId),
  );
  return {
    ...account,
    ...access,
    ...open,
    balance: wallet?.balance ?? { amountMinor: 0n, currency: account.currency },
    onHoldMinor: wallet?.onHoldMinor ?? 0n,
    owedMinor: wallet?.owedMinor ?? 0n,
    stuck: items.filter(({ transactionId }) => own.has(transactionId)).length,
  };
}

/**
 * Purchases and fundings of the account in this environment, newest first. NOT_FOUND; VALIDATION_ERROR for a
 * cursor of another account.
 */
export async function listAccountTransactions(
  { accounts, stuck: { db } }: AccountDeps,
  accountId: string,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<FoundTransactions> {
  await requireAccount(accounts, accountId);
  if (after !== undefined && !(await isOwnTransaction(db, accountId, after))) throw foreignCursor();
  return readTransactions(db, { accountId, offset: 0, limit, after });
}

/** NOT_FOUND. */
export async function requireAccount(
  accounts: AccountDeps['accounts'],
  accountId: string,
): Promise<FoundAccount> {
  const account = await findAccountRow(accounts, accountId);
  if (!account) throw new DomainError('NOT_FOUND', 'No such account');
  return account;
}

export const foreignCursor = (): DomainError =>
  new DomainError('VALIDATION_ERROR', 'Invalid request', {
    details: 'after: must be the nextCursor of a page of this account',
  });

/** The account after the change. NOT_FOUND. */
export async function changeAccount(
  deps: AccountDeps,
  { person }: Session,
  accountId: string,
  change: ChangeAccountTerms,
): Promise<AccountOverview> {
  await changeAccountTerms({ db: deps.accounts, clock: deps.stuck.clock }, accountId, change, person.email);
  return readAccount(deps, accountId);
}
