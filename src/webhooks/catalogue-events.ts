import { UNLISTED_REGION_CODE } from '../catalogue/rules.ts';
import type { PackageChange } from '../catalogue/store/versions.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { enqueueWebhook } from './store/messages.ts';

/**
 * Of one event in one sync: 100 are 100,000 rows with a thousand endpoints, some seconds of its transaction.
 * More packages change when a supplier rewrites its list, and are one message.
 */
export const MAX_PACKAGE_EVENTS = 100;

/** In the transaction of a sync. New packages are no event. They are sent once readers see it. */
export async function enqueueCatalogueEvents(trx: WorldDb, changes: readonly PackageChange[]): Promise<void> {
  const listed = changes.filter(
    (change) => change.packageType === 'BASE' && change.regionCode !== UNLISTED_REGION_CODE,
  );
  const isWithdrawn = ({ kind }: PackageChange): boolean => kind === 'WITHDRAWN';
  const changed = listed.filter((change) => !isWithdrawn(change) && change.changedFields.length > 0);
  await enqueue(trx, 'package.changed', changed);
  await enqueue(trx, 'package.withdrawn', listed.filter(isWithdrawn));
}

async function enqueue(
  trx: WorldDb,
  event: 'package.changed' | 'package.withdrawn',
  changes: readonly PackageChange[],
): Promise<void> {
  const last = changes.at(-1);
  if (!last) return;
  const forAll = { accountId: null, subject: null, subscribers: null };
  const messages =
    changes.length <= MAX_PACKAGE_EVENTS
      ? changes.map((change) => ({ key: String(change.id), at: change.at, facts: factsOf(change) }))
      : [{ key: String(last.id), at: last.at, facts: { ...ABOUT_MANY, packages: changes.length } }];
  for (const message of messages) await enqueueWebhook(trx, { event, ...forAll, ...message });
}

const factsOf = ({ packageCode, packageName, regionCode, changedFields }: PackageChange) => ({
  ...{ packageCode, packageName, regionCode, changedFields: changedFields.join(',') },
  packages: 1,
});

const ABOUT_MANY = { packageCode: null, packageName: null, regionCode: null, changedFields: null };
