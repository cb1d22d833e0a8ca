import { ApplicationFailure } from '@temporalio/activity';
import { SupplierUnavailable } from '../../src/catalogue/port.ts';
import { isCostJump } from '../../src/catalogue/pricing.ts';
import { countPackages, replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { ensureSupplierAccount } from '../../src/ledger/store/ledger.ts';
import { enqueueCatalogueEvents } from '../../src/webhooks/catalogue-events.ts';
import type { ActivityDeps } from '../deps.ts';

/** A catalogue that lost more than half of its packages at once is a broken answer, not a withdrawal. */
const SMALLEST_SHARE = 2;

/**
 * Replaces the stored catalogue by the supplier's and returns a summary for Temporal. Fails, and changes
 * nothing, if too few packages are listed.
 */
export async function syncCatalogue({
  db,
  supplier,
  clock,
  events,
  priceLimits,
}: Pick<ActivityDeps, 'db' | 'supplier' | 'clock' | 'events' | 'priceLimits'>): Promise<string> {
  const startedAt = clock.now();
  const catalogue = await supplier.catalogue().catch((error: unknown) => {
    if (error instanceof SupplierUnavailable && !error.retryable) {
      throw ApplicationFailure.nonRetryable(error.message, error.name);
    }
    throw error;
  });
  const known = await countPackages(db);
  if (catalogue.packages.length * SMALLEST_SHARE < known || catalogue.packages.length === 0) {
    const reason = `the supplier lists ${catalogue.packages.length} packages where ${known} were on sale`;
    events.catalogueSyncRefused({ reason });
    throw ApplicationFailure.nonRetryable(reason, 'CatalogueTooSmall');
  }
  await ensureSupplierAccount(db, catalogue.supplier);
  const change = await replaceCatalogue(
    db,
    catalogue,
    startedAt,
    enqueueCatalogueEvents,
    isCostJump(priceLimits),
  );
  if (change.held > 0) events.supplierPricesHeld({ count: change.held });
  events.catalogueSynced({
    regions: catalogue.regions.length,
    packages: catalogue.packages.length,
    ...change,
    ms: clock.now().getTime() - startedAt.getTime(),
  });
  return `${catalogue.packages.length} packages in ${catalogue.regions.length} regions; ${change.added} new, ${change.repriced} repriced, ${change.changed} changed, ${change.withdrawn} withdrawn, ${change.held} with a held price`;
}
