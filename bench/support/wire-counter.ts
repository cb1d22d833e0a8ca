/**
 * Stands between the service and a server and counts what goes over the wire: statements to Postgres,
 * commands to Redis. Exact where the servers' own statistics are delayed or count what they do inside. Plain
 * connections only; what passes is not changed.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

export type WireCounter = Awaited<ReturnType<typeof startWireCounter>>;

/** Takes the bytes that one client sends, in pieces of any size; tells each message it recognises. */
type Parser = (chunk: Buffer) => void;

export async function startWireCounter(options: {
  readonly host: string;
  readonly port: number;
  readonly protocol: 'postgres' | 'redis';
}) {
  const counts = new Map<string, number>();
  const sockets = new Set<Socket>();
  const tell = (message: string): void => void counts.set(message, (counts.get(message) ?? 0) + 1);
  const server: Server = createServer((client) => {
    const upstream = connect({ host: options.host, port: options.port });
    const parse = options.protocol === 'postgres' ? postgresParser(tell) : redisParser(tell);
    client.on('data', parse);
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
      socket.on('error', () => undefined);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as { port: number }).port,
    /** Since the start or the last reset: how often each statement or command was sent. */
    counts: () => new Map(counts),
    total: () => [...counts.values()].reduce((sum, value) => sum + value, 0),
    reset: () => counts.clear(),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const BYTES_OF_LENGTH = 4;
/**
 * Parse and simple query carry the text; Bind, Execute and the like belong to a statement that was sent
 * before.
 */
const PARSE = 0x50;
const SIMPLE_QUERY = 0x51;
const BIND = 0x42;

/** The frontend's messages: one byte of type and four of length, but for the first, which has no type. */
function postgresParser(tell: (statement: string) => void): Parser {
  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  let parsed: string | undefined;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const header = started ? 1 : 0;
      if (rest.length < header + BYTES_OF_LENGTH) return;
      const end = header + rest.readInt32BE(header);
      if (rest.length < end) return;
      const message = rest.subarray(0, end);
      rest = rest.subarray(end);
      if (!started) {
        started = true;
        continue;
      }
      const type = message[0];
      const body = message.subarray(1 + BYTES_OF_LENGTH);
      if (type === SIMPLE_QUERY) tell(textUntilNul(body, 0));
      if (type === PARSE) parsed = textUntilNul(body, body.indexOf(0) + 1);
      if (type === BIND) {
        tell(parsed ?? 'prepared statement');
        parsed = undefined;
      }
    }
  };
}

function textUntilNul(buffer: Buffer, from: number): string {
  return buffer.toString('utf8', from, buffer.indexOf(0, from)).replace(/\s+/g, ' ').trim();
}

/** Commands as clients send them: arrays of bulk strings. */
function redisParser(tell: (command: string) => void): Parser {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const command = readCommand(rest);
      if (command === null) return;
      tell(command.name);
      rest = rest.subarray(command.bytes);
    }
  };
}

function readCommand(buffer: Buffer): { readonly name: string; readonly bytes: number } | null {
  let at = 0;
  const line = (): string | null => {
    const end = buffer.indexOf('\r\n', at);
    if (end === -1) return null;
    const text = buffer.toString('latin1', at, end);
    at = end + 2;
    return text;
  };
  const head = line();
  if (head === null) return null;
  let name = '';
  for (let part = 0; part < Number(head.slice(1)); part += 1) {
    const size = line();
    if (size === null) return null;
    const bytes = Number(size.slice(1));
    if (buffer.length < at + bytes + 2) return null;
    if (part === 0) name = buffer.toString('latin1', at, at + bytes).toLowerCase();
    at += bytes + 2;
  }
  return { name, bytes: at };
}
