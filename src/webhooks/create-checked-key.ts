import type { Member } from '../domain/callers.ts';
import { createKey, type CreateKey } from '../accounts/keys/manage-keys.ts';
import { noAccount } from '../accounts/manage-accounts.ts';
import { findAccount } from '../accounts/store/accounts.ts';
import type { Environment } from '../domain/account.ts';
import { DAY_MS, type Clock } from '../domain/clock.ts';
import { describeMemberPermission, memberMay } from '../domain/member-roles.ts';
import { DomainError } from '../domain/errors.ts';
import type { AccountsDb, WorldDb } from '../platform/database/tables.ts';
import type { UrlVerdict } from '../platform/outbound/url-guard.ts';
import type { WebhookDeps } from './deps.ts';
import { recordEndpointChange } from './endpoint-changes.ts';
import { prepareEndpoint, tooManyEndpoints } from './endpoint-secrets.ts';
import { findOrCreateEndpoint } from './store/endpoints.ts';

type CheckedKeyDeps = Pick<WebhookDeps, 'urlGuard' | 'secretBox' | 'clock'> & {
  readonly accounts: AccountsDb;
  /** Of the key's environment; undefined while that is switched off, and then endpoints are refused. */
  readonly db: WorldDb | undefined;
};

type KeyAndEndpoint = Awaited<ReturnType<typeof createKey>> & {
  /** Present when the request has a webhook URL. */
  readonly webhook?: Awaited<ReturnType<typeof endpointAt>>;
};

/**
 * The website must answer, and the webhook URL must be allowed. An existing endpoint with this URL is reused:
 * with two, every event would arrive twice. Throws DomainError, and then nothing is made.
 */
export async function createCheckedKey(
  deps: CheckedKeyDeps,
  request: CreateKey & { readonly webhookUrl?: string | undefined },
  actor: string,
): Promise<KeyAndEndpoint> {
  const { accounts, urlGuard } = deps;
  const { accountId } = request;
  if (!(await findAccount(accounts, accountId))) throw noAccount(accountId);
  requireAllowed('websiteUrl', 'the website', await urlGuard.reach(request.websiteUrl));
  return createKeyAndEndpoint(deps, request, actor);
}

async function createKeyAndEndpoint(
  deps: CheckedKeyDeps,
  request: CreateKey & { readonly webhookUrl?: string | undefined },
  actor: string,
): Promise<KeyAndEndpoint> {
  const { accounts, db, urlGuard } = deps;
  const { accountId, environment, webhookUrl } = request;
  if (webhookUrl === undefined) return createKey(accounts, request, actor);
  requireAllowed('webhookUrl', 'the webhook URL', await urlGuard.check(webhookUrl));
  if (!db) throw new DomainError('ENVIRONMENT_UNAVAILABLE', 'this environment is switched off');
  // In the endpoint's transaction: no endpoint stays behind when the key cannot be made.
  return db.transaction().execute(async (trx) => {
    const webhook = await endpointAt(deps, trx, { accountId, createdBy: actor }, webhookUrl);
    const key = await createKey(accounts, request, actor);
    const made = { id: webhook.endpointId, url: webhook.url };
    if ('secret' in webhook)
      await recordEndpointChange(accounts, { accountId, environment, actor }, 'endpoint.create', made);
    return { ...key, webhook };
  });
}

async function endpointAt(
  deps: CheckedKeyDeps,
  trx: WorldDb,
  whose: { readonly accountId: string; readonly createdBy: string },
  url: string,
) {
  const { row, secret } = prepareEndpoint(deps, whose, url);
  const found = await findOrCreateEndpoint(trx, row);
  if (found === 'created') return { endpointId: row.id, url, secret };
  if (found === 'too-many') throw tooManyEndpoints();
  const { id, enabled, events } = found;
  return { endpointId: id, url: found.url, reused: true as const, enabled, events };
}

/** Throws VALIDATION_ERROR, which names the field for pages and the thing for people. */
export function requireAllowed(field: string, what: string, verdict: UrlVerdict): void {
  if (verdict.ok) return;
  throw new DomainError('VALIDATION_ERROR', `${what} ${verdict.detail}`, {
    details: `${field}: ${verdict.detail}`,
  });
}

interface MemberKeyDeps {
  readonly accounts: AccountsDb;
  readonly clock: Clock;
  readonly brand: string;
  /** How long keys work that name no end; undefined: until they are revoked. */
  readonly lifeDays: number | undefined;
  /** Throws ENVIRONMENT_UNAVAILABLE. */
  readonly worldOf: (environment: Environment) => Pick<CheckedKeyDeps, 'db' | 'urlGuard' | 'secretBox'>;
}

type MemberKeyRequest = Omit<
  CreateKey,
  'accountId' | 'environment' | 'brand' | 'expiresAt' | 'address' | 'companyName' | 'websiteUrl'
> & {
  readonly companyName?: string | undefined;
  readonly websiteUrl?: string | undefined;
  readonly webhookUrl?: string | undefined;
  readonly expiresAt?: Date | undefined;
};

/**
 * A key for a member's account, which may do no more than its maker. A test key needs no company and no
 * website, which is not checked either: many a developer begins before there is one.
 */
export async function createMemberKey(
  { accounts, clock, brand, lifeDays, worldOf }: MemberKeyDeps,
  { account, email, role, clientAddress: address }: Member,
  environment: Environment,
  { expiresAt: wanted, webhookUrl, companyName, websiteUrl, ...key }: MemberKeyRequest,
) {
  const missing = Object.entries({ companyName, websiteUrl }).filter(([, given]) => given === undefined);
  if (environment === 'live' && missing.length > 0)
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
      details: missing.map(([field]) => `${field}: is required for a live key`),
    });
  const beyond = key.scopes.find((scope) => !memberMay(role, scope));
  if (beyond !== undefined)
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
      details: `scopes: your role ${role} may not ${describeMemberPermission(beyond)}, and a key may do no more than its maker`,
    });
  const now = clock.now();
  if (wanted && wanted <= now)
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
      details: 'expiresAt: must be in the future',
    });
  const expiresAt = wanted ?? (lifeDays === undefined ? null : new Date(now.getTime() + lifeDays * DAY_MS));
  const company = { companyName: companyName ?? account.name, websiteUrl: websiteUrl ?? '' };
  const owner = { accountId: account.id, environment, brand, expiresAt, address };
  const request = { ...key, ...company, ...owner, webhookUrl };
  const create = environment === 'live' ? createCheckedKey : createKeyAndEndpoint;
  const made = await create({ ...worldOf(environment), accounts, clock }, request, email);
  return { ...made, expiresAt, webhook: made.webhook ?? null };
}
