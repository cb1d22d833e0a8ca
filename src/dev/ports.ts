import { randomInt } from 'node:crypto';
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
 * A loopback port that is free now, the preferred one if possible. This process is never given the same port
 * twice.
 */
export function freePort(preferred?: number): Promise<number> {
  const candidates = Array.from({ length: CANDIDATES }, () => randomInt(LOWEST_PORT, HIGHEST_PORT));
  const port = preferred === undefined ? candidates : [preferred, ...candidates];
  return getPort({ host: LOOPBACK, port, reserve: true });
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
