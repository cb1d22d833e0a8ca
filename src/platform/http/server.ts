/**
 * Listens, with limits on what a slow or broken client can hold. Stops in order: it takes no new connections,
 * finishes requests in progress, closes idle connections, and cuts the rest at the deadline. Also used for
 * the admin port.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { DomainError } from '../../domain/errors.ts';
import { requireRanges, addressBucket, peerAddress } from '../client-addresses.ts';
import { renderError } from './errors.ts';
import {
  CONNECTIONS_CHECK_INTERVAL_MS,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_TIMEOUT_MS,
  MAX_CONNECTIONS,
  MAX_CONNECTIONS_PER_ADDRESS,
  MAX_HEADER_BYTES,
  REQUEST_TIMEOUT_MS,
  WRITE_TIMEOUT_MS,
  MAX_REQUESTS_IN_PROGRESS,
} from './limits.ts';
import { requestIdFrom } from './middleware/arrival.ts';
import { createCounts } from './budgets.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface ServerOptions {
  readonly app: { callback(): Handler };
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Addresses or CIDR ranges whose connections are not limited per address. */
  readonly trustedProxies?: readonly string[];
  /** Called for each connection that was closed because of a limit. */
  readonly onClosed?: (closure: Closure) => void;
  /** The defaults of all numbers are in limits.ts. */
  readonly maxConnections?: number;
  readonly maxConnectionsPerAddress?: number;
  readonly writeTimeoutMs?: number;
  readonly headersTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly keepAliveTimeoutMs?: number;
  readonly connectionsCheckIntervalMs?: number;
}

export interface RunningServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /**
   * Drains; resolves when every connection is closed, at the latest after `deadlineMs`. Calling it twice is
   * once.
   */
  stop(deadlineMs: number): Promise<void>;
}

const IDLE_CHECK_INTERVAL_MS = 50;
/**
 * A connection made just before the stop may still send its request; Node counts it as busy, so it is ended
 * here.
 */
const SILENT_GRACE_MS = 500;

/**
 * Resolves when the server listens; rejects when it cannot. Throws RangeError when a trusted proxy is no
 * address.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const draining = { value: false };
  const connections = createConnections(
    {
      maxConnections: options.maxConnections ?? MAX_CONNECTIONS,
      maxConnectionsPerAddress: options.maxConnectionsPerAddress ?? MAX_CONNECTIONS_PER_ADDRESS,
      isTrustedProxy: requireRanges(options.trustedProxies ?? []),
    },
    options.onClosed ?? (() => undefined),
  );
  const server = createLimitedServer(options);
  limitConnections(server, connections, options);
  const handler = track(options.app.callback(), connections, draining);
  server.on('request', handler);
  // input.ts asks for the body, so one that will be refused is never sent.
  server.on('checkContinue', handler);
  server.on('checkExpectation', handler);
  server.on('clientError', answerBrokenRequest);
  await listen(server, options.host, options.port);
  const { port } = server.address() as AddressInfo;
  let stopping: Promise<void> | undefined;
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    port,
    stop(deadlineMs) {
      draining.value = true;
      stopping ??= drain(server, connections, deadlineMs);
      return stopping;
    },
  };
}

function createLimitedServer(options: ServerOptions): Server {
  return createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS,
    requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    keepAliveTimeout: options.keepAliveTimeoutMs ?? KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: options.connectionsCheckIntervalMs ?? CONNECTIONS_CHECK_INTERVAL_MS,
    // Host is not used for anything, and Node's own refusal would carry neither body nor request id.
    requireHostHeader: false,
    noDelay: true,
  });
}

/** How often the server checks for unread answers; more often for short limits. */
const UNREAD_CHECK_INTERVAL_MS = 2_000;

function limitConnections(
  server: Server,
  connections: Connections,
  { onClosed, writeTimeoutMs = WRITE_TIMEOUT_MS }: ServerOptions,
): void {
  // Before Node's own listener, which begins to read.
  server.prependListener('connection', (socket: Socket) => {
    const full = connections.admit(socket);
    if (!full) return;
    socket.on('error', () => undefined);
    answerAndClose(socket, NO_ROOM[full]);
    onClosed?.(full);
  });
  server.on('timeout', (socket: Socket) => connections.expire(socket));
  const everyMs = Math.min(UNREAD_CHECK_INTERVAL_MS, writeTimeoutMs / 4);
  const unread = setInterval(() => connections.watchUnread(writeTimeoutMs), everyMs).unref();
  server.once('close', () => clearInterval(unread));
}

/** Notes the requests in progress; while draining, each answer is the last on its connection. */
function track(handler: Handler, connections: Connections, draining: { readonly value: boolean }): Handler {
  return (request, response) => {
    if (!connections.begin(request, response)) return undefined;
    if (draining.value) response.setHeader('Connection', 'close');
    return handler(request, response);
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function drain(server: Server, connections: Connections, deadlineMs: number): Promise<void> {
  for (const response of connections.unsent()) response.setHeader('Connection', 'close');
  return new Promise((resolve) => {
    // A connection may turn idle at any moment after the first check.
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_INTERVAL_MS);
    const grace = setTimeout(() => connections.endSilent(), SILENT_GRACE_MS);
    const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(grace);
      clearTimeout(deadline);
      resolve();
    });
  });
}

/**
 * What never became a request still gets an answer in the documented form, with a request id, and its
 * connection ends.
 */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else answerAndClose(socket, brokenRequest(error.code));
}

function answerAndClose(socket: Duplex, refusal: DomainError): void {
  const { status, body, headers = {} } = renderError(refusal, 'general');
  const head = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestIdFrom(undefined)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

const REASONS: Readonly<Record<number, string>> = {
  408: 'Request Timeout',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
};

const NO_ROOM = {
  address: new DomainError('RATE_LIMIT_EXCEEDED', 'Too many connections from your address', {
    retryAfterSeconds: 1,
  }),
  total: new DomainError('SERVICE_UNAVAILABLE', 'Too many connections, try again in a moment'),
};

function brokenRequest(code: string | undefined): DomainError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new DomainError('REQUEST_TIMEOUT', 'The request did not arrive in time');
    case 'HPE_HEADER_OVERFLOW':
      return new DomainError(
        'HEADERS_TOO_LARGE',
        `Request line and headers may have at most ${MAX_HEADER_BYTES} bytes`,
      );
    default:
      return new DomainError('VALIDATION_ERROR', 'This is not a well-formed HTTP request');
  }
}

interface ConnectionLimits {
  readonly maxConnections: number;
  /** Of one address, or of an IPv6 /64. Connections of trusted proxies only count in all. */
  readonly maxConnectionsPerAddress: number;
  readonly isTrustedProxy: (address: string) => boolean;
}

/**
 * Why we closed a connection. `address`: its address has too many. `total`: there are too many in all.
 * `idle`: it was idle and made room for a new one. `pipelined`: it had too many requests in progress.
 * `unread`: its client did not read the answers.
 */
type Closure = 'address' | 'total' | 'idle' | 'pipelined' | 'unread';

interface Connection {
  /** What it is counted under; undefined for a trusted proxy. */
  readonly bucket: string | undefined;
  inProgress: number;
  /** The answer to the last request; without one the connection has been silent so far. */
  last: ServerResponse | undefined;
}

type Connections = ReturnType<typeof createConnections>;

function createConnections(limits: ConnectionLimits, onClosed: (closure: Closure) => void) {
  const open = new Map<Socket, Connection>();
  const perAddress = createCounts();

  const forget = (socket: Socket): void => {
    const connection = open.get(socket);
    if (!connection) return;
    open.delete(socket);
    if (connection.bucket !== undefined) perAddress.add(connection.bucket, -1);
  };

  const close = (socket: Socket, closure: Closure): void => {
    forget(socket);
    socket.destroy();
    onClosed(closure);
  };

  /**
   * Of those that wait for their client: the one that was opened first. Slow senders never keep a new client
   * out.
   */
  const makeRoom = (): boolean => {
    for (const [socket, connection] of open) {
      if (connection.bucket === undefined || !isIdle(connection)) continue;
      close(socket, 'idle');
      return true;
    }
    return false;
  };

  function answered(this: ServerResponse): void {
    const connection = open.get(this.req.socket);
    if (connection) connection.inProgress -= 1;
  }

  return {
    /** Undefined: the connection is counted and may be used. Otherwise why there is no room for it. */
    admit: (socket: Socket): 'address' | 'total' | undefined => {
      const address = peerAddress(socket.remoteAddress);
      const bucket =
        address === undefined || limits.isTrustedProxy(address) ? undefined : addressBucket(address);
      if (bucket !== undefined && perAddress.of(bucket) >= limits.maxConnectionsPerAddress) return 'address';
      if (open.size >= limits.maxConnections && !makeRoom()) return 'total';
      open.set(socket, { bucket, inProgress: 0, last: undefined });
      if (bucket !== undefined) perAddress.add(bucket, 1);
      socket.once('close', () => forget(socket));
      return undefined;
    },
    /** Notes a request. False: it must not be handled, since its connection is closed. */
    begin: ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
      const connection = open.get(socket);
      if (!connection) return false;
      connection.last = response;
      connection.inProgress += 1;
      if (connection.inProgress > MAX_REQUESTS_IN_PROGRESS) {
        close(socket, 'pipelined');
        return false;
      }
      response.on('close', answered);
      return true;
    },
    /**
     * Begins the time of those whose answers wait to be read. Called now and then: a timer for every answer
     * would cost a read several percent. Node counts a write that makes progress as activity, and replaces
     * the time when the answer is sent.
     */
    watchUnread: (timeoutMs: number): void => {
      for (const socket of open.keys())
        if (socket.writableLength > 0 && socket.timeout !== timeoutMs) socket.setTimeout(timeoutMs);
    },
    /**
     * For a connection that was silent in both directions for the whole time limit. One whose request is
     * still being handled stays.
     */
    expire: (socket: Socket): void => {
      const isUnread = socket.writableLength > 0;
      if (isUnread) close(socket, 'unread');
      else if ((open.get(socket)?.inProgress ?? 0) === 0) socket.destroy();
    },
    /** The last answer of each, where it has none yet. */
    unsent: (): ServerResponse[] =>
      [...open.values()].flatMap(({ last }) => (last?.headersSent === false ? [last] : [])),
    endSilent: (): void => {
      for (const [socket, { last }] of open) if (!last) socket.destroy();
    },
  };
}

/** It waits for the rest of a request, or for the next one. */
function isIdle({ inProgress, last }: Connection): boolean {
  return inProgress === 0 || last?.req.complete === false;
}
