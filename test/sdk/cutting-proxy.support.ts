// A way to an HTTP server that breaks: each connection ends after a random number of bytes of its requests or
// of its answers. What came before that byte arrives.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Random } from '../support/time/size.ts';

/** A purchase is a request of some 400 bytes and an answer of some 900. */
const MAX_REQUEST_BYTES = 1_500;
const MAX_ANSWER_BYTES = 3_500;

export async function startCuttingProxy(target: string, random: Random) {
  const { port, hostname } = new URL(target);
  const cuts = { request: 0, answer: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((caller) => {
    const inner = connect(Number(port), hostname);
    const cutting = random.pick(['request', 'answer'] as const);
    let left = random.below(cutting === 'request' ? MAX_REQUEST_BYTES : MAX_ANSWER_BYTES);
    const end = (): void => {
      caller.destroy();
      inner.destroy();
    };
    for (const socket of [caller, inner]) {
      sockets.add(socket);
      socket.setNoDelay(true).on('error', end).on('end', end);
      socket.on('close', () => sockets.delete(socket));
    }
    const pass = (from: Socket, to: Socket, kind: keyof typeof cuts): void => {
      from.on('data', (bytes) => {
        if (kind !== cutting || bytes.length <= left) {
          if (kind === cutting) left -= bytes.length;
          to.write(bytes);
          return;
        }
        cuts[kind] += 1;
        from.removeAllListeners('data');
        to.end(bytes.subarray(0, left), end);
      });
    };
    pass(caller, inner, 'request');
    pass(inner, caller, 'answer');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
