/**
 * What both servers share: listening, reading a bounded body, closing with a deadline. Guarantee: a body over the limit is refused
 * before it is buffered; `close` always ends.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Longer than the keep-alive of any client pool, so that the client closes first. */
const KEEP_ALIVE_MS = 120_000;

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

/** Sends JSON that is already text. */
export function sendJson(response: ServerResponse, status: number, json: string): void {
  if (response.destroyed || response.headersSent) return;
  const body = Buffer.from(json);
  response.writeHead(status, {
    'content-type': 'application/json;charset=UTF-8',
    'content-length': body.length,
  });
  response.end(body);
}

export interface RunningServer {
  /** `http://host:port`. */
  url: string;
  /** Stops accepting, lets running requests finish for `drainMs`, then cuts what is left. */
  close(drainMs: number): Promise<void>;
}

/** Listens on host and port (0: any free one); rejects when the address is taken. */
export async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  address: { host: string; port: number },
): Promise<RunningServer> {
  const server: Server = createServer((request, response) => {
    handler(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return {
    url: `http://${host}:${port}`,
    close: (drainMs) =>
      new Promise<void>((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), drainMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
