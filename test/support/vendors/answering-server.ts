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

export interface AnsweringServer {
  readonly baseUrl: string;
  /** The calls since the last `answerWith`. */
  readonly calls: readonly Call[];
  /** Forgets calls; answers come in this order, the last one for all further calls. */
  readonly answerWith: (...answers: Answering[]) => void;
  readonly close: () => Promise<void>;
}

/** Starts the server on a free port. */
export async function startAnsweringServer(): Promise<AnsweringServer> {
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
    get calls() {
      return calls;
    },
    answerWith: (...next) => {
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
