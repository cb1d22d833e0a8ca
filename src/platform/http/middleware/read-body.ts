/** Reads the body of routes that take one, as JSON or as bytes; a body sent anywhere else is never looked at. */
import type { IncomingHttpHeaders } from 'node:http';
import { asksFirst, declaredLength, readBytesBody, readJsonBody, type BodyLimits } from '../body.ts';
import { MAX_DISCARDED_BODY_BYTES } from '../limits.ts';
import { routeOf, type Middleware, type RequestKoa } from '../request.ts';
import { pickShape } from './find-route.ts';

/** `maxJsonBytes`: of JSON bodies; a route that takes bytes has a limit of its own. */
export function readBody(maxJsonBytes: number): Middleware {
  return (ctx, next) => {
    const route = routeOf(ctx);
    if (route?.body) return readJson(ctx, maxJsonBytes).then(next);
    return route?.bytes ? readBytes(ctx, route.bytes.maxBytes).then(next) : next();
  };
}

async function readJson(ctx: RequestKoa, maxBytes: number): Promise<void> {
  ctx.state.rawBody = await readJsonBody(ctx.req, limitsOf(ctx, maxBytes));
  pickShape(ctx);
}

async function readBytes(ctx: RequestKoa, maxBytes: number): Promise<void> {
  const bytes = await readBytesBody(ctx.req, limitsOf(ctx, maxBytes));
  ctx.state.received = { bytes, headers: singleHeaders(ctx.req.headers) };
}

function limitsOf(ctx: RequestKoa, maxBytes: number): BodyLimits {
  // What is left of a refused body is read and dropped; a huge one ends the connection instead.
  if ((declaredLength(ctx.req) ?? 0) > MAX_DISCARDED_BODY_BYTES) ctx.state.headers['Connection'] = 'close';
  return {
    maxBytes,
    onWanted: () => {
      if (asksFirst(ctx.req)) ctx.res.writeContinue();
    },
  };
}

/** Repeated headers become one text, as Node joins most of them by itself. */
function singleHeaders(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
