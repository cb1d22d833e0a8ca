/**
 * A key for a merchant who has told a website and perhaps a webhook URL: the website must answer, the URL be one that we may call, and then
 * key and endpoint are made. Nothing is made where anything is refused.
 */
import { randomBytes } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import { DEFAULT_EVENTS, MAX_ENDPOINTS } from '../domain/webhooks.ts';
import type { Clock } from '../ports/clock.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import type { UrlGuard, UrlVerdict } from '../ports/url-guard.ts';
import { findAccount } from '../store/accounts.ts';
import { createEndpoint, deleteEndpoint } from '../store/webhook-endpoints.ts';
import type { AccountsDb, WorldDb } from '../store/tables.ts';
import { newEndpointSecret } from './endpoint-secrets.ts';
import { createKey, type CreateKey } from './manage-accounts.ts';

export interface CheckedKeyDeps {
  readonly accounts: AccountsDb;
  /** Of the key's world; absent while that is switched off, and then it takes no endpoint. */
  readonly db: WorldDb | undefined;
  readonly urlGuard: UrlGuard;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
}

export interface CheckedKey {
  readonly keyId: string;
  readonly apiKey: string;
  /** Where a webhook URL was told; the secret for the only time. */
  readonly webhook?: { readonly endpointId: string; readonly url: string; readonly secret: string };
}

/** Throws DomainError: an unknown account, a website that does not answer, a URL that is not called, one endpoint too many. */
export async function createCheckedKey(
  deps: CheckedKeyDeps,
  request: CreateKey & { readonly webhookUrl?: string },
  actor: string,
): Promise<CheckedKey> {
  const { webhookUrl } = request;
  if (!(await findAccount(deps.accounts, request.accountId)))
    throw new DomainError('NOT_FOUND', `no account ${request.accountId}`);
  refuseBad('the website', await deps.urlGuard.reach(request.websiteUrl));
  if (webhookUrl === undefined) return createKey(deps.accounts, request, actor);
  refuseBad('the webhook URL', await deps.urlGuard.check(webhookUrl));
  const webhook = await addEndpoint(deps, request.accountId, webhookUrl);
  try {
    return { ...(await createKey(deps.accounts, request, actor)), webhook };
  } catch (error) {
    if (deps.db) await deleteEndpoint(deps.db, request.accountId, webhook.endpointId, deps.clock.now());
    throw error;
  }
}

async function addEndpoint(
  { db, secretBox, clock }: CheckedKeyDeps,
  accountId: string,
  url: string,
): Promise<NonNullable<CheckedKey['webhook']>> {
  if (!db) throw new DomainError('ENVIRONMENT_UNAVAILABLE', 'this environment is switched off');
  const endpointId = makeId('endpoint', randomBytes(16).toString('hex'));
  const secret = newEndpointSecret();
  const outcome = await createEndpoint(db, {
    id: endpointId,
    accountId,
    url,
    events: DEFAULT_EVENTS,
    secretSealed: secretBox.seal(secret, endpointId),
    now: clock.now(),
    maxPerAccount: MAX_ENDPOINTS,
  });
  if (outcome === 'too-many')
    throw new DomainError('WEBHOOK_ENDPOINT_LIMIT', `An account has at most ${MAX_ENDPOINTS} endpoints`);
  return { endpointId, url, secret };
}

function refuseBad(what: string, verdict: UrlVerdict): void {
  if (!verdict.ok) throw new DomainError('VALIDATION_ERROR', `${what} ${verdict.detail}`);
}
