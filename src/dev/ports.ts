import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import getPort from 'get-port';

const LOOPBACK = '127.0.0.1';
/**
 * Below the range that systems use for outgoing connections, so that a server which is stopped and started
 * again finds its port still free.
 */
const LOWEST_PORT = 15_000;
const HIGHEST_PORT = 32_000;
const CANDIDATES = 200;
const ATTEMPTS = 3;

/**
 * A loopback port that is free now, the preferred one if possible. Neither this process nor another one that
 * asks here is given it as long as this process lives: a server takes seconds until it listens.
 */
export async function freePort(preferred?: number): Promise<number> {
  const candidates = Array.from({ length: CANDIDATES }, () => randomInt(LOWEST_PORT, HIGHEST_PORT));
  const wanted = preferred === undefined ? candidates : [preferred, ...candidates];
  for (;;) {
    const port = await getPort({ host: LOOPBACK, port: wanted, reserve: true });
    if (await claim(port)) return port;
  }
}

/** By the UDP port of the same number, which nothing here serves and the system gives back at our end. */
async function claim(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  try {
    socket.bind({ address: LOOPBACK, port, exclusive: true });
    await once(socket, 'listening');
    return true;
  } catch {
    socket.close();
    return false;
  }
}

/**
 * Another program can take a port before the server does: where the error says so, starts again, on other
 * ports.
 */
export async function retryTakenPort<T>(message: string, start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (attempt === ATTEMPTS || !(error as Error).message.includes(message)) throw error;
    }
  }
}
