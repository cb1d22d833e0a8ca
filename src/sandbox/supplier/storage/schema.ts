/**
 * The tables of the supplier simulator. Guarantee: columns are camelCase so that rows need no mapping; times are milliseconds since 1970,
 * money USD x 10,000, volumes bytes.
 */
export const SCHEMA = `
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
