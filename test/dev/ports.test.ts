// Ports: the preferred one when it is free, another when it is taken, never the same port twice.
import { spawn } from 'node:child_process';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { freePort, retryTakenPort } from '../../src/dev/ports.ts';
import { isPortFree } from './support.ts';

async function occupy(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

test('freePort returns another port while the preferred one is taken, and the preferred one when it is free', async () => {
  const server = await occupy();
  const { port: preferred } = server.address() as AddressInfo;
  const other = await freePort(preferred);
  expect(other).not.toBe(preferred);
  expect(await isPortFree(other)).toBe(true);
  server.close();
  await once(server, 'close');
  expect(await freePort(preferred)).toBe(preferred);
});

test('a port that another start was given, and does not listen on yet, is not given again', async () => {
  const preferred = await freePort();
  const ports = new URL('../../src/dev/ports.ts', import.meta.url).href;
  const asks = `const { freePort } = await import('${ports}'); console.log(await freePort(${preferred + 1})); setTimeout(() => {}, 60_000);`;
  const other = spawn(process.execPath, ['--input-type=module', '--eval', asks]);
  const [line] = (await once(other.stdout, 'data')) as [Buffer];
  expect(Number(line.toString())).toBe(preferred + 1);
  expect(await freePort(preferred + 1)).not.toBe(preferred + 1);
  other.kill();
  await once(other, 'exit');
});

test('freePort returns a port below the range of outgoing connections', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()));
  for (const port of ports) expect(port).toBeLessThan(32_000);
  expect(new Set(ports).size).toBe(20);
});

test('retryTakenPort starts on other ports when another program took the port first, and gives up after any other failure', async () => {
  let starts = 0;
  const start = (failure: string, times: number) => () =>
    ++starts <= times ? Promise.reject(new Error(failure)) : Promise.resolve(starts);
  expect(await retryTakenPort('in use', start('address in use', 2))).toBe(3);
  starts = 0;
  await expect(retryTakenPort('in use', start('no space left', 1))).rejects.toThrow('no space left');
  expect(starts).toBe(1);
});

test('freePort never returns the same port twice', async () => {
  const given = await freePort();
  expect(await freePort(given)).not.toBe(given);
});
