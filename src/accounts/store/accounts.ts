import { sql, type Selectable, type Updateable } from 'kysely';
import { memberMay, type MemberRole } from '../../domain/member-roles.ts';
import {
  termsOfPlan,
  type Account,
  type Environment,
  type Principal,
  type Scope,
} from '../../domain/account.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { AccountsTable } from './tables.ts';

export interface StoredKey extends Principal {
  readonly sha256Hex: string;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface NewAccount extends Omit<Account, 'requestsPerMinute'> {
  readonly enterpriseRequestsPerMinute: number | null;
}

export interface NewApiKey extends Pick<
  StoredKey,
  'environment' | 'scopes' | 'allowedAddresses' | 'expiresAt'
> {
  readonly id: string;
  readonly accountId: string;
  readonly sha256: Buffer;
  readonly displayPrefix: string;
  readonly lastFour: string;
  readonly companyName: string;
  readonly websiteUrl: string;
  /** What its maker calls it. */
  readonly name?: string | undefined;
}

export async function insertAccount(db: AccountsDb, account: NewAccount): Promise<void> {
  const { id, type, name, email, currency, plan, enterpriseRequestsPerMinute: own } = account;
  const row = { id, type, name, email, currency, plan, enterprise_requests_per_minute: own };
  await db.insertInto('accounts').values(row).execute();
}

const oneAccount = (db: AccountsDb, id: string) => db.selectFrom('accounts').selectAll().where('id', '=', id);

export async function findAccount(db: AccountsDb, id: string): Promise<Account | undefined> {
  const row = await oneAccount(db, id).executeTakeFirst();
  return row && toAccount(row);
}

/** With what only its members and operators see. */
export async function findAccountRow(db: AccountsDb, id: string): Promise<FoundAccount | undefined> {
  const row = await oneAccount(db, id).executeTakeFirst();
  return row && toFoundAccount(row);
}

/** Columns whose value is undefined stay. */
export async function updateAccount(
  db: AccountsDb,
  id: string,
  changes: Updateable<AccountsTable>,
): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ ...changes, changed_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .execute();
}

/** Locks the account until the transaction ends. */
export const lockAccountRow = (trx: AccountsDb, id: string) =>
  oneAccount(trx, id).forNoKeyUpdate().executeTakeFirst();

/** Several accounts may share an e-mail address. */
export async function findAccountsByEmail(db: AccountsDb, email: string): Promise<Account[]> {
  const found = db.selectFrom('accounts').selectAll().where('email', '=', email);
  return (await found.orderBy('created_at').execute()).map(toAccount);
}

/** Without those that are disabled. */
export async function listNewestAccounts(db: AccountsDb, limit: number): Promise<Account[]> {
  const found = db.selectFrom('accounts').selectAll().where('disabled_at', 'is', null);
  return (await found.orderBy('created_at', 'desc').limit(limit).execute()).map(toAccount);
}

export async function insertApiKey(db: AccountsDb, key: NewApiKey, createdBy: string): Promise<void> {
  await db
    .insertInto('api_keys')
    .values({
      id: key.id,
      account_id: key.accountId,
      environment: key.environment,
      key_sha256: key.sha256,
      display_prefix: key.displayPrefix,
      last_four: key.lastFour,
      scopes: [...key.scopes],
      allowed_addresses: [...key.allowedAddresses],
      company_name: key.companyName,
      website_url: key.websiteUrl,
      name: key.name ?? null,
      created_by: createdBy,
      expires_at: key.expiresAt,
    })
    .execute();
}

/** A key that is neither revoked nor expired. */
export const isWorking = sql<boolean>`revoked_at is null and (expires_at is null or expires_at > now())`;

/** A key as it may be shown. */
export const maskedKey = sql<string>`display_prefix || '…' || last_four`.as('key');

export async function countWorkingKeys(
  db: AccountsDb,
  accountId: string,
  environment: Environment,
): Promise<number> {
  const { count } = await db
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll().as('count'))
    .where((eb) => eb.and({ account_id: accountId, environment }))
    .where(isWorking)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export type WhichKeys =
  | { readonly keyId: string }
  | {
      readonly accountId: string;
      /** Only those that this person made. */
      readonly createdBy?: string;
    };

/** So that every process reads the keys that a member made again, with what their maker may do now. */
export async function keepMakerRole(
  trx: AccountsDb,
  {
    accountId,
    userId,
    role,
  }: { readonly accountId: string; readonly userId: string; readonly role: MemberRole },
): Promise<void> {
  await trx
    .updateTable('api_keys')
    .set((eb) => ({ maker_role: role, changed_at: eb.fn<Date>('clock_timestamp') }))
    .where('account_id', '=', accountId)
    .where('created_by', '=', (eb) => eb.selectFrom('users').select('email').where('id', '=', userId))
    .execute();
}

/** Returns how many were still valid. */
export async function revokeKeys(db: AccountsDb, which: WhichKeys): Promise<number> {
  const result = await db
    .updateTable('api_keys')
    .set((eb) => ({ revoked_at: eb.fn<Date>('now'), changed_at: eb.fn<Date>('clock_timestamp') }))
    .where('revoked_at', 'is', null)
    .where((eb) => ('keyId' in which ? eb('id', '=', which.keyId) : eb('account_id', '=', which.accountId)))
    .$if('createdBy' in which, (query) =>
      query.where('created_by', '=', 'createdBy' in which ? (which.createdBy ?? '') : ''),
    )
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/**
 * One write in five minutes is enough for all processes, and none waits for another or for a revocation. It
 * comes after the use, which was before the end of the key.
 */
export async function writeLastUses(db: AccountsDb, keyIds: readonly string[]): Promise<void> {
  await sql`
    update api_keys set last_used_at = least(now(), revoked_at, expires_at)
     where id = any(array(
       select id from api_keys
        where id = any(${keyIds}::text[]) and (last_used_at is null or last_used_at < now() - interval '4 minutes')
          for no key update skip locked))`.execute(db);
}

/**
 * Joins what a key's maker may do now, or did when they left: a key never does more. Null: nobody who was a
 * member made it.
 */
const withMaker = (db: AccountsDb) =>
  db
    .selectFrom('api_keys')
    .leftJoin('users as maker', 'maker.email', 'api_keys.created_by')
    .leftJoin('members as making', (join) =>
      join.onRef('making.user_id', '=', 'maker.id').onRef('making.account_id', '=', 'api_keys.account_id'),
    )
    .select(sql<MemberRole | null>`coalesce(making.role, api_keys.maker_role)`.as('makerRole'));

const withinRole = (scopes: readonly Scope[], role: MemberRole | null): Scope[] =>
  scopes.filter((scope) => role === null || memberMay(role, scope));

/** An account's keys as they may be shown, the newest first. */
export async function listKeys(db: AccountsDb, accountId: string) {
  const rows = await withMaker(db)
    .select(['api_keys.id as keyId', 'api_keys.name as name', maskedKey, 'environment', 'scopes'])
    .select(['allowed_addresses as allowedAddresses', 'company_name as company', 'website_url as websiteUrl'])
    .select(['expires_at as expiresAt', 'revoked_at as revokedAt', 'last_used_at as lastUsedAt'])
    .select(['api_keys.created_at as createdAt', 'created_by as createdBy'])
    .where('api_keys.account_id', '=', accountId)
    .orderBy('api_keys.created_at', 'desc')
    .orderBy('api_keys.id')
    .execute();
  return rows.map(({ makerRole, ...key }) => ({ ...key, scopes: withinRole(key.scopes, makerRole) }));
}

export async function findKey(db: AccountsDb, sha256: Buffer): Promise<StoredKey | undefined> {
  const row = await selectKeys(db).where('api_keys.key_sha256', '=', sha256).executeTakeFirst();
  return row && toStoredKey(row);
}

export async function findKeyById(db: AccountsDb, keyId: string): Promise<StoredKey | undefined> {
  const row = await selectKeys(db).where('api_keys.id', '=', keyId).executeTakeFirst();
  return row && toStoredKey(row);
}

/** The clock that `changed_at` is written by, and when notices are due. */
export async function readDatabaseTime(db: AccountsDb): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  return rows[0]?.now ?? new Date(0);
}

/** Keys that changed since then, or whose account did. */
export async function findKeysChangedSince(db: AccountsDb, since: Date): Promise<StoredKey[]> {
  const rows = await selectKeys(db)
    .where((eb) => eb.or([eb('api_keys.changed_at', '>=', since), eb('accounts.changed_at', '>=', since)]))
    .execute();
  return rows.map(toStoredKey);
}

/** SHA-256 in hexadecimal digits, of keys that are neither revoked nor expired. */
export async function findValidKeyHashes(db: AccountsDb): Promise<string[]> {
  const rows = await db
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .select('key_sha256')
    .where('disabled_at', 'is', null)
    .where(isWorking)
    .execute();
  return rows.map(({ key_sha256 }) => key_sha256.toString('hex'));
}

function selectKeys(db: AccountsDb) {
  return (
    withMaker(db)
      .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
      .selectAll('accounts')
      .select(['api_keys.id as keyId', 'api_keys.key_sha256 as sha256', 'api_keys.environment'])
      .select(['api_keys.scopes', 'api_keys.allowed_addresses as allowedAddresses'])
      .select(['api_keys.expires_at as expiresAt', 'api_keys.created_by as maker'])
      // Those of a disabled account count as revoked until it is enabled again.
      .select(sql<Date | null>`coalesce(api_keys.revoked_at, accounts.disabled_at)`.as('revokedAt'))
  );
}

type KeyRow = Awaited<ReturnType<ReturnType<typeof selectKeys>['executeTakeFirstOrThrow']>>;

function toStoredKey(row: KeyRow): StoredKey {
  const { keyId, sha256, environment, allowedAddresses, expiresAt, revokedAt, maker, makerRole } = row;
  const scopes = withinRole(row.scopes, makerRole);
  const mayInstall = makerRole === null || memberMay(makerRole, 'install');
  const key = { keyId, maker, environment, scopes, mayInstall, allowedAddresses, expiresAt, revokedAt };
  return { ...key, sha256Hex: sha256.toString('hex'), account: toAccount(row) };
}

export function toAccount(row: Selectable<AccountsTable>): Account {
  const { id, type, name, email, currency, plan } = row;
  const requestsPerMinute = termsOfPlan(plan).requestsPerMinute ?? row.enterprise_requests_per_minute ?? 0;
  return { id, type, name, email, currency, plan, requestsPerMinute };
}

/** What was agreed about returns of unused eSIMs; null: as the settings say. */
export interface ReturnTerms {
  readonly allowed: boolean;
  /** After the delivery. */
  readonly windowDays: number;
  /** Of the price, in hundredths of a percent. */
  readonly feeBps: number;
}

export const returnTermsOf = ({
  returns_allowed: allowed,
  return_window_days: windowDays,
  return_fee_bps: feeBps,
}: Pick<Selectable<AccountsTable>, 'returns_allowed' | 'return_window_days' | 'return_fee_bps'>) =>
  allowed === null || windowDays === null || feeBps === null ? null : { allowed, windowDays, feeBps };

/** What was agreed about replacements of eSIMs; null: as the settings say. */
export interface ReplacementTerms {
  readonly allowed: boolean;
  /** After the delivery. */
  readonly windowDays: number;
  /** What the account pays of the first price, in hundredths of a percent. */
  readonly shareBps: number;
  /** Of what was bought once. */
  readonly maxCount: number;
}

export const replacementTermsOf = ({
  replacements_allowed: allowed,
  replacement_window_days: windowDays,
  replacement_share_bps: shareBps,
  replacement_max: maxCount,
}: Selectable<AccountsTable>): ReplacementTerms | null =>
  allowed === null || windowDays === null || shareBps === null || maxCount === null
    ? null
    : { allowed, windowDays, shareBps, maxCount };

export type FoundAccount = ReturnType<typeof toFoundAccount>;

export const toFoundAccount = (row: Selectable<AccountsTable>) => ({
  ...toAccount(row),
  websiteUrl: row.website_url,
  disabledAt: row.disabled_at,
  returns: returnTermsOf(row),
  replacements: replacementTermsOf(row),
  createdAt: row.created_at,
});
