/** Who calls: a member like a key, and who made an earlier request as they are allowed to now. */
import { SCOPES, type Environment, type Principal } from '../domain/account.ts';
import type { Member } from '../domain/callers.ts';
import { isId } from '../domain/ids.ts';
import { memberMay } from '../domain/member-roles.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { callerOf, isValid } from './keys/authenticate.ts';
import { findKeyById } from './store/accounts.ts';
import { findMemberRow, findMemberships } from './store/users.ts';

const ANYWHERE = ['0.0.0.0/0', '::/0'] as const;

/**
 * A member acts like a key with these scopes, and what they read to install an eSIM is recorded. The id is
 * that of the user, which no key has.
 */
export function memberCaller(
  { account, userId, email, role }: Omit<Member, 'clientAddress'>,
  environment: Environment,
): Principal {
  const scopes = SCOPES.filter((scope) => memberMay(role, scope));
  const install = { mayInstall: memberMay(role, 'install'), installsRead: new Set<string>() };
  return {
    ...{ account, keyId: userId, maker: email, environment, scopes },
    ...{ allowedAddresses: ANYWHERE, ...install },
  };
}

/**
 * The caller of an earlier request, with what it may do now. Undefined once its key is revoked or expired,
 * its membership has ended, or its account is disabled.
 */
export async function findCaller(
  db: AccountsDb,
  which: { readonly accountId: string; readonly callerId: string; readonly environment: Environment },
  now: Date,
): Promise<Principal | undefined> {
  const { accountId, callerId, environment } = which;
  if (isId('key', callerId)) {
    const key = await findKeyById(db, callerId);
    if (key?.account.id !== accountId || key.environment !== environment) return undefined;
    return isValid(key, now.getTime()) ? callerOf(key) : undefined;
  }
  const [membership] = await findMemberships(db, callerId, accountId);
  const member = await findMemberRow(db, accountId, callerId);
  if (!member || !membership || membership.disabledAt) return undefined;
  return memberCaller({ ...member, account: membership.account, role: membership.role }, environment);
}
