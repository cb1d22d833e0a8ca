/** Finds out who is calling. Koa's own ctx.ip is not used: anyone can write its leftmost entry. */
import { LRUCache } from 'lru-cache';
import { DomainError } from '../../../domain/errors.ts';
import { requireRanges, resolveClientAddress } from '../addresses.ts';
import { ClientGone } from '../errors.ts';
import type { Middleware } from '../request.ts';

/**
 * `trustedProxies`: addresses or CIDR ranges. Throws on an entry that is neither, so that a typing error
 * shows at start.
 */
export function findClientAddress(trustedProxies: readonly string[]): Middleware {
  const isTrusted = requireRanges(trustedProxies);
  const direct = directAddresses(isTrusted);
  return (ctx, next) => {
    // Node joins repeated X-Forwarded-For headers in the order in which they came.
    const forwardedFor = ctx.req.headers['x-forwarded-for'];
    const peer = ctx.req.socket.remoteAddress;
    if (peer === undefined) throw new ClientGone();
    const header = Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor;
    const address = direct(peer) ?? resolveClientAddress(peer, header, isTrusted);
    if (address === undefined) {
      throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
        details: 'X-Forwarded-For: must be a list of addresses',
      });
    }
    ctx.state.clientAddress = address;
    return next();
  };
}

const PEERS_KEPT = 10_000;

/**
 * Remembers peers that are no proxies: theirs is the client's address, and their forwarding headers are
 * ignored.
 */
function directAddresses(isTrusted: (address: string) => boolean): (peer: string) => string | undefined {
  const known = new LRUCache<string, string>({ max: PEERS_KEPT });
  return (peer) => {
    const remembered = known.get(peer);
    if (remembered !== undefined) return remembered;
    const address = resolveClientAddress(peer, undefined, isTrusted);
    if (address === undefined || isTrusted(address)) return undefined;
    known.set(peer, address);
    return address;
  };
}
