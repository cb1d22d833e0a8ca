import { UNLISTED_REGION_CODE } from '../catalogue/rules.ts';
import type { PackageChange } from '../catalogue/store/versions.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { enqueueWebhook, newPendingMessages } from './store/messages.ts';

/**
 * Of one event in one sync. Every message is stored once for each endpoint that asks, so 100 are 100,000 rows
 * with a thousand endpoints, in the transaction of the sync: some seconds. More packages than that change
 * when a supplier rewrites its list, and are one message.
 */
export const MAX_PACKAGE_EVENTS = 100;

type CatalogueEvent = 'package.changed' | 'package.withdrawn';

/**
 * Enqueues the messages about a sync, in its transaction. New packages are no event: merchants do not sell
 * them yet. The sweep sends the messages, so no endpoint gets a change that a reader cannot see yet.
 */
export async function enqueueCatalogueEvents(trx: WorldDb, changes: readonly PackageChange[]): Promise<void> {
  const listed = changes.filter(
    (change) => change.packageType === 'BASE' && change.regionCode !== UNLISTED_REGION_CODE,
  );
  await enqueue(
    trx,
    'package.changed',
    listed.filter(({ kind, changedFields }) => kind !== 'WITHDRAWN' && changedFields.length > 0),
  );
  await enqueue(
    trx,
    'package.withdrawn',
    listed.filter(({ kind }) => kind === 'WITHDRAWN'),
  );
}

async function enqueue(
  trx: WorldDb,
  event: CatalogueEvent,
  changes: readonly PackageChange[],
): Promise<void> {
  const last = changes.at(-1);
  if (!last) return;
  const forAll = { accountId: null, subject: null, subscribers: null };
  const messages =
    changes.length <= MAX_PACKAGE_EVENTS
      ? changes.map((change) => ({ key: String(change.id), at: change.at, facts: factsOf(change) }))
      : [{ key: String(last.id), at: last.at, facts: factsOfMany(changes.length) }];
  // Nothing is handed on: the sweep finds them.
  for (const message of messages)
    await enqueueWebhook(trx, { event, ...forAll, ...message }, newPendingMessages());
}

function factsOf({ packageCode, packageName, regionCode, changedFields }: PackageChange) {
  return { packageCode, packageName, regionCode, changedFields: changedFields.join(','), packages: 1 };
}

function factsOfMany(packages: number) {
  return { packageCode: null, packageName: null, regionCode: null, changedFields: null, packages };
}
