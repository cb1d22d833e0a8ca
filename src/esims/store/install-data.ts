/** Install data as it lies in the rows, and the batches that seal what is in clear, or sealed with an earlier key. */
import { sql } from 'kysely';
import { sealedQrCodeUrl } from '../../webhooks/event-rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { SEAL_PREFIX_BYTES } from '../../platform/secret-box.ts';
import type { EsimRow } from './esims.ts';

/** Empty once sealed. */
export type InstallColumns = Readonly<
  Pick<EsimRow, 'ac' | 'qr_code_url' | 'short_url' | 'smdp_address' | 'matching_id' | 'pin' | 'puk'>
>;
export type InstallRow = InstallColumns & Readonly<Pick<EsimRow, 'id' | 'install_sealed'>>;

const COLUMNS = [
  'id',
  'install_sealed',
  'ac',
  'qr_code_url',
  'short_url',
  'smdp_address',
  'matching_id',
  'pin',
  'puk',
] as const;

/** These two as in migrations/world/baseline/esims.ts, literally. */
const IN_CLEAR = sql<boolean>`(ac || qr_code_url || short_url || smdp_address || matching_id || coalesce(pin, '') || coalesce(puk, '')) <> ''`;
const PREFIX = sql<Buffer>`substring(install_sealed from 1 for ${sql.lit(SEAL_PREFIX_BYTES)})`;

/** Until when processes of a release that cannot open seals may run; null: there never was one. */
export async function readClearUntil(db: WorldDb): Promise<Date | null> {
  const row = await db.selectFrom('world').select('clear_until').executeTakeFirst();
  return row?.clear_until ?? null;
}

/** Those of these eSIMs that exist. */
export function findInstallRows(db: WorldDb, esimIds: readonly string[]): Promise<InstallRow[]> {
  return db
    .selectFrom('esims')
    .select(COLUMNS)
    .where('id', '=', sql<string>`any(${[...new Set(esimIds)]})`)
    .execute();
}

/** Seals one batch of rows in clear, once no process needs them in clear; returns how many. Keeps what it reads locked, and skips locked rows. */
export async function sealBatch(
  db: WorldDb,
  seal: (row: InstallRow) => Buffer,
  limit: number,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const rows = await trx
      .selectFrom('esims')
      .select(COLUMNS)
      .where(IN_CLEAR)
      .where(sql<boolean>`not exists (select from world where clear_until > now())`)
      .orderBy('id')
      .limit(limit)
      .forNoKeyUpdate()
      .skipLocked()
      .execute();
    if (rows.length === 0) return 0;
    await hideQrCodeUrls(
      trx,
      rows.map(({ id }) => id),
    );
    await writeSeals(trx, new Map(rows.map((row) => [row.id, seal(row)])));
    return rows.length;
  });
}

/**
 * Seals again one batch of the rows whose seals begin like this, in order of their ids. `seal` answers undefined for a row that cannot be opened, which
 * stays as it is. Returns the last id of a full batch; undefined: that was the last.
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
    update esims
       set install_sealed = fresh.sealed, ac = '', qr_code_url = '', short_url = '', smdp_address = '', matching_id = '', pin = null, puk = null
      from unnest(${[...seals.keys()]}::text[], ${[...seals.values()]}::bytea[]) fresh (id, sealed)
     where esims.id = fresh.id`.execute(trx);
}

/** In the messages about an eSIM's own purchase. A message about a top-up is about an eSIM that is installed already. */
async function hideQrCodeUrls(trx: WorldDb, esimIds: readonly string[]): Promise<void> {
  const [before, after] = JSON.stringify(sealedQrCodeUrl('/')).split('/');
  await sql`
    update webhook_messages message
       set body = replace(message.body, to_json(esims.qr_code_url)::text, ${before}::text || esims.id || ${after}::text)
      from esims
     where esims.id = any(${[...esimIds]}) and esims.qr_code_url <> ''
       and message.subject = esims.transaction_id and message.event = 'esim.purchased'`.execute(trx);
}

/** How the seals in the rows begin, each once: a step of the index for every key, however many rows there are. */
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
