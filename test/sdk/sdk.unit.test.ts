// The hand-written layer of the SDK, with answers that the test scripts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import getPort from 'get-port';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as sdk from '../../packages/sdk/src/index.ts';
import { MAGIC_RULES } from '../../packages/simulators/esim-access/magic.ts';

const { intend, isCode, Simway, verifyWebhook } = sdk;
const SDK = join(import.meta.dirname, '../../packages/sdk');
const BODY = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' } as const;
const BOUGHT = { transactionId: 'txn-1', status: 'SUCCESS' };

type Scripted = 'lost' | 'cut' | Response;
const answer = (status: number, body: unknown = BOUGHT, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers: { 'X-Request-Id': 'req-1', ...headers } });
const refusal = (status: number, code: string, headers?: Record<string, string>): Response =>
  answer(status, { success: false, error: { code, message: code }, statusCode: status }, headers);

const page = (status: number): Response => new Response('<html>', { status });

/** Answers in this order, the last one for ever; and what was asked. */
function scripted(answers: readonly Scripted[], options: Partial<sdk.SimwayOptions> = {}) {
  const asked: { method: string; url: string; key: string | null; body: string; atMs: number }[] = [];
  const simway = new Simway({
    apiKey: 'simway_test_1',
    baseUrl: 'http://simway.test',
    deadlineMs: 5_000,
    fetch: async (input) => {
      const { method, url, headers, text } = input as Request & { text: () => Promise<string> };
      const body = await text.call(input);
      asked.push({ method, url, key: headers.get('Idempotency-Key'), body, atMs: performance.now() });
      const next = answers[Math.min(asked.length, answers.length) - 1];
      if (next === undefined || next === 'lost') throw new TypeError('fetch failed');
      if (next === 'cut') return new Response('{"trans', { headers: { 'Content-Type': 'application/json' } });
      return next.clone();
    },
    ...options,
  });
  const failure = (call: Promise<unknown>): Promise<sdk.SimwayError> =>
    call.then(
      () => expect.fail('was answered'),
      (error: unknown) => error as sdk.SimwayError,
    );
  return { simway, asked, failure };
}

describe.concurrent('a POST of the SDK', () => {
  it.each([
    ['no answer', 'lost'],
    ['an answer that is cut', 'cut'],
    ['408', refusal(408, 'REQUEST_TIMEOUT')],
    ['500', refusal(500, 'INTERNAL_ERROR')],
    ["a proxy's 502", page(502)],
    ['503', refusal(503, 'SERVICE_UNAVAILABLE')],
  ] as const)('is repeated with its key and body after %s', async (_, first) => {
    const { simway, asked } = scripted([first, answer(201)]);
    expect(await simway.buy({ body: BODY })).toEqual(BOUGHT);
    await simway.buy({ body: BODY });
    const [one, again, other] = asked.map(({ key, body }) => ({ key, body: JSON.parse(body) as unknown }));
    expect(one).toEqual({ key: expect.stringMatching(/^[\da-f-]{36}$/) as string, body: BODY });
    expect(again).toEqual(one);
    expect(other?.key).not.toBe(one?.key);
  });

  it('waits for the first request that still runs, as long as Retry-After says', async () => {
    const inUse = refusal(409, 'IDEMPOTENCY_KEY_IN_USE', { 'Retry-After': '1' });
    const { simway, asked } = scripted([inUse, answer(201)]);
    expect(await simway.buy({ body: BODY })).toEqual(BOUGHT);
    expect(asked[1]!.atMs - asked[0]!.atMs).toBeGreaterThan(995);
  });

  it('waits until the date in Retry-After', async () => {
    const at = new Date(Date.now() + 2_000).toUTCString();
    const { simway, asked } = scripted([
      refusal(429, 'RATE_LIMIT_EXCEEDED', { 'Retry-After': at }),
      answer(201),
    ]);
    await simway.buy({ body: BODY });
    expect(asked[1]!.atMs - asked[0]!.atMs).toBeGreaterThan(900);
  });

  it('that ends without an answer throws its intent, and sending that again finds it', async () => {
    const { simway, asked, failure } = scripted(['lost'], { deadlineMs: 500 });
    const error = await failure(simway.sandboxUseEsim({ path: { esimId: 'esim-1' }, body: { bytes: 1 } }));
    expect(error).toMatchObject({ code: 'NO_ANSWER', status: 0, intent: { body: { bytes: 1 } } });
    expect(error.message).toContain('not known whether the request was carried out');
    const stored = JSON.parse(JSON.stringify(error.intent)) as sdk.Intent;
    const later = scripted([answer(200)]);
    await later.simway.send(stored);
    const { method, url, key, body } = asked[0]!;
    expect(later.asked).toMatchObject([{ method, url, key, body }]);
    expect(url).toBe('http://simway.test/api/sandbox/esims/esim-1/use');
  });

  const LIMITED = refusal(429, 'RATE_LIMIT_EXCEEDED', { 'Retry-After': '60' });
  const WRONG_KEY = refusal(401, 'INVALID_TOKEN');
  const TOO_MUCH = refusal(403, 'KEY_BUDGET_EXCEEDED');
  const STILL_RUNNING = refusal(409, 'IDEMPOTENCY_KEY_IN_USE', { 'Retry-After': '60' });
  const TOO_DEAR = refusal(400, 'PRICE_ABOVE_MAX');
  const stored = intend('buy', { body: BODY, key: 'order-1' });
  it.each([
    { what: 'is limited at once', answers: [LIMITED], isUnknown: false },
    { what: 'meets a refusal of a proxy', answers: [page(403)], isUnknown: true },
    { what: 'meets a page of a proxy', answers: [page(200)], isUnknown: true },
    { what: 'is limited after a lost answer', answers: ['lost', LIMITED], isUnknown: true },
    { what: 'meets a wrong API key', answers: [WRONG_KEY], isUnknown: false },
    { what: 'meets a wrong API key after a lost answer', answers: ['lost', WRONG_KEY], isUnknown: true },
    { what: 'meets a wrong API key with a stored intent', answers: [WRONG_KEY], isUnknown: true, stored },
    { what: 'is refused for itself after a lost answer', answers: ['lost', TOO_DEAR], isUnknown: false },
    { what: 'is refused for itself with a stored intent', answers: [TOO_DEAR], isUnknown: false, stored },
    { what: 'is beyond its budget with a stored intent', answers: [TOO_MUCH], isUnknown: false, stored },
    { what: 'meets a 404 of a proxy with a stored intent', answers: [page(404)], isUnknown: true, stored },
    { what: 'meets itself, still running', answers: [STILL_RUNNING], isUnknown: true, stored },
  ] as const)('that $what has an intent: $isUnknown', async ({ answers, isUnknown, ...rest }) => {
    const { simway, failure } = scripted(answers, { deadlineMs: 3_000 });
    const kept = 'stored' in rest ? rest.stored : undefined;
    const error = await failure(kept ? simway.send(kept) : simway.buy({ body: BODY }));
    expect(error).toBeInstanceOf(sdk.SimwayError);
    expect(error.intent !== undefined).toBe(isUnknown);
  });

  it('that is sent again after 29 days is not sent, and its age is that of its first sending', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000).toISOString();
    const { simway, asked, failure } = scripted(['lost'], { deadlineMs: 300 });
    const young = { ...stored, createdAt: daysAgo(28.9) };
    expect((await failure(simway.send(young))).intent).toEqual(young);
    const sent = asked.length;
    for (const old of [
      { ...stored, createdAt: daysAgo(29.1) },
      { ...stored, createdAt: 'lost' },
    ]) {
      const error = await failure(simway.send(old));
      expect(error).toMatchObject({ code: 'INTENT_TOO_OLD', status: 0, intent: old });
      expect(error.message).toContain('look for it in your lists');
    }
    expect(asked).toHaveLength(sent);
  });

  it.each([
    ['an empty object', {}, 'url, key, createdAt'],
    ['null', null, 'url, key, createdAt'],
    ['JSON that nobody parsed', JSON.stringify(stored), 'url, key, createdAt'],
    ['an intent without its time', { ...stored, createdAt: undefined }, 'createdAt'],
    ['an intent without its key', { ...stored, key: '' }, 'key'],
  ])('that is no intent is not sent: %s', async (_, given, missing) => {
    const { simway, asked, failure } = scripted([answer(201)]);
    const error = await failure(simway.send(given as never));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(
      `This is no intent, so it was not sent: it has no ${missing}. Send what intend() made, with all of its fields`,
    );
    expect(asked).toEqual([]);
  });

  it.each([
    ['buyy', 'No such operation: buyy'],
    ['toString', 'No such operation: toString'],
    [undefined, 'No such operation: undefined'],
    ['getWalletBalance', 'getWalletBalance is no POST, so it has no intent: call it'],
    ['setLowBalance', 'setLowBalance is no POST, so it has no intent: call it'],
  ])('that does not exist has no intent: %s', (name, message) =>
    expect(() => intend(name as never, { body: BODY } as never)).toThrow(new TypeError(message)),
  );

  it('takes the key of the caller, also in the header', async () => {
    const { simway, asked } = scripted([answer(201)]);
    const createdAt = expect.stringMatching(/^\d{4}-.*Z$/) as string;
    const plain = { url: '/api/esim/buy', key: 'order-1', createdAt, body: BODY };
    expect(JSON.parse(JSON.stringify(stored))).toEqual(plain);
    await simway.send(stored);
    await simway.buy({ body: BODY, headers: { 'Idempotency-Key': 'order-2' } });
    expect(asked.map(({ key }) => key)).toEqual(['order-1', 'order-2']);
  });

  it('is given up by the caller, who gets its intent', async () => {
    const { simway, failure } = scripted(['lost']);
    const error = await failure(simway.buy({ body: BODY, signal: AbortSignal.timeout(300) }));
    expect(error.intent?.body).toEqual(BODY);
  });
});

describe('a call of the SDK', () => {
  it('repeats a GET, and nothing else that has no key', async () => {
    const reading = scripted(['lost', answer(200)]);
    await reading.simway.getWalletBalance();
    const writing = scripted(['lost', answer(200)]);
    const error = await writing.failure(writing.simway.setLowBalance({ body: { amount: 5 } }));
    expect([error.code, error.intent, writing.asked.length]).toEqual(['NO_ANSWER', undefined, 1]);
  });

  it('does not repeat a refusal', async () => {
    const { simway, asked, failure } = scripted([refusal(503, 'ENVIRONMENT_UNAVAILABLE')]);
    expect(isCode(await failure(simway.getWalletBalance()), 'ENVIRONMENT_UNAVAILABLE')).toBe(true);
    expect(asked).toHaveLength(1);
  });

  const fields = [{ field: 'packageCode', problem: 'is required' }];
  const facts = { code: 'VALIDATION_ERROR', fields, transactionId: 'txn-1' };
  it.each([
    ['base', { success: false, message: 'no', error: { ...facts, details: 'why' } }],
    ['top-up', { success: false, message: 'no', statusCode: 400, details: 'why', ...facts }],
    ['general', { success: false, error: { ...facts, message: 'no', details: 'why' }, statusCode: 400 }],
    [
      'authentication',
      { ...facts, error: 'VALIDATION_ERROR', code: undefined, message: 'no', details: 'why' },
    ],
  ])('reads the body of an error: %s', async (_, body) => {
    const { simway, failure } = scripted([answer(400, body)]);
    const { code, status, message, details, fields, requestId, transactionId } = await failure(
      simway.buy({ body: BODY }),
    );
    expect({ code, status, message, details, fields, requestId, transactionId }).toEqual({
      code: 'VALIDATION_ERROR',
      status: 400,
      message: 'no',
      details: 'why',
      fields: { packageCode: 'is required' },
      requestId: 'req-1',
      transactionId: 'txn-1',
    });
  });

  it('walks pages by cursor and by number, to the end', async () => {
    const cursors = scripted([
      answer(200, { esims: [1, 2], nextCursor: 'c2' }),
      answer(200, { esims: [3], nextCursor: '' }),
    ]);
    expect(await Array.fromAsync(cursors.simway.each('listEsims', { query: { limit: 2 } }))).toEqual([
      1, 2, 3,
    ]);
    expect(new URL(cursors.asked[1]!.url).searchParams.toString()).toMatch(/^limit=2&after=c2/);
    const events = scripted([
      answer(200, { data: { items: [], nextCursor: 'c2', hasMore: true } }),
      answer(200, { data: { items: [1], nextCursor: 'c3', hasMore: false } }),
    ]);
    const pages = await Array.fromAsync(events.simway.pages('listEvents'));
    expect(pages.map(({ data }) => data.nextCursor)).toEqual(['c2', 'c3']);
    const numbers = scripted([
      answer(200, { data: { items: [1], pagination: { currentPage: 1, hasNextPage: true } } }),
      answer(200, { data: { items: [2], pagination: { currentPage: 2, hasNextPage: false } } }),
    ]);
    expect(await Array.fromAsync(numbers.simway.each('listBatches'))).toEqual([1, 2]);
    expect(new URL(numbers.asked[1]!.url).search).toBe('?page=2');
  });
});

describe('a call that no server answers', () => {
  const call = (baseUrl: string): Promise<unknown> =>
    new Simway({ apiKey: 'simway_test_1', baseUrl, deadlineMs: 1_000 })
      .getWalletBalance()
      .catch((e: unknown) => e);

  it.each(['127.0.0.1', 'localhost'])('says why: %s', async (host) => {
    const port = await getPort();
    const error = await call(`http://${host}:${port}`);
    expect(error).toMatchObject({ code: 'NO_ANSWER', cause: { message: 'fetch failed' } });
    expect((error as Error).message).toMatch(/^No answer: fetch failed: .*ECONNREFUSED/);
  });

  it('says what was thrown that is no error', async () => {
    const { simway, failure } = scripted([], {
      deadlineMs: 100,
      fetch: vi.fn<typeof fetch>().mockRejectedValue('gone'),
    });
    expect((await failure(simway.getWalletBalance())).message).toBe('No answer: gone');
  });
});

describe('a client', () => {
  const connect = (options: object) => () =>
    new Simway({ apiKey: 'simway_test_1', baseUrl: 'http://simway.test', ...options });

  it.each(['localhost:3000', 'ftp://x', '', 'http://', 'https:///x', 'simway.test', undefined, null])(
    'is not made for the address %s',
    (baseUrl) =>
      expect(connect({ baseUrl })).toThrow(
        new TypeError('baseUrl must be an http or https address, such as https://api.example.com'),
      ),
  );

  it.each(['http://127.0.0.1:3000', 'HTTPS://api.example.com/under/'])('is made for %s', (baseUrl) =>
    expect(connect({ baseUrl })()).toBeInstanceOf(Simway),
  );

  it.each([undefined, null, '', 7])('is not made for the key %s', (apiKey) =>
    expect(connect({ apiKey })).toThrow(new TypeError('apiKey is not set')),
  );

  it.each([' simway_test_1', 'simway_test_1\n', 'simway test', 'simway_tést'])(
    'is not made for the key %j, and does not print it',
    (apiKey) =>
      expect(connect({ apiKey })).toThrow(new TypeError('apiKey has a blank or a character that no key has')),
  );
});

describe('a live key in a browser', () => {
  afterEach(() => vi.unstubAllGlobals());
  const connect = (apiKey: string, more = {}) =>
    new Simway({ apiKey, baseUrl: 'http://simway.test', ...more });

  it('is refused, unless the caller allows it', () => {
    vi.stubGlobal('document', {});
    expect(() => connect('simway_live_1')).toThrow(sdk.SimwayError);
    expect(() => connect('simway_live_1')).toThrow(
      expect.objectContaining({
        code: 'LIVE_KEY_IN_BROWSER',
        message: 'A live key must not be used in a browser: call Simway from your server',
      }) as Error,
    );
    expect(() => connect(' simway_live_1')).toThrow(TypeError);
    expect(connect('simway_live_1', { allowLiveKeyInBrowser: true })).toBeInstanceOf(Simway);
    expect(connect('simway_test_1')).toBeInstanceOf(Simway);
  });
});

describe('amounts of the SDK', () => {
  it('are exact', () => {
    expect(sdk.decimal(JSON.parse('9999999999999.99') as number)).toBe('9999999999999.99');
    expect(sdk.addAmounts(0.1, '0.2', -0.35)).toBe('-0.05');
    expect(sdk.addAmounts()).toBe('0');
    expect(['10', 9.5, '-1'].toSorted(sdk.compareAmounts)).toEqual(['-1', 9.5, '10']);
    expect(sdk.compareAmounts('1.10', 1.1)).toBe(0);
    expect(sdk.toMinor(19178.13, 'NGN')).toBe(1_917_813n);
    expect(sdk.toMinor('500.00', 'XOF')).toBe(500n);
    expect(sdk.fromMinor(-5n, 'USD')).toBe('-0.05');
    expect(sdk.fromMinor(500n, 'XOF')).toBe('500');
    expect(sdk.toNumber('5000.50')).toBe(5000.5);
  });

  it.each([
    ['a number with more digits than it keeps', () => sdk.decimal(12345678901234.57)],
    ['no number', () => sdk.decimal(Number.NaN)],
    ['a power', () => sdk.decimal(1e21)],
    ['an empty text', () => sdk.decimal('')],
    ['a part of a minor unit', () => sdk.toMinor('0.005', 'USD')],
    ['what is no currency', () => sdk.toMinor('1', 'X'.repeat(3))],
    ['a currency without minor units', () => sdk.fromMinor(1n, 'XAU')],
    ['a currency that does not exist', () => sdk.toMinor('1', 'QQQ')],
    ['a text that a JSON number changes', () => sdk.toNumber('12345678901234567.89')],
  ])('refuse %s', (_, act) => expect(act).toThrow(RangeError));
});

describe('a webhook', () => {
  const [old, fresh] = ['whsec_b2xkLW9sZC1vbGQ=', 'whsec_bmV3LW5ldy1uZXc='] as const;
  const event = { event: 'wallet.low_balance', data: { balance: 1, threshold: 2, currency: 'USD' } };
  const body = JSON.stringify({ ...event, timestamp: '2026-01-31T09:30:00.000Z' });
  const signed = (secret: string, at = new Date()) => ({
    'Webhook-Id': 'evt-1',
    'webhook-timestamp': String(Math.trunc(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('evt-1', at, body),
  });

  it('is verified by either secret, from text, bytes and any kind of headers', () => {
    for (const secret of [old, fresh]) {
      const headers = signed(secret);
      expect(verifyWebhook(body, headers, [old, fresh])).toMatchObject({ id: 'evt-1', ...event });
      expect(verifyWebhook(Buffer.from(body), new Headers(headers), [old, fresh]).id).toBe('evt-1');
    }
    const received = verifyWebhook(body, signed(old), old);
    if (received.event === 'wallet.low_balance') expect(received.data.threshold).toBe(2);
  });

  it.each([
    ['changed', () => verifyWebhook(body.replace('1', '9'), signed(old), [old, fresh])],
    ['of another secret', () => verifyWebhook(body, signed(old), fresh)],
    ['old', () => verifyWebhook(body, signed(old, new Date(Date.now() - 301_000)), old)],
    ['unsigned', () => verifyWebhook(body, {}, old)],
  ])('that is %s is refused', (_, act) => expect(act).toThrow(sdk.WebhookVerificationError));

  it.each<readonly [message: string, secrets: unknown]>([
    ['secrets is not set: pass the secret of the webhook endpoint', undefined],
    ['secrets is not set: pass the secret of the webhook endpoint', ''],
    ['secrets is empty: pass the secret of the webhook endpoint', []],
    ['secrets[1] is not set: pass the secret of the webhook endpoint', [old, undefined]],
    ...['whsec_', 'my secret!', 'whsec_b2xkLW9sZC1vbGQ=\n', 'whsec_b2xkL', {}].map(
      (secret) =>
        [
          'secrets has what is no secret of a webhook endpoint: it is whsec_ and then base64',
          secret,
        ] as const,
    ),
  ])('is not verified with no secret: %s: %j', (message, secrets) =>
    expect(() => verifyWebhook(body, signed(old), secrets as string)).toThrow(new TypeError(message)),
  );

  it.each([[JSON.parse(body) as object], [undefined], [new Blob([body])]])(
    'is not verified from what a parser made of it',
    (parsed) =>
      expect(() => verifyWebhook(parsed as never, signed(old), old)).toThrow(
        new TypeError('body is not what arrived: pass the raw text, before anything parses it'),
      ),
  );
});

describe('the document', () => {
  it('has a key for every POST, so that the SDK may repeat each', () => {
    interface Operation {
      readonly parameters?: readonly { readonly name: string }[];
    }
    const { paths } = JSON.parse(readFileSync(join(SDK, 'src/generated/api.json'), 'utf8')) as {
      paths: Record<string, { post?: Operation }>;
    };
    const posts = Object.entries(paths).filter(([path, { post }]) => path.startsWith('/api/') && post);
    const without = posts.filter(
      ([, { post }]) => !post?.parameters?.some(({ name }) => name === 'Idempotency-Key'),
    );
    expect(posts.length).toBeGreaterThan(10);
    expect(without.map(([path]) => path)).toEqual([]);
  });

  it('has the magic packages of the sandbox', () => {
    expect(sdk.MAGIC_PACKAGES).toEqual(Object.keys(MAGIC_RULES));
    expect(sdk.topUpOf('SIM-OK')).toBe('TOPUP_SIM-OK');
  });
});
