/**
 * One HTTP request to somebody we do not trust: connected only to addresses that were checked a moment ago, followed nowhere, through no
 * proxy, over a connection of its own, within one time limit, with an end to what is read. Guarantee: never rejects and always ends; what
 * is not a whole answer is a failure with its reason. Must not log.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import type { DeliveryOutcome, SendFailure } from './webhook-sender.ts';
import type { Clock } from '../../domain/clock.ts';
import { locate, type Located } from './locate.ts';
import type { Network } from './network.ts';
import { retryAfterMs } from './retry-after.ts';
import type { Rules } from './target.ts';

/** What receivers are told in docs/WEBHOOKS.md: long enough for any honest one. */
const TIME_LIMIT_MS = 15_000;
/** What a merchant sees of an answer. */
const KEPT_BYTES = 1_024;
/** Room for an error page; more is somebody's mistake or attack. */
const MAX_ANSWER_BYTES = 64 * 1_024;

export interface Outbound {
  readonly rules: Rules;
  readonly network: Network;
  readonly clock: Clock;
  /** From the first question to a name server to the last byte of the answer. */
  readonly timeLimitMs?: number;
}

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Why a request ended without a whole answer. */
class Fault extends Error {
  readonly reason: SendFailure;
  constructor(reason: SendFailure, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/** What came before the end, for the log of attempts. */
interface Heard {
  status?: number;
  bytes: number;
  kept: Buffer[];
}

/** Sends one request. Never rejects. */
export async function guardedRequest(request: OutboundRequest, outbound: Outbound): Promise<DeliveryOutcome> {
  const { timeLimitMs = TIME_LIMIT_MS, clock } = outbound;
  const startedMs = performance.now();
  const heard: Heard = { bytes: 0, kept: [] };
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeLimitMs);
  const seen = (): { ms: number; bodyStart: string } => ({
    ms: Math.round(performance.now() - startedMs),
    bodyStart: startOf(heard.kept),
  });
  try {
    const answer = await exchange(request, outbound, heard, limit.signal);
    const waitMs = retryAfterMs(answer.headers['retry-after'], clock.now());
    return {
      outcome: 'answered',
      status: answer.statusCode ?? 0,
      ...seen(),
      ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    };
  } catch (error) {
    const fault = limit.signal.aborted
      ? new Fault('time-limit', `no whole answer within ${timeLimitMs} ms`)
      : faultOf(error, 'connection-lost');
    const { reason, message } = fault;
    const status = heard.status === undefined ? {} : { status: heard.status };
    return { outcome: 'failed', reason, detail: message, ...seen(), ...status };
  } finally {
    clearTimeout(timer);
    // Ends whatever is still open.
    limit.abort();
  }
}

async function exchange(
  asked: OutboundRequest,
  { rules, network }: Outbound,
  heard: Heard,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const located = await locate(asked.url, rules, network, signal);
  if (!located.ok)
    throw new Fault(located.reason === 'unresolved' ? 'unresolved' : 'refused-url', located.detail);
  return ask(asked, located.target.url, await open(located, network, signal), heard);
}

/** A connection to one of the checked addresses; for https a secure one, whose certificate fits the host. Ends with the signal. */
async function open({ target, addresses }: Located, network: Network, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const plain = network.connect(addresses, target.port);
  signal.addEventListener('abort', () => plain.destroy(new Error('given up')), { once: true });
  await opened(plain, 'connect', 'no-connection');
  if (target.url.protocol === 'http:') return plain;
  const secure = tlsConnect({
    socket: plain,
    host: target.host,
    ...(target.isAddress ? {} : { servername: target.host }),
    ...(network.certificates === undefined ? {} : { ca: network.certificates }),
    ALPNProtocols: ['http/1.1'],
    // Stated here, so that no setting of the environment turns it off.
    rejectUnauthorized: true,
  });
  await opened(secure, 'secureConnect', 'tls');
  return secure;
}

function opened(socket: Socket, event: string, otherwise: SendFailure): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error?: unknown): void => reject(faultOf(error ?? new Error('closed'), otherwise));
    socket.once(event, resolve);
    // Stays on: an error after all is over must not end the process.
    socket.on('error', fail);
    socket.once('close', () => fail());
  });
}

/** Sends the request over the connection and reads the answer to its end, within its limit. */
function ask(asked: OutboundRequest, url: URL, socket: Socket, heard: Heard): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      createConnection: () => socket,
      method: asked.method,
      path: url.pathname + url.search,
      setHost: false,
      headers: headersOf(asked, url),
    });
    const fail = (error: unknown): void => {
      reject(faultOf(error, 'connection-lost'));
      request.destroy();
    };
    const tooLong = (): void =>
      fail(new Fault('answer-too-long', `answer of more than ${MAX_ANSWER_BYTES} bytes`));
    request.on('error', fail);
    request.on('close', () => fail(new Error('closed')));
    request.on('upgrade', () => fail(new Fault('bad-answer', 'wants another protocol')));
    // Answers before the answer are not counted by anybody else.
    request.on('information', () => {
      if (socket.bytesRead > MAX_ANSWER_BYTES) tooLong();
    });
    request.on('response', (response) => {
      heard.status = response.statusCode ?? 0;
      response.on('data', (chunk: Buffer) => {
        if (heard.bytes < KEPT_BYTES) heard.kept.push(chunk.subarray(0, KEPT_BYTES - heard.bytes));
        heard.bytes += chunk.length;
        if (heard.bytes > MAX_ANSWER_BYTES) tooLong();
      });
      response.on('error', fail);
      response.on('end', () => resolve(response));
    });
    request.end(asked.body);
  });
}

function headersOf({ headers, body }: OutboundRequest, url: URL): Record<string, string> {
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  return {
    Host: url.host,
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    ...length,
    ...headers,
    Connection: 'close',
  };
}

/** A code rather than a message, which would name addresses. */
function faultOf(error: unknown, otherwise: SendFailure): Fault {
  if (error instanceof Fault) return error;
  const { code = '', message = '' } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return new Fault(code.startsWith('HPE_') ? 'bad-answer' : otherwise, code === '' ? message : code);
}

/** The kept bytes as text, without half a character at the end and without NUL, which Postgres does not take. */
function startOf(kept: readonly Buffer[]): string {
  return new TextDecoder().decode(Buffer.concat(kept), { stream: true }).replaceAll('\0', '\ufffd');
}
