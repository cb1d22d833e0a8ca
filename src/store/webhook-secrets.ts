/** The sealed secrets of an endpoint, for an answer that is given once more. Must not open them, nor be asked by anything that lists. */
import type { WorldDb } from './tables.ts';

/** The secret of now, then the one that it replaced, if it is still kept. Empty: no such endpoint of this account. */
export async function findSealedSecrets(
  db: WorldDb,
  accountId: string,
  endpointId: string,
): Promise<Buffer[]> {
  const row = await db
    .selectFrom('webhook_endpoints')
    .select(['secret_sealed', 'previous_secret_sealed'])
    .where('id', '=', endpointId)
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!row) return [];
  const { secret_sealed: current, previous_secret_sealed: previous } = row;
  return previous ? [current, previous] : [current];
}
