import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import type { PageQuery } from '../domain/page.ts';
import { writeOnce } from '../platform/idempotency/keyed-writes.ts';
import type { IdempotencyContext } from '../platform/idempotency/tag.ts';
import { inTransaction } from '../platform/database/transactions.ts';
import type { WebhookDeps, WithDb } from './deps.ts';
import { recordEndpointChange, type EndpointChanger } from './endpoint-changes.ts';
import { newEndpointSecret, prepareEndpoint, tooManyEndpoints } from './endpoint-secrets.ts';
import type { WebhookEvent } from './events.ts';
import { MAX_PREVIOUS_SECRETS, SECRET_OVERLAP_MS } from './rules.ts';
import * as store from './store/endpoints.ts';
import type { Endpoint } from './store/endpoints.ts';

interface CreateEndpointCommand {
  readonly url: string;
  readonly events?: readonly WebhookEvent[] | undefined;
  readonly idempotency?: IdempotencyContext | undefined;
}

type EndpointDeps = Omit<WebhookDeps, 'completeBodies'>;

/** The only result that holds a secret in clear. */
type EndpointWithSecret = Endpoint & { readonly secret: string };

/** Only a repeat with the same key sees the secret again. VALIDATION_ERROR, WEBHOOK_ENDPOINT_LIMIT. */
export async function createEndpoint(
  deps: EndpointDeps,
  principal: Principal,
  { url, events, idempotency }: CreateEndpointCommand,
): Promise<EndpointWithSecret> {
  await requireCallable(deps, url);
  const whose = { accountId: principal.account.id, createdBy: principal.maker };
  const { row, secret } = prepareEndpoint(deps, whose, url, events);
  return writeOnce(deps, principal, idempotency, {
    write: (db) =>
      inTransaction(db, async (trx) => {
        if ((await store.createEndpoint(trx, row)) === 'too-many') throw tooManyEndpoints();
        const made = await getEndpoint({ db: trx }, principal, row.id);
        await recordEndpointChange(deps.accounts, changerOf(principal), 'endpoint.create', made);
        return { resultId: row.id, value: { ...made, secret } };
      }),
    readEarlier: (endpointId) => withSecret(deps, principal, endpointId),
  });
}

export const listEndpoints = ({ db }: WithDb, { account }: Principal, query: PageQuery) =>
  store.listEndpoints(db, account.id, query);

/** WEBHOOK_ENDPOINT_NOT_FOUND, also for another account's. */
export async function getEndpoint(deps: WithDb, principal: Principal, endpointId: string): Promise<Endpoint> {
  return requireFound(await store.findEndpoint(deps.db, principal.account.id, endpointId));
}

/** WEBHOOK_ENDPOINT_NOT_FOUND; VALIDATION_ERROR for a URL that we may not call. */
export async function updateEndpoint(
  deps: Pick<WebhookDeps, 'db' | 'accounts' | 'clock' | 'urlGuard'>,
  principal: Principal,
  endpointId: string,
  change: Omit<store.EndpointChange, 'now'>,
): Promise<Endpoint> {
  const accountId = principal.account.id;
  // Only the owner of an endpoint may learn whether we would call a URL.
  const before = await getEndpoint(deps, principal, endpointId);
  if (change.url !== undefined) await requireCallable(deps, change.url);
  const now = deps.clock.now();
  return inTransaction(deps.db, async (trx) => {
    const changed = requireFound(await store.updateEndpoint(trx, accountId, endpointId, { ...change, now }));
    if (changed.url !== before.url)
      await recordEndpointChange(deps.accounts, changerOf(principal), 'endpoint.move', changed);
    return changed;
  });
}

/** WEBHOOK_ENDPOINT_NOT_FOUND. */
export async function deleteEndpoint(
  deps: Pick<WebhookDeps, 'db' | 'clock'>,
  principal: Principal,
  endpointId: string,
): Promise<void> {
  if (!(await store.deleteEndpoint(deps.db, principal.account.id, endpointId, deps.clock.now())))
    throw notFound();
}

/** The earlier one signs for SECRET_OVERLAP_MS. WEBHOOK_ENDPOINT_NOT_FOUND, WEBHOOK_SECRET_LIMIT. */
export async function rotateEndpointSecret(
  deps: WebhookDeps,
  principal: Principal,
  endpointId: string,
  idempotency: IdempotencyContext | undefined,
): Promise<EndpointWithSecret> {
  const secret = newEndpointSecret();
  const now = deps.clock.now();
  return writeOnce(deps, principal, idempotency, {
    write: (db) =>
      inTransaction(db, async (trx) => {
        const rotated = await store.rotateSecret(trx, principal.account.id, endpointId, {
          secretSealed: deps.secretBox.seal(secret, endpointId),
          previousUntil: new Date(now.getTime() + SECRET_OVERLAP_MS),
          now,
        });
        const endpoint = requireFound(rotated);
        if ('firstEndsAt' in endpoint) throw tooManySecrets(endpoint.firstEndsAt);
        await recordEndpointChange(deps.accounts, changerOf(principal), 'endpoint.rotate-secret', endpoint);
        return { resultId: endpointId, value: { ...endpoint, secret } };
      }),
    readEarlier: (resultId) => withSecret(deps, principal, resultId),
  });
}

const changerOf = ({ account, environment, maker, keyId }: Principal): EndpointChanger => ({
  ...{ accountId: account.id, environment, actor: maker, keyId },
});

async function withSecret(
  deps: EndpointDeps,
  principal: Principal,
  endpointId: string,
): Promise<EndpointWithSecret> {
  const endpoint = await getEndpoint(deps, principal, endpointId);
  const [current] = await store.findSigningSecrets(deps.db, principal.account.id, endpointId);
  if (!current) throw notFound();
  return { ...endpoint, secret: deps.secretBox.open(current, endpointId) };
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
const tooManySecrets = (firstEndsAt: Date): DomainError =>
  new DomainError(
    'WEBHOOK_SECRET_LIMIT',
    `${MAX_PREVIOUS_SECRETS} earlier secrets of this endpoint still sign; the first of them ends at ${firstEndsAt.toISOString()}`,
  );

const notFound = (): DomainError =>
  new DomainError('WEBHOOK_ENDPOINT_NOT_FOUND', 'Webhook endpoint not found');
