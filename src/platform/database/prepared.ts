/**
 * Statements are prepared once a connection: Postgres parses and plans what a purchase asks for the first time only (a third of Postgres's
 * processor time of a purchase). A statement is known by its text, which holds no values. Texts that come in many forms would fill the
 * server's memory, so only the first MAX_TEXTS short ones of a process are prepared; all others run as they are.
 */
import pg from 'pg';

/** A process asks for about a hundred different statements. */
const MAX_TEXTS = 400;
/** Statements that list rows are longer. */
const MAX_TEXT_CHARACTERS = 4_000;

const names = new Map<string, string>();
let generation = 0;

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (text.length > MAX_TEXT_CHARACTERS || names.size >= MAX_TEXTS) return undefined;
  const name = `simway-${generation}-${names.size}`;
  names.set(text, name);
  return name;
}

/** A migration beside us changed what a prepared statement answers (SQLSTATE 0A000): from here on everything is prepared anew. */
export function isOutdatedPlan(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error as { code?: unknown }).code === '0A000' &&
    error.message.startsWith('cached plan must not change result type')
  );
}

function forgetNames(): void {
  generation += 1;
  names.clear();
}

type Query = (...given: unknown[]) => unknown;

/** The driver's client, with a name for each statement that has parameters. */
export class PreparingClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const plain = super.query.bind(this) as Query;
    let inTransaction = false;
    const run = async (text: string, values: unknown[]): Promise<unknown> => {
      const name = nameOf(text);
      if (name === undefined) return plain(text, values);
      try {
        return await plain({ name, text, values });
      } catch (error) {
        if (!isOutdatedPlan(error)) throw error;
        forgetNames();
        // A transaction is broken by it and is run again by whoever runs it.
        if (inTransaction) throw error;
        return plain(text, values);
      }
    };
    const query: Query = (text, values, ...rest) => {
      if (typeof text === 'string' && Array.isArray(values) && values.length > 0 && rest.length === 0) {
        return run(text, values);
      }
      if (typeof text === 'string') inTransaction = isInTransactionAfter(text, inTransaction);
      return plain(text, values, ...rest);
    };
    this.query = query as typeof this.query;
  }
}

function isInTransactionAfter(text: string, before: boolean): boolean {
  if (/^\s*(begin|start transaction)\b/i.test(text)) return true;
  return /^\s*(commit|rollback)\s*;?\s*$/i.test(text) ? false : before;
}
