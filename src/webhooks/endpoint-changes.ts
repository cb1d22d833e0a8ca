/** Changes of where the events of an account go, and of what proves that they are ours: mails tell of them. */
import type { Environment } from '../domain/account.ts';
import { isId } from '../domain/ids.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { writeAudit } from '../accounts/store/audit.ts';

export interface EndpointChanger {
  readonly accountId: string;
  readonly environment: Environment;
  /** A member or an operator. */
  readonly actor: string;
  /** Where a key of theirs did it. */
  readonly keyId?: string | undefined;
}

/**
 * Call it last in the environment's transaction of the change, since it commits at once: so there is no
 * change without its mail, and a change whose commit fails is told all the same.
 */
export const recordEndpointChange = (
  accounts: AccountsDb,
  { accountId, environment, actor, keyId }: EndpointChanger,
  action: 'endpoint.create' | 'endpoint.move' | 'endpoint.rotate-secret',
  { id: subject, url }: { readonly id: string; readonly url: string },
): Promise<void> => {
  // A member acts with the id of their user in place of a key's.
  const key = keyId !== undefined && isId('key', keyId) ? { keyId } : {};
  const detail = { accountId, environment, host: URL.parse(url)?.host, ...key };
  return writeAudit(accounts, { actor, action, subject, detail });
};
