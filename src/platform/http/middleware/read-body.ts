/** Reads the body of routes that take one, as JSON or as bytes. A body that is sent to another route is never read. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { DomainError } from '../../../domain/errors.ts';
import { ClientGone } from '../errors.ts';
import { parseJson } from '../json.ts';
import { MAX_DISCARDED_BODY_BYTES, MAX_JSON_DEPTH, MAX_JSON_MEMBERS } from '../limits.ts';
import { routeOf, type Middleware, type RequestKoa } from '../request.ts';
import { pickShape } from './find-route.ts';

const JSON_CONTENT_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i;

type Fields = Readonly<Record<string, unknown>>;

/** `maxJsonBytes`: of JSON bodies; a route that takes bytes has a limit of its own. */
export function readBody(maxJsonBytes: number): Middleware {
  return async (ctx, next) => {
    const route = routeOf(ctx);
    if (route?.body) {
      ctx.state.rawBody = await readJson(ctx, maxJsonBytes);
      pickShape(ctx);
    } else if (route?.bytes) {
      const bytes = await receive(ctx, route.bytes.maxBytes);
      ctx.state.received = { bytes, headers: singleHeaders(ctx.req.headers) };
    }
    return next();
  };
}

/** The body's object, or an empty one when there is no body; its numbers are literals (json.ts). */
async function readJson(ctx: RequestKoa, maxBytes: number): Promise<Fields> {
  const bytes = await receive(ctx, maxBytes, requireJson);
  return bytes.length === 0 ? {} : parseObject(bytes);
}

/** A body that will be refused is not asked for (`Expect: 100-continue`) and not kept in memory. */
async function receive(
  { req, res, state }: RequestKoa,
  maxBytes: number,
  check?: (request: IncomingMessage) => void,
): Promise<Buffer> {
  const announced = Number(req.headers['content-length'] ?? 0);
  if (req.headers['transfer-encoding'] === undefined && announced === 0) return Buffer.alloc(0);
  // What is left of a refused body is read and dropped; a huge one ends the connection instead.
  if (announced > MAX_DISCARDED_BODY_BYTES) state.headers['Connection'] = 'close';
  if (announced > maxBytes) throw tooLarge(maxBytes);
  check?.(req);
  if (req.httpVersion !== '1.0' && req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();
  try {
    return await getRawBody(req, { limit: maxBytes });
  } catch (error) {
    // raw-body stops reading; Node can only reuse the connection once the rest has been read.
    req.resume();
    throw isTooLarge(error) ? tooLarge(maxBytes) : new ClientGone();
  }
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && 'type' in error && error.type === 'entity.too.large';

function tooLarge(maxBytes: number): DomainError {
  return new DomainError('PAYLOAD_TOO_LARGE', `The request body may have at most ${maxBytes} bytes`);
}

function requireJson({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding');
  }
  if (!JSON_CONTENT_TYPE.test(headers['content-type'] ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send a JSON body with Content-Type: application/json');
  }
}

/** Repeated headers become one text, as Node joins most of them by itself. */
function singleHeaders(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

function parseObject(bytes: Buffer): Fields {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new DomainError('INVALID_JSON', 'The request body is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidBody('must be a JSON object');
  }
  checkSize(value);
  // Only a flat text may go to the second parser: it calls back for every level.
  return parseJson(text) as Fields;
}

/** Walks level by level, so that depth costs no stack. */
function checkSize(body: object): void {
  let members = 0;
  let level: object[] = [body];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH) throw invalidBody(`must not nest deeper than ${MAX_JSON_DEPTH} levels`);
    const next: object[] = [];
    for (const container of level) {
      for (const member of Object.values(container) as unknown[]) {
        members += 1;
        if (members > MAX_JSON_MEMBERS) {
          throw invalidBody(`must not have more than ${MAX_JSON_MEMBERS} members in all`);
        }
        if (typeof member === 'object' && member !== null) next.push(member);
      }
    }
    level = next;
  }
}

function invalidBody(what: string): DomainError {
  return new DomainError('VALIDATION_ERROR', 'Invalid request', { details: `body: ${what}` });
}
