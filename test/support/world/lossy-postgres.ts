// A way to Postgres that loses answers: a statement is carried out, and the caller never hears of it, as when
// Postgres or the network dies between a commit and its answer.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type LossyPostgres = Awaited<ReturnType<typeof startLossyPostgres>>;

/** In front of the server of `databaseUrl`. */
export async function startLossyPostgres(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const callers = new Map<Socket, { isDeaf: boolean }>();
  let lost = 0;
  const server = createServer((caller) => {
    const state = { isDeaf: false };
    const inner = connect(Number(target.port || 5432), target.hostname);
    callers.set(caller, state);
    const end = (): void => {
      caller.destroy();
      inner.destroy();
      callers.delete(caller);
    };
    for (const socket of [caller, inner]) socket.setNoDelay(true).on('error', end).on('close', end);
    caller.on('data', (bytes) => inner.write(bytes));
    inner.on('data', (bytes) => {
      if (!state.isDeaf) caller.write(bytes);
      else {
        lost += 1;
        end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    /** The same database by this way. */
    url: url.href,
    /** From now on the next answer on each open connection is lost, and the connection with it. */
    loseNextAnswers: () => {
      for (const state of callers.values()) state.isDeaf = true;
    },
    /** Connections that have not lost one yet answer again. */
    loseNoMoreAnswers: () => {
      for (const state of callers.values()) state.isDeaf = false;
    },
    /** How many answers were lost. */
    get lost() {
      return lost;
    },
    close: async () => {
      for (const caller of callers.keys()) caller.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
