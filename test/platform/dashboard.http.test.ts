// How the built dashboard is served. Its pages are tested in a browser (test/browser/dashboard-*.test.ts).
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { startApi } from '../support/http/api.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

const PAGE = '<!doctype html><meta name="style-nonce" content="STYLE_NONCE"><div id="root"></div>';
const SCRIPT = `export const text = '${'x'.repeat(2_000)}';`;

const folder = await makeTestFolder();
await mkdir(join(folder, 'assets'));
await writeFile(join(folder, 'index.html'), PAGE);
await writeFile(join(folder, 'icon.svg'), '<svg/>');
await writeFile(join(folder, 'assets', 'app-1a2b3c.js'), SCRIPT);
await writeFile(join(folder, 'assets', 'app-1a2b3c.js.br'), brotliCompressSync(SCRIPT));
await writeFile(join(folder, 'built-from'), 'not for readers');
const api = await startApi({ dashboardFolder: folder });
const without = await startApi({ dashboardFolder: join(folder, 'not-built') });
afterAll(async () => {
  await Promise.all([api.close(), without.close()]);
  await rm(folder, { recursive: true, force: true });
});

describe('the page', () => {
  it.each(['/dashboard', '/dashboard/', '/dashboard/m/acc-1/test/esims?search=a', '/dashboard/built-from'])(
    'is served at %s',
    async (target) => {
      const { status, headers, text } = await api.ask(target);
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-store',
      ]);
      const nonce = /content="([^"]+)"/.exec(text)?.[1] ?? '';
      expect(nonce).toMatch(/^[\w+/]{22}==$/);
      const policy = headers['content-security-policy'];
      expect(policy).toContain(`style-src 'self' 'nonce-${nonce}'`);
      expect(policy).toContain("default-src 'none'; script-src 'self';");
      expect(policy).not.toContain('unsafe');
      expect([headers['x-content-type-options'], headers['referrer-policy']]).toEqual([
        'nosniff',
        'no-referrer',
      ]);
    },
  );

  it('has another nonce each time', async () => {
    const [one, other] = [await api.ask('/dashboard'), await api.ask('/dashboard')];
    expect(one.text).not.toBe(other.text);
  });

  it('is served to reads only, and at no other path', async () => {
    expect((await api.ask('/dashboard', { method: 'POST', body: {} })).status).toBe(404);
    expect((await api.ask('/dashboards')).status).toBe(404);
    expect((await api.ask('/api/nothing')).status).toBe(404);
  });
});

it('over https, pages and answers make browsers use https only', async () => {
  const settings = { publicUrl: 'https://api.example.com' };
  const secure = await startApi({ dashboardFolder: folder, settings });
  try {
    for (const target of ['/dashboard', '/api/wallet/balance', '/nowhere'])
      expect((await secure.ask(target)).headers['strict-transport-security']).toBe('max-age=31536000');
    expect((await api.ask('/dashboard')).headers['strict-transport-security']).toBeUndefined();
  } finally {
    await secure.close();
  }
});

describe('assets', () => {
  it('are cached for a year, and sent in the encoding that the browser accepts', async () => {
    const plain = await api.ask('/dashboard/assets/app-1a2b3c.js');
    expect([plain.status, plain.text]).toEqual([200, SCRIPT]);
    expect(plain.headers['content-type']).toContain('javascript');
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const small = await api.ask('/dashboard/assets/app-1a2b3c.js', { headers: { 'Accept-Encoding': 'br' } });
    expect(small.headers['content-encoding']).toBe('br');
    expect(Number(small.headers['content-length'])).toBeLessThan(200);
  });

  it('stay available after a build replaces them while the service runs', async () => {
    await rm(join(folder, 'assets', 'app-1a2b3c.js'));
    expect((await api.ask('/dashboard/assets/app-1a2b3c.js')).text).toBe(SCRIPT);
  });

  it('that do not exist are 404, never the page', async () => {
    for (const target of [
      '/dashboard/assets/none.js',
      '/dashboard/assets/..%2fbuilt-from',
      '/dashboard/assets/%00',
    ])
      expect((await api.ask(target)).status, target).toBe(404);
  });
});

it('a dashboard that is not built is 404', async () => {
  expect((await without.ask('/dashboard')).status).toBe(404);
});
