/**
 * Transport to the vendor: one POST per call over kept-alive connections, signed over the bytes that are sent, within a time limit
 * that covers the whole exchange. Guarantee: never throws and never guesses; whatever is not the vendor's own clear answer is "lost",
 * which callers must treat as unknown. Must not log bodies: they hold activation codes.
 *
 * node:http rather than fetch: measured at a third of the processor time per call, with a pool that can be closed.
 */
import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Clock } from '../../ports/clock.ts';
import type { Pacer } from '../../ports/rate-limiter.ts';
import { BUSY_RETRY_MS, CODE_TIMESTAMP_EXPIRED } from './codes.ts';
import { authenticationHeaders, type Credentials } from './sign.ts';
import { parseEnvelope } from './wire.ts';

const PREFIX = '/api/v1/open';
/** Far more than one process ever has under way at 8 requests a second; bounds what a hanging vendor can pile up. */
const MAX_CONNECTIONS = 128;
/** An eSIM is about 2 KB and a page of them at most 500. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** A retry any later is the caller's own schedule. */
const LONGEST_RETRY_AFTER_MS = 60_000;

export interface ClientOptions {
  /** `https://api.esimaccess.com`, or where a simulator listens; a path in it is kept. */
  readonly baseUrl: string;
  readonly credentials: Credentials;
  readonly pacer: Pacer;
  readonly clock: Clock;
  /** For a whole exchange, from the slot to the last byte. */
  readonly timeLimitMs: number;
  /** How long a call may wait for its slot before it is given up unsent. */
  readonly paceWithinMs: number;
}

export interface CallOptions {
  readonly timeLimitMs?: number;
  readonly maxBodyBytes?: number;
  /** Asks for nothing to be done, so it is sent again when a kept-alive connection turns out to be closed. */
  readonly question?: boolean;
}

/** What came back: the vendor's yes, its no with a code, or nothing that can be trusted. */
export type Answer =
  | { readonly kind: 'answered'; readonly obj: unknown }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'lost'; readonly detail: string; readonly retryAfterMs?: number };

export interface Client {
  /** Calls one operation, such as `/esim/order`. Never rejects. */
  call(operation: string, body: object, options?: CallOptions): Promise<Answer>;
  /** Closes all connections; a call under way is lost, so drain first. */
  close(): void;
}

/** Makes the transport; one per account and base address. Throws when the address is no http or https URL. */
export function createClient(options: ClientOptions): Client {
  const base = new URL(options.baseUrl);
  if (base.protocol !== 'https:' && base.protocol !== 'http:')
    throw new TypeError('baseUrl must be http or https');
  const root = base.pathname.replace(/\/+$/, '') + PREFIX;
  const agentOptions = { keepAlive: true, maxSockets: MAX_CONNECTIONS };
  const agent = base.protocol === 'https:' ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);
  const send: Send = (operation, body, limits) =>
    exchange({
      url: new URL(root + operation, base),
      agent,
      headers: headersFor(options, body),
      body,
      ...limits,
    });

  const attempt = async (operation: string, body: string, call: CallOptions): Promise<Answer> => {
    if (!(await options.pacer.takeSlot(options.paceWithinMs))) {
      return { kind: 'lost', detail: 'not sent: no slot within the rate limit', retryAfterMs: BUSY_RETRY_MS };
    }
    const limits = {
      timeLimitMs: call.timeLimitMs ?? options.timeLimitMs,
      maxBodyBytes: call.maxBodyBytes ?? MAX_BODY_BYTES,
    };
    try {
      const reply = await send(operation, body, limits);
      return readReply(reply);
    } catch (error) {
      if (!(call.question === true && error instanceof StaleConnection)) return lostBy(error);
    }
    return send(operation, body, limits).then(readReply, lostBy);
  };

  return {
    call: async (operation, body, call = {}) => {
      const text = JSON.stringify(body);
      const answer = await attempt(operation, text, call);
      // A clock a little off, or a request that waited too long: a fresh timestamp settles it, and if not, nothing will.
      const again = answer.kind === 'failed' && answer.code === CODE_TIMESTAMP_EXPIRED;
      return again ? attempt(operation, text, call) : answer;
    },
    close: () => agent.destroy(),
  };
}

type Send = (
  operation: string,
  body: string,
  limits: { timeLimitMs: number; maxBodyBytes: number },
) => Promise<Reply>;

function headersFor({ clock, credentials }: ClientOptions, body: string): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json',
    'Accept-Encoding': 'identity',
    'Content-Length': String(Buffer.byteLength(body)),
    ...authenticationHeaders(credentials, {
      timestamp: String(clock.now().getTime()),
      requestId: randomUUID().replaceAll('-', ''),
      body,
    }),
  };
}

interface Reply {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** A kept-alive connection that the other side closed before it saw the request. */
class StaleConnection extends Error {}

interface Exchange {
  readonly url: URL;
  readonly agent: HttpAgent | HttpsAgent;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly timeLimitMs: number;
  readonly maxBodyBytes: number;
}

/** One request and its whole answer. Rejects on any transport fault, an answer that is too long, and the time limit. */
function exchange({ url, agent, headers, body, timeLimitMs, maxBodyBytes }: Exchange): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = start(url, { method: 'POST', agent, headers });
    let answering = false;
    const fail = (error: Error): void => {
      clearTimeout(timer);
      reject(error);
      request.destroy();
    };
    // Not the socket's own time-out, which a trickle of bytes would push back for ever.
    const timer = setTimeout(() => fail(new Error(`no whole answer within ${timeLimitMs} ms`)), timeLimitMs);
    request.on('error', (error: NodeJS.ErrnoException) => {
      const stale =
        !answering && request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      fail(stale ? new StaleConnection('kept-alive connection was closed', { cause: error }) : error);
    });
    request.on('response', (response) => {
      answering = true;
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBodyBytes) fail(new Error(`answer of more than ${maxBodyBytes} bytes`));
        else chunks.push(chunk);
      });
      response.on('error', fail);
      response.on('end', () => {
        clearTimeout(timer);
        const { statusCode = 0, headers: answered } = response;
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: statusCode, retryAfter: answered['retry-after'], body: text });
      });
    });
    request.end(body);
  });
}

function lostBy(error: unknown): Answer {
  const { code, message } = error as NodeJS.ErrnoException;
  return {
    kind: 'lost',
    detail: code === undefined || message.includes(code) ? message : `${code}: ${message}`,
  };
}

/**
 * 429 and 5xx are lost whatever their body says: a proxy may answer for a vendor that went on working. A business error may come
 * with 200 or a 4xx; a success only with 2xx.
 */
function readReply({ status, retryAfter, body }: Reply): Answer {
  if (status === 429 || status >= 500) {
    const waits = status === 429 || status === 503;
    return {
      kind: 'lost',
      detail: `HTTP ${status}`,
      ...(waits ? { retryAfterMs: retryAfterMs(retryAfter) } : {}),
    };
  }
  try {
    const envelope = parseEnvelope(body);
    if (!envelope.success)
      return { kind: 'failed', code: envelope.code, message: envelope.message.slice(0, 200) };
    if (status >= 200 && status < 300) return { kind: 'answered', obj: envelope.obj };
    return { kind: 'lost', detail: `HTTP ${status} with a success inside` };
  } catch (error) {
    return { kind: 'lost', detail: `HTTP ${status}, unreadable: ${(error as Error).message}` };
  }
}

function retryAfterMs(header: string | undefined): number {
  const seconds = header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
  return seconds === undefined
    ? BUSY_RETRY_MS
    : Math.min(Math.max(seconds * 1000, 1), LONGEST_RETRY_AFTER_MS);
}
