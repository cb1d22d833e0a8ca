import { randomBytes } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import {
  findAccount,
  insertAccount,
  insertApiKey,
  revokeKeys,
  type NewAccount,
  type NewApiKey,
} from './store/accounts.ts';
import { writeAudit } from './store/audit.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { hashApiKey, newApiKey } from './api-key.ts';

export type CreateAccount = Omit<NewAccount, 'id' | 'enterpriseRequestsPerMinute'> & {
  /** Enterprise only. */
  readonly requestsPerMinute?: number;
};

/** Returns the new account's id. */
export async function createAccount(db: AccountsDb, request: CreateAccount, actor: string): Promise<string> {
  const id = makeId('account', randomBytes(16).toString('hex'));
  await db.transaction().execute(async (trx) => {
    const enterpriseRequestsPerMinute =
      request.plan === 'ENTERPRISE' ? (request.requestsPerMinute ?? null) : null;
    await insertAccount(trx, { ...request, id, enterpriseRequestsPerMinute });
    await writeAudit(trx, { actor, action: 'account.create', subject: id, detail: { ...request } });
  });
  return id;
}

export type CreateKey = Omit<NewApiKey, 'id' | 'sha256' | 'displayPrefix' | 'lastFour'> & {
  readonly brand: string;
};

/** Returns the key itself, for the only time. Throws NOT_FOUND. Does not check the company's website. */
export async function createKey(
  db: AccountsDb,
  request: CreateKey,
  actor: string,
): Promise<{ keyId: string; apiKey: string }> {
  const { brand, accountId, environment, scopes } = request;
  const apiKey = newApiKey(brand, environment);
  const keyId = makeId('key', randomBytes(16).toString('hex'));
  await db.transaction().execute(async (trx) => {
    if (!(await findAccount(trx, accountId))) throw noAccount(accountId);
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

export function noAccount(accountId: string): DomainError {
  return new DomainError('NOT_FOUND', `no account ${accountId}`);
}
