// Free TCP ports on loopback for the services that a laptop start brings up.
// Ports come from below the range that systems use for outgoing connections, so that a service which is
// stopped and started again finds its port still free. Must not hold a port: the answer is a moment's truth.
import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

const LOOPBACK = '127.0.0.1';
const LOWEST_PORT = 15_000;
const HIGHEST_PORT = 32_000;
const ATTEMPTS = 200;

/** Whether a server could listen on this loopback port right now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      probe.close(() => resolve(true));
    });
  });
}

/**
 * A loopback port that is free now: the preferred one if possible, else a random one.
 * `except` names ports that the caller has already given away. Throws when none is found.
 */
export async function freePort(
  options: { preferred?: number | undefined; except?: readonly number[] } = {},
): Promise<number> {
  const { preferred, except = [] } = options;
  if (preferred !== undefined && !except.includes(preferred) && (await isPortFree(preferred)))
    return preferred;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
    if (!except.includes(port) && (await isPortFree(port))) return port;
  }
  throw new Error(`no free port between ${LOWEST_PORT} and ${HIGHEST_PORT} on ${LOOPBACK}`);
}
