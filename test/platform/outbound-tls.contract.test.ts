/**
 * Webhooks over https: the certificate must be for the requested host and from a trusted authority, or
 * nothing is sent.
 */
import { once } from 'node:events';
import { createServer, type TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createWebhookSender } from '../../src/platform/outbound/webhook-sender.ts';
import { clock, divertedTo, makeCertificate, startRawServer } from './outbound.support.ts';

const SECRET = `whsec_${Buffer.from('a secret of tests only').toString('base64')}`;
const policy = { httpsOnly: true, allowedRanges: [] };
const own = makeCertificate('shop.example.com');

/** Sends to this port, whatever the URL says. */
function sendTo(port: number, url: string, trusted?: string, timeLimitMs = 5_000) {
  const network = divertedTo(port, () => Promise.resolve(['93.184.216.34']), trusted);
  const sender = createWebhookSender({ policy, network, clock, timeLimitMs });
  return sender.send({ url, messageId: 'msg-1', body: '{}', secrets: [SECRET] });
}

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('https', () => {
  async function sendSecurely(url: string, trusted?: string, answer = ANSWER, timeLimitMs?: number) {
    const secured: string[] = [];
    const requests: string[] = [];
    const server = createServer({
      key: own.key.export({ type: 'pkcs8', format: 'pem' }),
      cert: own.cert,
    });
    server.on('tlsClientError', () => undefined);
    server.on('secureConnection', (socket: TLSSocket) => {
      secured.push(String(socket.servername));
      socket.on('error', () => undefined);
      socket.once('data', (data: Buffer) => {
        requests.push(data.toString('latin1').split('\r\n', 1)[0] ?? '');
        if (answer !== '') socket.end(answer);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as { port: number };
    const outcome = await sendTo(port, url, trusted, timeLimitMs);
    await new Promise((resolve) => server.close(resolve));
    return { outcome, secured, requests };
  }

  it('is used with the requested name', async () => {
    const { outcome, secured, requests } = await sendSecurely('https://shop.example.com/hook', own.cert);
    expect(outcome).toMatchObject({ outcome: 'answered', status: 200, bodyStart: 'ok' });
    expect(secured).toEqual(['shop.example.com']);
    expect(requests).toEqual(['POST /hook HTTP/1.1']);
  });

  it.each([
    ['is self-signed', 'https://shop.example.com/', undefined, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    [
      'belongs to another host',
      'https://shop.example.com/',
      makeCertificate('shop.example.com').cert,
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    ],
    ['is for another name', 'https://other.example.com/', own.cert, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['is for a name and not the address', 'https://93.184.216.34/', own.cert, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('refuses a certificate that %s, and nothing is sent', async (_name, url, trusted, detail) => {
    const { outcome, requests } = await sendSecurely(url, trusted);
    expect(outcome).toMatchObject({ outcome: 'failed', reason: 'tls', detail });
    expect(requests).toEqual([]);
  });

  it('has the same time limit after the handshake, and leaves nothing open', async () => {
    const { outcome, requests } = await sendSecurely('https://shop.example.com/', own.cert, '', 300);
    expect(outcome).toMatchObject({ outcome: 'failed', reason: 'time-limit' });
    expect(requests).toEqual(['POST / HTTP/1.1']);
  });

  it('fails at a plain server', async () => {
    const plain = await startRawServer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    expect(await sendTo(plain.port, 'https://shop.example.com/')).toMatchObject({
      outcome: 'failed',
      reason: 'tls',
    });
    await plain.close();
  });
});
