/** The migrate job: database schema, then Temporal's namespaces and search attributes where an address is given. Safe to run twice. */
import { prepareNamespaces } from '../../platform/temporal/namespaces.ts';
import type { MigrateSettings } from '../../platform/config/config.ts';
import { migrateDatabase } from '../../platform/database/migrate-database.ts';

/** Tells what it did, line by line; rejects at the first thing that cannot be done, and may be run again from there. */
export async function runMigrate(settings: MigrateSettings, log: (line: string) => void): Promise<void> {
  const ran = await migrateDatabase(settings.databaseUrl, log);
  log(ran === 0 ? 'the database was up to date' : `${ran} migrations ran`);
  const { temporalAddress: address, namespaces } = settings;
  if (address !== undefined) await prepareNamespaces({ address, namespaces, log });
}
