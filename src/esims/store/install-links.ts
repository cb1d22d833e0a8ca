import { sql, type Selectable } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { EsimRow } from './esims.ts';
import type { InstallLinksTable } from './tables.ts';

type InstallLink = Pick<Selectable<InstallLinksTable>, 'nonce' | 'token_hash'>;

export function findInstallLink(db: WorldDb, esimId: string): Promise<InstallLink | undefined> {
  return db
    .selectFrom('install_links')
    .select(['nonce', 'token_hash'])
    .where('esim_id', '=', esimId)
    .executeTakeFirst();
}

/** Does nothing where the eSIM has a link already, or is not there. */
export async function insertInstallLink(db: WorldDb, esimId: string, link: InstallLink): Promise<void> {
  await sql`
    insert into install_links (esim_id, nonce, token_hash)
    select id, ${link.nonce}, ${link.token_hash} from esims where id = ${esimId}
        on conflict (esim_id) do nothing`.execute(db);
}

/** Only this link, and not one that was made since. */
export async function deleteUnusableLink(db: WorldDb, esimId: string, nonce: Buffer): Promise<void> {
  await db.deleteFrom('install_links').where('esim_id', '=', esimId).where('nonce', '=', nonce).execute();
}

/** The eSIM's timeline says so, once for each link. */
export async function revokeInstallLink(db: WorldDb, esimId: string): Promise<void> {
  await sql`
    with revoked as (delete from install_links where esim_id = ${esimId} returning esim_id)
    insert into purchase_events (transaction_id, what)
    select esims.transaction_id, 'install-link-revoked' from revoked join esims on esims.id = revoked.esim_id`.execute(
    db,
  );
}

export function findEsimByTokenHash(db: WorldDb, tokenHash: Buffer): Promise<EsimRow | undefined> {
  return db
    .selectFrom('install_links')
    .innerJoin('esims', 'esims.id', 'install_links.esim_id')
    .selectAll('esims')
    .where('install_links.token_hash', '=', tokenHash)
    .executeTakeFirst();
}
