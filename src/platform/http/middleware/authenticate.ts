/**
 * Checks the key: is it one, and may it be used from this address. A key that is sent is always checked, on public routes too.
 * What fails here counts against the client address, never against the account, so a thief cannot use up its owner's limit.
 */
import type { UseCases } from '../../composition/use-cases.ts';
import type { Principal } from '../../../domain/account.ts';
import { DomainError } from '../../../domain/errors.ts';
import { compileRanges } from '../addresses.ts';
import { MAX_API_KEY_CHARACTERS } from '../limits.ts';
import { routeOf, type Middleware, type RequestKoa } from '../request.ts';

const FAILURES: ReadonlySet<string> = new Set(['UNAUTHORIZED', 'INVALID_TOKEN', 'IP_NOT_WHITELISTED']);

export interface AuthenticateOptions {
  readonly accounts: UseCases['accounts'];
  /** For routes that are for people. */
  readonly checkPerson: (ctx: RequestKoa) => Promise<void>;
  /** Counts one failed attempt, and throws when there were too many. */
  readonly countFailure: (ctx: RequestKoa) => Promise<void>;
}

export function authenticate({ accounts, checkPerson, countFailure }: AuthenticateOptions): Middleware {
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
      throw walletWords(ctx, error);
    }
    return next();
  };
}

function isForPeople(ctx: RequestKoa): boolean {
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
  if (typeof header !== 'string' || header.length > MAX_API_KEY_CHARACTERS) {
    throw new DomainError('INVALID_TOKEN', 'The API key is invalid or expired');
  }
  return accounts.authenticate(header);
}

/** Wallet routes tell every failed authentication as UNAUTHORIZED. */
function walletWords(ctx: RequestKoa, error: unknown): unknown {
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
