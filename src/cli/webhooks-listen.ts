/**
 * A receiver on the developer's machine. It registers itself as an endpoint, prints every signed message, and
 * forwards the same bytes and headers to the developer's program, whose answer it gives back. It deletes its
 * endpoint when it ends, and those of listeners that were killed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import getRawBody from 'raw-body';
import { Webhook } from 'standardwebhooks';
import type { ApiClient, EndpointJson } from './webhooks-client.ts';

export interface ListenOptions {
  readonly client: ApiClient;
  /** For people: whose messages are shown. */
  readonly account: string;
  readonly events: readonly string[];
  readonly forwardUrl: string | undefined;
  readonly printSecret: boolean;
  readonly print: (line: string) => void;
  readonly untilStopped: () => Promise<unknown>;
}

const PATH = '/simway-listen';
const ENDPOINTS = '/api/webhooks/endpoints';
const MAX_BODY_BYTES = 1_048_576;
const MAX_ANSWER_BYTES = 65_536;
/** As long as the service itself waits for an answer. */
const FORWARD_TIMEOUT_MS = 15_000;
const PROBE_TIMEOUT_MS = 1_000;
/** Headers of one connection, or set by each sender. */
const NOT_FORWARDED = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'expect',
]);

/** Runs until it is stopped. Throws OperatorMistake when the endpoint cannot be created. */
export async function listen(options: ListenOptions): Promise<void> {
  const { client, print, events } = options;
  const stopped = options.untilStopped();
  const secret = Promise.withResolvers<string>();
  // A message may arrive before the API's answer, which holds the secret.
  const server = createServer(
    (request, response) => void receive(options, secret.promise, request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await deleteLeftovers(client);
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}${PATH}`;
    const created = await client.call<EndpointJson & { secret: string }>('POST', ENDPOINTS, { url, events });
    secret.resolve(created.secret);
    print(`account   ${options.account}`);
    print(`endpoint  ${created.id} for ${created.events.join(', ')}`);
    if (options.printSecret) print(`secret    ${created.secret}`);
    print(options.forwardUrl === undefined ? 'listening' : `listening, forwarding to ${options.forwardUrl}`);
    await stopped;
    await client.call('DELETE', `${ENDPOINTS}/${created.id}`);
    print(`deleted ${created.id}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Endpoints of listeners that were killed. */
async function deleteLeftovers(client: ApiClient): Promise<void> {
  const all = await client.list<EndpointJson>(`${ENDPOINTS}?limit=100`);
  const listeners = all.filter(({ url }) => /^http:\/\/127\.0\.0\.1:\d+\/simway-listen$/.test(url));
  for (const { id, url } of listeners) {
    const probe = fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    await probe.catch(() => client.call('DELETE', `${ENDPOINTS}/${id}`));
  }
}

async function receive(
  options: ListenOptions,
  secret: Promise<string>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    if (request.method !== 'POST' || request.url !== PATH) return void response.writeHead(404).end();
    const body = await getRawBody(request, { limit: MAX_BODY_BYTES });
    const message = verify(body, request, await secret);
    if (!message) {
      options.print(`${now()}  refused: not signed with this endpoint's secret`);
      response.writeHead(401).end();
      return;
    }
    const startedAtMs = performance.now();
    const answer = await forward(options.forwardUrl, request, body);
    const ms = Math.round(performance.now() - startedAtMs);
    options.print(`${now()}  ${message}  → ${answer.summary} (${ms} ms)`);
    response.writeHead(answer.status).end(answer.body);
  } catch {
    // The connection broke, or the body is longer than any message.
    response.destroy();
  }
}

/** One line about the message; undefined where its signature is wrong. */
function verify(body: Buffer, request: IncomingMessage, secret: string): string | undefined {
  const headers = headersOf(request);
  try {
    const { event, data } = new Webhook(secret).verify(body, headers) as {
      readonly event: string;
      readonly data: Readonly<Record<string, unknown>>;
    };
    const shown = [data['status'], data['transactionId'], data['amount'] ?? data['balance'], data['currency']]
      .filter((value) => value !== undefined && value !== '')
      .map((value) => (typeof value === 'number' ? value.toFixed(2) : String(value)));
    return [event, ...shown, headers['webhook-id']].join('  ');
  } catch {
    return undefined;
  }
}

async function forward(url: string | undefined, request: IncomingMessage, body: Buffer) {
  if (url === undefined) return { status: 204, body: undefined, summary: 'Received; not forwarded' };
  const headers = Object.entries(headersOf(request)).filter(([name]) => !NOT_FORWARDED.has(name));
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
    });
    const answered = Buffer.from(await answer.arrayBuffer()).subarray(0, MAX_ANSWER_BYTES);
    return {
      status: answer.status,
      body: answered.length > 0 ? answered : undefined,
      summary: String(answer.status),
    };
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    const summary = isLate ? 'No answer in time; reported as 504' : 'Connection refused; reported as 502';
    return { status: isLate ? 504 : 502, body: undefined, summary };
  }
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value = '']) => [name, [value].flat().join(', ')]));

const now = (): string => new Date().toISOString().slice('2026-01-31T'.length, -'.000Z'.length);
