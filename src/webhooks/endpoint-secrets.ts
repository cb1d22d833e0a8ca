import { createHash, randomBytes } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import type { WebhookDeps } from './deps.ts';
import { DEFAULT_EVENTS } from './events.ts';
import { MAX_ENDPOINTS } from './rules.ts';
import { findSigningSecrets } from './store/endpoints.ts';

type SecretDeps = Pick<WebhookDeps, 'db' | 'secretBox'>;

/** The length of the SHA-256 digest. */
const SECRET_BYTES = 32;
const SECRET_IN_JSON = /"(whsec_[A-Za-z0-9+/=]+)"/g;
/** JSON contains no raw control character: a mark never collides. It does not reveal the secret. */
const MARK = /\u0001whsec:([0-9a-f]{32})\u0001/g;

/** In the form of Standard Webhooks. */
export function newEndpointSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** A new endpoint as it is stored, with its secret in clear. */
export function prepareEndpoint(
  { secretBox, clock }: Pick<WebhookDeps, 'secretBox' | 'clock'>,
  { accountId, createdBy }: { readonly accountId: string; readonly createdBy: string },
  url: string,
  events = DEFAULT_EVENTS,
) {
  const id = makeId('endpoint', randomBytes(16).toString('hex'));
  const secret = newEndpointSecret();
  const sealed = { secretSealed: secretBox.seal(secret, id), now: clock.now() };
  return { row: { id, accountId, createdBy, url, events, ...sealed, maxPerAccount: MAX_ENDPOINTS }, secret };
}

export const tooManyEndpoints = (): DomainError =>
  new DomainError('WEBHOOK_ENDPOINT_LIMIT', `An account has at most ${MAX_ENDPOINTS} endpoints`);

/** Replaces each secret by a mark, for answers stored under an Idempotency-Key. */
export function withoutEndpointSecrets(body: string): string {
  return body.replaceAll(
    SECRET_IN_JSON,
    (_json, secret: string) => `\u0001whsec:${fingerprint(secret)}\u0001`,
  );
}

/** Puts the secrets back; one that no longer signs becomes an empty string. */
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
