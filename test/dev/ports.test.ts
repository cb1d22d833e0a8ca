// Ports: the preferred one when it is free, another when it is taken, never one given away already.
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { freePort, isPortFree } from '../../src/dev/ports.ts';

async function occupy(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

test('answers the preferred port while it is free, and another one when it is taken', async () => {
  const preferred = await freePort();
  expect(await freePort({ preferred })).toBe(preferred);
  const server = await occupy(preferred);
  expect(await isPortFree(preferred)).toBe(false);
  const other = await freePort({ preferred });
  expect(other).not.toBe(preferred);
  expect(await isPortFree(other)).toBe(true);
  server.close();
  await once(server, 'close');
  expect(await isPortFree(preferred)).toBe(true);
});

test('never answers a port that the caller has given away', async () => {
  const preferred = await freePort();
  expect(await freePort({ preferred, except: [preferred] })).not.toBe(preferred);
});
