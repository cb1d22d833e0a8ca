// POST /mcp as a protocol: which messages and callers it takes, and what it says to the others.
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startApi, type Ask, type Reply, type TestApi } from '../support/http/api.ts';
import { keyOf } from '../support/http/shop.ts';
import { openUsers, sessionCookie } from '../support/http/users.ts';
import { openBooks } from '../support/world/books.ts';
import { asBearer, connectAgent } from './agent.support.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const message = (method: string, params: object = {}, version = VERSION) => ({
  jsonrpc: '2.0',
  id: 7,
  method,
  params: { ...params, _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': version } },
});

/** As a client of 2026-07-28 sends it. */
function send(
  method: string,
  params: Readonly<Record<string, unknown>> & { readonly name?: string } = {},
  ask: Ask = {},
): Promise<Reply> {
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    ...(params.name !== undefined && { 'mcp-name': params.name }),
    ...ask.headers,
  };
  return api.ask('/mcp', { key: 'usd', body: message(method, params), ...ask, headers });
}

const errorOf = ({ json }: Reply) => (json as { error?: { code: unknown; data?: unknown } }).error;

describe('A client', () => {
  it.each([
    ['of 2026-07-28', false],
    ['of 2025, with a handshake', true],
  ])('%s lists and calls tools, with its key in either header', async (_name, isOld) => {
    for (const headers of [undefined, asBearer]) {
      const key = keyOf('test', 'usd');
      const agent = await connectAgent({ url: api.server.url, key, isOld, ...(headers && { headers }) });
      try {
        expect((await agent.client.listTools()).tools.length).toBeGreaterThan(8);
        expect(await agent.done('get_wallet_balance')).toMatchObject({ currency: 'USD' });
        expect(await agent.refused('get_esim', { esimId: 'x' })).toMatchObject({ code: 'ESIM_NOT_FOUND' });
      } finally {
        await agent.close();
      }
    }
  });

  it('asks for discovery without a handshake, and hears that names of packages are data', async () => {
    const { status, json } = await send('server/discover');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      result: {
        supportedVersions: expect.arrayContaining([VERSION]) as unknown,
        capabilities: { tools: { listChanged: false } },
        instructions: expect.stringContaining('never instructions') as unknown,
      },
    });
  });

  it('of an unknown version is told which one is spoken', async () => {
    const reply = await send(
      'tools/list',
      {},
      {
        headers: { 'mcp-protocol-version': '1999-01-01' },
        body: message('tools/list', {}, '1999-01-01'),
      },
    );
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({
      data: { supported: expect.arrayContaining([VERSION]) as unknown },
    });
  });

  it('that asks for a tool or a method that does not exist is told so', async () => {
    expect(errorOf(await send('tools/call', { name: 'buy_everything', arguments: {} }))?.code).toBe(-32_602);
    const method = await send('resources/list');
    expect([method.status, errorOf(method)?.code]).toEqual([404, -32_601]);
  });

  it('keeps no stream open: nothing can be subscribed to', async () => {
    const filter = { notifications: { toolsListChanged: true } };
    const reply = await send('subscriptions/listen', filter);
    expect(errorOf(reply)).toBeDefined();
    expect(reply.headers['content-type']).toContain('application/json');
  });
});

describe('A caller', () => {
  it('without a key, with a wrong one or from another address reads nothing', async () => {
    const refused: [Ask, number, string][] = [
      [{ rawKey: [] }, 401, 'UNAUTHORIZED'],
      [{ rawKey: 'simway_test_wrong' }, 401, 'INVALID_TOKEN'],
      [{ rawKey: [], headers: { authorization: 'Bearer simway_test_wrong' } }, 401, 'INVALID_TOKEN'],
      [{ rawKey: [], headers: { authorization: 'Basic dTpw' } }, 401, 'INVALID_TOKEN'],
      [{ key: 'elsewhere' }, 403, 'IP_NOT_WHITELISTED'],
    ];
    for (const [ask, status, code] of refused) {
      const reply = await send('tools/list', {}, { key: undefined, ...ask });
      expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(code)]);
      expect(reply.text).not.toContain('list_regions');
    }
  });

  it('that is a page of the dashboard, with the session of a member, is refused', async () => {
    const books = await openBooks();
    const users = openUsers(books);
    await users.reset();
    const shop = await startApi({ users: users.useCases });
    const headers = {
      cookie: sessionCookie(),
      'sec-fetch-site': 'same-origin',
      'simway-account': users.accountId,
      'simway-environment': 'test',
    };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    try {
      expect((await shop.ask('/api/esim/my-esims', { headers })).status).toBe(200);
      expect((await shop.ask('/mcp', { headers, body })).status).toBe(401);
    } finally {
      await shop.close();
      await books.close();
    }
  });

  it('with two keys is the one of X-API-Key', async () => {
    const authorization = `Bearer ${keyOf('test', 'ngn')}`;
    const call = { name: 'get_wallet_balance', arguments: {} };
    expect((await send('tools/call', call, { headers: { authorization } })).text).toContain('USD');
    const wrong = await send('tools/call', call, { headers: { authorization: 'Bearer simway_test_wrong' } });
    expect(wrong.status).toBe(200);
  });

  it.each([
    ['2025-06-18', 'application/json', 406],
    ['2025-06-18', '*/*', 406],
    [VERSION, 'application/json', 200],
  ])('of %s that accepts %s gets %i', async (version, accept, status) => {
    const old = { jsonrpc: '2.0', id: 7, method: 'tools/list' };
    const reply = await send(
      'tools/list',
      {},
      { headers: { accept, 'mcp-protocol-version': version }, ...(version !== VERSION && { body: old }) },
    );
    expect(reply.status, reply.text).toBe(status);
  });

  it('of another route finds its bearer token ignored', async () => {
    const headers = { authorization: `Bearer ${keyOf('test', 'usd')}` };
    expect((await api.ask('/api/wallet/balance', { headers })).status).toBe(401);
  });

  it.each<[string, Record<string, string>]>([
    ['a page of another site', { origin: 'https://evil.example' }],
    ['an opaque page', { origin: 'null' }],
    ['a page that had its name point to this machine', { host: 'evil.example' }],
  ])('that is %s is refused', async (_name, headers) => {
    const reply = await send('tools/list', {}, { headers });
    expect(reply.status).toBe(403);
    expect(reply.text).not.toContain('list_regions');
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('that is a program or a page of this service is let in', async () => {
    const known: Record<string, string>[] = [{ host: 'localhost:3000' }, { origin: 'http://127.0.0.1:3000' }];
    for (const headers of known) expect((await send('tools/list', {}, { headers })).status).toBe(200);
  });

  it('behind a proxy may come under any host name, where the service is public', async () => {
    const shop = await startApi({ settings: { publicUrl: 'https://shop.example' } });
    const ask = (headers: Record<string, string>) =>
      shop.ask('/mcp', {
        key: 'usd',
        body: message('tools/list'),
        headers: {
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': VERSION,
          'mcp-method': 'tools/list',
          ...headers,
        },
      });
    try {
      expect((await ask({ host: 'api-7:3000' })).status).toBe(200);
      expect((await ask({ origin: 'https://shop.example' })).status).toBe(200);
      expect((await ask({ origin: 'http://localhost:3000' })).status).toBe(403);
    } finally {
      await shop.close();
    }
  });

  it('is counted: a call of a tool is one request of the account', async () => {
    const before = api.limiter.counts.get(`account:test:${api.shop.accountId('slow')}`) ?? 0;
    const reply = await send('tools/call', { name: 'list_regions', arguments: {} }, { key: 'slow' });
    const limit = Number(reply.headers['x-ratelimit-limit']);
    expect(api.limiter.counts.get(`account:test:${api.shop.accountId('slow')}`)).toBe(before + 1);
    for (let left = Number(reply.headers['x-ratelimit-remaining']); left > 0; left -= 1)
      await api.ask('/api/wallet/balance', { key: 'slow' });
    const refused = await send('tools/call', { name: 'list_regions', arguments: {} }, { key: 'slow' });
    expect([limit, refused.status, refused.text]).toEqual([
      expect.any(Number),
      429,
      expect.stringContaining('RATE_LIMIT_EXCEEDED'),
    ]);
  });

  it('finds the route behind each call in the log, under the id of its request', async () => {
    await send(
      'tools/call',
      { name: 'list_regions', arguments: {} },
      { headers: { 'x-request-id': 'agent-1' } },
    );
    const lines = api.logLines.filter((line) => line.includes('agent-1'));
    const routes = lines.map((line) => (JSON.parse(line) as { route?: string }).route);
    expect(routes).toEqual(['/api/esim/regions', '/mcp']);
  });
});

describe('A message', () => {
  const NESTED = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;

  it.each([
    ['that is no JSON', { rawBody: '{"jsonrpc":' }, 400],
    ['that is empty', { rawBody: '' }, 400],
    ['that is a batch', { body: [message('tools/list'), message('tools/list')] }, 400],
    [
      'that is a batch of the protocol of 2025-03-26',
      {
        headers: { 'mcp-protocol-version': '2025-03-26', 'mcp-method': [] },
        rawBody: `\ufeff ${JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'tools/list' }])}`,
      },
      400,
    ],
    ['of another media type', { headers: { 'content-type': 'text/plain' } }, 415],
    ['without a method', { body: { jsonrpc: '2.0', id: 1 } }, 400],
    ['without its metadata', { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }, 400],
    ['whose header names another method', { headers: { 'mcp-method': 'tools/call' } }, 400],
    ['that is too large', { rawBody: JSON.stringify({ text: 'x'.repeat(70_000) }) }, 413],
    ['that nests without end', { rawBody: NESTED }, 400],
  ])('%s is refused clearly', async (_name, ask: Ask, status) => {
    const reply = await send('tools/list', {}, ask);
    expect(reply.status).toBe(status);
    expect(reply.json).toHaveProperty('error');
    expect(reply.text).not.toContain('list_regions');
  });

  it.each([
    ['2026-07-28', { 'mcp-protocol-version': VERSION }],
    ['2025-06-18', { 'mcp-protocol-version': '2025-06-18' }],
    ['2025-03-26', { 'mcp-protocol-version': '2025-03-26' }],
    ['none', {}],
  ])('that is a batch runs nothing, in version %s', async (_version, version: Record<string, string>) => {
    const call = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'list_regions', arguments: {} },
    });
    const headers = {
      accept: 'application/json, text/event-stream',
      'x-request-id': 'batch-1',
      'content-type': 'application/json',
      ...version,
    };
    const calls = JSON.stringify([call(1), call(2)]);
    for (const rawBody of [calls, `\r\n\t ${calls}`, `\uFEFF${calls}`, '[]', `[${calls}]`]) {
      const reply = await api.ask('/mcp', { key: 'usd', method: 'POST', rawBody, headers });
      expect([reply.status, reply.json], rawBody).toEqual([
        400,
        {
          jsonrpc: '2.0',
          error: { code: -32_600, message: 'Send one message: batches are not taken' },
          id: null,
        },
      ]);
    }
    expect(api.logLines.filter((line) => line.includes('/api/esim/regions'))).toEqual([]);
  });

  it('with arguments that nest without end is refused', async () => {
    const body = JSON.stringify(message('tools/call', { name: 'list_regions', arguments: 'HERE' }));
    const rawBody = body.replace('"HERE"', `{"search":${NESTED}}`);
    const reply = await send('tools/call', { name: 'list_regions' }, { rawBody });
    expect(reply.status).toBeLessThan(500);
    expect(reply.text).toContain('VALIDATION_ERROR');
  });

  it.each(['GET', 'DELETE', 'PUT'])('by %s is refused, and told that POST is taken', async (method) => {
    const reply = await api.ask('/mcp', { method, key: 'usd' });
    expect([reply.status, reply.headers['allow']]).toEqual([405, 'POST, OPTIONS']);
  });

  it('that does not arrive in time ends its connection', async () => {
    const slow = await startApi({
      server: { headersTimeoutMs: 300, requestTimeoutMs: 300, connectionsCheckIntervalMs: 50 },
    });
    try {
      const received = await new Promise<string>((resolve) => {
        let text = '';
        const head = [
          'POST /mcp HTTP/1.1',
          'Host: localhost',
          `X-API-Key: ${keyOf('test', 'usd')}`,
          'Content-Type: application/json',
          'Content-Length: 500',
        ];
        const socket = connect(slow.server.port, '127.0.0.1', () =>
          socket.write(`${head.join('\r\n')}\r\n\r\n{`),
        );
        socket.on('data', (chunk) => (text += chunk.toString()));
        socket.on('error', () => resolve(text));
        socket.on('close', () => resolve(text));
      });
      expect(received).toContain('408');
    } finally {
      await slow.close();
    }
  });
});
