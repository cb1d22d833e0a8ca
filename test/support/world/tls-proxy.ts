// A TLS proxy in front of a server that uses plain text: it accepts only callers with a client certificate
// that it knows, as a production Temporal does.
import { connect, type AddressInfo, type Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeCertificate } from '../../platform/outbound.support.ts';
import { makeTestFolder } from './test-folder.ts';

type Started = Awaited<ReturnType<typeof startTlsProxy>>;
export type TlsProxy = Started['proxy'];
/** Certificates in files: the proxy's own, the client's with its key, and one that belongs to neither. */
export type TlsFiles = Started['files'];

const SERVER = '127.0.0.1';

/** In front of `target` (host:port). */
export async function startTlsProxy(target: string) {
  const [own, client, other] = [
    makeCertificate(SERVER),
    makeCertificate('simway.example'),
    makeCertificate(SERVER),
  ];
  const pem = (key: typeof own.key): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const folder = await makeTestFolder();
  const write = async (name: string, text: string): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
  const files = {
    authority: await write('ca.pem', own.cert),
    clientCertificate: await write('client.pem', client.cert),
    clientKey: await write('client.key', pem(client.key)),
    otherAuthority: await write('other.pem', other.cert),
  };
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  let admitted = 0;
  const server = createServer(
    {
      cert: own.cert,
      key: pem(own.key),
      ca: [client.cert],
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2'],
    },
    (socket: TLSSocket) => {
      admitted += 1;
      const [host = '', port = ''] = target.split(':');
      const inner = connect(Number(port), host);
      keep(socket);
      keep(inner);
      socket.on('close', () => inner.destroy());
      inner.on('close', () => socket.destroy());
      socket.pipe(inner).pipe(socket);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, SERVER, resolve));
  const proxy = {
    /** host:port */
    address: `${SERVER}:${(server.address() as AddressInfo).port}`,
    /** Connections accepted so far. */
    get admitted() {
      return admitted;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return { proxy, files };
}
