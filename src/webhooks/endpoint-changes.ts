/** Changes of where an account's events go, and of what proves that they are ours. */
import { ENVIRONMENTS, type Environment } from '../domain/account.ts';
import { isId } from '../domain/ids.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { inEnvironment } from '../platform/database/transactions.ts';
import { writeAudit } from '../accounts/store/audit.ts';
import { deleteEndpointsBy } from './store/endpoints.ts';

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
  const key = keyId !== undefined && isId('key', keyId) ? keyId : undefined;
  const detail = { accountId, environment, host: URL.parse(url)?.host, keyId: key };
  return writeAudit(accounts, { actor, action, subject, detail });
};

/**
 * Ends those that this person made, or keys of theirs, in both environments, in a transaction of the
 * accounts: they end with what else it changes, or not at all. How many.
 */
export async function endEndpointsBy(
  trx: AccountsDb,
  accountId: string,
  createdBy: string,
  now: Date,
): Promise<number> {
  let ended = 0;
  for (const environment of ENVIRONMENTS)
    ended += await inEnvironment(trx, environment, (world) =>
      deleteEndpointsBy(world, accountId, createdBy, now),
    );
  return ended;
}
