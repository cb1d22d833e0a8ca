import { randomBytes } from 'node:crypto';
import type { InstallReader } from '../domain/account.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { hashOfToken, type InstallTokens } from './install-tokens.ts';
import { deleteUnusableLink, findInstallLink, insertInstallLink } from './store/install-links.ts';

export interface InstallLinkDeps {
  readonly db: WorldDb;
  readonly installTokens: InstallTokens;
}

const NONCE_BYTES = 16;
/** Each lost to another process that made or revoked the link in the same moment. */
const MAX_TRIES = 5;

/**
 * The public link of an eSIM that exists, made on first use and the same until it is revoked. Secret: never
 * logged. Empty, and not made, for a caller who may not read it.
 */
export async function installUrl(
  { db, installTokens }: InstallLinkDeps,
  esimId: string,
  reader: InstallReader,
): Promise<string> {
  if (!reader.mayInstall) return '';
  reader.installsRead?.add(esimId);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const link = await findInstallLink(db, esimId);
    if (link) {
      const token = installTokens.tokenOf(esimId, link.nonce);
      if (hashOfToken(token).equals(link.token_hash)) return installTokens.urlOf(token);
      // Made under another SIMWAY_ID_SECRET: its address cannot be made again.
      await deleteUnusableLink(db, esimId, link.nonce);
    }
    const nonce = randomBytes(NONCE_BYTES);
    const token_hash = hashOfToken(installTokens.tokenOf(esimId, nonce));
    await insertInstallLink(db, esimId, { nonce, token_hash });
  }
  throw new Error(`no install link for ${esimId}: it changed while it was read, or there is no such eSIM`);
}
