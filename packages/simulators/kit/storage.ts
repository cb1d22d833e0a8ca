/** Documents in one SQLite file of the simulator's data folder. One process at a time. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

type Value = string | number | null;
type Range = { from?: Value | undefined; to?: Value | undefined; before?: Value | undefined };

/** An undefined field matches all. `from` and `to` are included, `before` is not. */
export type Where<Row> = { [Name in keyof Row]?: Value | Range | undefined };

/** Which rows of those that match; without `by`, in the order in which they were first written. */
interface Page<Row> {
  by?: keyof Row & string;
  isNewestFirst?: boolean;
  limit?: number;
  offset?: number;
}

const COMPARISONS = { from: '>=', to: '<=', before: '<' } as const;

export type Collection<Row extends object> = ReturnType<typeof createCollection<Row>>;
export type Database = ReturnType<typeof openDatabase>;

function conditionsOf(where: object, column: (field: string) => string) {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  for (const [field, wanted] of Object.entries(where) as [string, Value | Range | undefined][]) {
    const isRange = typeof wanted === 'object' && wanted !== null;
    const tests: [operator: string, value: Value | undefined][] = isRange
      ? Object.entries(COMPARISONS).map(([bound, operator]) => [operator, wanted[bound as keyof Range]])
      : [['=', wanted]];
    for (const [operator, value] of tests) {
      if (value === undefined) continue;
      conditions.push(`${column(field)} ${value === null ? 'IS NULL' : `${operator} ?`}`);
      if (value !== null) values.push(value);
    }
  }
  return { sql: conditions.join(' AND ') || 'TRUE', values };
}

function createCollection<Row extends object>(
  prepare: (sql: string) => StatementSync,
  definition: {
    name: string;
    key: keyof Row & string;
    indexes: readonly (keyof Row & string)[];
    firstId: number;
  },
) {
  const { name, key } = definition;
  const column = (field: string) => (field === key ? 'id' : `json ->> '$.${field}'`);
  prepare(
    `CREATE TABLE IF NOT EXISTS ${name} (seq INTEGER PRIMARY KEY, id UNIQUE NOT NULL, json TEXT NOT NULL)`,
  ).run();
  for (const field of definition.indexes)
    prepare(`CREATE INDEX IF NOT EXISTS ${name}_${field} ON ${name} (${column(field)})`).run();

  const rowOf = (found: Record<string, unknown>) => JSON.parse(String(found['json'])) as Row;
  const totalOf = (total: string, where: Where<Row>): number => {
    const { sql, values } = conditionsOf(where, column);
    return Number(
      prepare(`SELECT ${total} AS total FROM ${name} WHERE ${sql}`).get(...values)?.['total'] ?? 0,
    );
  };
  const nextId = () => Math.max(definition.firstId, totalOf('max(id)', {})) + 1;
  const put = (row: Row): Row => {
    const id = row[key] as SQLInputValue;
    prepare(
      `INSERT INTO ${name} (id, json) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET json = excluded.json`,
    ).run(id, JSON.stringify(row));
    return row;
  };
  const list = (where: Where<Row> = {}, page: Page<Row> = {}): Row[] => {
    const { by, isNewestFirst = false, limit = -1, offset = 0 } = page;
    const { sql, values } = conditionsOf(where, column);
    const direction = isNewestFirst ? 'DESC' : 'ASC';
    // With a condition, a plus has SQLite look for it in an index in place of reading all rows in order.
    const inOrder = values.length === 0 ? 'seq' : '+seq';
    const order = [...(by === undefined ? [] : [column(by)]), inOrder].map((each) => `${each} ${direction}`);
    return prepare(`SELECT json FROM ${name} WHERE ${sql} ORDER BY ${order.join(', ')} LIMIT ? OFFSET ?`)
      .all(...values, limit, offset)
      .map(rowOf);
  };
  return {
    nextId,
    put,
    add: (row: Omit<Row, 'id'>): Row => put({ id: nextId(), ...row } as unknown as Row),
    get: (id: string | number): Row | undefined => {
      const found = prepare(`SELECT json FROM ${name} WHERE id = ?`).get(id);
      return found === undefined ? undefined : rowOf(found);
    },
    list,
    find: (where: Where<Row>, page: Page<Row> = {}): Row | undefined => list(where, { ...page, limit: 1 })[0],
    count: (where: Where<Row> = {}) => totalOf('count(*)', where),
    sum: (field: keyof Row & string, where: Where<Row> = {}) => totalOf(`sum(${column(field)})`, where),
    remove: (where: Where<Row>): number => {
      const { sql, values } = conditionsOf(where, column);
      return Number(prepare(`DELETE FROM ${name} WHERE ${sql}`).run(...values).changes);
    },
  };
}

export function openDatabase(dataDir: string, fileName: string) {
  mkdirSync(dataDir, { recursive: true });
  const sql = new DatabaseSync(join(dataDir, fileName));
  sql.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000;');
  const statements = new Map<string, StatementSync>();
  const prepare = (text: string): StatementSync => {
    const statement = statements.get(text) ?? sql.prepare(text);
    statements.set(text, statement);
    return statement;
  };
  const values = createCollection<{ name: string; value: string }>(prepare, {
    name: 'settings',
    key: 'name',
    indexes: [],
    firstId: 0,
  });
  return {
    /** The rows of one kind. Ids that it makes up follow `firstId`. */
    collection: <Row extends object>(
      name: string,
      key: keyof Row & string,
      { indexes = [], firstId = 0 }: { indexes?: readonly (keyof Row & string)[]; firstId?: number } = {},
    ): Collection<Row> => createCollection<Row>(prepare, { name, key, indexes, firstId }),
    transact: <T>(work: () => T): T => {
      prepare('BEGIN IMMEDIATE').run();
      try {
        const result = work();
        prepare('COMMIT').run();
        return result;
      } catch (error) {
        prepare('ROLLBACK').run();
        throw error;
      }
    },
    close: () => sql.close(),
    meta: {
      read: (name: string) => values.get(name)?.value,
      write: (name: string, value: string): void => void values.put({ name, value }),
    },
  };
}
