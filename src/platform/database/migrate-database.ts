/**
 * Gives migrations/ its connections: as the owner, one schema at a time, with no limit on how long a
 * migration may take.
 */
import type { Kysely } from 'kysely';
import { migrate } from '../../../migrations/migrate.ts';
import { openDatabase } from './database.ts';

/** Migrates the database at `url`, as the role in the URL; returns how many migrations ran. */
export function migrateDatabase(url: string, log: (line: string) => void): Promise<number> {
  return migrate({
    log,
    open: (schema): Kysely<unknown> =>
      openDatabase<unknown>({
        url,
        schema,
        maxConnections: 1,
        statementTimeoutMs: 0,
        applicationName: 'simway-migrate',
      }),
  });
}
