/** Which environment a schema is, and the names that its baseline needs. */
import { sql, type Kysely, type RawBuilder } from 'kysely';

/** A schema of an environment, `live` or `test`, and the role of the processes that work in it. */
export interface World {
  readonly schema: RawBuilder<unknown>;
  readonly role: RawBuilder<unknown>;
  /**
   * What makes a function run with its owner's rights. It looks into pg_temp last: otherwise a temporary
   * table could stand in for the wallets.
   */
  readonly ownersRights: RawBuilder<unknown>;
}

/** The environment whose schema this connection works in. */
export async function readWorld(db: Kysely<unknown>): Promise<World> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
  const name = rows[0]?.name ?? '';
  const schema = sql.id(name);
  return {
    schema,
    role: sql.id(`simway_${name}`),
    ownersRights: sql`security definer set search_path = ${schema}, pg_temp`,
  };
}

/** `world` has one row, so that a process can see that it is connected to the right schema. */
export const worldItself = () => sql`
  create table world (
    environment text primary key check (environment in ('live', 'test'))
  );
`;
