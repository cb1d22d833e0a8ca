/**
 * Who is calling under /ops: only from addresses that the operator named, and, but for signing in, only with a session's token. A token comes
 * in a header that no browser sends by itself, so no page of somebody else's can act for whoever is signed in.
 */
import type { UseCases } from '../../composition/use-cases.ts';
import { DomainError } from '../../../domain/errors.ts';
import { compileRanges, parseRange } from '../addresses.ts';
import { routeOf, type RequestKoa } from '../request.ts';

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
  for (const entry of opsAddresses) {
    if (!parseRange(entry)) throw new RangeError(`"${entry}" is no address and no CIDR range`);
  }
  const isAllowed = compileRanges(opsAddresses);
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
