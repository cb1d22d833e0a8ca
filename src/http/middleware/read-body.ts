/** Reads the body of routes that take one; a body sent anywhere else is never looked at. */
import { declaredLength, readJsonBody } from '../body.ts';
import { MAX_DISCARDED_BODY_BYTES } from '../limits.ts';
import type { Middleware, RequestKoa } from '../request.ts';
import { pickShape } from './find-route.ts';

export function readBody(maxBytes: number): Middleware {
  return (ctx, next) => {
    const { match } = ctx.state;
    return match.kind === 'route' && match.route.body ? read(ctx, maxBytes).then(next) : next();
  };
}

async function read(ctx: RequestKoa, maxBytes: number): Promise<void> {
  // What is left of a refused body is read and dropped; a huge one ends the connection instead.
  if ((declaredLength(ctx.req) ?? 0) > MAX_DISCARDED_BODY_BYTES) ctx.state.headers['Connection'] = 'close';
  ctx.state.rawBody = await readJsonBody(ctx.req, maxBytes);
  pickShape(ctx);
}
