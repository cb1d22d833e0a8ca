/**
 * The tables of the gateway simulator. Guarantee: columns are camelCase so that rows need no mapping; times are milliseconds since 1970,
 * money subunits (hundredths).
 */
export const SCHEMA = `
CREATE TABLE IF NOT EXISTS transactions (
  id INTEGER PRIMARY KEY,
  reference TEXT NOT NULL UNIQUE,
  accessCode TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL,
  status TEXT NOT NULL,
  step TEXT,
  channel TEXT,
  channels TEXT NOT NULL,
  currency TEXT NOT NULL,
  requested INTEGER NOT NULL,
  paidCurrency TEXT,
  received INTEGER NOT NULL,
  fees INTEGER NOT NULL,
  givenBack INTEGER NOT NULL,
  email TEXT NOT NULL,
  customerId INTEGER NOT NULL,
  callbackUrl TEXT,
  metadata TEXT,
  scenario TEXT,
  payer TEXT,
  account TEXT,
  expiresAtMs INTEGER,
  message TEXT,
  gatewayResponse TEXT NOT NULL,
  refundOutcome TEXT,
  history TEXT NOT NULL,
  createdAtMs INTEGER NOT NULL,
  openedAtMs INTEGER,
  paidAtMs INTEGER,
  requests INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS transactionsByTime ON transactions (createdAtMs);
CREATE TABLE IF NOT EXISTS payments (
  id INTEGER PRIMARY KEY,
  transactionId INTEGER NOT NULL REFERENCES transactions,
  state TEXT NOT NULL,
  amount INTEGER NOT NULL,
  currency TEXT NOT NULL,
  fees INTEGER NOT NULL,
  channel TEXT NOT NULL,
  atMs INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS paymentsByTransaction ON payments (transactionId);
CREATE TABLE IF NOT EXISTS refunds (
  id INTEGER PRIMARY KEY,
  transactionId INTEGER NOT NULL REFERENCES transactions,
  amount INTEGER NOT NULL,
  currency TEXT NOT NULL,
  status TEXT NOT NULL,
  outcome TEXT NOT NULL,
  heldBy TEXT,
  customerNote TEXT NOT NULL,
  merchantNote TEXT NOT NULL,
  account TEXT,
  createdAtMs INTEGER NOT NULL,
  updatedAtMs INTEGER NOT NULL,
  refundedAtMs INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS refundsByTransaction ON refunds (transactionId);
CREATE TABLE IF NOT EXISTS disputes (
  id INTEGER PRIMARY KEY,
  transactionId INTEGER NOT NULL REFERENCES transactions,
  amount INTEGER NOT NULL,
  status TEXT NOT NULL,
  resolution TEXT,
  createdAtMs INTEGER NOT NULL,
  updatedAtMs INTEGER NOT NULL,
  resolvedAtMs INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS disputesByTransaction ON disputes (transactionId);
CREATE TABLE IF NOT EXISTS statement (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  reference TEXT NOT NULL,
  amountMinor INTEGER NOT NULL,
  currency TEXT NOT NULL,
  feesMinor INTEGER NOT NULL,
  atMs INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS statementByTime ON statement (atMs);
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY,
  event TEXT NOT NULL,
  reference TEXT NOT NULL,
  body TEXT NOT NULL,
  createdAtMs INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS eventsByReference ON events (reference);
CREATE TABLE IF NOT EXISTS deliveries (
  id INTEGER PRIMARY KEY,
  eventId INTEGER NOT NULL REFERENCES events,
  url TEXT NOT NULL,
  state TEXT NOT NULL,
  dueAtMs INTEGER NOT NULL,
  attempts TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS deliveriesByEvent ON deliveries (eventId);
CREATE INDEX IF NOT EXISTS deliveriesWaiting ON deliveries (dueAtMs) WHERE state = 'waiting';
CREATE TABLE IF NOT EXISTS agenda (
  id INTEGER PRIMARY KEY,
  atMs INTEGER NOT NULL,
  kind TEXT NOT NULL,
  target INTEGER NOT NULL,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS agendaByTime ON agenda (atMs);
CREATE TABLE IF NOT EXISTS domains (name TEXT PRIMARY KEY) STRICT;
`;
