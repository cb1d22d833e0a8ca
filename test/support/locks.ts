// The tables in which a function of the store locks rows, in order of the first time, read from its statements.
import { Kysely, PostgresDialect, type CompiledQuery } from 'kysely';
import { openPool } from '../../src/platform/database/database.ts';
import type { WorldDatabase, WorldDb } from '../../src/platform/database/tables.ts';

/** Runs it under the environment's role. A changed table counts as locked; an added row does not, since no other transaction can hold it. */
export async function locksTakenBy(url: string, act: (db: WorldDb) => Promise<unknown>): Promise<string[]> {
  const statements: CompiledQuery[] = [];
  const pool = openPool({
    url,
    schema: 'test',
    role: 'simway_test',
    maxConnections: 1,
    statementTimeoutMs: 10_000,
    applicationName: 'simway-tests',
  });
  const spied = new Kysely<WorldDatabase>({
    dialect: new PostgresDialect({ pool }),
    log: (event) => void statements.push(event.query),
  });
  await act(spied).finally(() => spied.destroy());
  return [...new Set(statements.flatMap(locksOf))];
}

/** Innermost parentheses first: the queries of a `with` before what follows them. */
export function locksOf({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): string[] {
  const locked: string[] = [];
  let text = sql.toLowerCase().replaceAll('"', '').replaceAll(/\s+/g, ' ');
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
  return booksOnWallet ? [...locked, 'wallets'] : locked;
}

function locksOfQuery(query: string): string[] {
  const changed = /\bupdate (\w+) set\b/.exec(query)?.[1];
  if (changed !== undefined) return [changed];
  if (!/\bfor (no key )?update\b/.test(query)) return [];
  return Array.from(query.matchAll(/\b(?:from|join) (\w+)/g), ([, table = '']) => table);
}
