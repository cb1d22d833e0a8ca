/**
 * Sealed install data as it lies in the rows, and the batches that seal anew what is sealed with an earlier
 * key.
 */
import { sql } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';
import { SEAL_PREFIX_BYTES } from '../../platform/secret-box.ts';
import type { EsimRow } from './esims.ts';

export type InstallRow = Readonly<Pick<EsimRow, 'id' | 'install_sealed'>>;

const COLUMNS = ['id', 'install_sealed'] as const;

/** As in migrations/world/baseline/esims.ts, literally. */
const PREFIX = sql<Buffer>`substring(install_sealed from 1 for ${sql.lit(SEAL_PREFIX_BYTES)})`;

/** Those of these eSIMs that exist. */
export function findInstallRows(db: WorldDb, esimIds: readonly string[]): Promise<InstallRow[]> {
  return db
    .selectFrom('esims')
    .select(COLUMNS)
    .where('id', '=', sql<string>`any(${[...new Set(esimIds)]})`)
    .execute();
}

/**
 * Seals again one batch of the rows whose seals begin like this, in order of their ids. `seal` answers
 * undefined for a row that cannot be opened, which stays as it is. Returns the last id of a full batch;
 * undefined: that was the last.
 */
export async function resealBatch(
  db: WorldDb,
  which: { readonly prefix: Buffer; readonly after: string; readonly limit: number },
  seal: (row: InstallRow) => Buffer | undefined,
): Promise<{ readonly count: number; readonly last: string | undefined }> {
  return db.transaction().execute(async (trx) => {
    const rows = await trx
      .selectFrom('esims')
      .select(COLUMNS)
      .where(PREFIX, '=', which.prefix)
      .where('id', '>', which.after)
      .orderBy('id')
      .limit(which.limit)
      .forNoKeyUpdate()
      .skipLocked()
      .execute();
    const seals = new Map<string, Buffer>();
    for (const row of rows) {
      const sealed = seal(row);
      if (sealed) seals.set(row.id, sealed);
    }
    await writeSeals(trx, seals);
    return { count: seals.size, last: rows.length < which.limit ? undefined : rows.at(-1)?.id };
  });
}

async function writeSeals(trx: WorldDb, seals: ReadonlyMap<string, Buffer>): Promise<void> {
  if (seals.size === 0) return;
  await sql`
    update esims set install_sealed = fresh.sealed
      from unnest(${[...seals.keys()]}::text[], ${[...seals.values()]}::bytea[]) fresh (id, sealed)
     where esims.id = fresh.id`.execute(trx);
}

/**
 * How the seals in the rows begin, each once: a step of the index for every key, however many rows there are.
 */
export async function listSealPrefixes(db: WorldDb): Promise<Buffer[]> {
  const { rows } = await sql<{ prefix: Buffer }>`
    with recursive seen as (
      (select ${PREFIX} as prefix from esims where install_sealed is not null order by ${PREFIX} limit 1)
      union all
      select (select ${PREFIX} from esims where install_sealed is not null and ${PREFIX} > seen.prefix order by ${PREFIX} limit 1)
        from seen where seen.prefix is not null
    )
    select prefix from seen where prefix is not null`.execute(db);
  return rows.map(({ prefix }) => prefix);
}
