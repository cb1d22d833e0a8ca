/**
 * Merchants' servers: one path answers at once, the other late. In the bench's own process, since taking a
 * message costs next to nothing beside a purchase.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Under the 15 s that an attempt may take: slow, and yet delivered. */
const SLOW_ANSWER_MS = 10_000;

/** Starts it on a free port of the loopback address. */
export async function startReceiver() {
  const taken = new Set<string>();
  let hanging = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.url === '/quick') {
        taken.add(String(request.headers['webhook-id']));
        response.end();
        return;
      }
      hanging += 1;
      const answer = setTimeout(() => response.end(), SLOW_ANSWER_MS);
      response.on('close', () => {
        hanging -= 1;
        clearTimeout(answer);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    quickUrl: `${baseUrl}/quick`,
    slowUrl: `${baseUrl}/slow`,
    /** Ids of the messages that came to the quick path, each once however often it was sent. */
    taken,
    /** How many attempts wait for the slow path's answer. */
    hanging: () => hanging,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
