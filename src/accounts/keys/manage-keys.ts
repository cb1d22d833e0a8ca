import { randomBytes } from 'node:crypto';
import { DomainError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { noAccount } from '../manage-accounts.ts';
import * as store from '../store/accounts.ts';
import type { NewApiKey, WhichKeys } from '../store/accounts.ts';
import { writeAudit } from '../store/audit.ts';
import { inEnvironment } from '../../platform/database/transactions.ts';
import { replaceBudget } from '../store/budgets.ts';
import { hashApiKey, newApiKey } from './api-key.ts';
import { budgetText, type KeyBudget } from './budget-rules.ts';

export type CreateKey = Omit<NewApiKey, 'id' | 'sha256' | 'displayPrefix' | 'lastFour'> & {
  readonly brand: string;
  /** From where it is made, as far as known. */
  readonly address?: string | undefined;
  readonly budget?: KeyBudget | undefined;
};

/** Each is kept in the memory of every process. More than servers and developers of a large company. */
export const MAX_WORKING_KEYS = 50;

/** Returns the key itself, for the only time. Throws NOT_FOUND; VALIDATION_ERROR for too many. */
export async function createKey(db: AccountsDb, request: CreateKey, actor: string) {
  const { brand, accountId, environment, scopes, address, budget } = request;
  const apiKey = newApiKey(brand, environment);
  const keyId = makeId('key', randomBytes(16).toString('hex'));
  await db.transaction().execute(async (trx) => {
    // Concurrent requests wait for each other.
    if (!(await store.lockAccountRow(trx, accountId))) throw noAccount(accountId);
    if ((await store.countWorkingKeys(trx, accountId, environment)) >= MAX_WORKING_KEYS)
      throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
        details: `an account has at most ${MAX_WORKING_KEYS} working keys in an environment: revoke one first`,
      });
    await store.insertApiKey(
      trx,
      {
        ...request,
        id: keyId,
        sha256: Buffer.from(hashApiKey(apiKey), 'hex'),
        displayPrefix: `${brand}_${environment}_`,
        lastFour: apiKey.slice(-4),
      },
      actor,
    );
    const key = { keyId, accountId, changedBy: actor };
    if (budget) await inEnvironment(trx, environment, (world) => replaceBudget(world, key, budget));
    const detail = { accountId, environment, scopes, address, ...(budget && { after: budgetText(budget) }) };
    await writeAudit(trx, { actor, action: 'key.create', subject: keyId, detail });
  });
  return { keyId, apiKey };
}

/** Revokes one key or all of an account's; returns how many were still valid. */
export function revoke(db: AccountsDb, which: WhichKeys, actor: string): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const revoked = await store.revokeKeys(trx, which);
    const subject = 'keyId' in which ? which.keyId : which.accountId;
    await writeAudit(trx, { actor, action: 'key.revoke', subject, detail: { revoked } });
    return revoked;
  });
}

/** All keys of an account, without anything that would help to use one. Throws NOT_FOUND. */
export async function showKeys(db: AccountsDb, accountId: string) {
  if (!(await store.findAccount(db, accountId))) throw noAccount(accountId);
  return store.listKeys(db, accountId);
}
