import { sql, type RawBuilder } from 'kysely';
import type { WorldDb } from './tables.ts';

/**
 * Calls a function of the environment's schema, its arguments by name, and returns its one row. Postgres
 * refuses an argument that the function does not have.
 */
export async function callFunction<Row>(
  db: WorldDb,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<Row> {
  const named = Object.entries(args).map(([arg, value]) => sql`${sql.ref(arg)} => ${value}`);
  const { rows } = await sql<Row>`select * from ${sql.ref(name)}(${sql.join(named)})`.execute(db);
  const [row] = rows;
  if (!row) throw new Error(`${name} returned no row`);
  return row;
}

/**
 * A value of a composite type of the schema, its fields by name; a field that is left out is null. Postgres
 * casts each to its type, and bigints travel as digits.
 */
export function composite(type: string, fields: Readonly<Record<string, unknown>>): RawBuilder<unknown> {
  const json = JSON.stringify(fields, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return sql`jsonb_populate_record(null::${sql.ref(type)}, ${json})`;
}
