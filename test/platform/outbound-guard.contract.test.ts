/**
 * Promise W5: a stranger's input cannot make us connect to a forbidden target. Every forbidden target is
 * refused when it is saved, connected to and visited, while canaries count connections; changing names,
 * redirects and proxies make no difference.
 */
import { execFile } from 'node:child_process';
import { get } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../src/platform/outbound/addresses.ts';
import { createUrlGuard } from '../../src/platform/outbound/url-guard.ts';
import { createNetwork, type Network } from '../../src/platform/outbound/network.ts';
import { createWebhookSender } from '../../src/platform/outbound/webhook-sender.ts';
import type { UrlPolicy } from '../../src/platform/outbound/target.ts';
import type { RequestOutcome } from '../../src/platform/outbound/request.ts';
import { startAnsweringServer } from '../support/vendors/answering-server.ts';
import { clock, divertedTo, startCanary, startNameServer, type DivertedNetwork } from './outbound.support.ts';
import { FORBIDDEN, ZONE } from './outbound.targets.ts';

const SECRETS = [`whsec_${Buffer.from('a secret of tests only').toString('base64')}`];
const PUBLIC = '93.184.216.34';
const OPEN: UrlPolicy = { httpsOnly: false, allowedRanges: [] };
const LOOPBACK = ['127.0.0.0/8', '::1'];

const [canary, receiver] = await Promise.all([startCanary(), startAnsweringServer()]);
const names = await startNameServer((name) => ZONE[name]);

afterAll(async () => {
  await Promise.all([canary.close(), receiver.close(), names.close()]);
});

const realNames = (): Network['resolve'] => createNetwork({ nameServers: [names.address] }).resolve;
const here = (url: string): string => url.replaceAll('%PORT%', String(canary.port));

type Doors = ReturnType<typeof doors>;

function doors(network: Network, policy: UrlPolicy = OPEN) {
  const options = { policy, network, clock, timeLimitMs: 5_000 };
  return { guard: createUrlGuard(options), sender: createWebhookSender(options) };
}

const send = ({ sender }: Doors, url: string): Promise<RequestOutcome> =>
  sender.send({ url, messageId: 'msg-1', body: '{}', secrets: SECRETS });

/** Clients whose network resolves names here and sends every connection to the canary. */
function canaryDoors(policy: UrlPolicy): Doors & { readonly network: DivertedNetwork } {
  const network = divertedTo(canary.port, realNames());
  return { ...doors(network, { ...policy, ports: [80, 443, canary.port] }), network };
}

const reached = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    get(url, (response) => response.resume().on('end', () => resolve(true))).on('error', () =>
      resolve(false),
    );
  });

describe('every forbidden target', () => {
  it('is listed: at least 150 of them, none twice', () => {
    expect(FORBIDDEN.length).toBeGreaterThanOrEqual(150);
    expect(new Set(FORBIDDEN.map(({ url }) => url)).size).toBe(FORBIDDEN.length);
  });

  it('is refused for its reason when it is saved, visited and sent to, and no canary is reached', async () => {
    const { guard, sender, network } = canaryDoors(OPEN);
    const before = canary.touched;
    const wrong: unknown[] = [];
    for (const { url, reason } of FORBIDDEN) {
      const target = here(url);
      const outcome = await send({ guard, sender }, target);
      const failed = outcome.outcome === 'failed' ? outcome.reason : outcome.status;
      const verdicts = [await guard.check(target), await guard.reach(target)];
      const reasons = verdicts.map((verdict) => (verdict.ok ? 'ok' : verdict.reason));
      const expected = [reason, reason, reason === 'unresolved' ? 'unresolved' : 'refused-url'];
      if ([...reasons, failed].join() !== expected.join()) wrong.push({ target, reasons, failed, expected });
    }
    expect(wrong).toEqual([]);
    expect(network.connected).toEqual([]);
    expect(canary.touched).toBe(before);
  });

  it('would be reached by a client without the guard, in many spellings', async () => {
    const before = canary.touched;
    const hosts =
      '127.0.0.1 127.1 0x7f.1 017700000001 2130706433 0 127.0.0.1. １２７.０.０.１ %31%32%37.0.0.1 user@127.0.0.1';
    const urls = hosts.split(' ').map((host) => `http://${host}:${canary.port}/`);
    expect(await Promise.all(urls.map(reached))).toEqual(urls.map(() => true));
    expect(canary.touched - before).toBe(urls.length);
  });

  it('is refused without details of our network', async () => {
    const { guard } = canaryDoors(OPEN);
    for (const name of ['private.example.com', 'loopback.example.com', 'metadata.example.com']) {
      const verdict = await guard.check(`http://${name}/`);
      expect(verdict).toEqual({
        ok: false,
        reason: 'address',
        detail: 'must resolve to public addresses only',
      });
    }
  });
});

describe('a public target', () => {
  it.each([
    'http://canary.example.com/',
    'HTTPS://Canary.Example.COM/hook?a=b#c',
    'https://canary.example.com:443/',
    'http://canary.example.com:443/',
    'https://canary.example.com:80/',
    'http://bücher.example.com/',
    `http://${PUBLIC}/`,
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://[2606:4700::ABCD]/',
    'https://[2a00:1450:4009:81f::200e]/x',
  ])('is accepted: %s', async (url) => {
    const { guard, network } = canaryDoors(OPEN);
    expect(await guard.check(url)).toEqual({ ok: true });
    expect(network.connected).toEqual([]);
  });

  it('is accepted right next to a forbidden range', () => {
    const open =
      '1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17 ' +
      '169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 ' +
      '192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 ' +
      '2000::1 2001:200:: 2001:db7:ffff::1 2001:db9::1 2001:ffff::1 2003::1 2620:4f:7fff::1 3ffe:ffff::1 ' +
      '2606:4700::5eff:7f00:1';
    expect(open.split(' ').filter((address) => !isPublicAddress(address))).toEqual([]);
    const odd = [
      '',
      'x',
      '1',
      '127.1',
      '8.8.8.8 ',
      ' 8.8.8.8',
      '8.8.8',
      '8.8.8.8/8',
      '2606:4700::1%lo',
      '[2606:4700::1]',
    ];
    expect(odd.filter(isPublicAddress)).toEqual([]);
  });

  it('must be https only if that is required', async () => {
    const { guard } = canaryDoors({ ...OPEN, httpsOnly: true });
    expect(await guard.check('https://canary.example.com/')).toEqual({ ok: true });
    const refused = { ok: false, reason: 'scheme', detail: 'must begin with https://' };
    expect(await guard.check('http://canary.example.com/')).toEqual(refused);
    expect(await guard.check('hTTp://canary.example.com/')).toEqual(refused);
  });

  it('is visited, and any status counts as an answer', async () => {
    const { guard } = doors(divertedTo(Number(new URL(receiver.baseUrl).port), realNames()));
    for (const status of [200, 204, 301, 404, 500]) {
      receiver.answerWith((response) => response.writeHead(status, { location: 'http://127.0.0.1/' }).end());
      expect(await guard.reach('http://canary.example.com/shop')).toEqual({ ok: true });
      expect(receiver.calls.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /shop']);
    }
    receiver.answerWith((response) => response.end('x'.repeat(1_000_000)));
    expect(await guard.reach('http://canary.example.com/')).toEqual({ ok: true });
    receiver.answerWith((response) => response.socket?.destroy());
    expect(await guard.reach('http://canary.example.com/')).toMatchObject({ ok: false, reason: 'no-answer' });
  });
});

describe('an operator’s allowed ranges', () => {
  const policy: UrlPolicy = { httpsOnly: false, allowedRanges: [...LOOPBACK, '10.20.0.0/16', 'fd00:1::/32'] };
  it.each([
    'http://127.0.0.1:4010/hook',
    'http://127.0.0.1/',
    'https://127.255.255.255:65535/',
    'http://[::1]:4010/',
    'http://10.20.255.255:1/',
    'http://[fd00:1:ffff::7]:8080/',
  ])('allow address and port for an address inside, in its plain form: %s', async (url) => {
    expect(await doors(createNetwork(), policy).guard.check(url)).toEqual({ ok: true });
  });

  it.each([
    ['http://localhost/', 'name'],
    ['http://loopback.example.com/', 'address'],
    ['http://loopback.example.com:4010/', 'port'],
    ['http://127.0.0.1.nip.example.com/', 'address'],
    ['http://passes-on-to-loopback.example.com/', 'address'],
    ['http://127.1:4010/', 'spelling'],
    ['http://0x7f000001:4010/', 'spelling'],
    ['http://127.0.0.1.:4010/', 'spelling'],
    ['http://[0::1]:4010/', 'spelling'],
    ['http://[::ffff:127.0.0.1]:4010/', 'spelling'],
    ['http://[::ffff:7f00:1]:4010/', 'address'],
    ['http://[::7f00:1]:4010/', 'address'],
    ['http://[64:ff9b::7f00:1]:4010/', 'address'],
    ['http://127.0.0.1:0/', 'port'],
    ['http://user@127.0.0.1:4010/', 'credentials'],
    ['ftp://127.0.0.1:4010/', 'scheme'],
    ['http://128.0.0.1:4010/', 'port'],
    ['http://10.21.0.0/', 'address'],
    ['http://[::2]/', 'address'],
    ['http://[fd00:2::1]/', 'address'],
    ['http://0.0.0.0:4010/', 'address'],
  ])('allow nothing else: %s is refused for its %s', async (url, reason) => {
    const { guard, sender } = doors(divertedTo(canary.port, realNames()), policy);
    expect(await guard.check(url)).toMatchObject({ ok: false, reason });
    expect(await send({ guard, sender }, url)).toMatchObject({ outcome: 'failed', reason: 'refused-url' });
  });

  it('do not allow http where https is required', async () => {
    const { guard } = doors(createNetwork(), { ...policy, httpsOnly: true });
    expect(await guard.check('http://127.0.0.1:4010/')).toMatchObject({ reason: 'scheme' });
    expect(await guard.check('https://127.0.0.1:4010/')).toEqual({ ok: true });
  });

  it.each(['', 'localhost', '127.1', '127.0.0.0/33'])('that cannot be read stop the start: "%s"', (range) => {
    expect(() => doors(createNetwork(), { ...OPEN, allowedRanges: [range] })).toThrow(TypeError);
  });
});

describe('names that change', () => {
  const flipping = (...turns: readonly (readonly string[])[]): Network['resolve'] => {
    let asked = -1;
    return () => Promise.resolve(turns[(asked += 1) % turns.length] ?? []);
  };

  it('are connected to only at the checked addresses, each time', async () => {
    const before = canary.touched;
    const network = divertedTo(canary.port, flipping([PUBLIC], ['127.0.0.1']));
    const both = doors(network);
    for (let round = 0; round < 20; round += 1) {
      expect(await both.guard.check('http://rebinding.example.com/')).toEqual({ ok: true });
      expect(await send(both, 'http://rebinding.example.com/')).toMatchObject({ reason: 'refused-url' });
    }
    expect(network.connected).toEqual([]);
    expect(canary.touched).toBe(before);
  });

  it('are resolved once per connection, which uses the addresses of that answer', async () => {
    const network = divertedTo(canary.port, flipping(['127.0.0.1'], [PUBLIC, '2606:4700::1111']));
    const both = doors(network);
    for (let round = 0; round < 20; round += 1) {
      expect(await both.guard.check('http://rebinding.example.com/')).toMatchObject({ reason: 'address' });
      expect(await send(both, 'http://rebinding.example.com/')).toMatchObject({ status: 204 });
    }
    const checked = { addresses: [PUBLIC, '2606:4700::1111'], port: 80 };
    expect(network.connected).toEqual(Array.from({ length: 20 }, () => checked));
  });

  it('are visited only at the checked addresses, even if they were public a moment before', async () => {
    const before = canary.touched;
    const inside = divertedTo(canary.port, flipping([PUBLIC], ['127.0.0.1']));
    for (let round = 0; round < 20; round += 1)
      expect(await doors(inside).guard.reach('http://rebinding.example.com/')).toMatchObject({ ok: false });
    expect([inside.connected, canary.touched]).toEqual([[], before]);
    const outside = divertedTo(canary.port, flipping(['127.0.0.1'], [PUBLIC]));
    expect(await doors(outside).guard.reach('http://rebinding.example.com/')).toMatchObject({
      reason: 'address',
    });
    expect(outside.connected).toEqual([]);
    const steady = divertedTo(canary.port, flipping([PUBLIC]));
    expect(await doors(steady).guard.reach('http://rebinding.example.com/')).toEqual({ ok: true });
    expect(steady.connected).toEqual([{ addresses: [PUBLIC], port: 80 }]);
  });

  it('are resolved again at the name server for every connection', async () => {
    let turn = 0;
    const flippingNames = await startNameServer((name) =>
      name === 'rebinding.example.com' ? [(turn += 1) <= 2 ? PUBLIC : '127.0.0.1'] : undefined,
    );
    const { resolve } = createNetwork({ nameServers: [flippingNames.address] });
    const network = divertedTo(canary.port, resolve);
    const both = doors(network);
    // A and AAAA: two queries each.
    expect(await both.guard.check('http://rebinding.example.com/')).toEqual({ ok: true });
    expect(await send(both, 'http://rebinding.example.com/')).toMatchObject({ reason: 'refused-url' });
    expect(flippingNames.asked).toHaveLength(4);
    expect(network.connected).toEqual([]);
    await flippingNames.close();
  });

  it('are connected to at the checked addresses even if the system resolves them differently', async () => {
    const { port } = new URL(receiver.baseUrl);
    receiver.answerWith((response) => response.end());
    const { connect } = createNetwork();
    const socket = connect(['127.0.0.1'], Number(port));
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    expect([socket.remoteAddress, socket.remotePort]).toEqual(['127.0.0.1', Number(port)]);
    socket.destroy();
  });

  it('that never resolve time out', async () => {
    const network = divertedTo(canary.port, () => new Promise(() => undefined));
    const options = { policy: OPEN, network, clock, timeLimitMs: 100 };
    const both = { guard: createUrlGuard(options), sender: createWebhookSender(options) };
    expect(await both.guard.check('http://silent.example.com/')).toMatchObject({ reason: 'unresolved' });
    expect(await send(both, 'http://silent.example.com/')).toMatchObject({ reason: 'time-limit' });
    expect(network.connected).toEqual([]);
  });
});

describe('redirects and proxies', () => {
  it.each([300, 301, 302, 303, 305, 307, 308])(
    'a redirect is an answer and is not followed: %i',
    async (status) => {
      const before = canary.touched;
      const canaryUrl = `http://127.0.0.1:${canary.port}/`;
      receiver.answerWith((response) =>
        response.writeHead(status, { location: canaryUrl, refresh: `0; url=${canaryUrl}` }).end(),
      );
      const both = doors(createNetwork(), { ...OPEN, allowedRanges: LOOPBACK });
      expect(await send(both, `${receiver.baseUrl}/`)).toMatchObject({ outcome: 'answered', status });
      expect(receiver.calls).toHaveLength(1);
      expect(canary.touched).toBe(before);
    },
  );

  it('a proxy in the environment is not used, even if Node itself would', async () => {
    const before = canary.touched;
    receiver.answerWith((response) => response.end('direct'));
    const proxy = `http://127.0.0.1:${canary.port}`;
    const proxies = {
      HTTP_PROXY: proxy,
      http_proxy: proxy,
      HTTPS_PROXY: proxy,
      ALL_PROXY: proxy,
      all_proxy: proxy,
    };
    const run = (script: string) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...proxies, NODE_USE_ENV_PROXY: '1' },
      });
    const room = new URL('../../src/platform/outbound/', import.meta.url).href;
    const { stdout } = await run(`
      const { createNetwork } = await import('${room}network.ts');
      const { createWebhookSender } = await import('${room}webhook-sender.ts');
      const policy = { httpsOnly: false, allowedRanges: ['127.0.0.0/8'] };
      const clock = { now: () => new Date() };
      const sender = createWebhookSender({ policy, clock, network: createNetwork() });
      const { outcome, status, bodyStart } = await sender.send(
        { url: '${receiver.baseUrl}/', messageId: 'msg-1', body: '{}', secrets: ['${SECRETS[0]}'] });
      console.log(outcome, status, bodyStart);`);
    expect(stdout.trim()).toBe('answered 200 direct');
    expect(canary.touched).toBe(before);
    await run(`
      const { get } = await import('node:http');
      await new Promise((resolve) => get('${receiver.baseUrl}/', (r) => r.resume().on('end', resolve)));`);
    expect(canary.touched).toBe(before + 1);
  });
});
