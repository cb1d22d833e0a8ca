/** What an operator finds accounts, keys, people and requests by. No hash is selected. */
import { sql } from 'kysely';
import type { AccountType, Environment, Plan } from '../../domain/account.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import type { Page, PageQuery } from '../../domain/page.ts';
import { containing, spells } from '../../platform/database/like.ts';
import { readPage } from '../../platform/database/page.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { isWorking, maskedKey, toFoundAccount, type FoundAccount } from './accounts.ts';
import { LOCKED_UNTIL, memberRows } from './users.ts';

/** By id, or a part of a name or address. Reads all accounts: some 100 ms for 100,000 of them. */
function matching(db: AccountsDb, text: string | undefined) {
  const all = db.selectFrom('accounts');
  if (text === undefined) return all;
  const pattern = containing(text);
  return all.where((eb) =>
    eb.or([
      eb('id', '=', text),
      spells('name', text),
      eb('email', 'ilike', pattern),
      eb(
        'id',
        'in',
        eb
          .selectFrom('members')
          .innerJoin('users', 'users.id', 'members.user_id')
          .select('members.account_id')
          .where('users.email', 'ilike', pattern),
      ),
    ]),
  );
}

export interface AccountFilters {
  readonly text?: string | undefined;
  readonly plan?: Plan | undefined;
  readonly type?: AccountType | undefined;
  readonly currency?: AccountCurrency | undefined;
  readonly disabled?: boolean | undefined;
}

type AccountListQuery = PageQuery & AccountFilters;

/** One page, the newest first. */
export async function listAccountRows(
  db: AccountsDb,
  { text, plan, type, currency, disabled, page, limit }: AccountListQuery,
): Promise<Page<FoundAccount>> {
  let rows = matching(db, text).selectAll();
  if (plan !== undefined) rows = rows.where('plan', '=', plan);
  if (type !== undefined) rows = rows.where('type', '=', type);
  if (currency !== undefined) rows = rows.where('currency', '=', currency);
  if (disabled !== undefined) rows = rows.where('disabled_at', disabled ? 'is not' : 'is', null);
  const found = await readPage(rows.orderBy('created_at', 'desc').orderBy('id'), { page, limit });
  return { ...found, items: found.items.map(toFoundAccount) };
}

export async function readAccountNames(
  db: AccountsDb,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('accounts').select(['id', 'name']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/**
 * Members with their last sign-ins, by the audit log, which outlives sessions, and with who asked within 24
 * hours to remove their second factor. The oldest first.
 */
export async function listMemberSignIns(db: AccountsDb, accountId: string) {
  return memberRows(db, accountId)
    .select(
      sql<Date | null>`(select at from audit_log where subject = users.id and action = 'session.open'
          order by at desc limit 1)`.as('lastSignInAt'),
    )
    .select(LOCKED_UNTIL.as('lockedUntil'))
    .select(
      sql<string | null>`(select string_agg(asked_by, ', ' order by asked_at) from admin_removals
          where user_id = users.id and asked_at > now() - interval '24 hours')`.as('removalAskedBy'),
    )
    .execute();
}

/** Members, and keys of one environment that work. */
export async function countAccess(
  db: AccountsDb,
  accountId: string,
  environment: Environment,
): Promise<{ readonly keys: number; readonly members: number }> {
  const { rows } = await sql<{ keys: number; members: number }>`
    select (select count(*)::int4 from api_keys where account_id = ${accountId} and environment = ${environment}
               and ${isWorking}) as keys,
           (select count(*)::int4 from members where account_id = ${accountId}) as members`.execute(db);
  return rows[0] ?? { keys: 0, members: 0 };
}

export function findKeyRow(db: AccountsDb, id: string, environment: Environment) {
  return db
    .selectFrom('api_keys')
    .select(['id', maskedKey, 'account_id as accountId', 'company_name as companyName'])
    .select('revoked_at as revokedAt')
    .where((eb) => eb.and({ id, environment }))
    .executeTakeFirst();
}

/** A user by id, once for each account that the user is a member of. */
export function findMemberRows(db: AccountsDb, userId: string) {
  return db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['users.id', 'members.account_id as accountId', 'users.name', 'users.email', 'members.role'])
    .where('members.user_id', '=', userId)
    .orderBy('members.joined_at')
    .execute();
}

/** By their request id, which callers choose: so several may have one. The newest first. */
export function findRequestRows(db: AccountsDb, requestId: string, environment: Environment, limit: number) {
  return db
    .selectFrom('api_requests')
    .select(['request_id as requestId', 'account_id as accountId', 'method', 'path', 'status'])
    .where((eb) => eb.and({ request_id: requestId, environment }))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}
