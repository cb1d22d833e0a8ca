/**
 * One HTTP exchange with a vendor: kept-alive connections, a time limit over the whole exchange, a limit on the answer. Guarantee: never
 * throws and never guesses; what is not a whole answer is "lost", which callers must treat as unknown. Must not log bodies or headers,
 * and knows no vendor.
 *
 * node:http rather than fetch: measured at a third of the processor time per call, with a pool that can be closed.
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** Far more than one process ever has under way at one vendor; bounds what a hanging vendor can pile up. */
const MAX_CONNECTIONS = 128;
/** A retry any later is the caller's own schedule. */
const LONGEST_RETRY_AFTER_MS = 60_000;

export interface TransportOptions {
  /** The vendor's address, or where a simulator listens; a path in it is kept. */
  readonly baseUrl: string;
  /** When to ask again where the vendor is busy and does not say. */
  readonly busyRetryMs: number;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** Begins with `/`; may carry a query. */
  readonly path: string;
  /** On top of those about the body. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
}

export interface SendOptions {
  /** From the first byte sent to the last byte received. */
  readonly timeLimitMs: number;
  readonly maxBodyBytes: number;
  /** Asks for nothing to be done, so it is sent again when a kept-alive connection turns out to be closed. */
  readonly question: boolean;
}

/** Nothing that can be trusted came back. */
export interface Lost {
  readonly kind: 'lost';
  readonly detail: string;
  readonly retryAfterMs?: number;
}

/** A whole answer of a vendor that is up: any status below 500 but 429. */
export interface Heard {
  readonly kind: 'heard';
  readonly status: number;
  readonly body: string;
}

export interface Transport {
  /** Sends one request, made anew for every attempt. Never rejects. */
  send(make: () => HttpRequest, options: SendOptions): Promise<Heard | Lost>;
  /** Closes all connections; a call under way is lost, so drain first. */
  close(): void;
}

/** Makes the transport; one per account and base address. Throws when the address is no http or https URL. */
export function createTransport(options: TransportOptions): Transport {
  const base = new URL(options.baseUrl);
  if (base.protocol !== 'https:' && base.protocol !== 'http:')
    throw new TypeError('baseUrl must be http or https');
  const root = base.pathname.replace(/\/+$/, '');
  const agentOptions = { keepAlive: true, maxSockets: MAX_CONNECTIONS };
  const agent = base.protocol === 'https:' ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);
  const hear = (reply: Reply): Heard | Lost => heardOf(reply, options.busyRetryMs);

  return {
    send: async (make, limits) => {
      const attempt = (): Promise<Reply> => {
        const request = make();
        return exchange({ url: new URL(root + request.path, base), agent, request, limits });
      };
      try {
        return hear(await attempt());
      } catch (error) {
        if (!(limits.question && error instanceof StaleConnection)) return lostBy(error);
      }
      return attempt().then(hear, lostBy);
    },
    close: () => agent.destroy(),
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
  readonly request: HttpRequest;
  readonly limits: SendOptions;
}

function headersOf({ headers, body }: HttpRequest): Record<string, string> {
  const about = { Accept: 'application/json', 'Accept-Encoding': 'identity' };
  if (body === undefined) return { ...about, ...headers };
  const length = String(Buffer.byteLength(body));
  return { ...about, 'Content-Type': 'application/json', 'Content-Length': length, ...headers };
}

/** One request and its whole answer. Rejects on any transport fault, an answer that is too long, and the time limit. */
function exchange({ url, agent, request: asked, limits }: Exchange): Promise<Reply> {
  const { timeLimitMs, maxBodyBytes } = limits;
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = start(url, { method: asked.method, agent, headers: headersOf(asked) });
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
    request.end(asked.body);
  });
}

function lostBy(error: unknown): Lost {
  const { code, message } = error as NodeJS.ErrnoException;
  return {
    kind: 'lost',
    detail: code === undefined || message.includes(code) ? message : `${code}: ${message}`,
  };
}

/** 429 and 5xx are lost whatever their body says: a proxy may answer for a vendor that went on working. */
function heardOf({ status, retryAfter, body }: Reply, busyRetryMs: number): Heard | Lost {
  if (status !== 429 && status < 500) return { kind: 'heard', status, body };
  const waits = status === 429 || status === 503;
  return {
    kind: 'lost',
    detail: `HTTP ${status}`,
    ...(waits ? { retryAfterMs: retryAfterMs(retryAfter, busyRetryMs) } : {}),
  };
}

function retryAfterMs(header: string | undefined, otherwiseMs: number): number {
  const seconds = header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
  return seconds === undefined ? otherwiseMs : Math.min(Math.max(seconds * 1000, 1), LONGEST_RETRY_AFTER_MS);
}
