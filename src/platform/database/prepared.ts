/**
 * Statements are prepared once a connection, so that Postgres parses and plans each of them the first time
 * only (docs/decisions/0019 has the figures). A statement is known by its text, which holds no values.
 */
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';

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
export function preparing(pool: pg.Pool): PostgresPool {
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
