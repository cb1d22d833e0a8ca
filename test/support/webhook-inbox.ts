// A merchant's server in a test that knows no secret: it keeps whatever comes, as it came, and answers as the test says.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { until } from './until.ts';

interface Letter {
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

interface InboxAnswer {
  readonly status: number;
  readonly body?: string;
}

export interface Inbox {
  readonly url: string;
  readonly letters: readonly Letter[];
  /** From now on. */
  answerWith(answer: InboxAnswer): void;
  /** Those of one path, once there are so many. */
  untilAt(path: string, count: number): Promise<readonly Letter[]>;
  close(): Promise<void>;
}

export async function startInbox(): Promise<Inbox> {
  const letters: Letter[] = [];
  let answer: InboxAnswer = { status: 204 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      letters.push({
        path: request.url ?? '',
        body: Buffer.concat(chunks).toString('utf8'),
        headers: request.headers,
      });
      response.writeHead(answer.status).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    letters,
    answerWith: (next) => void (answer = next),
    untilAt: (path, count) =>
      until(
        () => letters.filter((letter) => letter.path === path),
        (found) => found.length >= count,
        { what: `${count} letters at ${path}` },
      ),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whether the open standard's package takes a letter for one that is signed with this secret. */
export function isSigned({ body, headers }: Letter, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
