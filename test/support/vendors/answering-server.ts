// An HTTP server that records calls and answers as the test says.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Call {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly socketPort: number;
}
export type Answering = (response: ServerResponse, call: Call) => void;

export type AnsweringServer = Awaited<ReturnType<typeof startAnsweringServer>>;

/** Starts the server on a free port. */
export async function startAnsweringServer() {
  let calls: Call[] = [];
  let answers: Answering[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers, socket } = request;
      const body = Buffer.concat(chunks).toString('utf8');
      const call: Call = { method, path: url, headers, body, socketPort: socket.remotePort ?? 0 };
      calls.push(call);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      answer?.(response, call);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The calls since the last `answerWith`. */
    get calls() {
      return calls;
    },
    /** Forgets calls; answers come in this order, the last one for all further calls. */
    answerWith: (...next: Answering[]) => {
      [calls, answers] = [[], next];
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with JSON, or with text as it is. */
export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Answering =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

const html = '<!doctype html><title>Bad gateway</title>';
const page =
  (status: number): Answering =>
  (response) =>
    void response.writeHead(status).end(html);

/** A body that ends too early. */
export const cutOff =
  (body: string, how: 'reset' | 'close'): Answering =>
  (response) => {
    response.writeHead(200, { 'content-length': '5000' });
    response.write(body, () => {
      if (how === 'reset') response.socket?.resetAndDestroy();
      else response.socket?.end();
    });
  };

/** A byte now and then, without end. */
export const trickle: Answering = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};

/** As many bytes as the client takes, without end. */
export const pour =
  (bytes: number): Answering =>
  (response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(bytes, ' ');
    const go = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', go);
    go();
  };

/** Answers that are no vendor's, with what is said about them; `begun` is the beginning of a real one. */
export const unclearAnswers = (begun: string): [string, Answering, string][] => [
  ['a reset before any answer', (response) => void response.socket?.resetAndDestroy(), 'ECONNRESET'],
  ['a reset in the middle of the body', cutOff(begun, 'reset'), 'ECONNRESET'],
  ['a body cut short by a clean close', cutOff(begun, 'close'), 'other side closed'],
  ['an HTML 502', page(502), 'HTTP 502'],
  ['an HTML 200', page(200), 'not JSON'],
  ['an HTML 403 of a firewall', page(403), 'HTTP 403'],
  ['a redirect', (response) => void response.writeHead(302, { location: '/elsewhere' }).end(), 'HTTP 302'],
  ['bad JSON', json(begun), 'not JSON'],
  ['JSON that is no envelope', json([1, 2]), 'no object'],
  ['an empty body', json(''), 'not JSON'],
];

/** Answers on the first request of a connection, and resets it on the next one, as after a time-out. */
export const resetIfKept =
  (server: Pick<AnsweringServer, 'calls'>, answer: Answering): Answering =>
  (response, call) => {
    if (server.calls.some((other) => other !== call && other.socketPort === call.socketPort))
      response.socket?.resetAndDestroy();
    else answer(response, call);
  };

/** The JSON that a call sent; empty without a call. */
export const sentBody = (call: Call | undefined) => JSON.parse(call?.body ?? '{}') as Record<string, unknown>;

/** An address of this machine without a server. */
export async function unreachableUrl(): Promise<string> {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  return `http://127.0.0.1:${port}`;
}
