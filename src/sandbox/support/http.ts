/** What both servers of a simulator share: listening, reading a bounded body, closing with a deadline, counting calls. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Longer than the keep-alive of any client pool, so that the client closes first. */
const KEEP_ALIVE_MS = 120_000;

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export class BodyTooLargeError extends Error {
  constructor() {
    super('request body is too large');
    this.name = 'BodyTooLargeError';
  }
}

/** The raw body; throws BodyTooLargeError above `limitBytes`. */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw new BodyTooLargeError();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) throw new BodyTooLargeError();
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** The path and query of a request; undefined when they are malformed. */
export function targetOf(request: IncomingMessage): URL | undefined {
  const target = `http://simulator${request.url ?? '/'}`;
  return URL.canParse(target) ? new URL(target) : undefined;
}

/** Sends text with its length. After a body that was too large the connection closes, since the rest of it is not read. */
export function sendText(response: ServerResponse, status: number, contentType: string, text: string): void {
  if (response.destroyed || response.headersSent) return;
  const body = Buffer.from(text);
  if (status === 413) response.setHeader('connection', 'close');
  response.writeHead(status, { 'content-type': contentType, 'content-length': body.length });
  response.end(body);
}

/** The JSON object of a body, {} of an empty one; undefined for anything else. */
export function parseObject(body: Buffer): Record<string, unknown> | undefined {
  try {
    const parsed = body.length === 0 ? {} : (JSON.parse(body.toString('utf8')) as unknown);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Whether this is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sends JSON that is already text. */
export function sendJson(response: ServerResponse, status: number, json: string): void {
  sendText(response, status, 'application/json;charset=UTF-8', json);
}

export interface RunningServer {
  /** `http://host:port`. */
  url: string;
  /** False: cuts every connection and refuses new ones, as a machine that is down; true: listens again, on the same port. */
  setListening(isListening: boolean): Promise<void>;
  /** Stops accepting, lets running requests finish for `drainMs`, then cuts what is left. */
  close(drainMs: number): Promise<void>;
}

function listenOn(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closeWithin(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** Listens on host and port (0: any free one); rejects when the address is taken. */
export async function listen(
  handler: Handler,
  address: { host: string; port: number },
): Promise<RunningServer> {
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: 10_000, requestTimeout: 30_000 },
    (request, response) => void handler(request, response).catch(() => response.destroy()),
  );
  await listenOn(server, address.port, address.host);
  const { port } = server.address() as AddressInfo;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return {
    url: `http://${host}:${port}`,
    setListening: async (isListening) => {
      if (isListening === server.listening) return;
      await (isListening ? listenOn(server, port, address.host) : closeWithin(server, 0));
    },
    close: (drainMs) => closeWithin(server, drainMs),
  };
}

export type Stats = ReturnType<typeof createStats>;

/** How often each operation was called and how it ended, since the process began. */
export function createStats() {
  const calls: Record<string, number> = {};
  /** By operation and error code, HTTP status or network fault. */
  const codes: Record<string, Record<string, number>> = {};
  let lostAnswers = 0;
  let inFlight = 0;
  return {
    /** Counts a request until it has been answered. */
    during: async (work: () => Promise<void>): Promise<void> => {
      inFlight += 1;
      try {
        await work();
      } finally {
        inFlight -= 1;
      }
    },
    count: (operation: string, code: string) => {
      calls[operation] = (calls[operation] ?? 0) + 1;
      const ofOperation = (codes[operation] ??= {});
      ofOperation[code] = (ofOperation[code] ?? 0) + 1;
    },
    /** Cuts the connection in place of an answer. */
    loseAnswer: (request: IncomingMessage) => {
      lostAnswers += 1;
      request.socket.destroy();
    },
    snapshot: () => ({ calls, codes, lostAnswers, inFlight }),
  };
}
