/**
 * Replaces the internet when webhooks go to strangers: a name server, canaries that must not be reached, a
 * network whose every connection ends at one of them, and a certificate. No packet leaves the machine; only
 * what is closed here stays open.
 */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { generateKeyPairSync, sign } from 'node:crypto';
import { connect, createServer, isIPv4, isIPv6, type AddressInfo, type Socket } from 'node:net';
import type { Network } from '../../src/platform/outbound/network.ts';

export const clock = { now: () => new Date() };

export type Canary = Awaited<ReturnType<typeof startCanary>>;

/** Listens on every address of this machine, and counts. */
export async function startCanary() {
  let touched = 0;
  const server = createServer((socket) => {
    touched += 1;
    // Reads, to notice when the other side closes: an open connection would block `close`.
    socket.on('error', () => undefined).resume();
    socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    /** The number of connections so far. */
    get touched() {
      return touched;
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

export type NameServer = Awaited<ReturnType<typeof startNameServer>>;

/** The answer of a name server about a name: addresses, an alias, or undefined if the name does not exist. */
export type Zone = (name: string) => readonly string[] | undefined;

/**
 * A name server on this machine; it does not answer for names that begin with `silent.` and refuses those
 * that begin with `refused.`
 */
export async function startNameServer(zone: Zone) {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const name = readName(query);
    asked.push(name);
    if (!name.startsWith('silent.')) socket.send(answerTo(query, name, zone), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    /** Names in the order of their queries. */
    asked,
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

const HEADER_BYTES = 12;
const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;
const RCODES = { fine: 0, noSuchName: 3, refused: 5 } as const;

function readName(query: Buffer): string {
  const labels: string[] = [];
  for (let at = HEADER_BYTES; query[at] !== 0; at += query[at]! + 1)
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
  return labels.join('.').toLowerCase();
}

function writeName(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  return Buffer.concat([...labels, Buffer.of(0)]);
}

function answerTo(query: Buffer, name: string, zone: Zone): Buffer {
  const questionEnd = HEADER_BYTES + name.length + 2 + 4;
  const type = query.readUInt16BE(questionEnd - 4);
  const records: Buffer[] = [];
  let found = zone(name);
  const rcode = name.startsWith('refused.') ? RCODES.refused : found ? RCODES.fine : RCODES.noSuchName;
  // Aliases are followed at most eight times, so that a circle ends.
  for (let owner = name, hops = 0; found && hops < 8; hops += 1) {
    const [next] = found;
    const isName = next !== undefined && !isIPv4(next) && !isIPv6(next);
    if (!isName) {
      const fits = type === TYPES.A ? isIPv4 : isIPv6;
      records.push(...found.filter(fits).map((address) => record(owner, type, addressBytes(address))));
      break;
    }
    records.push(record(owner, TYPES.CNAME, writeName(next)));
    [owner, found] = [next, zone(next)];
  }
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8180 + rcode, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, questionEnd), ...records]);
}

function record(owner: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([writeName(owner), fixed, data]);
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text = ''): number[] =>
    text
      .split(':')
      .filter(Boolean)
      .map((group) => parseInt(group, 16));
  const [first, last] = [groups(head), groups(tail)];
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

export interface Connected {
  readonly addresses: readonly string[];
  readonly port: number;
}

export type DivertedNetwork = ReturnType<typeof divertedTo>;

/** Names as `resolve` has them; every connection ends at this port of this machine. */
export function divertedTo(port: number, resolve: Network['resolve'], certificates?: string) {
  const connected: Connected[] = [];
  return {
    resolve,
    /** The requested targets. */
    connected,
    connect: (addresses: readonly string[], wanted: number): Socket => {
      connected.push({ addresses, port: wanted });
      return connect(port, '127.0.0.1');
    },
    ...(certificates === undefined ? {} : { certificates }),
  };
}

export type Certificate = ReturnType<typeof makeCertificate>;

/**
 * A self-signed certificate for one name or IPv4 address (X.509 v3, P-256), encoded here since Node has no
 * function for it.
 */
export function makeCertificate(name: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));
  const commonName = der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from(name)));
  const who = der(0x30, der(0x31, commonName));
  const validity = der(
    0x30,
    der(0x17, Buffer.from('200101000000Z')),
    der(0x17, Buffer.from('491231235959Z')),
  );
  const alternativeName = der(
    0x30,
    isIPv4(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name)),
  );
  const extension = der(0x30, Buffer.from('0603551d11', 'hex'), der(0x04, alternativeName));
  const signed = der(
    0x30,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    ecdsaWithSha256,
    who,
    validity,
    who,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, extension)),
  );
  const signature = der(0x03, Buffer.of(0), sign('sha256', signed, privateKey));
  const text = der(0x30, signed, ecdsaWithSha256, signature).toString('base64');
  const lines = text.match(/.{1,64}/g) ?? [];
  return {
    key: privateKey,
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  };
}

/** One element of DER: tag, length, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

export type RawServer = Awaited<ReturnType<typeof startRawServer>>;

/** A server that lets a test write to its sockets. Reads and discards what it receives. */
export async function startRawServer(onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.resume();
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    /** Connections that are open now. */
    get open() {
      return sockets.size;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
