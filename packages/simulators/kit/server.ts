import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa, { type Context, type Middleware } from 'koa';
import getRawBody from 'raw-body';

/** Longer than the keep-alive of any client pool, so that the client closes first. */
const KEEP_ALIVE_MS = 120_000;

export class BodyTooLargeError extends Error {
  constructor() {
    super('request body is too large');
    this.name = 'BodyTooLargeError';
  }
}

export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  try {
    return await getRawBody(request, { limit, length: request.headers['content-length'] ?? null });
  } catch (error) {
    throw isObject(error) && error['type'] === 'entity.too.large' ? new BodyTooLargeError() : error;
  }
}

export function parseObject(body: Buffer | string): Record<string, unknown> | undefined {
  try {
    const parsed = body.length === 0 ? {} : (JSON.parse(body.toString('utf8')) as unknown);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const JSON_TYPE = 'application/json;charset=UTF-8';

/** After a body that was too large the connection closes, since the rest of it is not read. */
export function answer(context: Context, status: number, text: string, contentType = JSON_TYPE): void {
  if (status === 413) context.set('connection', 'close');
  context.status = status;
  context.set('content-type', contentType);
  context.body = text;
}

export function cut(context: Context): void {
  context.respond = false;
  context.req.socket.destroy();
}

/** An app of these steps. What a step throws cuts the connection. */
export function appOf(...steps: Middleware[]): Koa {
  const app = new Koa();
  app.use((context, next) => next().catch(() => cut(context)));
  for (const step of steps) app.use(step);
  return app.on('error', () => undefined);
}

export type RunningServer = Awaited<ReturnType<typeof listen>>;

async function listenOn(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

function closeWithin(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cutAll = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearTimeout(cutAll);
      resolve();
    });
    server.closeIdleConnections();
  });
}

export async function listen(app: Koa, address: { host: string; port: number }) {
  const limits = { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: 10_000, requestTimeout: 30_000 };
  const handle = app.callback();
  const server = createServer(limits, (request, response) => void handle(request, response));
  await listenOn(server, address.port, address.host);
  const { port } = server.address() as AddressInfo;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return {
    url: `http://${host}:${port}`,
    /** False: cuts every connection and refuses new ones, as a machine that is down. */
    setListening: async (isListening: boolean): Promise<void> => {
      if (isListening === server.listening) return;
      await (isListening ? listenOn(server, port, address.host) : closeWithin(server, 0));
    },
    /** Stops accepting, lets running requests finish for `drainMs`, then cuts what is left. */
    close: (drainMs: number) => closeWithin(server, drainMs),
  };
}

export type Stats = ReturnType<typeof createStats>;

export function createStats() {
  const calls: Record<string, number> = {};
  /** By operation and error code, HTTP status or network fault. */
  const codes: Record<string, Record<string, number>> = {};
  let lostAnswers = 0;
  let inFlight = 0;
  return {
    during: async (work: () => Promise<void>): Promise<void> => {
      inFlight += 1;
      await work().finally(() => (inFlight -= 1));
    },
    count: (operation: string, code: string) => {
      calls[operation] = (calls[operation] ?? 0) + 1;
      const ofOperation = (codes[operation] ??= {});
      ofOperation[code] = (ofOperation[code] ?? 0) + 1;
    },
    loseAnswer: (context: Context) => {
      lostAnswers += 1;
      cut(context);
    },
    snapshot: () => ({ calls, codes, lostAnswers, inFlight }),
  };
}
