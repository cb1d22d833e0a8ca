/**
 * The secrets that messages are signed with: made here, sealed before they are kept, and cut out of answers that are kept for an
 * Idempotency-Key. Whoever repeats the request that made a secret gets it again while it signs, and nobody else ever does.
 */
import { createHash, randomBytes } from 'node:crypto';
import { findSigningSecrets } from './store/secrets.ts';
import type { WebhookDeps } from './deps.ts';

type SecretDeps = Pick<WebhookDeps, 'db' | 'secretBox'>;

/** As long as the digest that it keys. */
const SECRET_BYTES = 32;
const SECRET_IN_JSON = /"(whsec_[A-Za-z0-9+/=]+)"/g;
/** JSON holds no raw control character, so a mark is never part of an answer. It tells which secret it was, and nothing of it. */
const MARK = /\u0001whsec:([0-9a-f]{32})\u0001/g;

/** In the form that Standard Webhooks libraries take. */
export function newEndpointSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The secret in use. undefined: no such endpoint of this account. */
export async function openSecret(
  deps: SecretDeps,
  accountId: string,
  endpointId: string,
): Promise<string | undefined> {
  const [current] = await findSigningSecrets(deps.db, accountId, endpointId);
  return current && deps.secretBox.open(current, endpointId);
}

/** The text with each secret cut out. */
export function withoutEndpointSecrets(body: string): string {
  return body.replaceAll(
    SECRET_IN_JSON,
    (_json, secret: string) => `\u0001whsec:${fingerprint(secret)}\u0001`,
  );
}

/** The text with its secrets back where they were; one that signs no more stays empty. */
export async function withEndpointSecrets(
  deps: SecretDeps,
  accountId: string,
  endpointId: string,
  body: string,
): Promise<string> {
  const sealed = await findSigningSecrets(deps.db, accountId, endpointId);
  const secrets = sealed.map((one) => deps.secretBox.open(one, endpointId));
  return body.replaceAll(MARK, (_mark, print: string) =>
    JSON.stringify(secrets.find((secret) => fingerprint(secret) === print) ?? ''),
  );
}

function fingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 32);
}
