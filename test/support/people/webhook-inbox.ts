// A merchant's server in a test without a secret: it keeps everything it receives, unchanged, and answers as
// the test says.
import { Webhook } from 'standardwebhooks';
import { startAnsweringServer, type Call } from '../vendors/answering-server.ts';
import { until } from '../time/until.ts';

type Letter = Pick<Call, 'path' | 'body' | 'headers'>;

interface InboxAnswer {
  readonly status: number;
  readonly body?: string;
}

export type Inbox = Awaited<ReturnType<typeof startInbox>>;

export async function startInbox() {
  const letters: Letter[] = [];
  let answer: InboxAnswer = { status: 204 };
  const server = await startAnsweringServer();
  server.answerWith((response, { path, body, headers }) => {
    letters.push({ path, body, headers });
    response.writeHead(answer.status).end(answer.body);
  });
  return {
    url: server.baseUrl,
    letters,
    /** From now on. */
    answerWith: (next: InboxAnswer) => void (answer = next),
    /** The letters of one path, once there are this many. */
    untilAt: (path: string, count: number) =>
      until(
        () => letters.filter((letter) => letter.path === path),
        (found) => found.length >= count,
        { what: `${count} letters at ${path}` },
      ),
    close: server.close,
  };
}

/** Whether the open standard's package accepts a letter as signed with this secret. */
export function isSigned({ body, headers }: Pick<Call, 'body' | 'headers'>, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
