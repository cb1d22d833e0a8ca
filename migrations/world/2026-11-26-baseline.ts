/**
 * Everything that release 1.0.0 keeps in an environment, `live` or `test`, one noun a file. What comes later
 * is a migration of its own: this file and what it imports stay as they were released.
 */
import { sql, type Kysely } from 'kysely';
import { alerts } from './baseline/alerts.ts';
import { availability } from './baseline/availability.ts';
import { billing } from './baseline/billing.ts';
import { brands } from './baseline/brands.ts';
import { catalogue } from './baseline/catalogue.ts';
import { deliveryFunctions } from './baseline/delivery-functions.ts';
import { esims } from './baseline/esims.ts';
import { eventFunctions } from './baseline/event-functions.ts';
import { holdFunctions } from './baseline/hold-functions.ts';
import { jobs } from './baseline/jobs.ts';
import { ledger } from './baseline/ledger.ts';
import { mandates } from './baseline/mandates.ts';
import { openingFunctions, openingTerms } from './baseline/opening-functions.ts';
import { operations } from './baseline/operations.ts';
import { payments } from './baseline/payments.ts';
import { prices } from './baseline/prices.ts';
import { purchaseFunctions } from './baseline/purchase-functions.ts';
import { idempotency, purchases } from './baseline/purchases.ts';
import { reconciliation } from './baseline/reconciliation.ts';
import { supplierOrders } from './baseline/supplier-orders.ts';
import { walletAdjustments } from './baseline/wallet-adjustments.ts';
import { walletEntries } from './baseline/wallet-entries.ts';
import { webhooks } from './baseline/webhooks.ts';
import { replacements } from './baseline/replacements.ts';
import { returns } from './baseline/returns.ts';
import { readWorld, worldItself, type World } from './baseline/world.ts';

/** In the order in which they need each other. Each grants the rights to write; all may be read. */
const everything = (world: World) => sql`
  ${worldItself()}
  ${catalogue(world)}
  ${prices(world)}
  ${ledger(world)}
  ${walletEntries(world)}
  ${walletAdjustments(world)}
  ${billing(world)}
  ${purchases(world)}
  ${supplierOrders(world)}
  ${idempotency(world)}
  ${jobs(world)}
  ${esims(world)}
  ${payments(world)}
  ${returns(world)}
  ${replacements(world)}
  ${brands(world)}
  ${webhooks(world)}
  ${operations(world)}
  ${reconciliation(world)}
  ${holdFunctions(world)}
  ${eventFunctions(world)}
  ${availability(world)}
  ${alerts(world)}
  ${openingTerms()}
  ${mandates(world)}
  ${openingFunctions(world)}
  ${deliveryFunctions(world)}
  ${purchaseFunctions(world)}
  grant select on all tables in schema ${world.schema} to ${world.role};
`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await everything(await readWorld(db)).execute(db);
}
