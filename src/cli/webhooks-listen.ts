/**
 * A receiver on the developer's machine: it registers itself as an endpoint, shows every message that comes, and passes each on, with its
 * bytes and headers as they were, to the program under work, whose answer it gives back. Guarantee: the endpoint is deleted when it ends;
 * one that a killed listener left behind is deleted by the next. Passes on only what is signed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { ApiClient, EndpointJson } from './webhooks-client.ts';

export interface ListenOptions {
  readonly client: ApiClient;
  /** Whose messages come, in words: those of one account. */
  readonly account: string;
  readonly events: readonly string[];
  /** Where messages are passed on to; undefined: they are only shown. */
  readonly forwardUrl: string | undefined;
  readonly printSecret: boolean;
  readonly print: (line: string) => void;
  /** Resolves when it is to end. */
  readonly untilAsked: () => Promise<unknown>;
}

const PATH = '/simway-listen';
const ENDPOINTS = '/api/webhooks/endpoints';
const MAX_BODY_BYTES = 1_048_576;
const MAX_ANSWER_BYTES = 65_536;
/** What the service itself waits for an answer. */
const FORWARD_WITHIN_MS = 15_000;
const LOOK_WITHIN_MS = 1_000;
/** Belong to one connection, or are made anew by whoever sends. */
const NOT_PASSED_ON = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'expect',
]);

/** Runs until it is asked to end. Throws OperatorMistake where the endpoint cannot be made. */
export async function listen(options: ListenOptions): Promise<void> {
  const { client, print, events } = options;
  const asked = options.untilAsked();
  const secret = Promise.withResolvers<string>();
  // A message may come before the answer that tells the secret.
  const server = createServer(
    (request, response) => void receive(options, secret.promise, request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await deleteLeftovers(client);
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}${PATH}`;
    const made = await client.call<EndpointJson & { secret: string }>('POST', ENDPOINTS, { url, events });
    secret.resolve(made.secret);
    print(`account   ${options.account}`);
    print(`endpoint  ${made.id} for ${made.events.join(', ')}`);
    if (options.printSecret) print(`secret    ${made.secret}`);
    print(options.forwardUrl === undefined ? 'listening' : `listening, forwarding to ${options.forwardUrl}`);
    await asked;
    await client.call('DELETE', `${ENDPOINTS}/${made.id}`);
    print(`deleted ${made.id}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Endpoints of listeners that nobody listens at any more. */
async function deleteLeftovers(client: ApiClient): Promise<void> {
  const all = await client.list<EndpointJson>(`${ENDPOINTS}?limit=100`);
  const ours = all.filter(({ url }) => /^http:\/\/127\.0\.0\.1:\d+\/simway-listen$/.test(url));
  for (const { id, url } of ours) {
    const isThere = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(LOOK_WITHIN_MS) }).then(
      () => true,
      () => false,
    );
    if (!isThere) await client.call('DELETE', `${ENDPOINTS}/${id}`);
  }
}

async function receive(
  options: ListenOptions,
  secret: Promise<string>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    if (request.method !== 'POST' || request.url !== PATH) {
      response.writeHead(404).end();
      return;
    }
    const body = await readBody(request);
    const message = read(body, request, await secret);
    if (!message) {
      options.print(`${now()}  refused: not signed with the secret of this endpoint`);
      response.writeHead(401).end();
      return;
    }
    const beganAtMs = performance.now();
    const answer = await forward(options.forwardUrl, request, body);
    const ms = Math.round(performance.now() - beganAtMs);
    options.print(`${now()}  ${message}  → ${answer.told} (${ms} ms)`);
    response.writeHead(answer.status).end(answer.body);
  } catch {
    // The connection is gone, or the body was more than any message holds.
    response.destroy();
  }
}

/** The bytes of a body. Throws where it breaks off or is too long. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new Error('the body is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What a message says, in a line; undefined where it is not signed. */
function read(body: Buffer, request: IncomingMessage, secret: string): string | undefined {
  const headers = headersOf(request);
  try {
    const { event, data } = new Webhook(secret).verify(body, headers) as {
      readonly event: string;
      readonly data: Readonly<Record<string, unknown>>;
    };
    const about = [
      data['status'],
      data['transactionId'],
      data['amount'] ?? data['balance'],
      data['currency'],
    ];
    const told = about
      .filter((value) => value !== undefined && value !== '')
      .map((value) => (typeof value === 'number' ? value.toFixed(2) : String(value)));
    return [event, ...told, headers['webhook-id']].join('  ');
  } catch {
    return undefined;
  }
}

interface ForwardAnswer {
  readonly status: number;
  readonly body: Buffer | undefined;
  readonly told: string;
}

async function forward(
  url: string | undefined,
  request: IncomingMessage,
  body: Buffer,
): Promise<ForwardAnswer> {
  if (url === undefined) return { status: 204, body: undefined, told: 'taken' };
  const headers = Object.entries(headersOf(request)).filter(([name]) => !NOT_PASSED_ON.has(name));
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(FORWARD_WITHIN_MS),
    });
    const heard = Buffer.from(await answer.arrayBuffer()).subarray(0, MAX_ANSWER_BYTES);
    return { status: answer.status, body: heard.length > 0 ? heard : undefined, told: String(answer.status) };
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    const told = isLate ? 'no answer in time, told as 504' : 'nobody there, told as 502';
    return { status: isLate ? 504 : 502, body: undefined, told };
  }
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}

function now(): string {
  return new Date().toISOString().slice('2026-01-31T'.length, -'.000Z'.length);
}
