/**
 * A simulator's own storage: one SQLite file in its data folder. Guarantee: what was answered survives a restart (WAL, one transaction
 * per request). Must not be shared by two processes.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

export interface Database {
  sql: DatabaseSync;
  /** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
  transact<T>(work: () => T): T;
  close(): void;
}

/** Values under names that are there after a restart. */
export interface Meta {
  read(key: string): string | undefined;
  write(key: string, value: string): void;
}

const META = 'CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;';

/** Opens (and where new, makes) `<dataDir>/<fileName>` with these tables beside `meta`. */
export function openDatabase(dataDir: string, fileName: string, schema: string): Database {
  mkdirSync(dataDir, { recursive: true });
  const sql = new DatabaseSync(join(dataDir, fileName));
  sql.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000;');
  sql.exec(META + schema);
  const begin = sql.prepare('BEGIN IMMEDIATE');
  const commit = sql.prepare('COMMIT');
  const rollback = sql.prepare('ROLLBACK');
  return {
    sql,
    transact: (work) => {
      begin.run();
      try {
        const result = work();
        commit.run();
        return result;
      } catch (error) {
        rollback.run();
        throw error;
      }
    },
    close: () => sql.close(),
  };
}

/** The values kept in `meta`. */
export function createMeta({ sql }: Database): Meta {
  const get = sql.prepare('SELECT value FROM meta WHERE key = ?');
  const set = sql.prepare(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );
  return {
    read: (key) => (get.get(key) as { value: string } | undefined)?.value,
    write: (key, value) => void set.run(key, value),
  };
}

/** An INSERT of these columns, in this order. */
export function insertStatement({ sql }: Database, table: string, columns: readonly string[]): StatementSync {
  const marks = columns.map(() => '?').join(', ');
  return sql.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`);
}

/** An UPDATE of these columns, in this order, of the row whose key comes last. */
export function updateStatement(
  { sql }: Database,
  table: string,
  columns: readonly string[],
  key: string,
): StatementSync {
  const sets = columns.map((column) => `${column} = ?`).join(', ');
  return sql.prepare(`UPDATE ${table} SET ${sets} WHERE ${key} = ?`);
}
