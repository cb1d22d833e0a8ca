/**
 * Checks the key: is it one, and may it be used from this address. A key that is sent is always checked, on public routes too.
 * What fails here counts against the client address, never against the account, so a thief cannot use up its owner's limit.
 */
import type { UseCases } from '../../composition/use-cases.ts';
import type { Principal } from '../../../domain/account.ts';
import { invalidToken } from '../../../accounts/authenticate.ts';
import { DomainError } from '../../../domain/errors.ts';
import { compileRanges, requireRanges } from '../addresses.ts';
import { MAX_API_KEY_CHARACTERS } from '../limits.ts';
import { routeOf, type Middleware, type RequestKoa } from '../request.ts';

const FAILURES: ReadonlySet<string> = new Set(['UNAUTHORIZED', 'INVALID_TOKEN', 'IP_NOT_WHITELISTED']);

export function authenticate({
  accounts,
  checkPerson,
  countFailure,
}: {
  readonly accounts: UseCases['accounts'];
  /** For routes that are for people. */
  readonly checkPerson: (ctx: RequestKoa) => Promise<void>;
  /** Counts one failed attempt, and throws when there were too many. */
  readonly countFailure: (ctx: RequestKoa) => Promise<void>;
}): Middleware {
  const isAllowed = addressChecker();
  return async (ctx, next) => {
    try {
      if (isForPeople(ctx)) await checkPerson(ctx);
      else ctx.state.principal = await identify(ctx, accounts);
      if (ctx.state.principal && !isAllowed(ctx.state.principal, ctx.state.clientAddress)) {
        throw new DomainError('IP_NOT_WHITELISTED', 'This key may not be used from your address');
      }
    } catch (error) {
      if (error instanceof DomainError && FAILURES.has(error.code)) await countFailure(ctx);
      throw asWalletError(ctx, error);
    }
    return next();
  };
}

/** Whether the route is for people, who send no API key. */
export function isForPeople(ctx: RequestKoa): boolean {
  const rule = routeOf(ctx)?.key;
  return rule === 'session' || rule === 'login';
}

async function identify(ctx: RequestKoa, accounts: UseCases['accounts']): Promise<Principal | undefined> {
  const rule = routeOf(ctx)?.key;
  if (rule === 'vendor') return undefined;
  const header = ctx.req.headers['x-api-key'];
  if (header === undefined) {
    if (rule !== 'required') return undefined;
    throw new DomainError('UNAUTHORIZED', 'Send your API key in the X-API-Key header');
  }
  // Node joins a repeated header with ", ", which no key contains.
  if (typeof header !== 'string' || header.length > MAX_API_KEY_CHARACTERS) throw invalidToken();
  return accounts.authenticate(header);
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

/** A token has 47 characters. */
const BEARER = /^Bearer ([!-~]{1,200})$/i;

/**
 * Finds the person of a request whose route is for people. Its check throws UNAUTHORIZED, INVALID_TOKEN and IP_NOT_WHITELISTED; NOT_FOUND
 * without `ops`. Throws RangeError on an entry that is neither address nor range, so that a typing error shows at start.
 */
export function createPersonCheck(
  ops: UseCases['ops'],
  opsAddresses: readonly string[],
): (ctx: RequestKoa) => Promise<void> {
  const isAllowed = requireRanges(opsAddresses);
  return async (ctx) => {
    if (!ops) throw new DomainError('NOT_FOUND', 'There is nothing at this path');
    if (!isAllowed(ctx.state.clientAddress))
      throw new DomainError('IP_NOT_WHITELISTED', 'People may not sign in from your address');
    if (routeOf(ctx)?.key === 'session') ctx.state.session = await ops.sessions.authenticate(tokenOf(ctx));
  };
}

function tokenOf(ctx: RequestKoa): string {
  const { authorization } = ctx.req.headers;
  if (authorization === undefined)
    throw new DomainError('UNAUTHORIZED', 'Sign in, and send your token as Authorization: Bearer');
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined)
    throw new DomainError('INVALID_TOKEN', 'The session is unknown or has ended: sign in');
  return token;
}

export function checkScope(ops: UseCases['ops']): Middleware {
  return (ctx, next) => {
    const { principal, session } = ctx.state;
    if (session) return checkRole(ctx, ops).then(next);
    const scope = routeOf(ctx)?.scope;
    if (scope !== undefined && principal && !principal.scopes.includes(scope)) {
      throw new DomainError('FORBIDDEN', `This key lacks the permission "${scope}"`);
    }
    return next();
  };
}

async function checkRole(ctx: RequestKoa, ops: UseCases['ops']): Promise<void> {
  const { session, requestId, path } = ctx.state;
  const permission = routeOf(ctx)?.permission;
  if (!ops || !session || permission === undefined) throw new Error('a route for people has no permission');
  if (permission === 'own') return;
  await ops.sessions.authorise(session, permission, { subject: `${ctx.method} ${path}`, requestId });
}
