// Promise A4: the caller's address, and the addresses that may use a key, on real sockets. A wrong "yes" is a
// bypass, a wrong "no" a false refusal.
import { describe, expect, test } from 'vitest';
import {
  addressBucket,
  compileRanges,
  normaliseAddress,
  parseRange,
  resolveClientAddress,
} from '../../src/platform/client-addresses.ts';
import { findClientAddress } from '../../src/platform/http/middleware/arrival.ts';
import { startApi } from '../support/http/api.ts';
import { forFile } from '../support/world/for-file.ts';

const PROXY = '127.0.0.10';
const STRANGER = '127.0.0.99';
const TRUSTED = [PROXY, '10.0.0.0/8', '2001:db8:aaaa::/48', '::ffff:172.16.0.0/108'];

const api = await forFile(startApi({ settings: { trustedProxies: TRUSTED } }));

interface Case {
  readonly from?: string;
  readonly list: readonly string[];
  readonly forwarded?: string | string[];
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly expected: 200 | 400 | 403;
}

const via = (list: readonly string[], forwarded: string | string[], expected: Case['expected']): Case => ({
  from: PROXY,
  list,
  forwarded,
  expected,
});
const direct = (list: readonly string[], expected: Case['expected'], more: Partial<Case> = {}): Case => ({
  from: STRANGER,
  list,
  expected,
  ...more,
});

const CLIENT = '203.0.113.7';
const OTHER = '198.51.100.9';

const CASES: readonly (readonly [string, Case])[] = [
  // The socket's peer, whatever its headers say.
  ['peer on the list', direct([STRANGER], 200)],
  ['peer not on the list', direct([CLIENT], 403)],
  ['empty list', direct([], 403)],
  ['stranger claims a listed address', direct([CLIENT], 403, { forwarded: CLIENT })],
  ['stranger claims it twice', direct([CLIENT], 403, { forwarded: [CLIENT, CLIENT] })],
  ['stranger claims a proxy chain', direct([CLIENT], 403, { forwarded: `${CLIENT}, ${PROXY}` })],
  ['stranger sends junk, itself listed', direct([STRANGER], 200, { forwarded: 'junk' })],
  ['stranger sends an empty header, itself listed', direct([STRANGER], 200, { forwarded: '' })],
  ['direct to origin past the proxy', direct([CLIENT], 403, { forwarded: `${CLIENT}, 10.1.2.3` })],
  ...(
    [
      ['forwarded', `for=${CLIENT}`],
      ['x-real-ip', CLIENT],
      ['x-client-ip', CLIENT],
      ['true-client-ip', CLIENT],
      ['cf-connecting-ip', CLIENT],
      ['x-cluster-client-ip', CLIENT],
      ['x-original-forwarded-for', CLIENT],
      ['x-forwarded', CLIENT],
      ['forwarded-for', CLIENT],
      ['via', CLIENT],
      ['client-ip', CLIENT],
      ['x-forwarded-host', CLIENT],
    ] as const
  ).flatMap(([name, value]): [string, Case][] => [
    [`stranger sends ${name}`, direct([CLIENT], 403, { headers: { [name]: value } })],
    [
      `proxy passes ${name} on`,
      { from: PROXY, list: [CLIENT], headers: { [name]: value }, forwarded: OTHER, expected: 403 },
    ],
  ]),
  // Through the trusted proxy.
  ['proxy says the client', via([CLIENT], CLIENT, 200)],
  ['proxy says another', via([CLIENT], OTHER, 403)],
  ['proxy without the header is the client', { from: PROXY, list: [PROXY], expected: 200 }],
  ['proxy without the header is itself the caller', { from: PROXY, list: [CLIENT], expected: 403 }],
  ['the proxy itself is not let in for its clients', via([PROXY], CLIENT, 403)],
  ['spoofed on the left', via([CLIENT], `${CLIENT}, ${OTHER}`, 403)],
  ['spoofed on the left, twice', via([CLIENT], `${CLIENT}, ${CLIENT}, ${OTHER}`, 403)],
  ['spoofed with a trusted address on the left', via([CLIENT], `10.0.0.1, ${CLIENT}, ${OTHER}`, 403)],
  ['junk on the left does not matter', via([CLIENT], `junk, ${CLIENT}`, 200)],
  ['an injection on the left does not matter', via([CLIENT], `'; drop table keys; --, ${CLIENT}`, 200)],
  ['two trusted proxies', via([CLIENT], `${CLIENT}, 10.1.2.3`, 200)],
  ['three trusted proxies', via([CLIENT], `${CLIENT}, 10.1.2.3, 10.9.9.9`, 200)],
  [
    'an untrusted one between trusted ones is the client',
    via([CLIENT], `${CLIENT}, ${OTHER}, 10.1.2.3`, 403),
  ],
  ['the untrusted one itself is listed', via([OTHER], `${CLIENT}, ${OTHER}, 10.1.2.3`, 200)],
  ['all trusted: the leftmost', via(['10.5.5.5'], '10.5.5.5, 10.1.2.3', 200)],
  ['all trusted: not the rightmost', via(['10.1.2.3'], '10.5.5.5, 10.1.2.3', 403)],
  ['a trusted IPv6 proxy', via([CLIENT], `${CLIENT}, 2001:db8:aaaa::5`, 200)],
  ['a trusted range in mapped form', via([CLIENT], `${CLIENT}, 172.31.255.255`, 200)],
  ['one past that range', via([CLIENT], `${CLIENT}, 172.32.0.0`, 403)],
  ['a trusted proxy in mapped form', via([CLIENT], `${CLIENT}, ::ffff:10.1.2.3`, 200)],
  ['repeated header, client in the last', via([CLIENT], [OTHER, CLIENT], 200)],
  ['repeated header, client only in the first', via([CLIENT], [CLIENT, OTHER], 403)],
  ['repeated header with lists', via([CLIENT], [`junk, ${OTHER}`, `${CLIENT}, 10.1.2.3`], 200)],
  [
    'header in capitals',
    { from: PROXY, list: [CLIENT], headers: { 'X-FORWARDED-FOR': CLIENT }, expected: 200 },
  ],
  // Forms in which addresses are written.
  ['no blanks', via([CLIENT], `${CLIENT},10.1.2.3`, 200)],
  ['many blanks', via([CLIENT], `  ${CLIENT}  ,   10.1.2.3  `, 200)],
  ['tabs', via([CLIENT], `${CLIENT},\t10.1.2.3`, 200)],
  ['with a port', via([CLIENT], `${CLIENT}:50123`, 200)],
  ['a trusted one with a port', via([CLIENT], `${CLIENT}, 10.1.2.3:443`, 200)],
  ['another one with a port', via([CLIENT], `${OTHER}:50123`, 403)],
  ['mapped IPv6', via([CLIENT], `::ffff:${CLIENT}`, 200)],
  ['mapped IPv6 in hexadecimal', via([CLIENT], '::ffff:cb00:7107', 200)],
  ['mapped IPv6 in capitals', via([CLIENT], `::FFFF:${CLIENT}`, 200)],
  ['mapped IPv6 in brackets with a port', via([CLIENT], `[::ffff:${CLIENT}]:443`, 200)],
  ['the list in mapped form', via([`::ffff:${CLIENT}`], CLIENT, 200)],
  ['IPv6', via(['2001:db8::7'], '2001:db8::7', 200)],
  ['IPv6 written out', via(['2001:db8::7'], '2001:0DB8:0000:0000:0000:0000:0000:0007', 200)],
  ['IPv6 in brackets', via(['2001:db8::7'], '[2001:db8::7]', 200)],
  ['IPv6 in brackets with a port', via(['2001:db8::7'], '[2001:db8::7]:50123', 200)],
  ['another IPv6', via(['2001:db8::7'], '2001:db8::8', 403)],
  ['IPv6 that ends like a port', via(['2001:db8::7'], '2001:db8::7:443', 403)],
  ['IPv4 that IPv6 embeds is not that IPv4 (6to4)', via([CLIENT], '2002:cb00:7107::', 403)],
  ['IPv4 that IPv6 embeds is not that IPv4 (NAT64)', via([CLIENT], '64:ff9b::cb00:7107', 403)],
  // Ranges on the list.
  ['inside a range', via(['203.0.113.0/24'], CLIENT, 200)],
  ['first of a range', via(['203.0.113.0/29'], '203.0.113.0', 200)],
  ['last of a range', via(['203.0.113.0/29'], CLIENT, 200)],
  ['one past a range', via(['203.0.113.0/29'], '203.0.113.8', 403)],
  ['one before a range', via(['203.0.113.8/29'], CLIENT, 403)],
  ['a range written with host bits', via(['203.0.113.99/24'], CLIENT, 200)],
  ['/32 is one address', via([`${CLIENT}/32`], CLIENT, 200)],
  ['/31 is two', via(['203.0.113.6/31'], CLIENT, 200)],
  ['/0 is every IPv4', via(['0.0.0.0/0'], CLIENT, 200)],
  ['/0 of IPv4 is no IPv6', via(['0.0.0.0/0'], '2001:db8::7', 403)],
  ['::/0 is every IPv6', via(['::/0'], '2001:db8::7', 200)],
  ['::/0 is no IPv4', via(['::/0'], CLIENT, 403)],
  ['inside an IPv6 range', via(['2001:db8::/32'], '2001:db8:ffff::1', 200)],
  ['past an IPv6 range', via(['2001:db8::/32'], '2001:db9::', 403)],
  ['a mapped range', via(['::ffff:203.0.113.0/120'], CLIENT, 200)],
  [
    'the tenth entry counts',
    via([...Array.from({ length: 9 }, (_, i) => `192.0.2.${i}`), CLIENT], CLIENT, 200),
  ],
  // Unreadable entries on the list allow no address.
  ...[
    '',
    'junk',
    '203.0.113',
    '203.0.113.7/33',
    '203.0.113.7/-1',
    '203.0.113.7/',
    '/24',
    '0xcb.0.113.7',
    '203.0.113.07',
    '*',
    '2001:db8::/129',
    '203.0.113.7 ',
  ].map((entry): [string, Case] => [`unreadable entry "${entry}"`, via([entry], CLIENT, 403)]),
  // Malformed where it must be read: refused.
  ...[
    'junk',
    '',
    ',',
    `${CLIENT},`,
    'unknown',
    '_hidden',
    '203.0.113',
    '203.0.113.7.1',
    '203.0.113.256',
    '203.0.113.07',
    '0xcb007107',
    '3405803783',
    '0313.0.0161.7',
    '203.0.113.7:port',
    '203.0.113.7:123456',
    ':443',
    '[::1',
    '::1]',
    '[203.0.113.7]',
    '[203.0.113.7]:443',
    '2001:db8::7%eth0',
    'fe80::1%25eth0',
    '2001:db8:::7',
    '::ffff:203.0.113.256',
    `"${CLIENT}"`,
    `for=${CLIENT}`,
    'localhost',
    'example.com',
    '203.0.113.7/24',
    '203.0.113.7 198.51.100.9',
  ].map((forwarded): [string, Case] => [
    `malformed "${forwarded}"`,
    via([CLIENT, '0.0.0.0/0', '::/0'], forwarded, 400),
  ]),
  ['malformed between trusted ones', via([CLIENT], `${CLIENT}, junk, 10.1.2.3`, 400)],
  ['malformed last of a repeated header', via([CLIENT], [CLIENT, 'junk'], 400)],
];

test('this file has at least 80 cases', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(80);
  expect(new Set(CASES.map(([why]) => why)).size).toBe(CASES.length);
});

test.each(CASES)('%s', async (_why, { from, list, forwarded, headers, expected }) => {
  api.shop.allowedAddresses = list;
  const reply = await api.ask('/api/wallet/balance', {
    key: 'list',
    ...(from === undefined ? {} : { from }),
    headers: { ...headers, ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }) },
  });
  expect(reply.status).toBe(expected);
  const code = { 200: undefined, 400: 'VALIDATION_ERROR', 403: 'IP_NOT_WHITELISTED' }[expected];
  if (code !== undefined)
    expect(reply.json).toMatchObject({ success: false, error: { code }, statusCode: expected });
});

test('a changed list applies at once', async () => {
  api.shop.allowedAddresses = [STRANGER];
  expect((await api.ask('/api/wallet/balance', { key: 'list', from: STRANGER })).status).toBe(200);
  api.shop.allowedAddresses = [CLIENT];
  expect((await api.ask('/api/wallet/balance', { key: 'list', from: STRANGER })).status).toBe(403);
});

test('one key from many addresses is checked for each of them, every time', async () => {
  api.shop.allowedAddresses = [CLIENT, '2001:db8::/32'];
  const found: [string, number][] = [];
  const asked = [CLIENT, OTHER, CLIENT, '2001:db8::1', OTHER, '2001:db9::1', CLIENT, OTHER, OTHER, CLIENT];
  for (const address of asked) {
    const headers = { 'x-forwarded-for': address };
    found.push([
      address,
      (await api.ask('/api/wallet/balance', { key: 'list', from: PROXY, headers })).status,
    ]);
  }
  const good = new Set([CLIENT, '2001:db8::1']);
  expect(found).toEqual(asked.map((address) => [address, good.has(address) ? 200 : 403]));
});

test('the trusted proxies are a setting: it decides about the same request', async () => {
  const before = await startApi({ settings: { trustedProxies: [] } });
  const after = await startApi({ settings: { trustedProxies: ['127.0.0.0/8'] } });
  try {
    for (const [one, expected] of [
      [before, 403],
      [after, 200],
    ] as const) {
      one.shop.allowedAddresses = [CLIENT];
      const reply = await one.ask('/api/wallet/balance', {
        key: 'list',
        from: PROXY,
        headers: { 'x-forwarded-for': CLIENT },
      });
      expect(reply.status).toBe(expected);
    }
  } finally {
    await before.close();
    await after.close();
  }
});

test.each(['junk', '10.0.0.0/33', 'proxy.example.com', ''])(
  'a trusted proxy that is no address stops the start: "%s"',
  (entry) => {
    expect(() => findClientAddress([entry])).toThrow(RangeError);
  },
);

describe('peers as sockets name them', () => {
  const noProxies = compileRanges([]);
  test.each([
    ['::ffff:203.0.113.7', CLIENT],
    ['203.0.113.7', CLIENT],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    ['', undefined],
  ])('%s → %s', (peer, expected) => {
    expect(resolveClientAddress(peer, undefined, noProxies)).toBe(expected);
  });

  test('a mapped peer can be a trusted proxy', () => {
    expect(resolveClientAddress('::ffff:10.0.0.1', CLIENT, compileRanges(['10.0.0.0/8']))).toBe(CLIENT);
  });
});

test('ranges and addresses have one spelling', () => {
  expect(normaliseAddress('2001:DB8:0::0007')).toBe('2001:db8::7');
  expect(parseRange('::ffff:10.0.0.0/104')?.[0].toString()).toBe('10.0.0.0');
  expect(parseRange('::ffff:0:0/95')?.[0].kind()).toBe('ipv6');
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::', '2001:db8:1:2::/64'],
])('requests from %s are counted as %s', (address, bucket) => {
  expect(addressBucket(address)).toBe(bucket);
});
