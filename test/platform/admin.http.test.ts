// The admin port: liveness, readiness and metrics, with the API's answers counted by route template.
import { afterEach, expect, test } from 'vitest';
import { buildAdminApp, type ReadinessCheck } from '../../src/platform/http/admin.ts';
import { startServer, type RunningServer } from '../../src/platform/http/server.ts';
import { createMetrics } from '../../src/platform/telemetry/metrics.ts';
import { startApi } from '../support/http/api.ts';

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop(500)));
});

async function admin(
  checks: () => Promise<readonly ReadinessCheck[]>,
  metrics = createMetrics({ processMetrics: true }),
): Promise<string> {
  const app = buildAdminApp({ checks, metrics: metrics.registry, version: '1.2.3', checksTimeoutMs: 100 });
  const server = await startServer({ app, host: '127.0.0.1', port: 0 });
  running.push(server);
  return server.url;
}

const GOOD = { name: 'postgres', ok: true };

test('healthz says that the process is alive, whatever the readiness checks say', async () => {
  const url = await admin(() => Promise.reject(new Error('x')));
  const reply = await fetch(`${url}/healthz`);
  expect([reply.status, await reply.json()]).toEqual([200, { status: 'ok', version: '1.2.3' }]);
});

test.each([
  ['all good', () => Promise.resolve([GOOD]), 200, { status: 'ready', checks: [GOOD] }],
  [
    'one bad',
    () => Promise.resolve([GOOD, { name: 'temporal', ok: false, detail: 'no answer' }]),
    503,
    { status: 'not ready', checks: [GOOD, { name: 'temporal', ok: false, detail: 'no answer' }] },
  ],
  [
    'the checks fail',
    () => Promise.reject(new Error('password=1')),
    503,
    { status: 'not ready', checks: [{ name: 'checks', ok: false, detail: 'the checks themselves failed' }] },
  ],
  [
    'the checks hang',
    () => new Promise<never>(() => undefined),
    503,
    { status: 'not ready', checks: [{ name: 'checks', ok: false, detail: 'no result within 100 ms' }] },
  ],
] as const)('readyz: %s', async (_why, checks, status, body) => {
  const reply = await fetch(`${await admin(checks)}/readyz`);
  expect([reply.status, await reply.json()]).toEqual([status, body]);
});

test('any other path is not found', async () => {
  const url = await admin(() => Promise.resolve([]));
  for (const path of ['/', '/api/esim/regions', '/__proto__', '/toString'])
    expect((await fetch(url + path)).status).toBe(404);
  expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(404);
});

test('metrics count by template, method and status, and callers cannot add series', async () => {
  const api = await startApi();
  try {
    await api.ask('/api/esim/packages/NG-5GB-30D');
    await api.ask('/api/esim/packages/NOPE-1');
    await api.ask('/api/esim/packages/NOPE-2');
    await api.ask('/one');
    await api.ask('/two');
    await api.ask('/two', { method: 'PROPFIND' });
    const reply = await fetch(`${await admin(() => Promise.resolve([]), api.metrics)}/metrics`);
    const lines = (await reply.text()).split('\n').filter((line) => line.startsWith('http_requests_total{'));
    expect(lines.sort()).toEqual([
      'http_requests_total{route="/api/esim/packages/{packageCode}",method="GET",status="200"} 1',
      'http_requests_total{route="/api/esim/packages/{packageCode}",method="GET",status="404"} 2',
      'http_requests_total{route="unmatched",method="GET",status="404"} 2',
      'http_requests_total{route="unmatched",method="OTHER",status="404"} 1',
    ]);
    expect(reply.headers.get('content-type')).toContain('text/plain');
  } finally {
    await api.close();
  }
});
