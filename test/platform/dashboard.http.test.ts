// How the built dashboard is served. Its pages are tested in a browser (test/browser/dashboard-*.test.ts).
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDoor, type Door } from '../support/http/api.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const PAGE = '<!doctype html><meta name="style-nonce" content="STYLE_NONCE"><div id="root"></div>';
const SCRIPT = `export const text = '${'x'.repeat(2_000)}';`;

let folder: string;
let door: Door;
let without: Door;
beforeAll(async () => {
  folder = await makeTestFolder();
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), PAGE);
  await writeFile(join(folder, 'icon.svg'), '<svg/>');
  await writeFile(join(folder, 'assets', 'app-1a2b3c.js'), SCRIPT);
  await writeFile(join(folder, 'assets', 'app-1a2b3c.js.br'), brotliCompressSync(SCRIPT));
  await writeFile(join(folder, 'built-from'), 'not for readers');
  door = await openDoor({ dashboardFolder: folder });
  without = await openDoor({ dashboardFolder: join(folder, 'not-built') });
});
afterAll(async () => {
  await Promise.all([door.close(), without.close()]);
  await rm(folder, { recursive: true, force: true });
});

describe('the page', () => {
  it.each(['/dashboard', '/dashboard/', '/dashboard/m/acc-1/test/esims?search=a', '/dashboard/built-from'])(
    'is the answer at %s',
    async (target) => {
      const { status, headers, text } = await door.ask(target);
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
    const [one, other] = [await door.ask('/dashboard'), await door.ask('/dashboard')];
    expect(one.text).not.toBe(other.text);
  });

  it('is not the answer to anything but reading, nor elsewhere', async () => {
    expect((await door.ask('/dashboard', { method: 'POST', body: {} })).status).toBe(404);
    expect((await door.ask('/dashboards')).status).toBe(404);
    expect((await door.ask('/api/nothing')).status).toBe(404);
  });
});

it('over https, browsers are told to come by https alone, on pages and in answers', async () => {
  const settings = { publicUrl: 'https://api.example.com' };
  const secure = await openDoor({ dashboardFolder: folder, settings });
  try {
    for (const target of ['/dashboard', '/api/wallet/balance', '/nowhere'])
      expect((await secure.ask(target)).headers['strict-transport-security']).toBe('max-age=31536000');
    expect((await door.ask('/dashboard')).headers['strict-transport-security']).toBeUndefined();
  } finally {
    await secure.close();
  }
});

describe('assets', () => {
  it('are kept for a year, and sent in the form that the browser takes', async () => {
    const plain = await door.ask('/dashboard/assets/app-1a2b3c.js');
    expect([plain.status, plain.text]).toEqual([200, SCRIPT]);
    expect(plain.headers['content-type']).toContain('javascript');
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const small = await door.ask('/dashboard/assets/app-1a2b3c.js', { headers: { 'Accept-Encoding': 'br' } });
    expect(small.headers['content-encoding']).toBe('br');
    expect(Number(small.headers['content-length'])).toBeLessThan(200);
  });

  it('outlive a build that replaces them while the service runs', async () => {
    await rm(join(folder, 'assets', 'app-1a2b3c.js'));
    expect((await door.ask('/dashboard/assets/app-1a2b3c.js')).text).toBe(SCRIPT);
  });

  it('that are not there are 404, never the page', async () => {
    for (const target of [
      '/dashboard/assets/none.js',
      '/dashboard/assets/..%2fbuilt-from',
      '/dashboard/assets/%00',
    ])
      expect((await door.ask(target)).status, target).toBe(404);
  });
});

it('a dashboard that is not built is not there', async () => {
  expect((await without.ask('/dashboard')).status).toBe(404);
});
