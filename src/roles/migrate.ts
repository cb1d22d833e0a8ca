/** The migrate job: database schema, and on a shared Temporal cluster its namespaces and search attributes. Safe to run twice. */
import { migrateDatabase } from '../store/migrate-database.ts';

export async function runMigrate(databaseUrl: string, log: (line: string) => void): Promise<void> {
  const ran = await migrateDatabase(databaseUrl, log);
  log(ran === 0 ? 'the database was up to date' : `${ran} migrations ran`);
}
