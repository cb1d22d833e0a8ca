/**
 * Floor of L3: Koa and nothing else, sending the same bytes from memory. A process of its own; bodies come as
 * files.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';

const bodies = new Map(
  process.argv.slice(2).map((argument): [string, Buffer] => {
    const [path = '', file = ''] = argument.split('=');
    return [path, readFileSync(file)];
  }),
);
const app = new Koa();
app.use((ctx) => {
  ctx.type = 'application/json; charset=utf-8';
  ctx.body = bodies.get(ctx.path);
});
const handle = app.callback();
const server = createServer((request, response) => void handle(request, response));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ ready: true, url: `http://127.0.0.1:${port}` })}\n`);
});
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => process.exit(0));
});
