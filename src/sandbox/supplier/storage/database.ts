/**
 * The simulator's own storage: one SQLite file in its data folder. Guarantee: what was answered survives a restart (WAL, one
 * transaction per request). Must not be shared by two processes.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Columns are camelCase so that rows need no mapping; times are milliseconds since 1970, money USD x 10,000, volumes bytes. */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS orders (
  orderNo TEXT PRIMARY KEY,
  transactionId TEXT NOT NULL UNIQUE,
  amount INTEGER NOT NULL,
  lines TEXT NOT NULL,
  createdAtMs INTEGER NOT NULL,
  allocatedAtMs INTEGER,
  heldBy TEXT,
  requests INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS ordersHeld ON orders (heldBy) WHERE heldBy IS NOT NULL;
CREATE TABLE IF NOT EXISTS esims (
  esimTranNo TEXT PRIMARY KEY,
  orderNo TEXT NOT NULL REFERENCES orders,
  transactionId TEXT NOT NULL,
  iccid TEXT NOT NULL,
  plan TEXT NOT NULL,
  paid INTEGER NOT NULL,
  createdAtMs INTEGER NOT NULL,
  allocatedAtMs INTEGER,
  activatesAtMs INTEGER,
  totalVolume INTEGER NOT NULL,
  totalDuration INTEGER NOT NULL,
  orderUsage INTEGER NOT NULL DEFAULT 0,
  laggingUsage INTEGER NOT NULL DEFAULT 0,
  usageAtMs INTEGER,
  forcedStatus TEXT,
  forcedSmdp TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS esimsByOrder ON esims (orderNo);
CREATE INDEX IF NOT EXISTS esimsByIccid ON esims (iccid);
CREATE INDEX IF NOT EXISTS esimsByTime ON esims (createdAtMs);
CREATE TABLE IF NOT EXISTS topups (
  transactionId TEXT PRIMARY KEY,
  topUpEsimTranNo TEXT NOT NULL,
  esimTranNo TEXT NOT NULL REFERENCES esims,
  amount INTEGER NOT NULL,
  plan TEXT NOT NULL,
  volume INTEGER NOT NULL,
  duration INTEGER NOT NULL,
  createdAtMs INTEGER NOT NULL,
  answersAtMs INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  reply TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS topupsByEsim ON topups (esimTranNo);
CREATE TABLE IF NOT EXISTS attempts (transactionId TEXT PRIMARY KEY, tries INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS overrides (packageCode TEXT PRIMARY KEY, price INTEGER, withdrawn INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS dueEvents (id INTEGER PRIMARY KEY, atMs INTEGER NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS dueEventsByTime ON dueEvents (atMs);
`;

export interface Database {
  sql: DatabaseSync;
  /** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
  transact<T>(work: () => T): T;
  close(): void;
}

/** Opens (and where new, makes) `<dataDir>/supplier.sqlite`. */
export function openDatabase(dataDir: string): Database {
  mkdirSync(dataDir, { recursive: true });
  const sql = new DatabaseSync(join(dataDir, 'supplier.sqlite'));
  sql.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000;');
  sql.exec(SCHEMA);
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
