// How the built documentation is served, and what is at `/`. Its pages are tested in a browser
// (test/browser/docs-site.test.ts).
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { hashOf } from '../../src/platform/http/html.ts';
import { startApi } from '../support/http/api.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const INLINE = "document.documentElement.classList.add('dark')";
const PAGE = `<!doctype html><script type="module" src="/docs/assets/app.1a.js"></script><script id="dark">${INLINE}</script>`;
const SCRIPT = `export const text = '${'x'.repeat(2_000)}';`;
const FILES: Readonly<Record<string, string | Buffer>> = {
  'index.html': '<h1>Start</h1>',
  'index.md': '# Start',
  'errors.html': PAGE,
  'errors.md': '# Errors',
  'guides/first-purchase.html': '<h1>First purchase</h1>',
  'guides/first-purchase.md': '# First purchase',
  'decisions.html': '<h1>Decisions</h1>',
  'decisions.md': '# Decisions',
  'llms.txt': '# Simway',
  'files/docs/examples/receiver.ts.txt': 'receive();',
  'assets/app.1a.js': SCRIPT,
  'assets/app.1a.js.br': brotliCompressSync(SCRIPT),
  'built-from': 'not for readers',
};

const folder = await makeTestFolder();
for (const [name, content] of Object.entries(FILES)) {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), content);
}
const api = await startApi({ docsFolder: folder });
const without = await startApi({ docsFolder: join(folder, 'not-built') });
afterAll(async () => {
  await Promise.all([api.close(), without.close()]);
  await rm(folder, { recursive: true, force: true });
});

const seen = async (target: string, headers: Readonly<Record<string, string>> = BROWSER) => {
  const reply = await api.ask(target, { headers });
  return [reply.status, reply.headers['content-type'], reply.text];
};
/** What programs send. */
const PROGRAMS: readonly Readonly<Record<string, string>>[] = [
  {},
  { Accept: '*/*' },
  { Accept: 'application/json' },
];
const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';

/** Otherwise a browser shows the page without it. */
function expectOwnStyle({
  headers,
  text,
}: Pick<Awaited<ReturnType<typeof api.ask>>, 'headers' | 'text'>): void {
  const [, style = ''] = /<style>([^]*?)<\/style>/.exec(text) ?? [];
  expect(style).not.toBe('');
  expect(headers['content-security-policy']).toContain(`default-src 'none'; style-src ${hashOf(style)}`);
}

describe('a page', () => {
  it.each([
    ['/docs', '<h1>Start</h1>'],
    ['/docs/', '<h1>Start</h1>'],
    ['/docs?from=mail', '<h1>Start</h1>'],
    ['/docs/errors', PAGE],
    ['/docs/guides/first-purchase', '<h1>First purchase</h1>'],
  ])('%s is HTML for browsers, and for whoever names no type', async (target, text) => {
    expect(await seen(target)).toEqual([200, HTML, text]);
    expect(await seen(target, {})).toEqual([200, HTML, text]);
    expect(await seen(target, { Accept: '*/*' })).toEqual([200, HTML, text]);
  });

  it.each([
    ['/docs', '# Start'],
    ['/docs/errors', '# Errors'],
    ['/docs/guides/first-purchase', '# First purchase'],
  ])('%s is Markdown where that is asked for, and at its address with .md', async (target, text) => {
    expect(await seen(target, { Accept: 'text/markdown' })).toEqual([200, MARKDOWN, text]);
    expect(await seen(target, { Accept: 'text/markdown, text/html;q=0.5' })).toEqual([200, MARKDOWN, text]);
    expect(await seen(target === '/docs' ? '/docs/index.md' : `${target}.md`, {})).toEqual([
      200,
      MARKDOWN,
      text,
    ]);
  });

  it('runs its own scripts alone: files of ours, and what its text holds, by hash', async () => {
    const { headers } = await api.ask('/docs/errors', { headers: BROWSER });
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain(
      `default-src 'none'; script-src 'self' ${hashOf(INLINE)}; style-src 'self' 'sha256-`,
    );
    expect(policy).not.toMatch(/unsafe-(inline|eval)|https?:|\*/);
    expect((await api.ask('/docs')).headers['content-security-policy']).toContain("script-src 'self';");
    expect([headers['x-content-type-options'], headers['referrer-policy'], headers['vary']]).toEqual([
      'nosniff',
      'no-referrer',
      'Accept, Accept-Encoding',
    ]);
  });

  it('is asked for again each time, and 304 while it is the same', async () => {
    const { headers } = await api.ask('/docs/errors', { headers: BROWSER });
    expect(headers['cache-control']).toBe('no-cache');
    const known = { 'If-None-Match': String(headers['etag']) };
    const again = await api.ask('/docs/errors', { headers: { ...BROWSER, ...known } });
    expect([again.status, again.text]).toEqual([304, '']);
    // Another form is another text.
    expect((await api.ask('/docs/errors', { headers: { Accept: 'text/markdown', ...known } })).status).toBe(
      200,
    );
    expect((await api.ask('/docs', { headers: { ...BROWSER, ...known } })).status).toBe(200);
  });

  it('answers HEAD without a body', async () => {
    const { status, headers, text } = await api.ask('/docs/errors', { method: 'HEAD', headers: BROWSER });
    expect([status, headers['content-length'], text]).toEqual([200, String(PAGE.length), '']);
  });
});

describe('files', () => {
  it('whose name has their hash are kept for a year, in the encoding that the browser accepts', async () => {
    const plain = await api.ask('/docs/assets/app.1a.js');
    expect([plain.status, plain.text]).toEqual([200, SCRIPT]);
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(plain.headers['content-type']).toContain('javascript');
    const small = await api.ask('/docs/assets/app.1a.js', { headers: { 'Accept-Encoding': 'br' } });
    expect([small.headers['content-encoding'], small.headers['vary']]).toEqual(['br', 'Accept-Encoding']);
    expect(Number(small.headers['content-length'])).toBeLessThan(200);
  });

  it('of the repository are text, and asked for again', async () => {
    const target = '/docs/files/docs/examples/receiver.ts.txt';
    expect(await seen(target)).toEqual([200, 'text/plain; charset=utf-8', 'receive();']);
    expect((await api.ask(target)).headers['cache-control']).toBe('no-cache');
  });

  it('the list for programs is at both of its addresses', async () => {
    for (const target of ['/llms.txt', '/docs/llms.txt'])
      expect(await seen(target, {})).toEqual([200, 'text/plain; charset=utf-8', '# Simway']);
  });
});

describe('another address', () => {
  it.each([
    ['/docs/ERRORS.md', '/docs/errors'],
    ['/docs/ERRORS', '/docs/errors'],
    ['/docs/errors/', '/docs/errors'],
    ['/docs/errors.html', '/docs/errors'],
    ['/docs/decisions/README.md', '/docs/decisions'],
    ['/docs/decisions/', '/docs/decisions'],
    ['/docs/index.html', '/docs'],
    ['/docs/README.md', '/docs'],
  ])('of a page leads to it: %s', async (target, to) => {
    const { status, headers } = await api.ask(target, { headers: BROWSER });
    expect([status, headers['location']]).toEqual([301, to]);
  });

  it.each([
    ...['/docs/nothing', '/docs/nothing.md', '/docs/built-from', '/docs/assets/none.js', '/docs/assets/'],
    ...['/docs/%00', '/docs/..%2fbuilt-from', '/docs//evil.example', '/docs/__proto__', '/docs/errors.md/x'],
    ...['/llms.txt/x', '/docs/swagger-ui.css'],
  ])('of no page is 404, with links for browsers: %s', async (target) => {
    const page = await api.ask(target, { headers: BROWSER });
    expect([page.status, page.headers['content-type']]).toEqual([404, HTML]);
    expect(page.text).toContain('<a href="/docs">Documentation</a>');
    expect(page.text).toContain('<a href="/docs/reference">API reference</a>');
    expectOwnStyle(page);
    for (const headers of PROGRAMS) {
      const answer = await api.ask(target, { headers });
      expect([answer.status, answer.json]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }]);
    }
  });

  it('is not ours: it is served to reads only, and the reference stays', async () => {
    expect((await api.ask('/docs/errors', { method: 'POST', body: {} })).status).toBe(404);
    expect((await api.ask('/documents', { headers: BROWSER })).status).toBe(404);
    const reference = await api.ask('/docs/reference', { headers: BROWSER });
    expect([reference.status, reference.text.includes('swagger-ui')]).toEqual([200, true]);
  });
});

it('documentation that is not built says so to browsers, and leads to the reference', async () => {
  const { status, text } = await without.ask('/docs', { headers: BROWSER });
  expect([status, text]).toEqual([404, expect.stringContaining('npm run build:docs')]);
  expect(text).toContain('href="/docs/reference"');
  expect((await without.ask('/docs')).json).toMatchObject({ error: { code: 'NOT_FOUND' } });
  expect((await without.ask('/docs/reference')).status).toBe(200);
});

describe('the first address', () => {
  it('is a page with links in a browser', async () => {
    const { status, headers, text } = await api.ask('/', { headers: BROWSER });
    expect([status, headers['content-type'], headers['vary']]).toEqual([200, HTML, 'Accept']);
    expectOwnStyle({ headers, text });
    const links = Array.from(text.matchAll(/href="([^"]+)"/g), ([, address]) => address ?? '');
    expect(links).toContain('/dashboard');
    for (const address of links.filter((one) => one !== '/dashboard'))
      expect((await api.ask(address)).status, address).toBe(200);
  });

  it('is JSON for programs', async () => {
    for (const headers of PROGRAMS) {
      const { status, headers: sent, json } = await api.ask('/', { headers });
      expect([status, sent['content-type'], sent['vary']]).toEqual([
        200,
        'application/json; charset=utf-8',
        'Accept',
      ]);
      expect(json).toMatchObject({ links: { documentation: '/docs', openapi: '/api/openapi.json' } });
    }
  });
});
