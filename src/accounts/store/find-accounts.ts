/**
 * What an operator finds accounts, keys, people and requests by. Reads only; no hash of a key or of a
 * password is selected.
 */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Environment } from '../../domain/account.ts';
import type { Page, PageQuery } from '../../domain/page.ts';
import { containing } from '../../platform/database/like.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { toAccount } from './accounts.ts';
import type { AccountsTable } from './tables.ts';

export type FoundAccount = ReturnType<typeof toFound>;

function toFound(row: Selectable<AccountsTable>) {
  return {
    ...toAccount(row),
    websiteUrl: row.website_url,
    disabledAt: row.disabled_at,
    createdAt: row.created_at,
  };
}

/**
 * By id, or a part of the name, of its e-mail address or of a member's. Reads the whole table of accounts:
 * some 100 ms for 100,000 of them.
 */
function matching(db: AccountsDb, text: string | undefined) {
  const all = db.selectFrom('accounts');
  if (text === undefined) return all;
  const pattern = containing(text);
  return all.where((eb) =>
    eb.or([
      eb('id', '=', text),
      eb('name', 'ilike', pattern),
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

/** One page, the newest first. */
export async function listAccountRows(
  db: AccountsDb,
  { text, page, limit }: PageQuery & { readonly text?: string | undefined },
): Promise<Page<FoundAccount>> {
  const { total } = await matching(db, text)
    .select((eb) => eb.fn.countAll().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await matching(db, text)
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset((page - 1) * limit)
    .execute();
  return { items: rows.map(toFound), total: Number(total), page, limit };
}

export async function findAccountRow(db: AccountsDb, id: string): Promise<FoundAccount | undefined> {
  const row = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toFound(row);
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
 * The members of an account with when each last signed in, by the audit log: sessions are deleted once they
 * end. The oldest member first.
 */
export async function listMemberSignIns(db: AccountsDb, accountId: string) {
  return db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['users.id as userId', 'users.email', 'users.name', 'members.role'])
    .select(['users.two_factor_enabled as hasSecondFactor', 'members.joined_at as joinedAt'])
    .select(
      sql<Date | null>`(select at from audit_log where subject = users.id and action = 'session.open'
          order by at desc limit 1)`.as('lastSignInAt'),
    )
    .select(
      sql<Date | null>`case when users.locked_until > now() then users.locked_until end`.as('lockedUntil'),
    )
    .where('members.account_id', '=', accountId)
    .orderBy('members.joined_at')
    .orderBy('users.id')
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
               and revoked_at is null and (expires_at is null or expires_at > now())) as keys,
           (select count(*)::int4 from members where account_id = ${accountId}) as members`.execute(db);
  return rows[0] ?? { keys: 0, members: 0 };
}

export function findKeyRow(db: AccountsDb, id: string, environment: Environment) {
  return db
    .selectFrom('api_keys')
    .select(['id', 'account_id as accountId', 'company_name as companyName', 'revoked_at as revokedAt'])
    .select(sql<string>`display_prefix || '…' || last_four`.as('key'))
    .where('id', '=', id)
    .where('environment', '=', environment)
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

/**
 * Requests with keys by their request id, which callers may choose: so several may have one. The newest
 * first.
 */
export function findRequestRows(db: AccountsDb, requestId: string, environment: Environment, limit: number) {
  return db
    .selectFrom('api_requests')
    .select(['request_id as requestId', 'account_id as accountId', 'method', 'path', 'status'])
    .where('request_id', '=', requestId)
    .where('environment', '=', environment)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}
