/**
 * What every request has from its arrival: an id, a trace, and its caller's address. Koa's own ctx.ip is not
 * used: anyone can write its leftmost entry.
 */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { DomainError } from '../../../domain/errors.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import { MAX_REQUEST_ID_CHARACTERS } from '../limits.ts';
import { routeLabel, CLIENT_CLOSED_REQUEST, type Middleware } from '../request.ts';
import { requireRanges, resolveClientAddress } from '../../client-addresses.ts';
import { ClientGone } from '../errors.ts';

const WELL_FORMED = new RegExp(`^[A-Za-z0-9._-]{1,${MAX_REQUEST_ID_CHARACTERS}}$`);

export const isWellFormedId = (header: unknown): header is string =>
  typeof header === 'string' && WELL_FORMED.test(header);

/** The id to use for what a caller sent. */
export function requestIdFrom(header: unknown): string {
  return isWellFormedId(header) ? header : randomUUID();
}

/** The id is on every answer: the caller's own when it is well formed, else a fresh one. */
export function assignRequestId(): Middleware {
  return (ctx, next) => {
    ctx.state.requestId = requestIdFrom(ctx.req.headers['x-request-id']);
    ctx.state.headers['X-Request-Id'] = ctx.state.requestId;
    ctx.state.subject = { requestId: ctx.state.requestId };
    return next();
  };
}

export function traceRequests(tracing: Tracing): Middleware {
  return (ctx, next) => {
    const { traceparent } = ctx.req.headers;
    return tracing.request(
      {
        method: ctx.req.method ?? '',
        traceparent: typeof traceparent === 'string' ? traceparent : undefined,
      },
      async () => {
        await next();
        const { subject, principal, answer } = ctx.state;
        return {
          route: routeLabel(ctx),
          status: answer?.status ?? CLIENT_CLOSED_REQUEST,
          ids: { ...subject, environment: principal?.environment },
        };
      },
    );
  };
}

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
