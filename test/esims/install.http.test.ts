// The install data of an eSIM, its public link and page, and the diagnosis, over HTTP on a real Postgres.
import { createHash, randomBytes } from 'node:crypto';
import type { Updateable } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DomainError } from '../../src/domain/errors.ts';
import { androidInstallLink, iosInstallLink } from '../../src/esims/activation.ts';
import { TEXTS } from '../../src/esims/install-texts/languages.ts';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
import { startApi, type Ask, type Reply } from '../support/http/api.ts';
import { generalError } from '../support/http/error-bodies.ts';
import { forFile } from '../support/world/for-file.ts';

const api = await forFile(startApi({ live: true }));
beforeAll(async () => {
  await api.shop.setBalance(10_000_000_000n);
});
beforeEach(() => {
  api.logLines.length = 0;
});

const BASE = { packageCode: 'NG-5GB-30D', packageType: 'BASE', paymentMethod: 'WALLET' };
const NEW = {
  status: 'CREATED',
  smdp_status: 'RELEASED',
  order_usage_bytes: 0n,
  activate_time: null,
  expired_time: new Date('2099-01-01T00:00:00Z'),
} as const;
const AC = 'LPA:1$rsp.example.com$MATCHING-0001';
/** Where the supplier has its QR images. */
const SUPPLIER_HOST = 'qr.example.com';

/** An eSIM of a key's account, with the supplier's answer about it. */
async function esim(changes: Updateable<WorldDatabase['esims']> = {}, key = 'ngn'): Promise<string> {
  const { json } = await api.ask('/api/esim/buy', { key, body: BASE });
  const id = api.idOf((json as { esimDetails: { esimId: string } }).esimDetails.esimId);
  await api.shop.owner
    .updateTable('esims')
    .set({ ...NEW, ...changes })
    .where('id', '=', id)
    .execute();
  return id;
}

interface Install {
  readonly installState: string;
  readonly installUrl: string;
  readonly activationCode: string;
}

const readInstall = async (id: string, example?: string): Promise<Install> =>
  (await api.ask(`/api/esim/${id}/install`, { key: 'ngn', example })).json as Install;
const pathOf = ({ installUrl }: Install): string => new URL(installUrl).pathname;
const page = async (id: string, query = '', ask: Ask = {}): Promise<Reply> =>
  api.ask(`${pathOf(await readInstall(id))}${query}`, ask);
const revoke = (id: string, key = 'ngn', example?: string): Promise<Reply> =>
  api.ask(`/api/esim/${id}/install/link`, { key, method: 'DELETE', example });
const titleOf = ({ text }: Reply): string | undefined => /<h1>([^<]*)<\/h1>/.exec(text)?.[1]?.trim();
const codeOf = ({ text }: Reply): string | undefined => / data-code="(\w+)"/.exec(text)?.[1];

describe('GET /api/esim/{esimId}/install', () => {
  test('has all install data, and what is left of the allowance, with its age', async () => {
    const checkedAt = new Date(Date.now() - 60_000);
    const id = await esim({ checked_at: checkedAt, usage_as_of: checkedAt });
    const { status, json, text } = await api.ask(`/api/esim/${id}/install`, {
      key: 'ngn',
      example: 'ready',
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      installState: 'READY',
      activationCode: AC,
      smdpAddress: 'rsp.example.com',
      matchingId: 'MATCHING-0001',
      iosInstallUrl: iosInstallLink(AC),
      androidInstallUrl: androidInstallLink(AC),
      apn: 'internet',
      esimStatus: 'CREATED',
      smdpStatus: 'RELEASED',
      orderUsage: 0,
      data_usage_remain: 5_368_709_120,
      validity_usage_remain: 30,
      durationUnit: 'DAY',
      usageAsOf: checkedAt.toISOString(),
    });
    expect((json as { qrCode: string }).qrCode).toMatch(/^data:image\/svg\+xml;base64,/);
    expect((json as Install).installUrl).toMatch(/^https:\/\/shop\.example\/i\/[\w-]{32}$/);
    expect(text).not.toContain(SUPPLIER_HOST);
  });

  test.each([
    ['CREATED', 'ENABLED', 'INSTALLED'],
    ['EXPIRED', 'RELEASED', 'ENDED'],
    ['CANCELLED', 'RELEASED', 'ENDED'],
    ['PENDING', '', 'NOT_DELIVERED'],
  ] as const)('for %s and %s says %s and has no install data', async (status, smdp_status, installState) => {
    const id = await esim({ status, smdp_status });
    const install = await readInstall(id, installState.toLowerCase().replace('_', ' '));
    expect(install).toMatchObject({
      installState,
      activationCode: '',
      smdpAddress: '',
      matchingId: '',
      qrCode: '',
      iosInstallUrl: '',
      androidInstallUrl: '',
    });
    expect(install.installUrl).not.toBe('');
    expect(JSON.stringify(install)).not.toMatch(/LPA|MATCHING/);
  });

  test('has the same link each time, also for many first reads at once', async () => {
    const id = await esim();
    const links = await Promise.all(
      Array.from({ length: 8 }, async () => (await readInstall(id)).installUrl),
    );
    expect(new Set([...links, (await readInstall(id)).installUrl]).size).toBe(1);
  });

  test('leaves no token in the database, and none in the log', async () => {
    const id = await esim();
    const token = pathOf(await readInstall(id)).slice('/i/'.length);
    await api.ask(`/i/${token}`);
    await api.ask(`/i/${token}?lang=ar`);
    api.shop.failNext = new Error(`could not read https://shop.example/i/${token}`);
    expect((await api.ask(`/i/${token}`)).status).toBe(500);
    const row = await api.shop.owner
      .selectFrom('install_links')
      .selectAll()
      .where('esim_id', '=', id)
      .executeTakeFirstOrThrow();
    const stored =
      JSON.stringify(row) + [row.nonce, row.token_hash].map((one) => one.toString('base64url')).join();
    expect(stored).not.toContain(token);
    expect(row.token_hash).toEqual(createHash('sha256').update(token).digest());
    expect(api.logLines.length).toBeGreaterThan(2);
    expect(api.logLines.join('')).not.toContain(token);
    expect(api.logLines.join('')).toContain('"route":"/i/{token}"');
  });

  test('replaces a link made under another secret', async () => {
    const id = await esim();
    const first = await readInstall(id);
    await api.shop.owner
      .updateTable('install_links')
      .set({ token_hash: randomBytes(32) })
      .where('esim_id', '=', id)
      .execute();
    const second = await readInstall(id);
    expect(second.installUrl).not.toBe(first.installUrl);
    expect((await api.ask(pathOf(second))).status).toBe(200);
    expect((await api.ask(pathOf(first))).status).toBe(404);
  });
});

test('the install data of an eSIM that failed make no link', async () => {
  const id = await esim({ status: 'FAILED' });
  expect(await readInstall(id)).toMatchObject({ installState: 'ENDED', installUrl: '', activationCode: '' });
  const { text } = await api.ask(`/api/esim/${id}/timeline`, { key: 'ngn' });
  expect(text).not.toContain('install-link-made');
});

describe('DELETE /api/esim/{esimId}/install/link', () => {
  test('ends the link; the next read makes another; a repeat changes nothing', async () => {
    const id = await esim();
    const first = await readInstall(id);
    expect((await api.ask(pathOf(first))).status).toBe(200);
    for (let round = 0; round < 2; round += 1) {
      const { status, json } = await revoke(id, 'ngn', 'revoked');
      expect([status, json]).toMatchObject([200, { revoked: true }]);
    }
    expect((await api.ask(pathOf(first))).status).toBe(404);
    const second = await readInstall(id);
    expect(second.installUrl).not.toBe(first.installUrl);
    expect((await api.ask(pathOf(second))).status).toBe(200);
    expect((await api.ask(pathOf(first))).status).toBe(404);
  });

  test('answers the same when there was no link yet', async () => {
    expect((await revoke(await esim())).status).toBe(200);
  });

  test('is for the owner only, and not for a read-only key', async () => {
    const id = await esim();
    const before = await readInstall(id);
    expect((await revoke(id, 'usd')).json).toEqual(
      generalError(403, 'NOT_YOUR_ESIM', 'This eSIM belongs to another account'),
    );
    expect((await revoke(id, 'readonly')).status).toBe(403);
    expect((await api.ask(`/api/esim/${id}/install/link`, { method: 'DELETE' })).status).toBe(401);
    expect(await readInstall(id)).toEqual(before);
  });
});

describe('other accounts get no answer', () => {
  test.each(['install', 'diagnosis'])('%s', async (what) => {
    const id = await esim();
    const ask = (target: string, asked: Ask): Promise<Reply> => api.ask(`/api/esim/${target}/${what}`, asked);
    const foreign = await ask(id, { key: 'usd' });
    expect([foreign.status, foreign.json]).toEqual([
      403,
      generalError(403, 'NOT_YOUR_ESIM', 'This eSIM belongs to another account'),
    ]);
    expect((await ask(id, { key: 'live/ngn' })).status).toBe(404);
    expect((await ask(id, {})).status).toBe(401);
    expect((await ask(id, { key: 'buyonly' })).status).toBe(403);
    for (const none of [`esim-${'f'.repeat(32)}`, 'x', '%00', '%27%20or%201=1', 'esim-%F0%9F']) {
      const { status, json } = await ask(none, { key: 'ngn' });
      expect([status, json]).toEqual([404, generalError(404, 'ESIM_NOT_FOUND', 'eSIM not found')]);
    }
  });
});

describe('the page', () => {
  test('has the install data, works without scripts, and does not show the supplier', async () => {
    const { status, headers, text } = await page(await esim());
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const links = [iosInstallLink(AC), androidInstallLink(AC)].map((link) => `href="${link}"`);
    const shown = ['MATCHING-0001', 'rsp.example.com', `>${AC}<`, '<svg', 'viewport', 'Step by step', '5 GB'];
    for (const one of [...shown, ...links]) expect(text).toContain(one);
    expect(text).not.toContain(SUPPLIER_HOST);
    const hosts = [...text.matchAll(/https?:\/\/([^/"]+)/g)].map(([, host]) => host);
    expect(new Set(hosts)).toEqual(new Set(['esimsetup.apple.com', 'esimsetup.android.com', 'www.w3.org']));
  });

  test('has headers that keep it private, and a policy that allows its style by hash', async () => {
    const { headers, text } = await page(await esim());
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-robots-tag': 'noindex, nofollow, noarchive',
      'content-language': 'en',
    });
    const policy = String(headers['content-security-policy']);
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(text) ?? [];
    expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(text).not.toMatch(/\son\w+=|\sstyle=|<script(?! src="\/i\/copy\.js" defer><\/script>)/);
  });

  test('loads its script from our own file', async () => {
    const { status, headers, text } = await api.ask('/i/copy.js');
    expect([status, headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(text).not.toMatch(/https?:|fetch|innerHTML/);
  });

  test.each([
    [{}, TEXTS.en.ready.title, undefined],
    [{ smdp_status: 'DOWNLOAD' }, TEXTS.en.ready.title, 'DOWNLOAD_INTERRUPTED'],
    [{ smdp_status: 'INSTALLATION' }, TEXTS.en.installed.title, 'SWITCHED_OFF'],
    [{ smdp_status: 'ENABLED' }, TEXTS.en.installed.title, 'NOT_CONNECTED'],
    [{ smdp_status: 'DELETED' }, TEXTS.en.ended.title, 'DELETED'],
    [{ status: 'PENDING' }, TEXTS.en.notDelivered.title, 'NOT_DELIVERED'],
    [{ status: 'FAILED' }, TEXTS.en.ended.title, 'DELIVERY_FAILED'],
    [{ status: 'EXPIRED' }, TEXTS.en.ended.title, 'EXPIRED'],
    [{ status: 'CANCELLED' }, TEXTS.en.ended.title, 'CANCELLED'],
  ] as const)('%o: "%s", %s', async (changes, title, code) => {
    const id = await esim();
    const path = pathOf(await readInstall(id));
    await api.shop.owner
      .updateTable('esims')
      .set({ ...NEW, ...changes })
      .where('id', '=', id)
      .execute();
    const reply = await api.ask(path);
    expect([reply.status, titleOf(reply), codeOf(reply)]).toEqual([200, title, code]);
    const isReady = title === TEXTS.en.ready.title;
    expect(/LPA|MATCHING|<svg|esimsetup/.test(reply.text)).toBe(isReady);
    expect(reply.text.includes('http-equiv="refresh"')).toBe(code === 'NOT_DELIVERED');
  });

  test.each([
    ['', 'fr-CA,fr;q=0.9,en;q=0.5', 'fr', 'ltr'],
    ['', 'de,ar-EG;q=0.8', 'ar', 'rtl'],
    ['', 'de', 'en', 'ltr'],
    ['', ';;,q=x,\u00ff', 'en', 'ltr'],
    ['?lang=es', 'ar', 'es', 'ltr'],
    ['?lang=%3Cscript%3E', 'en', 'en', 'ltr'],
  ] as const)('%s, Accept-Language %s: %s, %s', async (query, accepted, language, direction) => {
    const id = await esim();
    const reply = await page(id, query, { headers: { 'accept-language': accepted } });
    expect(reply.text).toContain(`<html lang="${language}" dir="${direction}">`);
    expect([titleOf(reply), reply.headers['content-language']]).toEqual([
      TEXTS[language].ready.title,
      language,
    ]);
    const none = await api.ask(`/i/${'x'.repeat(32)}${query}`, { headers: { 'accept-language': accepted } });
    expect(none.text).toContain(`<html lang="${language}" dir="${direction}">`);
    expect([none.status, titleOf(none)]).toEqual([404, TEXTS[language].notFound.title]);
  });

  test('shows names from outside as text, never as markup', async () => {
    const { text } = await page(
      await esim({ package_name: `<img src=x onerror="alert(1)">`, apn: '"><script>' }),
    );
    expect(text).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;');
    expect(text).toContain('&quot;&gt;&lt;script&gt;');
    expect(text).not.toContain('<img');
  });

  test('is found for a sandbox link while live is on, and a key reads its own environment only', async () => {
    const path = pathOf(await readInstall(await esim()));
    expect((await api.ask(path, { key: 'ngn' })).status).toBe(200);
    expect((await api.ask(path, { key: 'live/ngn' })).status).toBe(404);
  });

  test('answers HEAD and GET only', async () => {
    const path = pathOf(await readInstall(await esim()));
    const head = await api.ask(path, { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await api.ask(path, { method: 'POST' })).status).toBe(405);
  });
});

describe('invalid links', () => {
  test('that are revoked, unknown or garbage get the same answer', async () => {
    const id = await esim();
    const revoked = pathOf(await readInstall(id));
    await revoke(id);
    const long = ['x'.repeat(33), `${'x'.repeat(31)}%`, 'x'.repeat(9_000)];
    const garbage = ['x', '%00', '%E0%A4%A', '..%2f..%2fetc', ...long];
    const paths = [
      revoked,
      `/i/${'x'.repeat(32)}`,
      ...garbage.map((one) => `/i/${one}`),
      `${revoked}?lang=en&lang=fr`,
      `${revoked}?${Array.from({ length: 60 }, (_, index) => `p${index}=1`).join('&')}`,
    ];
    const [first, ...rest] = await Promise.all(paths.map((path) => api.ask(path)));
    expect([first?.status, first && titleOf(first)]).toEqual([404, TEXTS.en.notFound.title]);
    const OWN_OF_EACH = new Set(['date', 'x-request-id', 'x-ratelimit-remaining']);
    const known = ({ status, text, headers }: Reply) => ({
      status,
      text,
      headers: Object.entries(headers).filter(([name]) => !OWN_OF_EACH.has(name)),
    });
    for (const other of rest) expect(known(other)).toEqual(known(first!));
    expect(first?.headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
    expect(api.logLines.some((line) => line.includes('"level":"error"'))).toBe(false);
  });

  test('that are garbage cause no query', async () => {
    api.shop.calls.length = 0;
    await api.ask('/i/x');
    await api.ask('/i/%00');
    expect(api.shop.calls).toEqual([]);
  });

  test('past the limit of an address get a page that says when to try again', async () => {
    const limited = await startApi({ settings: { publicRequestsPerMinute: 2 } });
    try {
      const tries = [1, 2, 3].map(() => `/i/${randomBytes(24).toString('base64url')}`);
      for (const path of tries.slice(1)) expect((await limited.ask(path)).status).toBe(404);
      const reply = await limited.ask(tries[0]!, { headers: { 'accept-language': 'ar' } });
      expect([reply.status, titleOf(reply)]).toEqual([429, TEXTS.ar.tooMany.title]);
      expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    } finally {
      await limited.close();
    }
  });

  test('get a page during an outage as well', async () => {
    api.shop.failNext = new DomainError('SERVICE_UNAVAILABLE', 'secret plan');
    const reply = await api.ask(`/i/${'x'.repeat(32)}`);
    expect([reply.status, titleOf(reply), reply.headers['retry-after']]).toEqual([
      503,
      TEXTS.en.unavailable.title,
      '5',
    ]);
    expect(reply.text).not.toContain('secret plan');
  });
});

describe('refreshing from the supplier', () => {
  /** An eSIM that was last checked a day ago, and a count of the calls to the supplier about it. */
  async function stale(): Promise<{ id: string; path: string; checkedAt: () => Promise<number> }> {
    const id = await esim();
    const path = pathOf(await readInstall(id));
    const yesterday = new Date(Date.now() - 86_400_000);
    await api.shop.owner.updateTable('esims').set({ checked_at: yesterday }).where('id', '=', id).execute();
    const checkedAt = async (): Promise<number> => {
      const row = await api.shop.owner
        .selectFrom('esims')
        .select('checked_at')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      return row.checked_at?.getTime() ?? 0;
    };
    return { id, path, checkedAt };
  }

  test('is done by the first view of outdated data, which shows the result; later views use the stored answer', async () => {
    const { id, path, checkedAt } = await stale();
    expect(titleOf(await api.ask(path))).toBe(TEXTS.en.installed.title);
    const seen = await checkedAt();
    expect(Date.now() - seen).toBeLessThan(60_000);
    await api.shop.owner
      .updateTable('esims')
      .set({ checked_at: new Date(0) })
      .where('id', '=', id)
      .execute();
    await Promise.all([1, 2, 3].map(() => api.ask(path)));
    expect(await checkedAt()).toBe(0);
  });
});

test('GET /api/esim/{esimId}/diagnosis answers the code, sentences, and how old the facts are', async () => {
  const checkedAt = new Date(Date.now() - 120_000);
  const id = await esim({ smdp_status: 'DISABLED', checked_at: checkedAt, usage_as_of: checkedAt });
  const { status, json, text } = await api.ask(`/api/esim/${id}/diagnosis`, {
    key: 'ngn',
    example: 'switched off',
  });
  expect([status, json]).toMatchObject([
    200,
    {
      code: 'SWITCHED_OFF',
      summary: 'The eSIM is installed and switched off.',
      nextStep: 'Switch it on in the phone’s SIM settings.',
      esimStatus: 'CREATED',
      smdpStatus: 'DISABLED',
      usageAsOf: checkedAt.toISOString(),
    },
  ]);
  expect(text).not.toMatch(/LPA|MATCHING|qr\.example/);
});
