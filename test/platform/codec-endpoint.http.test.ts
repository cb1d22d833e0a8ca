// The codec endpoint of the admin port decrypts for the Temporal UI and not for other websites, and never
// encrypts.
import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { buildAdminApp } from '../../src/platform/http/admin.ts';
import { startServer } from '../../src/platform/http/server.ts';
import { createMetrics } from '../../src/platform/telemetry/metrics.ts';
import { createPayloadCodec } from '../../src/platform/temporal/payload-codec.ts';

const UI = 'https://temporal.example';
const keys = { key: randomBytes(32).toString('hex'), previousKeys: [] };
const codecs = new Map(
  ['t-test', 't-live'].map((namespace) => [namespace, createPayloadCodec({ keys, namespace })]),
);
const clear = defaultPayloadConverter.toPayload({ packageCode: 'NG-5GB-30D' });

const deps = {
  checks: () => Promise.resolve([]),
  metrics: createMetrics({ processMetrics: false }).registry,
  version: '1.2.3',
};
const at = { host: '127.0.0.1', port: 0 };
const server = await startServer({ app: buildAdminApp({ ...deps, codec: { uiOrigin: UI, codecs } }), ...at });
const without = await startServer({ app: buildAdminApp(deps), ...at });
afterAll(() => Promise.all([server.stop(500), without.stop(500)]));

const asJson = ({ metadata, data }: Payload) => ({
  metadata: Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
  ),
  data: Buffer.from(data ?? []).toString('base64'),
});

async function encrypted(namespace = 't-live') {
  const [payload] = await codecs.get(namespace)!.encode([clear]);
  return asJson(payload!);
}

interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Reply {
  readonly payloads?: unknown;
  readonly message?: string;
}

async function call({ method = 'POST', path = '/codec/decode', headers = {}, body }: Call) {
  const reply = await fetch(server.url + path, {
    method,
    headers: { 'Content-Type': 'application/json', 'X-Namespace': 't-live', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, body: JSON.parse(text || '{}') as Reply };
}

describe('decoding', () => {
  it('returns encrypted payloads decrypted, and others unchanged', async () => {
    const { status, headers, body } = await call({
      headers: { Origin: UI },
      body: { payloads: [await encrypted(), asJson(clear)] },
    });
    expect([status, body]).toEqual([200, { payloads: [asJson(clear), asJson(clear)] }]);
    expect(headers.get('access-control-allow-origin')).toBe(UI);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('serves programs, which send no origin', async () => {
    expect((await call({ body: { payloads: [await encrypted()] } })).status).toBe(200);
  });

  it('depends on the namespace', async () => {
    const body = { payloads: [await encrypted('t-test')] };
    expect((await call({ headers: { 'X-Namespace': 't-test' }, body })).status).toBe(200);
    const other = await call({ body });
    expect([other.status, other.body.message]).toEqual([
      422,
      expect.stringMatching(/t-live under key/) as unknown,
    ]);
    for (const namespace of ['', 'unknown', '__proto__']) {
      const refused = await call({ headers: { 'X-Namespace': namespace }, body });
      expect([refused.status, refused.body.message]).toEqual([400, 'X-Namespace must be t-test or t-live']);
    }
  });

  it.each([
    ['no JSON', '{'],
    ['no payloads', '{}'],
    ['something else', { payloads: [{ data: 1 }] }],
    ['nothing', ''],
  ])('explains what is wrong with %s', async (_what, body) => {
    const refused = await call({ body });
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('payloads')]);
  });

  it('accepts at most 4 MiB', async () => {
    const refused = await call({ body: `{"payloads":["${'a'.repeat(4 * 1024 * 1024)}"]}` });
    expect([refused.status, refused.body.message]).toEqual([413, expect.stringContaining('4194304 bytes')]);
  });
});

describe('another website', () => {
  it.each(['https://evil.example', 'null', `${UI}.evil.example`, 'http://temporal.example'])(
    'is refused: %s',
    async (origin) => {
      const body = { payloads: [await encrypted()] };
      for (const method of ['POST', 'OPTIONS']) {
        const refused = await call({
          method,
          headers: { Origin: origin },
          ...(method === 'POST' ? { body } : {}),
        });
        expect(refused.status).toBe(403);
        expect(refused.headers.get('access-control-allow-origin')).toBe(UI);
      }
    },
  );

  it('cannot post a form', async () => {
    const body = { payloads: [await encrypted()] };
    expect((await call({ headers: { 'Content-Type': 'text/plain' }, body })).status).toBe(415);
  });

  it('that is Temporal’s UI is allowed by the browser', async () => {
    const { status, headers } = await call({
      method: 'OPTIONS',
      headers: { Origin: UI, 'Access-Control-Request-Method': 'POST' },
    });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-methods')).toBe('POST');
    expect(headers.get('access-control-allow-headers')).toBe('Content-Type, X-Namespace');
  });
});

it('no route encrypts, and without the setting none decrypts', async () => {
  const body = { payloads: [asJson(clear)] };
  expect((await call({ path: '/codec/encode', body })).status).toBe(404);
  expect((await call({ method: 'GET' })).status).toBe(404);
  const reply = await fetch(`${without.url}/codec/decode`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Namespace': 't-live' },
    body: JSON.stringify(body),
  });
  expect(reply.status).toBe(404);
});
