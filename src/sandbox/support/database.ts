/** A simulator's storage: one SQLite file in its data folder. What was answered survives a restart. One process at a time. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

/** A column's definition in SQL, and the type of its values. */
interface Column<Value> {
  readonly sql: string;
  readonly value?: Value;
}

type Columns = Record<string, Column<unknown>>;

export interface Table<C> {
  readonly name: string;
  readonly columns: C;
  readonly indexes: readonly string[];
}

/** The rows of a table, under the names of its columns. */
export type RowOf<T> =
  T extends Table<infer C>
    ? { [Name in keyof C]: C[Name] extends Column<infer Value> ? Value : never }
    : never;

export const key = (): Column<number> => ({ sql: 'INTEGER PRIMARY KEY' });
export const text = <Value extends string = string>(constraint = ''): Column<Value> => ({
  sql: `TEXT NOT NULL ${constraint}`,
});
export const textOrNull = <Value extends string = string>(): Column<Value | null> => ({ sql: 'TEXT' });
export const integer = (constraint = ''): Column<number> => ({ sql: `INTEGER NOT NULL ${constraint}` });
export const integerOrNull = (): Column<number | null> => ({ sql: 'INTEGER' });

/** An index is what follows CREATE INDEX IF NOT EXISTS. */
export function table<C extends Columns>(
  name: string,
  columns: C,
  indexes: readonly string[] = [],
): Table<C> {
  return { name, columns, indexes };
}

const META = table('meta', { key: { sql: 'TEXT PRIMARY KEY' }, value: text() });

function schemaOf({ name, columns, indexes }: Table<Columns>): string {
  const lines = Object.entries(columns).map(([column, { sql }]) => `${column} ${sql}`);
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (${lines.join(', ')}) STRICT;`,
    ...indexes.map((index) => `CREATE INDEX IF NOT EXISTS ${index};`),
  ].join('\n');
}

/** Its parameters are the values of a query, its result is a row; of `run`, the number of changed rows. */
type AnyQuery = (...values: never[]) => unknown;

/** Adds the columns that an earlier version's file lacks; a new column must be nullable or have a default. */
function addNewColumns(sql: DatabaseSync, { name, columns }: Table<Columns>): void {
  const known = new Set(
    sql
      .prepare(`PRAGMA table_info(${name})`)
      .all()
      .map((column) => column['name']),
  );
  // A table that is not there yet has no columns.
  if (known.size === 0) return;
  for (const [column, definition] of Object.entries(columns))
    if (!known.has(column)) sql.exec(`ALTER TABLE ${name} ADD COLUMN ${column} ${definition.sql}`);
}

function queriesOf(sql: DatabaseSync) {
  return {
    /** The first row. */
    one: <Query extends AnyQuery>(query: string) => {
      const statement = sql.prepare(query);
      return (...values: Parameters<Query>) =>
        statement.get(...(values as SQLInputValue[])) as ReturnType<Query> | undefined;
    },
    all: <Query extends AnyQuery>(query: string) => {
      const statement = sql.prepare(query);
      return (...values: Parameters<Query>) =>
        statement.all(...(values as SQLInputValue[])) as ReturnType<Query>[];
    },
    run: <Query extends AnyQuery>(query: string) => {
      const statement = sql.prepare(query);
      return (...values: Parameters<Query>) =>
        Number(statement.run(...(values as SQLInputValue[])).changes) as ReturnType<Query>;
    },
  };
}

/** Queries made from the definition of a table. */
function tableQueriesOf(sql: DatabaseSync) {
  const valuesOf = (row: object, names: readonly string[]): SQLInputValue[] => {
    const values = row as Record<string, SQLInputValue | undefined>;
    return names.map((name) => values[name] ?? null);
  };
  return {
    /** Inserts a row, and answers its id; SQLite makes up an integer primary key `id`. */
    insert: <C extends Columns>({ name, columns }: Table<C>) => {
      const names = Object.keys(columns);
      const marks = names.map(() => '?').join(', ');
      const statement = sql.prepare(`INSERT INTO ${name} (${names.join(', ')}) VALUES (${marks})`);
      return (row: Omit<RowOf<Table<C>>, 'id'> & { id?: number }): number =>
        Number(statement.run(...valuesOf(row, names)).lastInsertRowid);
    },
    /** Writes every column of the row with this key. */
    update: <C extends Columns>({ name, columns }: Table<C>, keyName: keyof C & string) => {
      const names = Object.keys(columns).filter((column) => column !== keyName);
      const sets = names.map((column) => `${column} = ?`).join(', ');
      const statement = sql.prepare(`UPDATE ${name} SET ${sets} WHERE ${keyName} = ?`);
      return (row: RowOf<Table<C>>): void => void statement.run(...valuesOf(row, [...names, keyName]));
    },
    /** One more than the highest id of a table, or than `first`. */
    nextId: ({ name }: { name: string }, first: number) => {
      const newest = sql.prepare(`SELECT max(id) AS id FROM ${name}`);
      return () => ((newest.get() as { id: number | null }).id ?? first) + 1;
    },
    /** A page of rows that match every given field of a filter, and totals over all that match. */
    pages: <C extends Columns, Filter extends string, Total extends string>(
      { name: table }: Table<C>,
      listing: {
        /** The condition of each field of a filter, with one `?`. */
        conditions: Record<Filter, string>;
        orderBy: string;
        /** Expressions over all rows that match. */
        totals: Record<Total, string>;
      },
    ) => {
      const totals = Object.entries<string>(listing.totals).map(([name, sum]) => `${sum} AS ${name}`);
      return (filter: { [Name in Filter]?: string | number | undefined }, limit: number, offset: number) => {
        const given = Object.entries(filter).filter(
          (entry): entry is [Filter, string | number] => entry[1] !== undefined,
        );
        const values = given.map(([, value]) => value);
        const where = given.map(([name]) => listing.conditions[name]).join(' AND ') || 'TRUE';
        const from = `FROM ${table} WHERE ${where}`;
        const page = sql.prepare(`SELECT * ${from} ORDER BY ${listing.orderBy} LIMIT ? OFFSET ?`);
        return {
          rows: page.all(...values, limit, offset) as unknown as RowOf<Table<C>>[],
          totals: sql.prepare(`SELECT ${totals.join(', ')} ${from}`).get(...values) as Record<Total, number>,
        };
      };
    },
  };
}

export type Database = ReturnType<typeof openDatabase>;

/** Opens, and makes where it is missing, `<dataDir>/<fileName>` with these tables. */
export function openDatabase(dataDir: string, fileName: string, tables: Table<Columns>[]) {
  mkdirSync(dataDir, { recursive: true });
  const sql = new DatabaseSync(join(dataDir, fileName));
  sql.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000;');
  for (const table of tables) addNewColumns(sql, table);
  sql.exec([META, ...tables].map(schemaOf).join('\n'));
  const queries = queriesOf(sql);
  const begin = sql.prepare('BEGIN IMMEDIATE');
  const commit = sql.prepare('COMMIT');
  const rollback = sql.prepare('ROLLBACK');
  const readMeta = queries.one<(name: string) => { value: string }>('SELECT value FROM meta WHERE key = ?');
  return {
    ...queries,
    ...tableQueriesOf(sql),
    /** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
    transact: <T>(work: () => T): T => {
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
    /** Values under names. */
    meta: {
      read: (name: string) => readMeta(name)?.value,
      write: queries.run<(name: string, value: string) => void>(
        'INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)',
      ),
    },
  };
}
