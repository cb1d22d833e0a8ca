/**
 * A key for a merchant who has told a website and perhaps a webhook URL: the website must answer, the URL be one that we may call, and then
 * key and endpoint are made. Where the account has an endpoint at that URL, that one serves: with two, every event would come twice. Nothing
 * is made where anything is refused.
 */
import { randomBytes } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import { DEFAULT_EVENTS, MAX_ENDPOINTS, type WebhookEvent } from './rules.ts';
import type { Clock } from '../domain/clock.ts';
import type { SecretBox } from '../platform/secret-box-port.ts';
import type { UrlGuard, UrlVerdict } from '../platform/outbound/url-guard.ts';
import { findAccount } from '../accounts/store/accounts.ts';
import { findOrCreateEndpoint } from './store/endpoints.ts';
import type { AccountsDb, WorldDb } from '../platform/database/tables.ts';
import { newEndpointSecret } from './endpoint-secrets.ts';
import { createKey, type CreateKey } from '../accounts/manage-accounts.ts';

export interface CheckedKeyDeps {
  readonly accounts: AccountsDb;
  /** Of the key's world; absent while that is switched off, and then it takes no endpoint. */
  readonly db: WorldDb | undefined;
  readonly urlGuard: UrlGuard;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
}

/** An endpoint that was there: whoever set it up knows its secret, and what it is sent. */
export interface ReusedEndpoint {
  readonly endpointId: string;
  readonly url: string;
  readonly reused: true;
  readonly enabled: boolean;
  readonly events: readonly WebhookEvent[];
}

/** `secret` is told here and nowhere else. */
export interface MadeEndpoint {
  readonly endpointId: string;
  readonly url: string;
  readonly secret: string;
}

export interface CheckedKey {
  readonly keyId: string;
  readonly apiKey: string;
  /** Where a webhook URL was told. */
  readonly webhook?: MadeEndpoint | ReusedEndpoint;
}

/** Throws DomainError: an unknown account, a website that does not answer, a URL that is not called, one endpoint too many. */
export async function createCheckedKey(
  deps: CheckedKeyDeps,
  request: CreateKey & { readonly webhookUrl?: string },
  actor: string,
): Promise<CheckedKey> {
  const { accounts, db, urlGuard } = deps;
  const { accountId, webhookUrl } = request;
  if (!(await findAccount(accounts, accountId)))
    throw new DomainError('NOT_FOUND', `no account ${accountId}`);
  refuseBad('the website', await urlGuard.reach(request.websiteUrl));
  if (webhookUrl === undefined) return createKey(accounts, request, actor);
  refuseBad('the webhook URL', await urlGuard.check(webhookUrl));
  if (!db) throw new DomainError('ENVIRONMENT_UNAVAILABLE', 'this environment is switched off');
  // The key is made within the endpoint's transaction: where it cannot be, no endpoint is left behind.
  return db.transaction().execute(async (trx) => {
    const webhook = await endpointAt(deps, trx, accountId, webhookUrl);
    return { ...(await createKey(accounts, request, actor)), webhook };
  });
}

async function endpointAt(
  { secretBox, clock }: CheckedKeyDeps,
  trx: WorldDb,
  accountId: string,
  url: string,
): Promise<MadeEndpoint | ReusedEndpoint> {
  const endpointId = makeId('endpoint', randomBytes(16).toString('hex'));
  const secret = newEndpointSecret();
  const found = await findOrCreateEndpoint(trx, {
    id: endpointId,
    accountId,
    url,
    events: DEFAULT_EVENTS,
    secretSealed: secretBox.seal(secret, endpointId),
    now: clock.now(),
    maxPerAccount: MAX_ENDPOINTS,
  });
  if (found === 'created') return { endpointId, url, secret };
  if (found === 'too-many')
    throw new DomainError('WEBHOOK_ENDPOINT_LIMIT', `An account has at most ${MAX_ENDPOINTS} endpoints`);
  const { id, enabled, events } = found;
  return { endpointId: id, url: found.url, reused: true, enabled, events };
}

function refuseBad(what: string, verdict: UrlVerdict): void {
  if (!verdict.ok) throw new DomainError('VALIDATION_ERROR', `${what} ${verdict.detail}`);
}
