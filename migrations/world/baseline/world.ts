/** Which environment a schema is, and the names that its baseline needs. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { ENVIRONMENTS } from '../../../src/domain/account.ts';
import { oneOf } from '../../one-of.ts';

/** A schema of an environment, `live` or `test`, and the role of the processes that work in it. */
export interface World {
  readonly schema: RawBuilder<unknown>;
  readonly role: RawBuilder<unknown>;
  /**
   * What makes a function run with its owner's rights. It looks into pg_temp last: otherwise a temporary
   * table could stand in for the wallets.
   */
  readonly ownersRights: RawBuilder<unknown>;
  /** Fixes a function's search path to its own schema. The caller's search path then has no effect. */
  readonly ownPath: RawBuilder<unknown>;
}

/** The environment whose schema this connection works in. */
export async function readWorld(db: Kysely<unknown>): Promise<World> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
  const name = rows[0]?.name ?? '';
  const schema = sql.id(name);
  const ownPath = sql`set search_path = ${schema}, pg_temp`;
  return {
    schema,
    role: sql.id(`simway_${name}`),
    ownersRights: sql`security definer ${ownPath}`,
    ownPath,
  };
}

/** `world` has one row, so that a process can see that it is connected to the right schema. */
export const worldItself = () => sql`
  create table world (
    environment text primary key ${oneOf('environment', ENVIRONMENTS)}
  );
`;
