/**
 * URLs that must never be called, each with the reason; `%PORT%` is where a canary listens, a port that the
 * guard allows in these tests.
 */
import type { UrlRefusal } from '../../src/platform/outbound/target.ts';

/** Addresses in plain form that are not public (IANA special-purpose registries, and clouds' own). */
const ADDRESSES = `
  0.0.0.0 0.1.2.3 0.255.255.255 10.0.0.0 10.0.0.1 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255
  127.0.0.0 127.0.0.1 127.1.2.3 127.255.255.255 168.63.129.16 169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255
  172.16.0.0 172.17.0.1 172.31.255.255 192.0.0.0 192.0.0.8 192.0.0.170 192.0.0.192 192.0.0.255 192.0.2.0 192.0.2.255
  192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.0 192.168.1.1 192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255
  198.51.100.1 198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0 224.0.0.1 232.1.1.1 239.255.255.255 240.0.0.0
  250.1.2.3 255.255.255.254 255.255.255.255
  [::] [::1] [::2] [::ffff:7f00:1] [::ffff:a00:1] [::ffff:a9fe:a9fe] [::ffff:808:808] [::7f00:1] [::808:808]
  [::ffff:0:7f00:1] [64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [64:ff9b::808:808] [64:ff9b:1::1] [64:ff9b:1:ffff::7f00:1]
  [1::1] [100::] [100::1] [100:0:0:1::1] [200::1] [2001::1] [2001:0:7f00:1::] [2001:0:4136:e378:8000:63bf:80ff:fffe]
  [2001:1::1] [2001:2::1] [2001:3::1] [2001:4:112::1] [2001:10::1] [2001:20::1] [2001:30::1] [2001:1ff:ffff::1]
  [2001:db8::1] [2001:db8:ffff::1] [2002:7f00:1::1] [2002:a00:1::] [2002:a9fe:a9fe::1] [2002:808:808::1]
  [2620:4f:8000::1] [3fff::1] [3fff:fff:ffff::1] [4000::1] [5f00::1] [fc00::1] [fd00::1] [fd00:ec2::254] [fdff:ffff::1]
  [fe80::1] [fe80::7f00:1] [fe80::5efe:a00:1] [febf::1] [fec0::1] [feff::1] [ff00::1] [ff02::1] [ff02::fb] [ff05::2]
  [ff0e::1] [2606:4700::5efe:7f00:1] [2606:4700::200:5efe:a00:1]`;

/** Addresses in unusual forms that parsers accept; some of them are public. */
const SPELLINGS = `
  127.1 127.0.1 127.0.0.01 127.000.000.001 0177.0.0.1 0177.1 00177.0.0.01 017700000001 0x7f.0.0.1 0x7f.1
  0X7F.0x0.0x0.0x1 0x7f000001 0x7F000001 0x0000007f.1 2130706433 0 00 0x0 0x 0.0 1 10.1 012.1 0xa.0.0.1 167772161
  2852039166 0xa9fea9fe 0251.0376.0251.0376 0xa9.0xfe.0xa9.0xfe 169.254.43518 169.16689662 3232235521 0300.0250.0.1
  0xffffffff 4294967295 0x08080808 134744072 010.8.8.8 8.8.2056
  127.0.0.1. 2130706433. 0x7f.1. 169.254.169.254.
  １２７.０.０.１ 127。0。0。1 127．0．0．1 ①②⑦.0.0.1 ⑯⑨.254.169.254 １２７.１
  %31%32%37.0.0.1 127%2e0%2e0%2e1 %30x7f.1 localhos%74 canary%2eexample.com
  [0:0:0:0:0:0:0:1] [::0001] [0::1] [0::0] [::127.0.0.1] [::ffff:127.0.0.1] [::FFFF:127.0.0.1] [::ffff:169.254.169.254]
  [0:0:0:0:0:ffff:127.0.0.1] [0000:0000:0000:0000:0000:ffff:7f00:0001] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1]
  [fe80:0::1] [2606:4700:4700:0::1111]`;

/** Names outside the public internet, refused without a query. */
const NAMES = `
  localhost LOCALHOST LocalHost localhost. app.localhost a.b.localhost ⓛocalhost ｌｏｃａｌｈｏｓｔ metadata intranet canary
  metadata.google.internal host.docker.internal db.internal x.local printer.LOCAL kube-dns.kube-system.svc.cluster.local
  router.home.arpa abc.onion x.alt canary.example.com. canary.example.com.. canary..example.com .example.com
  canary.example.com。 (a).example.com ${'a'.repeat(64)}.example.com ${'a.'.repeat(130)}example.com`;

/** Text that is no URL, or is one only to some parsers. */
const NO_URLS = [
  '',
  ' ',
  'http',
  'http:',
  'http:/',
  'http://',
  'http:///',
  'http://:80',
  'http://?canary.example.com',
  'http://#canary.example.com',
  '127.0.0.1:%PORT%',
  '//127.0.0.1:%PORT%/',
  '/127.0.0.1',
  'http:127.0.0.1:%PORT%',
  'http:/127.0.0.1:%PORT%',
  'http:///127.0.0.1:%PORT%',
  'http://///127.0.0.1:%PORT%',
  'http:\\\\127.0.0.1:%PORT%',
  'http://127.0.0.1:%PORT%\\@canary.example.com',
  'http://canary.example.com\\@127.0.0.1:%PORT%',
  'http://canary.example.com:%PORT%\\.example.net',
  ' http://127.0.0.1:%PORT%',
  'http://127.0.0.1:%PORT%\n',
  'http://127.0\t.0.1:%PORT%',
  'ht\ntp://127.0.0.1:%PORT%',
  'http://127.0.0.1:%PORT%/ HTTP/1.1\r\nX: y',
  'http://canary.example.com:%PORT%/\u0000',
  'http://127.0.0.1\u200b:%PORT%',
  'http://loc\u00adalhost:%PORT%',
  'http://\u202e1.0.0.721:%PORT%',
  'http://127.0.0.1\u00a0:%PORT%',
  'http://[fe80::1%25eth0]:%PORT%',
  'http://[fe80::1%eth0]:%PORT%',
  'http://[::1%25lo]:%PORT%',
  'http://[::1%lo]:%PORT%',
  'http://::1:%PORT%',
  'http://[::1:%PORT%',
  'http://[127.0.0.1]:%PORT%',
  'http://[::1].example.com:%PORT%',
  'http://[v1.fe80]:%PORT%',
  'http://256.0.0.1:%PORT%',
  'http://127.0.0.256:%PORT%',
  'http://127.0.0.1.1:%PORT%',
  'http://08.0.0.1:%PORT%',
  'http://4294967296:%PORT%',
  'http://0x100000000:%PORT%',
  'http://canary.0x1:%PORT%',
  'http://canary.example.com:65536',
  'http://canary.example.com:-1',
  'http://canary.example.com:80:80',
  'http://canary.example.com:8o',
  'http://canary.example.com:',
  'http://canary.example.com:%PORT%:',
  'http://can<ary.example.com:%PORT%',
  'http://can|ary.example.com:%PORT%',
  'http://can%00ary.example.com:%PORT%',
  `http://canary.example.com:%PORT%/${'a'.repeat(2_048)}`,
];

const SCHEMES = `
  ftp://127.0.0.1:%PORT% file:///etc/passwd file://127.0.0.1/etc/passwd gopher://127.0.0.1:%PORT%/_GET ws://127.0.0.1:%PORT%
  wss://127.0.0.1:%PORT% dict://127.0.0.1:%PORT%/info ldap://127.0.0.1:%PORT% tftp://127.0.0.1:%PORT% data:text/plain,x
  javascript:alert(1) mailto:a@example.com unix:/run/x.sock http+unix://%2Frun%2Fx.sock/ blob:http://127.0.0.1:%PORT%/x
  jar:http://127.0.0.1:%PORT%!/ view-source:http://127.0.0.1:%PORT% httpx://127.0.0.1:%PORT%`;

const CREDENTIALS = `
  http://user@127.0.0.1:%PORT% http://user:word@canary.example.com:%PORT% http://:word@127.0.0.1:%PORT% http://@127.0.0.1:%PORT%
  http://:@127.0.0.1:%PORT% http://canary.example.com@127.0.0.1:%PORT% http://canary.example.com:80@127.0.0.1:%PORT%
  http://127.0.0.1:%PORT%@canary.example.com http://a@b@127.0.0.1:%PORT% http://a%40b@127.0.0.1:%PORT%
  http://user:word@[::1]:%PORT% https://user@canary.example.com`;

const PORTS = `
  http://canary.example.com:0 http://canary.example.com:1 http://canary.example.com:22 http://canary.example.com:25
  http://canary.example.com:81 http://canary.example.com:442 http://canary.example.com:2375 http://canary.example.com:5432
  http://canary.example.com:6379 http://canary.example.com:8080 http://canary.example.com:65535 https://canary.example.com:8443
  https://93.184.216.34:8443 http://[2606:4700::1111]:8080 http://93.184.216.34:00022`;

/** Names of a foreign name server: its answer (A and AAAA), or an alias. */
export const ZONE: Readonly<Record<string, readonly string[]>> = {
  'canary.example.com': ['93.184.216.34', '2606:4700::1111'],
  'xn--bcher-kva.example.com': ['93.184.216.34'],
  'loopback.example.com': ['127.0.0.1'],
  'loopback6.example.com': ['::1'],
  'private.example.com': ['10.1.2.3'],
  'metadata.example.com': ['169.254.169.254'],
  'everywhere.example.com': ['0.0.0.0'],
  'unspecified6.example.com': ['::'],
  'mapped.example.com': ['::ffff:127.0.0.1'],
  'nat64.example.com': ['64:ff9b::7f00:1'],
  'six-to-four.example.com': ['2002:7f00:1::1'],
  'teredo.example.com': ['2001:0:7f00:1::'],
  'local6.example.com': ['fd00:ec2::254'],
  'link6.example.com': ['fe80::1'],
  'good-then-bad.example.com': ['93.184.216.34', '127.0.0.1'],
  'bad-then-good.example.com': ['127.0.0.1', '93.184.216.34'],
  'good4-bad6.example.com': ['93.184.216.34', '::1'],
  'bad4-good6.example.com': ['10.0.0.1', '2606:4700::1111'],
  'last-of-many.example.com': [...Array.from({ length: 20 }, (_, last) => `93.184.216.${last}`), '127.0.0.1'],
  '127.0.0.1.nip.example.com': ['127.0.0.1'],
  'passes-on.example.com': ['private.example.com'],
  'passes-on-twice.example.com': ['passes-on.example.com'],
  'passes-on-to-loopback.example.com': ['loopback6.example.com'],
  'passes-on-to-localhost.example.com': ['localhost'],
  'passes-on-in-circles.example.com': ['passes-on-in-circles.example.com'],
  'empty.example.com': [],
  localhost: ['127.0.0.1'],
};

const hostsOf = (list: string): readonly string[] => list.trim().split(/\s+/);
const asUrl = (host: string): string => `http://${host}:%PORT%/hook`;
const LEADS_NOWHERE = /^(empty|passes-on-in-circles)\./;
const LEADS_WELL = ['canary.example.com', 'xn--bcher-kva.example.com', 'localhost'];

export const FORBIDDEN: readonly { readonly url: string; readonly reason: UrlRefusal }[] = [
  ...hostsOf(ADDRESSES).map((host) => ({ url: asUrl(host), reason: 'address' as const })),
  ...hostsOf(SPELLINGS).map((host) => ({ url: asUrl(host), reason: 'spelling' as const })),
  ...hostsOf(NAMES).map((host) => ({ url: asUrl(host), reason: 'name' as const })),
  ...NO_URLS.map((url) => ({ url, reason: 'not-a-url' as const })),
  ...hostsOf(SCHEMES).map((url) => ({ url, reason: 'scheme' as const })),
  ...hostsOf(CREDENTIALS).map((url) => ({ url, reason: 'credentials' as const })),
  ...hostsOf(PORTS).map((url) => ({ url, reason: 'port' as const })),
  ...[...Object.keys(ZONE), 'nowhere.example.com', 'refused.example.com']
    .filter((name) => !LEADS_WELL.includes(name))
    .map((name) => {
      const nowhere = LEADS_NOWHERE.test(name) || !(name in ZONE);
      return { url: asUrl(name), reason: nowhere ? ('unresolved' as const) : ('address' as const) };
    }),
];
