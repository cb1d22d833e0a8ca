/**
 * Opens Postgres for one schema under one role. Everything a query can do is bounded: statement and lock time
 * limits, a pool size, a connection time limit. int8 comes back as bigint, never as a floating-point number.
 */
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { preparing } from './prepared.ts';

export interface DatabaseOptions {
  readonly url: string;
  readonly schema: string;
  /** The role the session takes, or undefined to stay the login (migrations, the owner's commands). */
  readonly role?: string;
  readonly maxConnections: number;
  readonly statementTimeoutMs: number;
  readonly applicationName: string;
  /** Called for connections that broke while idle; the pool replaces them. */
  readonly onIdleError?: (error: Error) => void;
}

type TypeId = Parameters<typeof pg.types.getTypeParser>[0];

/** bigint for int8, the driver's own parser for the rest. */
const parserOf = ((oid: TypeId, format?: 'text') =>
  oid === pg.types.builtins.INT8
    ? BigInt
    : (pg.types.getTypeParser(oid, format) as unknown)) as typeof pg.types.getTypeParser;

/**
 * A database that does not answer is an error to the caller, not a wait. `connect_timeout` in the address, in
 * seconds as in libpq, replaces it.
 */
const CONNECT_TIMEOUT_MS = 3_000;

function connectTimeoutMs(url: string): number {
  const seconds = Number(new URL(url).searchParams.get('connect_timeout'));
  return seconds > 0 ? seconds * 1_000 : CONNECT_TIMEOUT_MS;
}

/** Opens lazily: nothing connects until the first query. */
export function openDatabase<T>(options: DatabaseOptions): Kysely<T> {
  return new Kysely<T>({ dialect: new PostgresDialect({ pool: preparing(openPool(options)) }) });
}

/** The same, as a bare pool for the few places that need the driver itself. */
export function openPool(options: DatabaseOptions): pg.Pool {
  const settings = [
    `-c search_path=${options.schema}`,
    `-c statement_timeout=${options.statementTimeoutMs}`,
    `-c lock_timeout=${options.statementTimeoutMs}`,
    `-c idle_in_transaction_session_timeout=10000`,
    ...(options.role === undefined ? [] : [`-c role=${options.role}`]),
  ];
  const pool = new pg.Pool({
    connectionString: options.url,
    options: settings.join(' '),
    max: options.maxConnections,
    connectionTimeoutMillis: connectTimeoutMs(options.url),
    application_name: options.applicationName,
    types: { getTypeParser: parserOf },
  });
  pool.on('error', (error) => options.onIdleError?.(error));
  // The pool listens only while a connection is idle: one that Postgres ends between two queries of its
  // borrower would end the process. The borrower's next query fails, and the pool throws the connection away.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
