import { randomBytes } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import type { Plan } from '../domain/account.ts';
import type { Clock } from '../domain/clock.ts';
import {
  countWorkingKeys,
  findAccount,
  insertAccount,
  insertApiKey,
  listKeys,
  lockAccountRow,
  revokeKeys,
  updateAccountTerms,
  type NewAccount,
  type NewApiKey,
} from './store/accounts.ts';
import { writeAudit } from './store/audit.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { hashApiKey, newApiKey } from './keys/api-key.ts';

export type CreateAccount = Omit<NewAccount, 'id' | 'enterpriseRequestsPerMinute'> & {
  /** Enterprise only. */
  readonly requestsPerMinute?: number;
};

/** Returns the new account's id. */
export async function createAccount(db: AccountsDb, request: CreateAccount, actor: string): Promise<string> {
  return db.transaction().execute((trx) => insertNewAccount(trx, request, actor));
}

/** The same in a transaction of the caller's. */
export async function insertNewAccount(
  trx: AccountsDb,
  request: CreateAccount,
  actor: string,
): Promise<string> {
  const id = makeId('account', randomBytes(16).toString('hex'));
  const enterpriseRequestsPerMinute =
    request.plan === 'ENTERPRISE' ? (request.requestsPerMinute ?? null) : null;
  await insertAccount(trx, { ...request, id, enterpriseRequestsPerMinute });
  await writeAudit(trx, { actor, action: 'account.create', subject: id, detail: { ...request } });
  return id;
}

export interface ChangeAccountTerms {
  readonly plan?: Plan | undefined;
  /** Goes with the plan ENTERPRISE, and with no other. */
  readonly requestsPerMinute?: number | undefined;
  /** true: its keys and members are refused until it is false again. What was begun continues. */
  readonly disabled?: boolean | undefined;
  readonly reason: string;
}

/** Counts in every process within 5 s. What is so already is neither written nor recorded. Throws NOT_FOUND. */
export async function changeAccountTerms(
  { db, clock }: { readonly db: AccountsDb; readonly clock: Clock },
  accountId: string,
  { plan, requestsPerMinute, disabled, reason }: ChangeAccountTerms,
  actor: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await lockAccountRow(trx, accountId);
    if (!row) throw noAccount(accountId);
    const before = {
      plan: row.plan,
      requestsPerMinute: row.enterprise_requests_per_minute,
      disabled: row.disabled_at !== null,
    };
    const wanted = {
      plan: plan ?? before.plan,
      requestsPerMinute: plan === undefined ? before.requestsPerMinute : (requestsPerMinute ?? null),
      disabled: disabled ?? before.disabled,
    };
    const changes = Object.entries(wanted).filter(
      ([name, value]) => before[name as keyof typeof before] !== value,
    );
    if (changes.length === 0) return;
    const disabledAt = wanted.disabled ? (row.disabled_at ?? clock.now()) : null;
    await updateAccountTerms(trx, accountId, { ...wanted, disabledAt });
    const detail = Object.fromEntries(
      changes.map(([name, value]) => [
        name,
        `${String(before[name as keyof typeof before] ?? 'none')} → ${String(value ?? 'none')}`,
      ]),
    );
    await writeAudit(trx, {
      actor,
      action: 'account.change',
      subject: accountId,
      detail: { ...detail, reason },
    });
  });
}

export type CreateKey = Omit<NewApiKey, 'id' | 'sha256' | 'displayPrefix' | 'lastFour'> & {
  readonly brand: string;
};

/** Each is kept in the memory of every process. More than servers and developers of a large company. */
export const MOST_WORKING_KEYS = 50;

/** Returns the key itself, for the only time. Throws NOT_FOUND; VALIDATION_ERROR for too many. Does not check the company's website. */
export async function createKey(
  db: AccountsDb,
  request: CreateKey,
  actor: string,
): Promise<{ keyId: string; apiKey: string }> {
  const { brand, accountId, environment, scopes } = request;
  const apiKey = newApiKey(brand, environment);
  const keyId = makeId('key', randomBytes(16).toString('hex'));
  await db.transaction().execute(async (trx) => {
    // Two at once wait for each other.
    if (!(await lockAccountRow(trx, accountId))) throw noAccount(accountId);
    if ((await countWorkingKeys(trx, accountId, environment)) >= MOST_WORKING_KEYS)
      throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
        details: `an account has at most ${MOST_WORKING_KEYS} working keys in an environment: revoke one first`,
      });
    await insertApiKey(trx, {
      ...request,
      id: keyId,
      sha256: Buffer.from(hashApiKey(apiKey), 'hex'),
      displayPrefix: `${brand}_${environment}_`,
      lastFour: apiKey.slice(-4),
    });
    const detail = { accountId, environment, scopes };
    await writeAudit(trx, { actor, action: 'key.create', subject: keyId, detail });
  });
  return { keyId, apiKey };
}

/** Revokes one key or all of an account's; returns how many were still valid. */
export async function revoke(
  db: AccountsDb,
  which: { readonly keyId: string } | { readonly accountId: string },
  actor: string,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const revoked = await revokeKeys(trx, which);
    const subject = 'keyId' in which ? which.keyId : which.accountId;
    await writeAudit(trx, { actor, action: 'key.revoke', subject, detail: { revoked } });
    return revoked;
  });
}

/** All keys of an account, without anything that would help to use one. Throws NOT_FOUND. */
export async function showKeys(db: AccountsDb, accountId: string) {
  if (!(await findAccount(db, accountId))) throw noAccount(accountId);
  return listKeys(db, accountId);
}

export function noAccount(accountId: string): DomainError {
  return new DomainError('NOT_FOUND', `no account ${accountId}`);
}
