/**
 * Who the caller is: an API key, an operator's token or cookie, a user's cookie. A key that is sent is always
 * checked, on public routes too. What fails here counts against the client address, never against the
 * account, so a thief cannot use up its owner's limit.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { SIGN_IN, unknownSession, type BrowserRequest } from '../../domain/callers.ts';
import { memberCaller } from '../../accounts/callers.ts';
import { invalidToken, type BeforeKeyLookup } from '../../accounts/keys/authenticate.ts';
import { permissionOfScope } from '../../domain/member-roles.ts';
import { deviceWords } from '../../accounts/users/device-words.ts';
import { hasCookie } from '../../accounts/users/sessions.ts';
import { ENVIRONMENTS, type Principal } from '../../domain/account.ts';
import { DomainError } from '../../domain/errors.ts';
import type { UseCases } from '../composition/use-cases.ts';
import { hashingFor } from '../../accounts/users/passwords.ts';
import { addressBucket, compileRanges, peerAddress, requireRanges } from '../../platform/client-addresses.ts';
import { MAX_API_KEY_CHARACTERS } from '../../platform/http/limits.ts';
import { routeOf, type Middleware, type RequestKoa } from '../../platform/http/request.ts';
import type { Route } from '../../platform/http/route.ts';
import type { FailureLimit } from '../../platform/http/middleware/rate-limit.ts';

const FAILURES: ReadonlySet<string> = new Set([
  'UNAUTHORIZED',
  'INVALID_TOKEN',
  'SESSION_EXPIRED',
  'IP_NOT_WHITELISTED',
  // Of another site, or about an account of others; and without the headers that name one.
  'FORBIDDEN',
  'VALIDATION_ERROR',
]);

const isFailure = (error: unknown): boolean => error instanceof DomainError && FAILURES.has(error.code);

export function authenticate({
  accounts,
  checkPerson,
  checkUser,
  failures,
}: {
  readonly accounts: UseCases['accounts'];
  /** For routes that are for people. */
  readonly checkPerson: (ctx: RequestKoa, beforeKeyLookup: BeforeKeyLookup) => Promise<void>;
  /** For routes that are for users, and in place of a key. */
  readonly checkUser: (ctx: RequestKoa) => Promise<Principal | undefined>;
  readonly failures: FailureLimit;
}): Middleware {
  const isAllowed = addressChecker();
  return async (ctx, next) => {
    const attempt = { isCounted: false };
    // Throws RATE_LIMIT_EXCEEDED where the address had too many.
    const beforeKeyLookup = async (): Promise<void> => {
      await failures.count(ctx);
      attempt.isCounted = true;
    };
    try {
      if (isForPeople(ctx)) await checkPerson(ctx, beforeKeyLookup);
      else if (isForUsers(ctx)) ctx.state.principal = await checkUser(ctx);
      else ctx.state.principal = await identify(ctx, { accounts, checkUser, beforeKeyLookup });
      if (ctx.state.principal && !isAllowed(ctx.state.principal, ctx.state.clientAddress)) {
        throw new DomainError(
          'IP_NOT_WHITELISTED',
          `This key may not be used from your address, ${ctx.state.clientAddress}`,
        );
      }
    } catch (error) {
      if (isFailure(error) && !attempt.isCounted) await failures.count(ctx);
      if (!isFailure(error) && attempt.isCounted) await failures.giveBack(ctx);
      throw asWalletError(ctx, error);
    }
    if (attempt.isCounted) await failures.giveBack(ctx);
    // No other route hashes a password.
    if (!isForPeople(ctx) && !isForUsers(ctx)) {
      await next();
      return;
    }
    const { browser, clientAddress } = ctx.state;
    const isForOperators = browser?.isForOperators ?? routeOf(ctx)?.key === 'login';
    const who = { lane: isForOperators ? 'operator' : 'usual', from: addressBucket(clientAddress) } as const;
    await hashingFor(who, next);
  };
}

const mayUseKey = (ctx: RequestKoa): boolean =>
  !isForPeople(ctx) && !isForUsers(ctx) && routeOf(ctx)?.key !== 'vendor';

/** Whether the route is for people, who send no API key. */
export function isForPeople(ctx: RequestKoa): boolean {
  const rule = routeOf(ctx)?.key;
  return rule === 'session' || rule === 'login';
}

/** Whether the route is for users who sign in at the dashboard. */
export function isForUsers(ctx: RequestKoa): boolean {
  const rule = routeOf(ctx)?.key;
  return rule === 'anybody' || rule === 'user' || rule === 'member';
}

async function identify(
  ctx: RequestKoa,
  {
    accounts,
    checkUser,
    beforeKeyLookup,
  }: {
    readonly accounts: UseCases['accounts'];
    readonly checkUser: (ctx: RequestKoa) => Promise<Principal | undefined>;
    readonly beforeKeyLookup: BeforeKeyLookup;
  },
): Promise<Principal | undefined> {
  if (!mayUseKey(ctx)) return undefined;
  const { key: rule, takesBearer, keysOnly } = routeOf(ctx) ?? {};
  const header = ctx.req.headers['x-api-key'] ?? (takesBearer && bearerOf(ctx));
  if (header === undefined) {
    const isForKeys = rule === 'public' || rule === undefined || keysOnly;
    const member = isForKeys ? undefined : await checkUser(ctx);
    if (member || rule !== 'required') return member;
    const where = takesBearer ? 'as Authorization: Bearer …' : 'in the X-API-Key header';
    throw new DomainError('UNAUTHORIZED', `Send your API key ${where}`);
  }
  // Node joins a repeated header with ", ", which no key contains.
  if (typeof header !== 'string' || header.length > MAX_API_KEY_CHARACTERS) throw invalidToken();
  return accounts.authenticate(header, beforeKeyLookup);
}

/** Wallet routes answer every failed authentication with UNAUTHORIZED. */
function asWalletError(ctx: RequestKoa, error: unknown): unknown {
  const isWallet = routeOf(ctx)?.keyErrors === 'wallet';
  if (!isWallet || !(error instanceof DomainError) || error.code !== 'INVALID_TOKEN') return error;
  return new DomainError('UNAUTHORIZED', error.message);
}

/** A key is mostly used from one place, so each list remembers its compiled form and its last answer. */
function addressChecker(): (principal: Principal, address: string) => boolean {
  const known = new WeakMap<
    readonly string[],
    { readonly check: (address: string) => boolean; address: string; allowed: boolean }
  >();
  return ({ allowedAddresses }, address) => {
    const list = known.get(allowedAddresses);
    if (list?.address === address) return list.allowed;
    const check = list?.check ?? compileRanges(allowedAddresses);
    const allowed = check(address);
    known.set(allowedAddresses, { check, address, allowed });
    return allowed;
  };
}

/** A token has 79 characters. */
const BEARER = /^Bearer ([!-~]{1,200})$/i;

/** Tokens of sessions that were valid a moment ago: not this many people sign in at once. */
const KNOWN_TOKENS = 1_000;

/** What reverse proxies add. Other clients do not send these. */
const PROXY_HEADERS = [
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'x-forwarded-host',
  'x-forwarded-proto',
] as const;

export interface UserSettings {
  /** Addresses or ranges that operators may sign in and act from. */
  readonly opsAddresses: readonly string[];
  readonly trustedProxies: readonly string[];
  /** Where browsers reach the service. */
  readonly publicUrl: string;
}

function operatorAddresses({ opsAddresses, trustedProxies }: Omit<UserSettings, 'publicUrl'>) {
  const isAllowed = requireRanges(opsAddresses);
  const isTrusted = requireRanges(trustedProxies);
  return {
    isAllowed: (ctx: RequestKoa): boolean => isAllowed(ctx.state.clientAddress),
    isBehindProxy: (ctx: RequestKoa): boolean => isBehindProxy(ctx, isTrusted),
  };
}

/**
 * Finds the person of a request whose route is for people. Its check throws UNAUTHORIZED, INVALID_TOKEN and
 * IP_NOT_WHITELISTED; NOT_FOUND without `ops`. Throws RangeError on an entry that is neither address nor
 * range, so that a typing error shows at start.
 */
export function createPersonCheck(
  { ops }: Pick<UseCases, 'ops'>,
  { opsAddresses, trustedProxies, publicUrl }: UserSettings,
): (ctx: RequestKoa, beforeKeyLookup: BeforeKeyLookup) => Promise<void> {
  const addresses = operatorAddresses({ opsAddresses, trustedProxies });
  // Someone who guesses tokens from the same address must not lock out people who are signed in. Postgres
  // checks these tokens too.
  const known = new LRUCache<string, true>({ max: KNOWN_TOKENS });
  return async (ctx, beforeKeyLookup) => {
    if (!ops) throw new DomainError('NOT_FOUND', 'No such route');
    if (addresses.isBehindProxy(ctx))
      throw new DomainError(
        'IP_NOT_WHITELISTED',
        'This came through a proxy that is not trusted, or that sends no X-Forwarded-For',
      );
    if (!addresses.isAllowed(ctx))
      throw new DomainError(
        'IP_NOT_WHITELISTED',
        `People may not sign in from your address, ${ctx.state.clientAddress}`,
      );
    if (routeOf(ctx)?.key !== 'session') return;
    const { authorization, cookie } = ctx.req.headers;
    const { clientAddress } = ctx.state;
    if (authorization === undefined) {
      const device = deviceWords(ctx.req.headers['user-agent']);
      ctx.state.browser = { cookie, clientAddress, device, isForOperators: true };
      ctx.state.session = (await ops.sessions.find(ctx.state.browser))?.operator;
      if (!ctx.state.session) throw new DomainError('UNAUTHORIZED', SIGN_IN.session);
      requireSameOrigin(ctx, publicUrl);
      return;
    }
    const token = tokenOf(authorization);
    const sha256 = hash('sha256', token);
    if (!known.get(sha256)) await beforeKeyLookup();
    try {
      Object.assign(ctx.state, await ops.sessions.authenticate(token, clientAddress));
      known.set(sha256, true);
    } catch (error) {
      if (isFailure(error)) known.delete(sha256);
      throw error;
    }
  };
}

/**
 * Whether a proxy sent this that does not say for whom, or is not believed. Its own address says nothing
 * about who is behind it: with a proxy on the same machine, the whole internet would come from 127.0.0.1.
 */
function isBehindProxy({ req }: RequestKoa, isTrusted: (address: string) => boolean): boolean {
  if (isTrusted(peerAddress(req.socket.remoteAddress) ?? ''))
    return req.headers['x-forwarded-for'] === undefined;
  return PROXY_HEADERS.some((name) => req.headers[name] !== undefined);
}

/** Empty, which is no key, where the header holds something else. */
function bearerOf({ req: { headers } }: RequestKoa): string | undefined {
  return headers.authorization && (BEARER.exec(headers.authorization)?.[1] ?? '');
}

function tokenOf(authorization: string): string {
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) throw unknownSession();
  return token;
}

/**
 * Lets in a user of the dashboard by the cookie of their session. Returns the member as whom they ask, where
 * the route is about an account. Throws UNAUTHORIZED, SESSION_EXPIRED; FORBIDDEN for a request of another
 * site, and for an account of others; NOT_FOUND without `users`.
 */
export function createUserCheck(
  users: UseCases['users'],
  settings: UserSettings,
): (ctx: RequestKoa) => Promise<Principal | undefined> {
  const { publicUrl } = settings;
  const addresses = operatorAddresses(settings);
  const browserRequestOf = (ctx: RequestKoa): BrowserRequest => ({
    cookie: ctx.req.headers.cookie,
    clientAddress: ctx.state.clientAddress,
    device: deviceWords(ctx.req.headers['user-agent']),
    isForOperators: addresses.isAllowed(ctx) && !addresses.isBehindProxy(ctx),
  });
  return async (ctx) => {
    const rule = routeOf(ctx)?.key;
    if (!users) {
      if (rule === 'required' || rule === 'optional') return undefined;
      throw new DomainError('NOT_FOUND', 'No such route');
    }
    const browser = browserRequestOf(ctx);
    ctx.state.browser = browser;
    if (rule === 'anybody') {
      requireNoOtherSite(ctx, publicUrl);
      return undefined;
    }
    // A catalogue that anybody may read asks for no account.
    if (rule === 'optional' && ctx.req.headers[ACCOUNT_HEADER] === undefined) return undefined;
    const session = await users.auth.findSession(browser);
    if (!session) {
      if (rule === 'required' || rule === 'optional') return undefined;
      throw new DomainError('UNAUTHORIZED', SIGN_IN.user);
    }
    requireSameOrigin(ctx, publicUrl);
    ctx.state.userSession = session;
    if (rule === 'user') return undefined;
    const { accountId, environment } = placeOf(ctx);
    const member = await users.auth.findMember(session, accountId);
    ctx.state.member = member;
    return memberCaller(member, environment);
  };
}

const ACCOUNT_HEADER = 'simway-account';
const ENVIRONMENT_HEADER = 'simway-environment';

/** The account and the environment that the page shows. */
function placeOf({ req }: RequestKoa): Pick<Principal, 'environment'> & { readonly accountId: string } {
  const accountId = req.headers[ACCOUNT_HEADER];
  const environment = ENVIRONMENTS.find((one) => one === req.headers[ENVIRONMENT_HEADER]);
  const problems = [
    ...(typeof accountId === 'string' && accountId !== '' ? [] : ['Simway-Account: is required']),
    ...(environment ? [] : [`Simway-Environment: must be one of ${ENVIRONMENTS.join(', ')}`]),
  ];
  if (typeof accountId !== 'string' || !environment || problems.length > 0)
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: problems });
  return { accountId, environment };
}

const isReading = ({ method }: RequestKoa): boolean => method === 'GET' || method === 'HEAD';

/** Refuses what another site has a browser send with our cookie. Throws FORBIDDEN. */
function requireSameOrigin(ctx: RequestKoa, publicUrl: string): void {
  if (isReading(ctx) || isFromOurPage(ctx, publicUrl)) return;
  throw new DomainError('FORBIDDEN', 'This request did not come from the dashboard');
}

/**
 * The same where no session is needed. Lets programs through: they send neither header and no cookie of ours.
 */
function requireNoOtherSite(ctx: RequestKoa, publicUrl: string): void {
  const { headers } = ctx.req;
  const isProgram = headers['sec-fetch-site'] === undefined && headers.origin === undefined;
  if (isProgram && !hasCookie(headers.cookie, publicUrl)) return;
  requireSameOrigin(ctx, publicUrl);
}

function isFromOurPage({ req: { headers } }: RequestKoa, publicUrl: string): boolean {
  if (headers['sec-fetch-site'] === 'same-origin') return true;
  return headers['sec-fetch-site'] === undefined && headers.origin === new URL(publicUrl).origin;
}

export function checkScope({ ops, users }: Pick<UseCases, 'ops' | 'users'>): Middleware {
  return async (ctx, next) => {
    const { session, member, principal } = ctx.state;
    const route = routeOf(ctx);
    if (session) await checkRole(ctx, ops);
    else if (route && member)
      await users?.auth.authoriseMember(
        member,
        route.memberPermission ?? permissionOfScope(route.scope),
        route.docs?.summary ?? 'this',
      );
    else refuseKey(route, principal);
    refuseLive(ctx);
    await next();
    // Before the answer is sent: what cannot be recorded is not read.
    if (member && principal?.installsRead?.size)
      await users?.auth.recordInstallReads(member, principal.environment, [...principal.installsRead]);
  };
}

function refuseLive(ctx: RequestKoa): void {
  if (routeOf(ctx)?.testKeysOnly && ctx.state.principal?.environment === 'live')
    throw new DomainError('FORBIDDEN', 'This works with test keys only: nothing simulates a live eSIM');
}

/**
 * Asks people alone: nobody is there to give a password with a key. A dry run changes nothing, so the body is
 * read before.
 */
export function requireConfirmed({ ops, users }: Pick<UseCases, 'ops' | 'users'>): Middleware {
  return async (ctx, next) => {
    const { session, userSession, browser = {}, environment, rawBody } = ctx.state;
    const { confirmed, body } = routeOf(ctx) ?? {};
    const isDryRun = body !== undefined && 'dryRun' in body.shape && rawBody['dryRun'] === true;
    const isAsked = confirmed === true || (confirmed === 'live' && environment === 'live');
    if (isAsked && !isDryRun) {
      if (session) await ops?.sessions.requireConfirmed(session, browser);
      else if (userSession) await users?.auth.requireConfirmed(userSession, browser);
    }
    await next();
  };
}

function refuseKey(route: Route | undefined, principal: Principal | undefined): void {
  const scope = route?.scope;
  if (scope !== undefined && principal && !principal.scopes.includes(scope))
    throw new DomainError('FORBIDDEN', `This key lacks the permission "${scope}"`);
}

async function checkRole(ctx: RequestKoa, ops: UseCases['ops']): Promise<void> {
  const { session, requestId, path } = ctx.state;
  const permission = routeOf(ctx)?.permission;
  if (!ops || !session || permission === undefined) throw new Error('a route for people has no permission');
  if (permission === 'own') return;
  await ops.sessions.authorise(session, permission, { subject: `${ctx.method} ${path}`, requestId });
}
