/**
 * Opens Postgres for one schema under one role. Everything a query can do is bounded: statement and lock time
 * limits, a pool size, a connection time limit. int8 comes back as bigint, never as a floating-point number.
 * Statements are prepared once a connection, so that Postgres parses and plans each of them the first time
 * only (docs/decisions/0019 has the figures).
 */
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';

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

/**
 * A process asks for some two hundred statements. Beyond this many, texts run unprepared, so that the
 * server's memory stays bounded.
 */
const MAX_TEXTS = 400;
/** Longer texts list rows, and differ with their number. */
const MAX_TEXT_CHARACTERS = 4_000;

/** The names of a pool's statements. */
function createNames() {
  const names = new Map<string, string>();
  let generation = 0;
  return {
    of: (text: string): string | undefined => {
      const known = names.get(text);
      if (known !== undefined) return known;
      if (text.length > MAX_TEXT_CHARACTERS || names.size >= MAX_TEXTS) return undefined;
      const name = `simway-${generation}-${names.size}`;
      names.set(text, name);
      return name;
    },
    /** Every statement gets a new name. */
    forget: (): void => {
      generation += 1;
      names.clear();
    },
  };
}
type Names = ReturnType<typeof createNames>;

/**
 * A migration changed what a prepared statement answers (SQLSTATE 0A000). Every statement gets a new name
 * after it.
 */
export function isOutdatedPlan(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error as { code?: unknown }).code === '0A000' &&
    error.message.startsWith('cached plan must not change result type')
  );
}

/** The pool as Kysely uses it, with a name for every statement that has parameters. */
function preparing(pool: pg.Pool): PostgresPool {
  const names = createNames();
  // Kysely knows a connection by its client.
  const known = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    options: pool.options,
    end: () => pool.end(),
    connect: async () => {
      const client = await pool.connect();
      const prepared = known.get(client) ?? preparingClient(client, names);
      known.set(client, prepared);
      return prepared;
    },
  };
}

type Query = (text: string, values?: readonly unknown[]) => Promise<unknown>;

function preparingClient(client: pg.PoolClient, names: Names): PostgresPoolClient {
  const run = client.query.bind(client) as (query: unknown, values?: unknown) => Promise<unknown>;
  let inTransaction = false;
  const query: Query = async (text, values = []) => {
    const name = values.length > 0 ? names.of(text) : undefined;
    if (values.length === 0) inTransaction = isInTransactionAfter(text, inTransaction);
    if (name === undefined) return run(text, values);
    try {
      return await run({ name, text, values });
    } catch (error) {
      if (!isOutdatedPlan(error)) throw error;
      names.forget();
      // The transaction is broken by it: its caller runs it again.
      if (inTransaction) throw error;
      return run(text, values);
    }
  };
  return { query: query as PostgresPoolClient['query'], release: (destroy) => client.release(destroy) };
}

function isInTransactionAfter(text: string, before: boolean): boolean {
  if (/^\s*(begin|start transaction)\b/i.test(text)) return true;
  return /^\s*(commit|rollback)\s*;?\s*$/i.test(text) ? false : before;
}
