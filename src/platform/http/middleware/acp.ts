/** The headers of the Agentic Commerce Protocol, on the routes that speak it. */
import { DomainError } from '../../../domain/errors.ts';
import { ACP_VERSION } from '../acp.ts';
import { routeOf, type Middleware, type RequestKoa } from '../request.ts';
import { isWellFormedId } from './arrival.ts';
import { isWellFormedKey } from './idempotency.ts';

const speaksAcp = (ctx: RequestKoa): boolean => routeOf(ctx)?.protocol === 'acp';

/** Every answer, refusals too, repeats the caller's own id of the request and its Idempotency-Key. */
export function echoAcpHeaders(): Middleware {
  return (ctx, next) => {
    if (!speaksAcp(ctx)) return next();
    const { 'request-id': id, 'idempotency-key': key } = ctx.req.headers;
    if (isWellFormedId(id)) ctx.state.headers['Request-Id'] = id;
    if (isWellFormedKey(key)) ctx.state.headers['Idempotency-Key'] = key;
    return next();
  };
}

/** UNSUPPORTED_API_VERSION, IDEMPOTENCY_KEY_REQUIRED. Before the body is read. */
export function requireAcpHeaders(): Middleware {
  return (ctx, next) => {
    if (!speaksAcp(ctx)) return next();
    if (ctx.req.headers['api-version'] !== ACP_VERSION)
      throw new DomainError('UNSUPPORTED_API_VERSION', `Send API-Version: ${ACP_VERSION}`);
    if (routeOf(ctx)?.method === 'POST' && ctx.req.headers['idempotency-key'] === undefined)
      throw new DomainError('IDEMPOTENCY_KEY_REQUIRED', 'Send an Idempotency-Key with every POST');
    return next();
  };
}
