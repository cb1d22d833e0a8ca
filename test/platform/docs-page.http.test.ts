// The reference page: served from our own files only, under a policy that allows nothing from elsewhere.
import { expect, test } from 'vitest';
import { startApi } from '../support/http/api.ts';
import { forFile } from '../support/world/for-file.ts';

const api = await forFile(startApi());

test('the page and every file it names are served', async () => {
  const page = await api.ask('/docs/reference');
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const named = Array.from(page.text.matchAll(/(?:src|href)="([^"]+)"/g), (match) => match[1] ?? '');
  expect(named.length).toBe(5);
  for (const target of named.filter((one) => one !== '/docs')) {
    expect(target).toMatch(/^\/docs\/reference\//);
    const file = await api.ask(target);
    expect(file.status).toBe(200);
    expect(file.text.length).toBeGreaterThan(100);
    expect(file.headers['content-type']).toMatch(/^(text\/css|text\/javascript|image\/png)/);
    expect(file.headers['x-content-type-options']).toBe('nosniff');
  }
});

test('the policy allows nothing from elsewhere, and no inline script', async () => {
  const page = await api.ask('/docs/reference');
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  expect(page.text).not.toMatch(/<script>|\son\w+=/);
});

test.each([
  'package.json',
  '..%2fpackage.json',
  '%2e%2e%2f%2e%2e%2fpackage.json',
  'swagger-ui.js.map',
  'index.html',
  '__proto__',
  '%00',
  'SWAGGER-UI.CSS',
])('no other file is served: %s', async (name) => {
  const reply = await api.ask(`/docs/reference/${name}`);
  expect([reply.status, reply.text.includes('NOT_FOUND')]).toEqual([404, true]);
});
