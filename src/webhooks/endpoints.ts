import { randomBytes } from 'node:crypto';
import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import type { Page, PageQuery } from '../domain/page.ts';
import { writeOnce } from '../platform/idempotency/keyed-writes.ts';
import type { IdempotencyContext } from '../platform/idempotency/tag.ts';
import type { WebhookDeps, WithDb } from './deps.ts';
import { newEndpointSecret } from './endpoint-secrets.ts';
import { DEFAULT_EVENTS, type WebhookEvent } from './events.ts';
import { MAX_ENDPOINTS, MAX_PREVIOUS_SECRETS, SECRET_OVERLAP_MS } from './rules.ts';
import * as store from './store/endpoints.ts';
import type { Endpoint } from './store/endpoints.ts';

export interface CreateEndpointCommand {
  readonly url: string;
  /** Default: DEFAULT_EVENTS. */
  readonly events?: readonly WebhookEvent[] | undefined;
  readonly idempotency?: IdempotencyContext | undefined;
}

/** The only result that holds a secret in clear. */
export interface EndpointWithSecret {
  readonly endpoint: Endpoint;
  readonly secret: string;
}

/**
 * Returns the secret, which is not shown again except to a repeat with the same idempotency key. Throws
 * VALIDATION_ERROR for a URL that we may not call, and WEBHOOK_ENDPOINT_LIMIT.
 */
export async function createEndpoint(
  deps: WebhookDeps,
  principal: Principal,
  { url, events = DEFAULT_EVENTS, idempotency }: CreateEndpointCommand,
): Promise<EndpointWithSecret> {
  await requireCallable(deps, url);
  const id = makeId('endpoint', randomBytes(16).toString('hex'));
  const secret = newEndpointSecret();
  return writeOnce(deps, principal, idempotency, {
    write: async (trx) => {
      const outcome = await store.createEndpoint(trx, {
        id,
        accountId: principal.account.id,
        url,
        events,
        secretSealed: deps.secretBox.seal(secret, id),
        now: deps.clock.now(),
        maxPerAccount: MAX_ENDPOINTS,
      });
      if (outcome === 'too-many') {
        throw new DomainError('WEBHOOK_ENDPOINT_LIMIT', `An account has at most ${MAX_ENDPOINTS} endpoints`);
      }
      return { resultId: id, value: { endpoint: await getEndpoint({ db: trx }, principal, id), secret } };
    },
    readEarlier: (endpointId) => withSecret(deps, principal, endpointId),
  });
}

export async function listEndpoints(
  deps: WithDb,
  principal: Principal,
  query: PageQuery,
): Promise<Page<Endpoint>> {
  return store.listEndpoints(deps.db, principal.account.id, query);
}

/** WEBHOOK_ENDPOINT_NOT_FOUND, also for another account's. */
export async function getEndpoint(deps: WithDb, principal: Principal, endpointId: string): Promise<Endpoint> {
  return requireFound(await store.findEndpoint(deps.db, principal.account.id, endpointId));
}

/** WEBHOOK_ENDPOINT_NOT_FOUND; VALIDATION_ERROR for a URL that we may not call. */
export async function updateEndpoint(
  deps: Pick<WebhookDeps, 'db' | 'clock' | 'urlGuard'>,
  principal: Principal,
  endpointId: string,
  change: Omit<store.EndpointChange, 'now'>,
): Promise<Endpoint> {
  const accountId = principal.account.id;
  // Only the owner of an endpoint may learn whether we would call a URL.
  if (change.url !== undefined) {
    await getEndpoint(deps, principal, endpointId);
    await requireCallable(deps, change.url);
  }
  const now = deps.clock.now();
  return requireFound(await store.updateEndpoint(deps.db, accountId, endpointId, { ...change, now }));
}

/** WEBHOOK_ENDPOINT_NOT_FOUND. */
export async function deleteEndpoint(
  deps: Pick<WebhookDeps, 'db' | 'clock'>,
  principal: Principal,
  endpointId: string,
): Promise<void> {
  const isGone = await store.deleteEndpoint(deps.db, principal.account.id, endpointId, deps.clock.now());
  if (!isGone) throw notFound();
}

/**
 * The earlier secret signs as well for SECRET_OVERLAP_MS. WEBHOOK_ENDPOINT_NOT_FOUND; WEBHOOK_SECRET_LIMIT
 * while too many earlier secrets still sign.
 */
export async function rotateEndpointSecret(
  deps: WebhookDeps,
  principal: Principal,
  endpointId: string,
  idempotency: IdempotencyContext | undefined,
): Promise<EndpointWithSecret> {
  const secret = newEndpointSecret();
  const now = deps.clock.now();
  return writeOnce(deps, principal, idempotency, {
    write: async (trx) => {
      const rotated = await store.rotateSecret(trx, principal.account.id, endpointId, {
        secretSealed: deps.secretBox.seal(secret, endpointId),
        previousUntil: new Date(now.getTime() + SECRET_OVERLAP_MS),
        maxPrevious: MAX_PREVIOUS_SECRETS,
        now,
      });
      const endpoint = requireFound(rotated);
      if ('firstEndsAt' in endpoint) throw tooManySecrets(endpoint.firstEndsAt);
      return { resultId: endpointId, value: { endpoint, secret } };
    },
    readEarlier: (resultId) => withSecret(deps, principal, resultId),
  });
}

async function withSecret(
  deps: WebhookDeps,
  principal: Principal,
  endpointId: string,
): Promise<EndpointWithSecret> {
  const endpoint = await getEndpoint(deps, principal, endpointId);
  const [current] = await store.findSigningSecrets(deps.db, principal.account.id, endpointId);
  if (!current) throw notFound();
  return { endpoint, secret: deps.secretBox.open(current, endpointId) };
}

async function requireCallable({ urlGuard }: Pick<WebhookDeps, 'urlGuard'>, url: string): Promise<void> {
  const verdict = await urlGuard.check(url);
  if (verdict.ok) return;
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: `url: ${verdict.detail}` });
}

function requireFound<T>(found: T | undefined): T {
  if (found === undefined) throw notFound();
  return found;
}

/** Expiring the oldest early instead would make receivers refuse genuine messages. */
function tooManySecrets(firstEndsAt: Date): DomainError {
  return new DomainError(
    'WEBHOOK_SECRET_LIMIT',
    `${MAX_PREVIOUS_SECRETS} earlier secrets of this endpoint still sign; the first of them ends at ${firstEndsAt.toISOString()}`,
  );
}

function notFound(): DomainError {
  return new DomainError('WEBHOOK_ENDPOINT_NOT_FOUND', 'Webhook endpoint not found');
}
