/** The tokens in public install links. Never logged. */
import { createHash, createHmac, hkdfSync } from 'node:crypto';
import type { Environment } from '../domain/account.ts';

export type InstallTokens = ReturnType<typeof createInstallTokens>;

/** 192 bits: one of a billion links cannot be guessed at any rate. */
const TOKEN_BYTES = 24;
const TOKEN = /^[A-Za-z0-9_-]{32}$/;

/** Where install pages are, under the API's public address. */
export const INSTALL_PAGE_PATH = '/i';

/**
 * Makes tokens with a key derived from SIMWAY_ID_SECRET, another one in each environment. A dump of the
 * database alone makes no token, and the secret alone none either. `publicUrl`: of the API, without a
 * trailing slash.
 */
export function createInstallTokens({
  idSecret,
  environment,
  publicUrl,
}: {
  readonly idSecret: Buffer;
  readonly environment: Environment;
  readonly publicUrl: string;
}) {
  const key = Buffer.from(hkdfSync('sha256', idSecret, '', `simway install links 1 ${environment}`, 32));
  return {
    /** Of the API. */
    publicUrl,
    /** The token of an eSIM's link: the same for the same nonce. */
    tokenOf: (esimId: string, nonce: Buffer): string =>
      createHmac('sha256', key)
        .update(`${esimId}\n`)
        .update(nonce)
        .digest()
        .subarray(0, TOKEN_BYTES)
        .toString('base64url'),
    urlOf: (token: string): string => `${publicUrl}${INSTALL_PAGE_PATH}/${token}`,
  };
}

export function canBeInstallToken(text: string): boolean {
  return TOKEN.test(text);
}

/** What the database finds a link by. The time of comparing hashes reveals nothing. */
export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
