// What the environment decides for webhooks and mail. Live always follows the published rules, whatever is
// set for the sandbox.
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { ACCOUNT_CURRENCIES, formatMinor } from '../../src/domain/money.ts';
import { ATTEMPT_WAITS_MS, FAILING_LIMIT_MS, HAND_OVER_FROM_MS } from '../../src/webhooks/rules.ts';
import { problemOf, read } from './settings.support.ts';

describe('webhooks', () => {
  it('of the live environment use https only, those of the sandbox http too', () => {
    const { live, test } = read().config.webhooks;
    expect([live.httpsOnly, test.httpsOnly]).toEqual([true, false]);
  });

  it('of the live environment keep the published schedule, whatever pace the sandbox has', () => {
    const { live, test } = read({ SIMWAY_TEST_WEBHOOK_SPEED: '500' }).config.webhooks;
    expect([live.waitsMs, live.failingLimitMs]).toEqual([ATTEMPT_WAITS_MS, FAILING_LIMIT_MS]);
    expect(live.handOverFromMs).toBe(HAND_OVER_FROM_MS);
    expect([test.waitsMs, test.failingLimitMs]).toEqual([
      ATTEMPT_WAITS_MS.map((ms) => Math.trunc(ms / 500)),
      FAILING_LIMIT_MS / 500,
    ]);
  });

  it('of each environment have their own allowed ranges', () => {
    const { live, test } = read({ SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8,::1' }).config.webhooks;
    expect([live.allowedRanges, test.allowedRanges]).toEqual([[], ['127.0.0.0/8', '::1']]);
  });
});

describe('the public URL', () => {
  const urlOf = (given: Record<string, string>) => read(given).config.publicUrl;

  it('is https, or http on this machine only', () => {
    expect(urlOf({ SIMWAY_PUBLIC_URL: 'https://api.example.com' })).toBe('https://api.example.com');
    expect(urlOf({ SIMWAY_HTTP_PORT: '3456' })).toBe('http://127.0.0.1:3456');
    expect(() => urlOf({ SIMWAY_PUBLIC_URL: 'http://api.example.com' })).toThrow(
      'SIMWAY_PUBLIC_URL: takes https://',
    );
    expect(() => urlOf({ SIMWAY_HTTP_HOST: '0.0.0.0' })).toThrow('SIMWAY_PUBLIC_URL: is required');
  });
});

describe('mails to users are shown instead of sent', () => {
  const showsMails = (given: Record<string, string> = {}) => read(given).config.showsMails;

  it('where the service is reachable from its own machine only, as under npm start', () => {
    expect(showsMails()).toBe(true);
    expect(showsMails({ SIMWAY_PUBLIC_URL: 'http://localhost:3000' })).toBe(true);
    expect(showsMails({ SIMWAY_HTTP_HOST: '::1', SIMWAY_PUBLIC_URL: 'http://[::1]:3000' })).toBe(true);
  });

  it.each([
    ['by a public URL', { SIMWAY_PUBLIC_URL: 'https://api.example.com' }],
    ['from any address', { SIMWAY_HTTP_HOST: '0.0.0.0', SIMWAY_PUBLIC_URL: 'http://127.0.0.1:3000' }],
    ['where live is on', { SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: 'live' }],
  ])('not where it is reachable %s', (_how, given) => {
    expect(showsMails(given)).toBe(false);
  });
});

describe('the controls of the sandbox', () => {
  const CONTROL = 'http://127.0.0.1:3101';

  it('are used by the test environment only, and only if their URL is set', () => {
    const given = {
      SIMWAY_TEST_SUPPLIER_CONTROL_URL: CONTROL,
      SIMWAY_LIVE_SUPPLIER_CONTROL_URL: CONTROL,
      SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: 'live',
    };
    const { live, test } = read(given).config.worlds;
    expect([live?.supplier.controlUrl, test.supplier.controlUrl]).toEqual([undefined, CONTROL]);
    expect(read().config.worlds.test.supplier.controlUrl).toBeUndefined();
    expect(problemOf({ SIMWAY_TEST_SUPPLIER_CONTROL_URL: 'not a URL' })).not.toBe('');
  });
});

describe('the age at which a read refreshes an eSIM from the supplier', () => {
  const freshOf = (given: Record<string, string> = {}) => {
    const { live, test } = read({ ...given, SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: 'live' }).config.worlds;
    return [live?.esimFreshMs, test.esimFreshMs];
  };

  it('is a setting of each environment', () => {
    expect(freshOf()).toEqual([60_000, 2_000]);
    expect(freshOf({ SIMWAY_LIVE_ESIM_FRESH_MS: '3600000', SIMWAY_TEST_ESIM_FRESH_MS: '1000' })).toEqual([
      3_600_000, 1_000,
    ]);
  });

  it.each(['999', '3600001', '0', '-1', '1.5', 'soon'])('is refused outside its bounds: %s', (value) => {
    for (const name of ['SIMWAY_LIVE_ESIM_FRESH_MS', 'SIMWAY_TEST_ESIM_FRESH_MS'])
      expect(() => read({ [name]: value })).toThrow(new RegExp(name));
  });
});

describe('a setting in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'simway-settings-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (text: string): string => {
    const path = join(folder, randomUUID());
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };

  it('is read as if it were the variable, without the line break at its end', () => {
    const url = 'redis://:secret@127.0.0.1:6379';
    expect(read({ REDIS_URL_FILE: file(`${url}\n`) }).secrets.redisUrl).toBe(url);
  });

  it('raises a warning where every user of the machine may read it, and none after chmod 600', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const path = file('redis://:secret@127.0.0.1:6379');
    chmodSync(path, 0o644);
    read({ REDIS_URL_FILE: path });
    const said = String(warned.mock.calls[0]?.[0]);
    expect(said).toMatch(/^REDIS_URL_FILE: .*chmod 600/);
    expect(said).not.toContain('secret@');
    chmodSync(path, 0o600);
    read({ REDIS_URL_FILE: path });
    expect(warned).toHaveBeenCalledTimes(1);
    warned.mockRestore();
  });

  it.each([
    ['two lines', () => ({ REDIS_URL_FILE: file('sesame\nopen') }), 'does not hold one line of text'],
    ['nothing', () => ({ REDIS_URL_FILE: file('') }), 'does not hold one line of text'],
    ['no file', () => ({ REDIS_URL_FILE: join(folder, 'absent') }), 'cannot be read (ENOENT)'],
    ['beside the variable', () => ({ REDIS_URL: 'sesame', REDIS_URL_FILE: file('sesame') }), 'not both'],
  ])('is refused and not shown: %s', (_what, given, why) => {
    const problem = problemOf(given());
    expect(problem).toContain('REDIS_URL_FILE');
    expect(problem).toContain(why);
    expect(problem).not.toContain('sesame');
  });
});

describe('a password of its own', () => {
  it('is put into the address, whatever its letters', () => {
    const { secrets } = read({
      DATABASE_URL: 'postgres://app@db:5432/simway',
      SIMWAY_DATABASE_PASSWORD: 'a/b@c:d%',
      REDIS_URL: 'redis://redis:6379',
      SIMWAY_REDIS_PASSWORD: 'sesame',
    });
    expect(secrets.databaseUrl).toBe('postgres://app:a%2Fb%40c%3Ad%25@db:5432/simway?sslmode=disable');
    expect(secrets.redisUrl).toBe('redis://:sesame@redis:6379');
  });

  it('may be in the address too, but no other', () => {
    const given = { DATABASE_URL: 'postgres://app:sesame@db/simway', SIMWAY_DATABASE_PASSWORD: 'sesame' };
    expect(read(given).secrets.databaseUrl).toContain('app:sesame@');
    const problem = problemOf({ ...given, SIMWAY_DATABASE_PASSWORD: 'open' });
    expect(problem).toContain('SIMWAY_DATABASE_PASSWORD: the address has another password');
    expect(problem).not.toMatch(/sesame|open/);
  });
});

describe('mail', () => {
  it('is sent once a server and a sender address are set', () => {
    expect(read().secrets.mail).toBeUndefined();
    expect(read({ SIMWAY_MAIL_FROM: 'notices@simway.example' }).secrets.mail).toBeUndefined();
    const given = { SIMWAY_SMTP_URL: 'smtps://mail.example', SIMWAY_MAIL_FROM: 'notices@simway.example' };
    expect(read(given).secrets.mail).toEqual({
      smtpUrl: given.SIMWAY_SMTP_URL,
      from: given.SIMWAY_MAIL_FROM,
    });
  });

  it.each([
    [{ SIMWAY_SMTP_URL: 'smtp://mail.example' }, 'SIMWAY_MAIL_FROM'],
    [
      { SIMWAY_SMTP_URL: 'https://u:a-password@mail.example', SIMWAY_MAIL_FROM: 'a@b.example' },
      'SIMWAY_SMTP_URL',
    ],
    [{ SIMWAY_SMTP_URL: 'smtp://mail.example', SIMWAY_MAIL_FROM: 'not-an-address' }, 'SIMWAY_MAIL_FROM'],
  ])('that cannot be sent stops the start with the setting’s name, and no value: %j', (given, name) => {
    const problem = problemOf(given);
    expect(problem).toContain(name);
    expect(problem).not.toContain('a-password');
  });
});

describe('the URL of a vendor that takes real money', () => {
  it.each(['SIMWAY_LIVE_SUPPLIER_URL', 'SIMWAY_LIVE_GATEWAY_URL'])('in %s must be https', (name) => {
    for (const url of [
      'http://api.example.com',
      'http://10.1.2.3',
      'http://127.0.0.1.example.com',
      'ftp://x',
      'x',
    ])
      expect(problemOf({ [name]: url }), url).toContain(`${name}: takes https://`);
    for (const url of [
      'https://api.example.com',
      'http://127.0.0.1:3100',
      'http://[::1]:3100',
      'http://localhost:1',
    ])
      expect(problemOf({ [name]: url }), url).toBe('');
  });
});

describe('Postgres', () => {
  const URL_OF = (query: string, host = 'db.example.com'): string =>
    `postgres://app:a-password@${host}/simway${query}`;
  const settled = (given: Record<string, string>): string => read(given).secrets.databaseUrl;
  const own = import.meta.filename;

  it.each([
    // The setting, `sslmode`, and the driver's options.
    ['', '', 'disable'],
    ['off', '', 'disable'],
    ['require', '', 'no-verify'],
    ['verify', '', 'verify-full'],
    ['', '?sslmode=disable', 'disable'],
    ['', '?sslmode=require', 'no-verify'],
    ['', '?sslmode=no-verify', 'no-verify'],
    ['', '?sslmode=verify-ca', 'verify-full'],
    ['', '?sslmode=verify-full', 'verify-full'],
    ['verify', '?sslmode=verify-ca', 'verify-full'],
    ['verify', '?ssl=0&uselibpqcompat=true', 'verify-full'],
    ['', '?ssl=true', 'verify-full'],
    ['', '?ssl=0', 'disable'],
    ['require', '?ssl=true', 'no-verify'],
  ])('with TLS "%s" and "%s" uses %s', (tls, query, sslmode) => {
    const given = { DATABASE_URL: URL_OF(query), SIMWAY_DATABASE_TLS: tls };
    const url = settled(given);
    expect(url).toBe(URL_OF(`?sslmode=${sslmode}`));
    // Processes started by `npm start` read it again.
    expect(settled({ ...given, DATABASE_URL: url })).toBe(url);
  });

  it.each(['?sslrootcert=', '?sslmode=require&sslrootcert=', '?sslcert='])(
    'checks with a certificate in "%s"',
    (query) => {
      expect(settled({ DATABASE_URL: URL_OF(query + encodeURIComponent(own)) })).toContain(
        'sslmode=verify-full',
      );
    },
  );

  it.each([
    [{ SIMWAY_DATABASE_TLS: 'on' }, 'SIMWAY_DATABASE_TLS'],
    [{ DATABASE_URL: URL_OF('?sslmode=prefer') }, 'DATABASE_URL: sslmode must be one of'],
    [{ DATABASE_URL: URL_OF('?sslmode=allow') }, 'DATABASE_URL: sslmode must be one of'],
    [
      { DATABASE_URL: URL_OF('?sslmode=disable'), SIMWAY_DATABASE_TLS: 'verify' },
      'SIMWAY_DATABASE_TLS: is verify, but sslmode in DATABASE_URL says off',
    ],
    [
      { SIMWAY_DATABASE_TLS: 'verify', SIMWAY_DATABASE_CA_FILE: '/no/such.pem' },
      'SIMWAY_DATABASE_CA_FILE: this file',
    ],
    [{ SIMWAY_DATABASE_CA_FILE: own }, 'SIMWAY_DATABASE_CA_FILE: only has an effect'],
    [
      { DATABASE_URL: URL_OF('?sslmode=verify-full&sslrootcert=/no/such.pem') },
      'DATABASE_URL: sslrootcert: this file',
    ],
    [{ DATABASE_URL: 'postgres://app:a-password@/simway' }, 'DATABASE_URL: is no address'],
  ])('set as %j stops the start', (given, problem) => {
    const message = problemOf({ DATABASE_URL: URL_OF(''), ...given });
    expect(message).toContain(problem);
    expect(message).not.toContain('a-password');
  });

  it('trusts its own certificate authority by a file', () => {
    const given = { SIMWAY_DATABASE_TLS: 'verify', SIMWAY_DATABASE_CA_FILE: own };
    const { searchParams } = new URL(settled({ ...given, DATABASE_URL: URL_OF('') }));
    expect(searchParams.get('sslrootcert')).toBe(own);
  });

  it.each([
    ['db.example.com', true],
    ['8.8.8.8', true],
    ['[2600::1]', true],
    ['127.0.0.1', false],
    ['[::1]', false],
    ['10.1.2.3', false],
    ['192.168.1.2', false],
    ['[fd00::1]', false],
    ['localhost', false],
    ['postgres', false],
    ['db.internal', false],
    ['db.shop.svc.cluster.local', false],
    ['%2Fvar%2Frun', false],
  ])('at %s without TLS can be read on the way: %s', (host, isReadable) => {
    const isReadableWith = (tls: string): boolean =>
      read({ DATABASE_URL: URL_OF('', host), SIMWAY_DATABASE_TLS: tls }).config.database.isReadable;
    expect(isReadableWith('')).toBe(isReadable);
    expect(isReadableWith('off')).toBe(isReadable);
    expect([isReadableWith('require'), isReadableWith('verify')]).toEqual([false, false]);
  });
});

it('the HTTP limits have a default, and an event of any allowed size fits', () => {
  expect(read().config.http).toMatchObject({
    maxConnections: 5_000,
    maxConnectionsPerAddress: 256,
    maxEventBytesInFlight: 16_777_216,
  });
  expect(problemOf({ SIMWAY_GATEWAY_EVENT_BYTES: '1000' })).toContain('SIMWAY_GATEWAY_EVENT_BYTES');
  expect(problemOf({ SIMWAY_HTTP_CONNECTIONS: '0' })).toContain('SIMWAY_HTTP_CONNECTIONS');
});

describe('daily limits without a second person', () => {
  const limitsOf = (given: Record<string, string>) => read(given).config.worlds.test.approvalLimits;
  const NO_LIMIT = { perAction: {}, perPersonDay: {}, perAccountDay: {} };

  it.each([
    [{}, { NGN: 200_000_000n, USD: 120_000n }, { NGN: 100_000_000n, USD: 60_000n }],
    [{ SIMWAY_APPROVAL_LIMIT: 'NGN=5000000.00' }, { NGN: 2_000_000_000n }, { NGN: 1_000_000_000n }],
    [{ SIMWAY_APPROVAL_LIMIT: 'EUR=10.00' }, { EUR: 4_000n }, { EUR: 2_000n }],
    [{ SIMWAY_APPROVAL_LIMIT_PERSON_DAY: 'off' }, {}, { NGN: 100_000_000n, USD: 60_000n }],
  ])('are read from %j', (given, perPersonDay, perAccountDay) => {
    const { perAction } = limitsOf(given);
    expect(limitsOf(given)).toEqual({ perAction, perPersonDay, perAccountDay });
  });

  it('have defaults that docs/SETTINGS.md says', () => {
    const document = readFileSync('docs/SETTINGS.md', 'utf8');
    for (const limits of Object.values(limitsOf({}))) {
      const pairs = Object.entries(limits).map(([currency, minor]) => `${currency}=${formatMinor(minor)}`);
      expect(pairs.map((pair) => pair.split('=')[0])).toEqual(ACCOUNT_CURRENCIES);
      expect(document).toContain(`\`${pairs.join(',')}\``);
    }
  });

  it('are off where one action has no limit', () => {
    expect(limitsOf({ SIMWAY_APPROVAL_LIMIT: 'off' })).toEqual(NO_LIMIT);
  });
});
