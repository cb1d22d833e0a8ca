/** Packages that change while a stack runs. */
import type { Updateable } from 'kysely';
import { bumpRevision } from '../../../src/catalogue/store/revisions.ts';
import type { PackagesTable } from '../../../src/catalogue/store/tables.ts';
import { SYNC_CATALOGUE_WORKFLOW } from '../../../workflows/contract.ts';
import type { Stack } from '../world/stack.ts';
import { until } from '../time/until.ts';

/** Waits out the import that a worker's start triggers. Returns how many imports there were. */
export async function untilImported({ temporal }: Stack): Promise<number> {
  const schedule = temporal.schedule.getHandle(`${SYNC_CATALOGUE_WORKFLOW}-schedule`);
  const { numActionsTaken } = await until(
    async () => (await schedule.describe()).info,
    (info) => info.numActionsTaken > 0 && info.runningActions.length === 0,
    { what: 'no import in progress' },
  );
  return numActionsTaken;
}

/**
 * Changes a package in our database. Await `untilImported` first: an import in progress would undo the
 * change.
 */
export async function changePackage(
  stack: Stack,
  packageCode: string,
  set: Pick<Updateable<PackagesTable>, 'cost_usd_e4' | 'withdrawn_at'>,
): Promise<void> {
  await stack.owner.updateTable('packages').set(set).where('package_code', '=', packageCode).execute();
  await bumpRevision(stack.owner, 'catalogue');
}
