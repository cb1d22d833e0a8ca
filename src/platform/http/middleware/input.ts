/**
 * Reads the body of routes that take one, as JSON or as bytes, and turns raw input into what the handler's
 * types promise. A body that is sent to another route is never read.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import type Koa from 'koa';
import getRawBody from 'raw-body';
import type { z } from 'zod';
import { DomainError } from '../../../domain/errors.ts';
import { fieldOf, invalidRequest } from '../invalid-request.ts';
import { ClientGone } from '../errors.ts';
import { parseJson } from '../json.ts';
import { addressBucket } from '../../client-addresses.ts';
import { createByteBudget, type ByteBudget } from '../budgets.ts';
import { MAX_DISCARDED_BODY_BYTES, MAX_EVENT_BYTES, MAX_JSON_DEPTH, MAX_JSON_MEMBERS } from '../limits.ts';
import { routeOf, type Middleware, type RequestKoa, type RawQuery } from '../request.ts';
import type { BytesBody, Route } from '../route.ts';
import { pickShape } from './routing.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What bodies may hold: JSON bodies each; bodies that are taken as bytes have a limit of their own each, and
 * this one together.
 */
export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly maxEventBytesInFlight: number;
}

export function readBody({ maxBodyBytes, maxEventBytesInFlight }: BodyLimits): Middleware {
  const budget = createByteBudget({ maxBytes: maxEventBytesInFlight, maxItemBytes: MAX_EVENT_BYTES });
  const usual = { maxBytes: maxBodyBytes, maxMembers: MAX_JSON_MEMBERS };
  return (ctx, next) => {
    const route = routeOf(ctx);
    if (!route?.bytes && !route?.body) return next();
    refuseToDiscard(ctx);
    return route.bytes
      ? takeBytes(ctx, next, route.bytes, budget)
      : takeJson(ctx, next, route.bodyLimits ?? usual);
  };
}

async function takeJson(
  ctx: RequestKoa,
  next: Koa.Next,
  { maxBytes, maxMembers }: { readonly maxBytes: number; readonly maxMembers: number },
): Promise<void> {
  ctx.state.rawBody = await readJson(ctx, maxBytes, maxMembers);
  pickShape(ctx);
  await next();
}

/**
 * Bytes count as they arrive and until they are handled: to announce a large body takes nothing away from
 * others.
 */
async function takeBytes(
  ctx: RequestKoa,
  next: Koa.Next,
  { maxBytes, admit }: BytesBody,
  budget: ByteBudget,
): Promise<void> {
  const { useCases, clientAddress } = ctx.state;
  const headers = singleHeaders(ctx.req.headers);
  await admit(useCases[0] as never, headers, clientAddress);
  const sender = addressBucket(clientAddress);
  let taken = 0;
  const take = (bytes: number): void => {
    if (!budget.take(sender, bytes)) throw tooMuchAtOnce();
    taken += bytes;
  };
  try {
    const bytes = await receive(ctx, maxBytes, () => readCounted(ctx.req, maxBytes, take));
    ctx.state.received = { bytes, headers, clientAddress };
    await next();
  } finally {
    budget.giveBack(sender, taken);
  }
}

/** raw-body keeps what it has read until the end of the body, and cannot release it before. */
async function readCounted(
  request: IncomingMessage,
  maxBytes: number,
  take: (bytes: number) => void,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const arriving: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of arriving) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    take(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function tooMuchAtOnce(): DomainError {
  return new DomainError(
    'SERVICE_UNAVAILABLE',
    'Too many events arrive at the same time, send this one again',
  );
}

/** The body's object, or an empty one when there is no body; its numbers are literals (json.ts). */
async function readJson(ctx: RequestKoa, maxBytes: number, maxMembers: number): Promise<Fields> {
  const bytes = await receive(
    ctx,
    maxBytes,
    (request) => getRawBody(request, { limit: maxBytes }),
    requireJson,
  );
  return bytes.length === 0 ? {} : parseObject(bytes, maxMembers);
}

/** What is left of a refused body is read and dropped; a huge one ends the connection instead. */
function refuseToDiscard({ req, state }: RequestKoa): void {
  if (announcedBytes(req) > MAX_DISCARDED_BODY_BYTES) state.headers['Connection'] = 'close';
}

function announcedBytes({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}

/** A body that will be refused is not asked for (`Expect: 100-continue`) and not kept in memory. */
async function receive(
  { req, res }: RequestKoa,
  maxBytes: number,
  read: (request: IncomingMessage) => Promise<Buffer>,
  check?: (request: IncomingMessage) => void,
): Promise<Buffer> {
  const announced = announcedBytes(req);
  if (req.headers['transfer-encoding'] === undefined && announced === 0) return Buffer.alloc(0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  check?.(req);
  if (req.httpVersion !== '1.0' && req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();
  try {
    return await read(req);
  } catch (error) {
    // The reading has stopped; Node can only reuse the connection once the rest has been read.
    req.resume();
    if (error instanceof DomainError) throw error;
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
  if (!isJson(headers['content-type'] ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send a JSON body with Content-Type: application/json');
  }
}

/** JSON's type has no parameters (RFC 8259): they mean nothing. Another charset would be read wrongly. */
function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  try {
    const { essence, params } = new MIMEType(contentType);
    return essence === 'application/json' && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8');
  } catch {
    return false;
  }
}

/** Repeated headers become one text, as Node joins most of them by itself. */
function singleHeaders(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

function parseObject(bytes: Buffer, maxMembers: number): Fields {
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
  checkSize(value, maxMembers);
  // Only a flat text may go to the second parser: it calls back for every level.
  return parseJson(text) as Fields;
}

/** Walks level by level, so that depth costs no stack. Throws VALIDATION_ERROR. */
export function checkSize(body: object, maxMembers = MAX_JSON_MEMBERS): void {
  let members = 0;
  let level: object[] = [body];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH) throw invalidBody(`must not nest deeper than ${MAX_JSON_DEPTH} levels`);
    const next: object[] = [];
    for (const container of level) {
      for (const member of Object.values(container) as unknown[]) {
        members += 1;
        if (members > maxMembers) {
          throw invalidBody(`must not have more than ${maxMembers} members in all`);
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

/**
 * A path parameter that cannot be ours is not found. Everything else that is wrong is one refusal that names
 * every wrong field; where docs/API.md has its own message for missing fields, it comes first.
 */
export function validate(): Middleware {
  return (ctx, next) => {
    const { state } = ctx;
    if (state.match.kind === 'route') {
      const { route, params } = state.match;
      const known = checkParams(route, params);
      const problems: string[] = state.query.problem === undefined ? [] : [state.query.problem];
      const query = route.query && checkQuery(route, route.query, state.query, problems);
      const body = route.body ? check(route.body, state.rawBody, problems) : state.received;
      const missing = route.missing?.({ query: state.query.values, body: state.rawBody });
      if (missing !== undefined || problems.length > 0) throw invalidRequest(missing, problems);
      state.input = { params: known, query, body };
    }
    return next();
  };
}

function checkParams(
  route: Route,
  found: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const known: Record<string, string> = {};
  for (const [name, parameter] of Object.entries(route.params ?? {})) {
    const text = found[name];
    if (text === undefined || !parameter.isPossible(text)) {
      throw new DomainError(parameter.notFound.code, parameter.notFound.message);
    }
    known[name] = text;
  }
  return known;
}

function checkQuery(route: Route, schema: z.ZodObject, raw: RawQuery, problems: string[]): unknown {
  const values: Record<string, string> = {};
  for (const name of route.queryNames) {
    const value = raw.values.get(name);
    if (raw.repeated.has(name)) problems.push(`${name}: must be given once`);
    else if (value !== undefined) values[name] = value;
  }
  return check(schema, values, problems);
}

/** The schema's output; problems are added as `field: what is wrong`, one for each field. */
function check(schema: z.ZodObject, value: unknown, problems: string[]): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const named = new Set(problems.map(fieldOf));
  for (const issue of result.error.issues) {
    const field = issue.path.join('.') || 'body';
    if (named.has(field)) continue;
    named.add(field);
    problems.push(`${field}: ${issue.message}`);
  }
  return undefined;
}
