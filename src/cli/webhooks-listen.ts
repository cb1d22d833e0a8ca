/**
 * A receiver on the developer's machine. It registers itself as an endpoint of each account it follows,
 * prints every signed message with its body, and forwards the same bytes and headers, signed with one secret,
 * to the developer's program, whose answer it gives back. It deletes its endpoints when it ends, and those of
 * listeners that were killed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import getRawBody from 'raw-body';
import { Webhook } from 'standardwebhooks';
import type { WebhookEvent } from '../webhooks/events.ts';
import type { Followed, Source } from './webhooks-follow.ts';

export interface ListenOptions {
  readonly source: Source;
  readonly events: readonly WebhookEvent[];
  readonly forwardUrl: string | undefined;
  readonly printSecret: boolean;
  /** Without bodies: a line for each message. */
  readonly isQuiet: boolean;
  readonly print: (line: string) => void;
  readonly untilStopped: () => Promise<unknown>;
}

/** An account whose endpoint is there. */
interface Heard {
  readonly account: Followed;
  readonly endpointId: string;
  readonly secret: string;
}

const PATH = '/simway-listen';
/** How soon an account that was made meanwhile is followed. */
const NEW_ACCOUNTS_MS = 1_000;
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

/** Runs until it is stopped. Throws when the first endpoint cannot be created. */
export async function listen(options: ListenOptions): Promise<void> {
  const { source, print } = options;
  const heard = new Map<string, Promise<Heard>>();
  const server = createServer((request, response) => void receive(options, heard, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ending = new AbortController();
  const stopped = options.untilStopped().finally(() => ending.abort());
  try {
    print(`following ${source.what}`);
    const { port } = server.address() as AddressInfo;
    await followAccounts(options, heard, port);
    if (options.printSecret) print(`secret    ${(await first(heard))?.secret ?? ''}`);
    print(options.forwardUrl === undefined ? 'listening' : `listening, forwarding to ${options.forwardUrl}`);
    await Promise.all([stopped, followNewAccounts(options, heard, port, ending.signal)]);
  } finally {
    for (const one of heard.values()) await deleteEndpoint(await one, print);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await source.close();
  }
}

async function followNewAccounts(
  options: ListenOptions,
  heard: Map<string, Promise<Heard>>,
  port: number,
  signal: AbortSignal,
): Promise<void> {
  const isTime = (): Promise<boolean> => sleep(NEW_ACCOUNTS_MS, true, { signal }).catch(() => false);
  while (await isTime()) {
    // The database may restart meanwhile; the accounts that are followed stay so.
    await followAccounts(options, heard, port).catch(() => undefined);
  }
}

/** Adds an endpoint to each account that has none of this listener. */
async function followAccounts(
  { source, events, print }: ListenOptions,
  heard: Map<string, Promise<Heard>>,
  port: number,
): Promise<void> {
  for (const account of await source.accounts()) {
    if (heard.has(account.id)) continue;
    await deleteLeftovers(account);
    // A message may arrive before the answer that holds its secret.
    const adding = Promise.withResolvers<Heard>();
    heard.set(account.id, adding.promise);
    try {
      const url = `http://127.0.0.1:${port}${PATH}/${account.id}`;
      const { id: endpointId, secret } = await account.create(url, events);
      adding.resolve({ account, endpointId, secret });
      print(`account   ${shown(account.name)}: endpoint ${endpointId} for ${events.join(', ')}`);
    } catch (error) {
      heard.delete(account.id);
      adding.promise.catch(() => undefined);
      adding.reject(error);
      if (heard.size === 0) throw error;
      print(`account   ${shown(account.name)}: not followed: ${(error as Error).message}`);
    }
  }
}

/** The service may have stopped before: then the next listener deletes it. */
async function deleteEndpoint({ account, endpointId }: Heard, print: (line: string) => void): Promise<void> {
  try {
    await account.delete(endpointId);
    print(`deleted ${endpointId}`);
  } catch (error) {
    print(`not deleted ${endpointId}: ${(error as Error).message}`);
  }
}

/** Endpoints of listeners that were killed. */
async function deleteLeftovers(account: Followed): Promise<void> {
  const listeners = (await account.list()).filter(({ url }) =>
    /^http:\/\/127\.0\.0\.1:\d+\/simway-listen\/[\w-]+$/.test(url),
  );
  for (const { id, url } of listeners) {
    const probe = fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    await probe.catch(() => account.delete(id));
  }
}

const first = (heard: ReadonlyMap<string, Promise<Heard>>): Promise<Heard> | undefined =>
  heard.values().next().value;

async function receive(
  options: ListenOptions,
  heard: ReadonlyMap<string, Promise<Heard>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const one = await heard.get(
      request.url?.startsWith(`${PATH}/`) ? request.url.slice(PATH.length + 1) : '',
    );
    if (request.method !== 'POST' || one === undefined) return void response.writeHead(404).end();
    const body = await getRawBody(request, { limit: MAX_BODY_BYTES });
    const message = verify(body, request, one.secret);
    if (!message) {
      options.print(`${now()}  refused: not signed with this endpoint's secret`);
      response.writeHead(401).end();
      return;
    }
    const startedAtMs = performance.now();
    const signer = await first(heard);
    const answer = await forward(options.forwardUrl, request, body, signer?.secret ?? one.secret);
    const ms = Math.round(performance.now() - startedAtMs);
    options.print(`${now()}  ${message.line}  ${shown(one.account.name)}  → ${answer.summary} (${ms} ms)`);
    if (!options.isQuiet) options.print(shown(JSON.stringify(message.body, null, 2).replaceAll(/^/gm, '  ')));
    response.writeHead(answer.status).end(answer.body);
  } catch {
    // The connection broke, or the body is longer than any message.
    response.destroy();
  }
}

interface MessageBody {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The body, and one line about it; undefined where its signature is wrong. */
function verify(body: Buffer, request: IncomingMessage, secret: string) {
  const headers = headersOf(request);
  try {
    const message = new Webhook(secret).verify(body, headers) as MessageBody;
    const { event, data } = message;
    const facts = [data['status'], data['transactionId'], data['amount'] ?? data['balance'], data['currency']]
      .filter((value) => value !== undefined && value !== '')
      .map((value) => (typeof value === 'number' ? value.toFixed(2) : String(value)));
    return { body: message, line: shown([event, ...facts, headers['webhook-id']].join('  ')) };
  } catch {
    return undefined;
  }
}

/** Names that people chose may hold what a terminal obeys. */
const shown = (text: string): string =>
  text.replaceAll(
    /(?!\n)\p{C}/gu,
    (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0') ?? ''}`,
  );

/** `secret` signs what is forwarded: a program has one, and each endpoint its own. */
async function forward(url: string | undefined, request: IncomingMessage, body: Buffer, secret: string) {
  if (url === undefined) return { status: 204, body: undefined, summary: 'Received; not forwarded' };
  const received = headersOf(request);
  const [id = '', seconds] = [received['webhook-id'], Number(received['webhook-timestamp'])];
  const signature = new Webhook(secret).sign(id, new Date(seconds * 1000), body.toString());
  const headers = Object.entries({ ...received, 'webhook-signature': signature }).filter(
    ([name]) => !NOT_FORWARDED.has(name),
  );
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
