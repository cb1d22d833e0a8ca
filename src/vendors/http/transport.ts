/**
 * One HTTP exchange with a vendor, with one time limit and a size limit. Callers must treat a "lost" answer
 * as unknown. Bodies and headers are never logged. This is the one place that sends, so it is where an effect
 * is held to its fence: after it nothing is sent.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { buildConnector, errors, Pool, type Dispatcher } from 'undici';
import type { z } from 'zod';
import type { Fence } from '../../domain/fence.ts';

/** Far more than one process ever has under way at one vendor; bounds what a hanging vendor can pile up. */
const MAX_CONNECTIONS = 128;
/** Unless the vendor says how long it keeps a connection. */
const KEEP_ALIVE_MS = 60_000;
/** A retry any later is the caller's own schedule. */
const LONGEST_RETRY_AFTER_MS = 60_000;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** Begins with `/`; may carry a query. */
  readonly path: string;
  /** On top of those about the body. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
}

/**
 * `isIdempotent`: a repeat changes nothing at the vendor, so it is sent again if a kept-alive connection
 * turns out to be closed.
 */
export type Effect =
  { readonly isIdempotent: true } | { readonly isIdempotent?: false; readonly fence: Fence };

export type SendOptions = Effect & {
  /** From the first byte sent to the last byte received. */
  readonly timeLimitMs: number;
  readonly maxBodyBytes: number;
};

/** No complete answer came, or none that can be trusted. */
export interface NoAnswer {
  readonly kind: 'lost';
  readonly detail: string;
  readonly retryAfterMs?: number;
  /** Held back by our own rate limit or by its fence: the vendor never got it. */
  readonly notSent?: true;
}

/** A complete answer of a vendor that is up: any status below 500 but 429. */
export interface HttpAnswer {
  readonly kind: 'answered';
  readonly status: number;
  readonly body: string;
  /** The vendor's clock, in Unix milliseconds; NaN where it does not say. */
  readonly vendorTimeMs: number;
}

/** Makes the transport; one per account and base address. Throws when the address is no http or https URL. */
export function createTransport({
  baseUrl,
  busyRetryMs,
}: {
  /** The vendor's address, or where a simulator listens; a path in it is kept. */
  readonly baseUrl: string;
  /** When to ask again where the vendor is busy and does not say. */
  readonly busyRetryMs: number;
}) {
  const base = new URL(baseUrl);
  if (base.protocol !== 'https:' && base.protocol !== 'http:')
    throw new TypeError('baseUrl must be http or https');
  const root = base.pathname.replace(/\/+$/, '');
  // Its own limits are off: a trickle of bytes pushes them back for ever, and it would say less of what went
  // wrong.
  const connections = createConnections();
  const pool = new Pool(base.origin, {
    connect: connections.connect,
    connections: MAX_CONNECTIONS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
  return {
    /** Sends one request, rebuilt for every attempt. Never rejects. */
    send: async (make: () => HttpRequest, options: SendOptions): Promise<HttpAnswer | NoAnswer> => {
      const attempt = () => exchange(pool, root, make(), options, busyRetryMs);
      try {
        return await attempt();
      } catch (error) {
        if (options.isIdempotent !== true || !connections.wasStale(error)) return toTransportFailure(error);
      }
      return attempt().catch(toTransportFailure);
    },
    /** Closes all connections; a call under way is lost, so drain first. */
    close: () => void pool.destroy(),
  };
}

/**
 * Connections that know whether one broke that had answered before: closed by the vendor before it saw the
 * request. undici does not say it of a reset.
 */
function createConnections() {
  const connectTo = buildConnector({});
  const stale = new WeakSet<Error>();
  const connect: buildConnector.connector = (options, callback) =>
    connectTo(options, (...result) => {
      const [, socket] = result;
      socket?.prependOnceListener('error', (error: Error) => {
        if (socket.bytesRead > 0) stale.add(error);
      });
      callback(...result);
    });
  return {
    connect,
    wasStale: (error: unknown): boolean =>
      error instanceof Error &&
      brokenBeforeAnswer.has(error) &&
      (stale.has(error) || (error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0)),
  };
}

/** Faults before the vendor's answer began. */
const brokenBeforeAnswer = new WeakSet<Error>();

/**
 * One request and its whole answer. Rejects on any transport fault, an answer that is too long, and the time
 * limit.
 */
async function exchange(
  pool: Pool,
  root: string,
  request: HttpRequest,
  options: SendOptions,
  busyRetryMs: number,
): Promise<HttpAnswer | NoAnswer> {
  const { timeLimitMs, maxBodyBytes } = options;
  const sender = options.isIdempotent === true ? pool : fenced(pool, options.fence);
  const abort = new AbortController();
  const timer = setTimeout(
    () => abort.abort(new Error(`no whole answer within ${timeLimitMs} ms`)),
    timeLimitMs,
  );
  try {
    const { statusCode, headers, body } = await sender
      .request({
        method: request.method,
        path: root + request.path,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...request.headers,
        },
        body: request.body ?? null,
        signal: abort.signal,
      })
      .catch((error: unknown) => {
        brokenBeforeAnswer.add(error as Error);
        throw error;
      });
    const text = await readText(body, maxBodyBytes);
    // undici frees a connection one turn later; without this the next request would open another one.
    await nextTurn();
    return toAnswer(statusCode, text, headers, busyRetryMs);
  } finally {
    clearTimeout(timer);
  }
}

class FenceOver extends Error {
  override readonly name = 'FenceOver';
}

/**
 * Refuses a request at the last moment: its connection is open, and the next thing would be to write its
 * first byte.
 */
const fenced = (pool: Pool, fence: Fence): Dispatcher =>
  pool.compose(
    (dispatch) => (options, handler) =>
      dispatch(options, {
        onRequestStart: (...args) => {
          if (fence.isOver()) throw new FenceOver('not sent: the time for it is over');
          handler.onRequestStart?.(...args);
        },
        onResponseStart: (...args) => handler.onResponseStart?.(...args),
        onResponseData: (...args) => handler.onResponseData?.(...args),
        onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
        onResponseError: (...args) => handler.onResponseError?.(...args),
      }),
  );

async function readText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`answer of more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function toTransportFailure(error: unknown): NoAnswer {
  if (error instanceof FenceOver) return { kind: 'lost', detail: error.message, notSent: true };
  const { code, message } = error as NodeJS.ErrnoException;
  return {
    kind: 'lost',
    detail: code === undefined || message.includes(code) ? message : `${code}: ${message}`,
  };
}

/**
 * 429 and 5xx are lost, whatever their body is: a proxy may answer while the vendor still carries the request
 * out.
 */
function toAnswer(
  status: number,
  body: string,
  { date, 'retry-after': retryAfter }: IncomingHttpHeaders,
  busyRetryMs: number,
): HttpAnswer | NoAnswer {
  if (status !== 429 && status < 500)
    return { kind: 'answered', status, body, vendorTimeMs: Date.parse(String(date)) };
  const detail = `HTTP ${status}`;
  if (status !== 429 && status !== 503) return { kind: 'lost', detail };
  const isSeconds = typeof retryAfter === 'string' && /^\d{1,6}$/.test(retryAfter);
  const askedMs = isSeconds ? Math.max(Number(retryAfter) * 1000, 1) : busyRetryMs;
  return { kind: 'lost', detail, retryAfterMs: Math.min(askedMs, LONGEST_RETRY_AFTER_MS) };
}

/** An answer that is not what the vendor's reference promises. */
export class UnreadableAnswer extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableAnswer';
  }
}

/**
 * Reads a value; throws UnreadableAnswer with the first field that is not as the schema wants it. `what`
 * names the whole; `error` words a fault that the schema does not word itself.
 */
export function readAs<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { what, error }: { readonly what: string; readonly error?: z.core.$ZodErrorMap },
): z.output<Schema> {
  const read = schema.safeParse(value, { error });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UnreadableAnswer(`${issue?.path.join('.') || what} ${issue?.message ?? ''}`);
}

/**
 * Parses JSON with every number kept as the text it was written as. Throws SyntaxError when it is no JSON.
 */
export function parseWithNumbersAsText(json: string): unknown {
  const keepSource = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' ? (context?.source ?? '') : value;
  const parsed: unknown = JSON.parse(json, keepSource);
  return parsed;
}
