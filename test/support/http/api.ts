// Starts the real Koa app on a real socket over the shop of shop.ts, with a limiter that counts exactly, and
// collects its log.
import { randomUUID } from 'node:crypto';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { buildApp, DEFAULT_APP_SETTINGS, type AppSettings } from '../../../src/app/http/app.ts';
import { startServer, type ServerOptions } from '../../../src/platform/http/server.ts';
import { createLogger } from '../../../src/platform/telemetry/logger.ts';
import { createMetrics } from '../../../src/platform/telemetry/metrics.ts';
import type { LimitVerdict } from '../../../src/platform/rate-limiter.ts';
import { createExamples, type ExampleName } from './examples.ts';
import { keyOf, openShop } from './shop.ts';
import type { OpsUseCases } from '../../../src/app/composition/ops-use-cases.ts';
import type { UserUseCases } from '../../../src/app/composition/user-use-cases.ts';
import { createRouteTable } from '../../../src/app/routes/route-table.ts';
import { createHttpEvents } from '../../../src/platform/telemetry/events.ts';

export const RESET_AT_MS = 4_102_444_800_000;

/** One endless window, so that tests count without a clock. */
function createCountingLimiter() {
  const counts = new Map<string, number>();
  return {
    counts,
    consume(bucket: string, limit: number): Promise<LimitVerdict> {
      const used = (counts.get(bucket) ?? 0) + 1;
      counts.set(bucket, used);
      return Promise.resolve({
        allowed: used <= limit,
        limit,
        remaining: Math.max(0, limit - used),
        resetAtMs: RESET_AT_MS,
      });
    },
    giveBack(bucket: string) {
      counts.set(bucket, (counts.get(bucket) ?? 0) - 1);
      return Promise.resolve();
    },
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body parsed; undefined when it is empty or no JSON. */
  readonly json: unknown;
}

export interface Ask {
  readonly method?: string;
  /** Name of a key of the shop; the environment is test unless written `live/name`. */
  readonly key?: string;
  readonly rawKey?: string | string[];
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Sent as JSON, unless `rawBody` is given. */
  readonly body?: unknown;
  readonly rawBody?: string | Buffer;
  /** Names the exchange as an example of the reference (examples.ts). */
  readonly example?: ExampleName | undefined;
  /** The address to call from; any of 127.0.0.0/8. */
  readonly from?: string;
}

/**
 * Names the ids in answers by the order in which they come, such as `txn-00…01`, so that whole answers can be
 * compared; requests may use these names. Ids that a test made up itself stay unchanged, and so do those in
 * answers without a caller, such as examples in the document.
 */
function createNames(): {
  readonly known: (text: string) => string;
  readonly named: (text: string, asked: string | undefined) => string;
} {
  const [names, ids] = [new Map<string, string>(), new Map<string, string>()];
  const counts = new Map<string, number>();
  const name = (id: string): string => {
    const kind = id.slice(0, id.indexOf('-'));
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const made = `${kind}-${String(count).padStart(32, '0')}`;
    names.set(id, made);
    ids.set(made, id);
    return made;
  };
  return {
    known: (text) => text.replace(ID, (made) => ids.get(made) ?? made),
    named: (text, asked) =>
      text.replace(ID, (id) => names.get(id) ?? (asked === undefined || asked.includes(id) ? id : name(id))),
  };
}

const ID = /\b(?:txn|esim|ep|msg|batch|checkout)-[0-9a-f]{32}/g;

export type TestApi = Awaited<ReturnType<typeof startApi>>;

export async function startApi(
  options: {
    readonly live?: boolean;
    /** The use cases under /ops; none without. */
    readonly ops?: OpsUseCases;
    /** Users of the dashboard; none without. */
    readonly users?: UserUseCases;
    readonly settings?: Partial<AppSettings>;
    readonly server?: Partial<ServerOptions>;
    /** The folder of the built dashboard; it is not served without. */
    readonly dashboardFolder?: string;
    /** Of the built documentation, likewise. */
    readonly docsFolder?: string;
  } = {},
) {
  const limiter = createCountingLimiter();
  const metrics = createMetrics({ processMetrics: false });
  const logLines: string[] = [];
  const logger = createLogger({
    level: 'debug',
    destination: { write: (line: string) => void logLines.push(line) },
  });
  const shop = await openShop({ live: options.live ?? false, log: logger, metrics });
  const routes = createRouteTable({ version: '1.2.3', brand: 'simway' });
  const app = buildApp({
    useCases: {
      ...shop.useCases,
      ...(options.ops ? { ops: options.ops } : {}),
      ...(options.users ? { users: options.users } : {}),
    },
    rateLimiter: limiter,
    events: createHttpEvents({ logger, metrics: metrics.http }),
    settings: {
      ...DEFAULT_APP_SETTINGS,
      publicRequestsPerMinute: 1_000_000,
      failedAuthPerMinute: 1_000_000,
      ...options.settings,
    },
    routes,
    dashboardFolder: options.dashboardFolder,
    docsFolder: options.docsFolder,
  });
  const server = await startServer({
    app,
    host: '127.0.0.1',
    port: 0,
    trustedProxies: options.settings?.trustedProxies,
    onClosed: metrics.http.connectionClosed,
    ...options.server,
  });
  const names = createNames();
  const keepExample = createExamples(routes);
  return {
    shop,
    limiter,
    metrics,
    logLines,
    server,
    ask: async (target: string, { example, ...ask }: Ask = {}) => {
      const reply = await send(server.port, target, ask, names);
      if (example !== undefined)
        keepExample(example, { method: methodOf(ask), target, body: ask.body, reply });
      return reply;
    },
    /** The real id behind the name used in answers. */
    idOf: names.known,
    /**
     * Sends bytes unchanged and returns everything that is received until the connection ends or `done` says
     * so.
     */
    raw: (bytes: string | Buffer, done?: (received: string) => boolean) => sendRaw(server.port, bytes, done),
    close: () => server.stop(1_000),
  };
}

function send(port: number, target: string, ask: Ask, names: ReturnType<typeof createNames>): Promise<Reply> {
  const given = ask.rawBody ?? (ask.body === undefined ? undefined : JSON.stringify(ask.body));
  const payload = typeof given === 'string' ? names.known(given) : given;
  const asked = ask.key === undefined ? undefined : `${target} ${String(given)}`;
  const headers: Record<string, string | string[]> = {};
  if (payload !== undefined) {
    headers['content-type'] = 'application/json';
    if (ask.headers?.['transfer-encoding'] === undefined) {
      headers['content-length'] = String(Buffer.byteLength(payload));
    }
  }
  const key = ask.rawKey ?? namedKey(ask.key);
  const method = methodOf(ask);
  if (target.startsWith('/acp/')) Object.assign(headers, acpHeaders(method, key));
  else if (key !== undefined) headers['x-api-key'] = key;
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port,
        method,
        path: names.known(target),
        headers: { ...headers, ...ask.headers },
        agent: false,
        ...(ask.from === undefined ? {} : { localAddress: ask.from }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = names.named(Buffer.concat(chunks).toString(), asked);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) });
        });
      },
    );
    request.on('error', reject);
    request.end(payload);
  });
}

/** As an agent sends them; each request is a new one. */
const acpHeaders = (method: string, key: string | string[] | undefined) => ({
  'api-version': '2026-04-17',
  ...(method === 'POST' ? { 'idempotency-key': randomUUID() } : {}),
  ...(key === undefined ? {} : { authorization: `Bearer ${String(key)}` }),
});

const methodOf = ({ method, body, rawBody }: Ask): string =>
  method ?? (body === undefined && rawBody === undefined ? 'GET' : 'POST');

function namedKey(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  return name.startsWith('live/') ? keyOf('live', name.slice('live/'.length)) : keyOf('test', name);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sendRaw(
  port: number,
  bytes: string | Buffer,
  done?: (received: string) => boolean,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      received += chunk;
      if (done?.(received)) socket.destroy();
    });
    socket.on('close', () => resolve(received));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(received);
      else reject(error);
    });
  });
}
