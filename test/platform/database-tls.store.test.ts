// TLS to Postgres, by the driver itself: a server that offers TLS is in front of the real Postgres, with a
// certificate of its own.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { settleTls } from '../../src/app/config/database.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { openBooks } from '../support/world/books.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import { makeCertificate } from './outbound.support.ts';
/** The first message of each client: a request for TLS, or another. */
const begun: ('tls' | 'plain')[] = [];
const sockets = new Set<Socket>();
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]);

const books = await openBooks();
const { key, cert } = makeCertificate('127.0.0.1');
const caFile = join(await makeTestFolder(), 'database.pem');
await writeFile(caFile, cert);
const secureContext = createSecureContext({ key: key.export({ type: 'pkcs8', format: 'pem' }), cert });
const behind = new URL(books.url);
const joinTo = (client: Socket | TLSSocket, first?: Buffer): void => {
  const postgres = connect(Number(behind.port), behind.hostname);
  sockets.add(postgres);
  if (first) postgres.write(first);
  for (const one of [client, postgres]) one.on('error', () => undefined);
  client.pipe(postgres).pipe(client);
};
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.once('data', (first: Buffer) => {
    if (!first.equals(SSL_REQUEST)) {
      begun.push('plain');
      joinTo(socket, first);
      return;
    }
    begun.push('tls');
    socket.write('S');
    joinTo(new TLSSocket(socket, { isServer: true, secureContext }));
  });
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const { port } = server.address() as { port: number };
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  await books.close();
});

interface Given {
  readonly tls?: 'off' | 'require' | 'verify';
  readonly caFile?: string;
  readonly query?: string;
  readonly host?: string;
}

/** Sends Postgres one query; answers how the connection began. */
async function ask({ tls, caFile: file, query = '', host = '127.0.0.1' }: Given): Promise<string> {
  begun.length = 0;
  const url = new URL(books.url);
  url.host = `${host}:${port}`;
  url.search = query;
  const db = openDatabase<unknown>({
    url: settleTls(url.href, { SIMWAY_DATABASE_TLS: tls, SIMWAY_DATABASE_CA_FILE: file }),
    schema: 'test',
    role: 'simway_test',
    maxConnections: 1,
    statementTimeoutMs: 5_000,
    applicationName: 'simway-tests',
  });
  try {
    const { rows } = await sql<{ who: string }>`select current_user::text as who`.execute(db);
    return `${begun.join()} ${rows[0]?.who ?? ''}`;
  } catch (error) {
    return `${begun.join()} ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`;
  } finally {
    await db.destroy();
  }
}

describe('a connection to Postgres', () => {
  it.each<[string, Given, string]>([
    ['off', { tls: 'off' }, 'plain simway_test'],
    ['not set', {}, 'plain simway_test'],
    ['require: encrypted, and no certificate is checked', { tls: 'require' }, 'tls simway_test'],
    ['sslmode=require means the same', { query: '?sslmode=require' }, 'tls simway_test'],
    ['verify: a stranger’s certificate is refused', { tls: 'verify' }, 'tls DEPTH_ZERO_SELF_SIGNED_CERT'],
    [
      'sslmode=verify-full means the same',
      { query: '?sslmode=verify-full' },
      'tls DEPTH_ZERO_SELF_SIGNED_CERT',
    ],
    ['sslmode=verify-ca is no weaker', { query: '?sslmode=verify-ca' }, 'tls DEPTH_ZERO_SELF_SIGNED_CERT'],
  ])('is as set: %s', async (_why, given, expected) => {
    expect(await ask(given)).toBe(expected);
  });

  it('with verify accepts a certificate by the given authority, for its own name only', async () => {
    expect(await ask({ tls: 'verify', caFile })).toBe('tls simway_test');
    expect(await ask({ tls: 'verify', caFile, host: 'localhost' })).toBe('tls ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('never continues in plain text when TLS is set and the server has none', async () => {
    const url = settleTls(books.url, { SIMWAY_DATABASE_TLS: 'require' });
    const db = openDatabase<unknown>({
      url,
      schema: 'test',
      role: 'simway_test',
      maxConnections: 1,
      statementTimeoutMs: 5_000,
      applicationName: 'simway-tests',
    });
    await expect(sql`select 1`.execute(db)).rejects.toThrow('does not support SSL');
    await db.destroy();
  });
});
