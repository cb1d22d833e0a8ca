// The tables in which a function of the store locks rows, in order of the first time, read from its
// statements and from the functions that they call.
import { sql, type CompiledQuery } from 'kysely';
import type { WorldDb } from '../../../src/platform/database/tables.ts';
import { statementsOf } from './explain.ts';

/**
 * Runs it under the environment's role. A changed table counts as locked; an added row does not, since no
 * other transaction can hold it.
 */
export async function locksTakenBy(url: string, act: (db: WorldDb) => Promise<unknown>): Promise<string[]> {
  const functions = new Map<string, string>();
  const statements = await statementsOf(url, async (db) => {
    const { rows } = await sql<{ name: string; body: string }>`
      select proname as name, prosrc as body from pg_proc where pronamespace = 'test'::regnamespace`.execute(
      db,
    );
    for (const { name, body } of rows) functions.set(name, body.replaceAll(/--.*/g, ''));
    await act(db);
  });
  return [...new Set(statements.flatMap((statement) => locksOf(statement, functions)))];
}

type Statement = Pick<CompiledQuery, 'sql' | 'parameters'>;

/**
 * Innermost parentheses first: the queries of a `with` before what follows them. Then the functions that it
 * calls, statement by statement; `functions` are their bodies.
 */
export function locksOf(
  { sql, parameters }: Statement,
  functions: ReadonlyMap<string, string> = new Map(),
): string[] {
  const locked: string[] = [];
  let text = sql.toLowerCase().replaceAll('"', '').replaceAll(/\s+/g, ' ');
  const called = Array.from(text.matchAll(/(\w+)\(/g), ([, name = '']) => functions.get(name) ?? '');
  for (;;) {
    const group = /\(([^()]*)\)/.exec(text);
    locked.push(...locksOfQuery(group?.[1] ?? text));
    if (!group) break;
    text = text.replace(group[0], ' ');
  }
  const booksOnWallet =
    /insert into ledger_entries/.test(sql) &&
    (sql.includes("'wallet:'") ||
      parameters.some((value) => typeof value === 'string' && value.startsWith('wallet:')));
  const inside = called.flatMap((body) =>
    body.split(';').flatMap((statement) => locksOf({ sql: statement, parameters: [] }, functions)),
  );
  return [...locked, ...(booksOnWallet ? ['wallets'] : []), ...inside];
}

function locksOfQuery(query: string): string[] {
  const changed = /\bupdate (\w+) set\b/.exec(query)?.[1];
  if (changed !== undefined) return [changed];
  if (!/\bfor (no key )?update\b/.test(query)) return [];
  return Array.from(query.matchAll(/\b(?:from|join) (\w+)/g), ([, table = '']) => table);
}
