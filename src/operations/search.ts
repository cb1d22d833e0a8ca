/** Operators search all records by an id or a text. */
import { may, type Role } from '../domain/operator-roles.ts';
import {
  findKeyRow,
  findMemberRows,
  findRequestRows,
  listAccountRows,
  readAccountNames,
} from '../accounts/store/find-accounts.ts';
import { findPerson } from '../accounts/store/people.ts';
import { formatAmount } from '../domain/money.ts';
import type { AccountDeps } from './accounts.ts';
import { findOtherRecords, findTransactions, OTHER_KINDS, type FoundBy } from './store/search.ts';

export const FOUND_KINDS = [
  'purchase',
  'funding',
  ...OTHER_KINDS,
  'account',
  'member',
  'key',
  'person',
  'request',
] as const;

export interface Found {
  readonly kind: (typeof FOUND_KINDS)[number];
  readonly id: string;
  /** For people: `Nigeria 1GB, NGN 3790.40, SUCCESS`. */
  readonly title: string;
  readonly account: { readonly accountId: string; readonly name: string } | null;
  readonly foundBy: FoundBy;
}

type Hit = Omit<Found, 'account'> & { readonly accountId: string | null };

/** Enough for one page. */
export const MAX_FOUND = 20;

/** Complete ids, and parts of names and e-mail addresses. People and differences by the role. */
export async function search(
  deps: Omit<AccountDeps, 'stuck'>,
  text: string,
  role: Role,
): Promise<{ readonly items: readonly Found[]; readonly isCut: boolean }> {
  const hits = (
    await Promise.all([
      findOtherRecords(deps.db, text, { withDifferences: may(role, 'reconcile'), limit: MAX_FOUND + 1 }),
      searchKeys(deps, text),
      searchMembers(deps, text),
      may(role, 'people') ? searchPeople(deps, text) : [],
      searchAccounts(deps, text),
      searchRequests(deps, text),
      // Last: there may be many, of one batch or request, which itself is to be shown too.
      searchTransactions(deps, text),
    ])
  ).flat();
  const shown = hits.slice(0, MAX_FOUND);
  const names = await readAccountNames(deps.accounts, [
    ...new Set(shown.flatMap(({ accountId }) => accountId ?? [])),
  ]);
  const items = shown.map(({ accountId, ...hit }) => ({
    ...hit,
    account: accountId === null ? null : { accountId, name: names.get(accountId) ?? '' },
  }));
  return { items, isCut: hits.length > MAX_FOUND };
}

type SearchDeps = Parameters<typeof search>[0];

const hit = (
  kind: Hit['kind'],
  id: string,
  title: string,
  accountId: string | null,
  foundBy: FoundBy = 'id',
): Hit => ({ kind, id, title, accountId, foundBy });

async function searchTransactions({ db }: SearchDeps, text: string): Promise<Hit[]> {
  const found = await findTransactions(db, text, MAX_FOUND + 1);
  return found.map(({ transactionId, kind, accountId, foundBy, packageName, status, ...amount }) => {
    const price = `${amount.currency} ${formatAmount(amount)}`;
    const title = `${packageName ?? 'Wallet funding'}, ${price}, ${status}`;
    return hit(kind, transactionId, title, accountId, foundBy);
  });
}

async function searchKeys({ accounts, environment }: SearchDeps, text: string): Promise<Hit[]> {
  const row = await findKeyRow(accounts, text, environment);
  if (!row) return [];
  const { id, accountId, key, companyName, revokedAt } = row;
  return [hit('key', id, `${key}, ${companyName}${revokedAt ? ', revoked' : ''}`, accountId)];
}

async function searchMembers({ accounts }: SearchDeps, text: string): Promise<Hit[]> {
  const members = await findMemberRows(accounts, text);
  return members.map(({ id, accountId, name, email, role }) =>
    hit('member', id, `${name}, ${email}, ${role}`, accountId),
  );
}

async function searchPeople({ accounts }: SearchDeps, text: string): Promise<Hit[]> {
  const byId = await findPerson(accounts, { id: text });
  const person = byId ?? (await findPerson(accounts, { email: text.toLowerCase() }));
  if (!person) return [];
  const { id, name, role, email } = person;
  return [hit('person', id, `${name}, ${email}, ${role}`, null, byId ? 'id' : 'name or e-mail')];
}

async function searchAccounts({ accounts }: SearchDeps, text: string): Promise<Hit[]> {
  const { items } = await listAccountRows(accounts, { text, page: 1, limit: MAX_FOUND + 1 });
  return items.map(({ id, name, email, plan, disabledAt }) => {
    const title = `${name}, ${email}, ${plan}${disabledAt ? ', disabled' : ''}`;
    return hit('account', id, title, id, id === text ? 'id' : 'name or e-mail');
  });
}

async function searchRequests({ accounts, environment }: SearchDeps, text: string): Promise<Hit[]> {
  const requests = await findRequestRows(accounts, text, environment, MAX_FOUND + 1);
  return requests.map(({ requestId, accountId, method, path, status }) =>
    hit('request', requestId, `${method} ${path}: ${status}`, accountId),
  );
}
