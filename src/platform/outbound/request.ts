import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import type { Clock } from '../../domain/clock.ts';
import { locate, type Located, type Network } from './network.ts';
import { retryAfterMs } from './retry-after.ts';
import type { Rules, UrlPolicy } from './target.ts';

/** Published in docs/WEBHOOKS.md. */
const TIME_LIMIT_MS = 15_000;
/** What a merchant sees of an answer. */
const KEPT_BYTES = 1_024;
/** Room for an error page. */
const MAX_ANSWER_BYTES = 64 * 1_024;

export interface Outbound {
  readonly rules: Rules;
  readonly network: Network;
  readonly clock: Clock;
  /** From the DNS query to the last byte of the answer. */
  readonly timeLimitMs?: number;
}

/** `policy`: createUrlGuard and createWebhookSender throw TypeError for one with an unreadable range. */
export interface OutboundOptions extends Omit<Outbound, 'rules'> {
  readonly policy: UrlPolicy;
}

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Why there is no complete answer. `refused-url`: the guard does not allow a connection. `unresolved`: the
 * name has no address. `bad-answer`: not HTTP.
 */
export type RequestFailure =
  | 'refused-url'
  | 'unresolved'
  | 'no-connection'
  | 'tls'
  | 'connection-lost'
  | 'time-limit'
  | 'answer-too-long'
  | 'bad-answer';

/** Names in lower case. */
export interface Header {
  readonly name: string;
  readonly value: string;
}

/** What went over the line. */
export interface Exchange {
  /** Absent where no connection came about. */
  readonly sentHeaders?: readonly Header[];
  /** In the order in which they came. Absent where no answer began. */
  readonly answerHeaders?: readonly Header[];
}

export type RequestOutcome = Exchange &
  (
    | {
        readonly outcome: 'answered';
        readonly status: number;
        readonly ms: number;
        /** The first kibibyte of the answer, as text that Postgres can store. */
        readonly bodyStart: string;
        readonly retryAfterMs?: number;
      }
    | {
        readonly outcome: 'failed';
        readonly reason: RequestFailure;
        /** For people; names no internal address. */
        readonly detail: string;
        readonly ms: number;
        /** Present when the answer began before it was cut off. */
        readonly status?: number;
        readonly bodyStart: string;
      }
  );

class RequestError extends Error {
  readonly reason: RequestFailure;
  constructor(reason: RequestFailure, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

interface Received {
  sentHeaders?: readonly Header[];
  answerHeaders?: readonly Header[];
  status?: number;
  bytes: number;
  kept: Buffer[];
}

/**
 * Sends one HTTP request to an untrusted server. Only to addresses that were just checked, on a connection of
 * its own, without redirects and proxies, within one time limit and a size limit. Never rejects.
 */
export async function guardedRequest(request: OutboundRequest, outbound: Outbound): Promise<RequestOutcome> {
  const { timeLimitMs = TIME_LIMIT_MS, clock } = outbound;
  const startedMs = performance.now();
  const received: Received = { bytes: 0, kept: [] };
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeLimitMs);
  const soFar = () => ({
    ms: Math.round(performance.now() - startedMs),
    bodyStart: startOf(received.kept),
    ...(received.sentHeaders && { sentHeaders: received.sentHeaders }),
    ...(received.answerHeaders && { answerHeaders: received.answerHeaders }),
  });
  try {
    const { statusCode = 0, headers } = await exchange(request, outbound, received, limit.signal);
    const waitMs = retryAfterMs(headers['retry-after'], clock.now());
    return { outcome: 'answered', status: statusCode, ...soFar(), retryAfterMs: waitMs };
  } catch (error) {
    const { reason, message } = limit.signal.aborted
      ? new RequestError('time-limit', `no complete answer within ${timeLimitMs} ms`)
      : toRequestError(error, 'connection-lost');
    return { outcome: 'failed', reason, detail: message, ...soFar(), status: received.status };
  } finally {
    clearTimeout(timer);
    // Closes whatever is still open.
    limit.abort();
  }
}

async function exchange(
  request: OutboundRequest,
  { rules, network }: Outbound,
  received: Received,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const located = await locate(request.url, rules, network, signal);
  if (!located.ok) {
    throw new RequestError(located.reason === 'unresolved' ? 'unresolved' : 'refused-url', located.detail);
  }
  return ask(request, located.target.url, await open(located, network, signal), received);
}

/**
 * Connects to one of the checked addresses; for https with TLS and a certificate that fits the host. Closed
 * by the signal.
 */
async function open({ target, addresses }: Located, network: Network, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const plain = addAbortSignal(signal, network.connect(addresses, target.port));
  await opened(plain, 'connect', signal, 'no-connection');
  if (target.url.protocol === 'http:') return plain;
  const secure = tlsConnect({
    socket: plain,
    host: target.host,
    servername: target.isAddress ? undefined : target.host,
    ca: network.certificates,
    ALPNProtocols: ['http/1.1'],
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
    rejectUnauthorized: true,
  });
  await opened(secure, 'secureConnect', signal, 'tls');
  return secure;
}

async function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
  failure: RequestFailure,
): Promise<void> {
  // Stays on: an error after the end must not end the process.
  socket.on('error', () => undefined);
  try {
    await once(socket, event, { signal });
  } catch (error) {
    throw toRequestError(error, failure);
  }
}

/** Sends the request over the open connection and reads the answer to its end. */
function ask(asked: OutboundRequest, url: URL, socket: Socket, received: Received): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = headersOf(asked, url);
  received.sentHeaders = Object.entries(headers).map(([name, value]) => ({
    name: name.toLowerCase(),
    value,
  }));
  const request = httpRequest({
    createConnection: () => socket,
    method: asked.method,
    path: url.pathname + url.search,
    setHost: false,
    headers,
  });
  const fail = (error: unknown): void => {
    reject(toRequestError(error, 'connection-lost'));
    request.destroy();
  };
  const limitSize = (bytes: number): void => {
    if (bytes > MAX_ANSWER_BYTES)
      fail(new RequestError('answer-too-long', `answer of more than ${MAX_ANSWER_BYTES} bytes`));
  };
  request.on('error', fail);
  request.on('close', () => fail(new Error('closed')));
  request.on('upgrade', () => fail(new RequestError('bad-answer', 'asks for another protocol')));
  request.on('information', () => limitSize(socket.bytesRead));
  request.on('response', (response) => {
    received.status = response.statusCode ?? 0;
    received.answerHeaders = headersIn(response.rawHeaders);
    response.on('data', (chunk: Buffer) => {
      if (received.bytes < KEPT_BYTES) received.kept.push(chunk.subarray(0, KEPT_BYTES - received.bytes));
      received.bytes += chunk.length;
      limitSize(received.bytes);
    });
    response.on('error', fail);
    response.on('end', () => resolve(response));
  });
  request.end(asked.body);
  return promise;
}

function headersOf({ headers, body }: OutboundRequest, url: URL): Record<string, string> {
  return {
    Host: url.host,
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
    ...headers,
    Connection: 'close',
  };
}

/** Node has names and values in turn. */
function headersIn(raw: readonly string[]): Header[] {
  return raw.flatMap((name, index) =>
    index % 2 === 0 ? [{ name: name.toLowerCase(), value: raw[index + 1] ?? '' }] : [],
  );
}

/** The detail is an error code where there is one: messages may name addresses. */
function toRequestError(error: unknown, otherwise: RequestFailure): RequestError {
  if (error instanceof RequestError) return error;
  const { code = '', message = '' } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return new RequestError(code.startsWith('HPE_') ? 'bad-answer' : otherwise, code === '' ? message : code);
}

/** Drops half a character at the end, and replaces NUL, which Postgres refuses. */
function startOf(kept: readonly Buffer[]): string {
  return new TextDecoder().decode(Buffer.concat(kept), { stream: true }).replaceAll('\0', '\ufffd');
}
