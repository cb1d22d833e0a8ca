/** Accounts as operators see them: terms, what they have in one environment, keys and webhooks. */
import { limitRemovals, type RemovalDeps } from '../accounts/operators/removals.ts';
import { changeAccountTerms, type ChangeAccountTerms } from '../accounts/manage-accounts.ts';
import { findAccountRow, listKeys } from '../accounts/store/accounts.ts';
import {
  countAccess,
  listAccountRows,
  listMemberSignIns,
  type AccountFilters,
} from '../accounts/store/find-accounts.ts';
import type { Environment } from '../domain/account.ts';
import type { Session } from '../domain/callers.ts';
import { DomainError } from '../domain/errors.ts';
import type { PageQuery } from '../domain/page.ts';
import { findWallet } from '../ledger/store/ledger.ts';
import type { AccountsDb, WorldDb } from '../platform/database/tables.ts';
import { isOwnTransaction, readTransactions } from '../purchases/store/list-transactions.ts';
import { MAX_FILE_LINES, recordFile } from './lists.ts';
import {
  countOpen,
  findOwn,
  isOwnMessage,
  listEndpointsOf,
  readBalances,
  readMessages,
} from './store/accounts.ts';
import { findStuck, type StuckDeps } from './stuck.ts';

/** Of one environment. */
export interface AccountDeps {
  readonly accounts: AccountsDb;
  readonly environment: Environment;
  readonly db: WorldDb;
  readonly stuck: StuckDeps;
}

type Rows = Pick<AccountDeps, 'accounts' | 'db'>;

/** Continues behind the item with the id `after`. */
interface CursorQuery {
  readonly after?: string | undefined;
  readonly limit: number;
}

/** An account may have 16; more are deleted ones. */
export const MAX_LISTED_ENDPOINTS = 100;

/** One page, the newest first. The balance is zero where the account has no wallet here yet. */
export async function listAccounts({ accounts, db }: Rows, query: PageQuery & AccountFilters) {
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

/** MAX_FILE_LINES of them, for a file; on record under who asked. `next`: the next `page`, if any. */
export async function exportAccounts(
  deps: Rows,
  { person }: Pick<Session, 'person'>,
  filters: AccountFilters & Pick<PageQuery, 'page'>,
) {
  const { items, total, page } = await listAccounts(deps, { ...filters, limit: MAX_FILE_LINES });
  const isCut = total > page * MAX_FILE_LINES;
  await recordFile(deps.db, person.email, { name: 'accounts', lines: items.length, isCut });
  return { lines: items, next: isCut ? String(page + 1) : undefined };
}

/** Its terms, its wallet and how much it has here. NOT_FOUND. */
export async function readAccount({ accounts, environment, db, stuck }: AccountDeps, accountId: string) {
  const account = await requireAccount(accounts, accountId);
  const [wallet, access, open, { items }] = await Promise.all([
    findWallet(db, accountId),
    countAccess(accounts, accountId, environment),
    countOpen(db, accountId),
    findStuck(stuck),
  ]);
  const own = await findOwn(
    db,
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

/** The account after the change. NOT_FOUND; RATE_LIMIT_EXCEEDED where the person disabled too many. */
export async function changeAccount(
  deps: AccountDeps & RemovalDeps,
  { person }: Session,
  accountId: string,
  change: ChangeAccountTerms,
) {
  const { accounts, stuck } = deps;
  const terms = { db: accounts, clock: stuck.clock };
  await changeAccountTerms(terms, accountId, change, person.email, async (trx) => {
    await limitRemovals(deps, trx, person.email, stuck.clock.now());
    deps.events.accessRemoved({ outcome: 'done' });
  });
  return readAccount(deps, accountId);
}

/** Of this environment, newest first. NOT_FOUND; VALIDATION_ERROR for a cursor of another account. */
export async function listAccountTransactions(
  { accounts, db }: Rows,
  accountId: string,
  { after, limit }: CursorQuery,
) {
  await requireAccount(accounts, accountId);
  if (after !== undefined && !(await isOwnTransaction(db, accountId, after))) throw foreignCursor();
  return readTransactions(db, { accountId, offset: 0, limit, after });
}

/** All, the oldest first. NOT_FOUND. */
export async function listAccountMembers({ accounts }: Pick<Rows, 'accounts'>, accountId: string) {
  await requireAccount(accounts, accountId);
  return listMemberSignIns(accounts, accountId);
}

/** All of this environment, with revoked and expired ones, the newest first. NOT_FOUND. */
export async function listAccountKeys(
  { accounts, environment }: Pick<AccountDeps, 'accounts' | 'environment'>,
  accountId: string,
) {
  await requireAccount(accounts, accountId);
  return (await listKeys(accounts, accountId)).filter((key) => key.environment === environment);
}

/** Of this environment: those that exist, then deleted ones, each newest first. NOT_FOUND. */
export async function listAccountEndpoints({ accounts, db }: Rows, accountId: string) {
  await requireAccount(accounts, accountId);
  return listEndpointsOf(db, accountId, MAX_LISTED_ENDPOINTS);
}

/** Not delivered, newest first; or the one with this id. NOT_FOUND; VALIDATION_ERROR for a wrong cursor. */
export async function listUndeliveredMessages(
  { accounts, db }: Rows,
  accountId: string,
  query: CursorQuery & { readonly messageId?: string | undefined },
) {
  await requireAccount(accounts, accountId);
  if (query.after !== undefined && !(await isOwnMessage(db, accountId, query.after))) throw foreignCursor();
  return readMessages(db, { accountId, ...query });
}

/** NOT_FOUND. */
async function requireAccount(accounts: AccountsDb, accountId: string) {
  const account = await findAccountRow(accounts, accountId);
  if (!account) throw new DomainError('NOT_FOUND', 'No such account');
  return account;
}

const foreignCursor = (): DomainError =>
  new DomainError('VALIDATION_ERROR', 'Invalid request', {
    details: 'after: must be the nextCursor of a page of this account',
  });
