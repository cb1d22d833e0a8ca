/** Making accounts and keys and funding wallets: the operator's commands until there is a dashboard. Each leaves an audit entry. */
import { randomBytes } from 'node:crypto';
import type { AccountCurrency } from '../domain/money.ts';
import type { Environment, Plan, Scope, AccountType } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import { findAccount, insertAccount, insertApiKey, revokeKeys } from './store/accounts.ts';
import { writeAudit } from './store/audit.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { hashApiKey, newApiKey } from './api-key.ts';

export interface CreateAccount {
  readonly type: AccountType;
  readonly name: string;
  readonly email: string;
  readonly currency: AccountCurrency;
  readonly plan: Plan;
  /** Enterprise only: its requests a minute. */
  readonly requestsPerMinute?: number;
}

/** Returns the new account's id. */
export async function createAccount(db: AccountsDb, request: CreateAccount, actor: string): Promise<string> {
  const id = makeId('account', randomBytes(16).toString('hex'));
  await db.transaction().execute(async (trx) => {
    await insertAccount(trx, {
      id,
      type: request.type,
      name: request.name,
      email: request.email,
      currency: request.currency,
      plan: request.plan,
      enterpriseRequestsPerMinute: request.plan === 'ENTERPRISE' ? (request.requestsPerMinute ?? null) : null,
    });
    await writeAudit(trx, { actor, action: 'account.create', subject: id, detail: { ...request } });
  });
  return id;
}

export interface CreateKey {
  readonly accountId: string;
  readonly environment: Environment;
  readonly brand: string;
  readonly scopes: readonly Scope[];
  readonly allowedAddresses: readonly string[];
  readonly companyName: string;
  readonly websiteUrl: string;
  readonly expiresAt: Date | null;
}

/** Returns the key itself, for the only time. Throws when the account is unknown. Takes the company's website as it is told. */
export async function createKey(
  db: AccountsDb,
  request: CreateKey,
  actor: string,
): Promise<{ keyId: string; apiKey: string }> {
  const apiKey = newApiKey(request.brand, request.environment);
  const keyId = makeId('key', randomBytes(16).toString('hex'));
  await db.transaction().execute(async (trx) => {
    if (!(await findAccount(trx, request.accountId))) throw noAccount(request.accountId);
    await insertApiKey(trx, {
      id: keyId,
      accountId: request.accountId,
      environment: request.environment,
      sha256: Buffer.from(hashApiKey(apiKey), 'hex'),
      displayPrefix: `${request.brand}_${request.environment}_`,
      lastFour: apiKey.slice(-4),
      scopes: request.scopes,
      allowedAddresses: request.allowedAddresses,
      companyName: request.companyName,
      websiteUrl: request.websiteUrl,
      expiresAt: request.expiresAt,
    });
    await writeAudit(trx, {
      actor,
      action: 'key.create',
      subject: keyId,
      detail: { accountId: request.accountId, environment: request.environment, scopes: request.scopes },
    });
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
    await writeAudit(trx, {
      actor,
      action: 'key.revoke',
      subject: 'keyId' in which ? which.keyId : which.accountId,
      detail: { revoked },
    });
    return revoked;
  });
}

export function noAccount(accountId: string): DomainError {
  return new DomainError('NOT_FOUND', `no account ${accountId}`);
}
