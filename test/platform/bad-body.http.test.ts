// Bad input in bodies: wrong, broken, oversized and hostile ones. Each gets the documented refusal, and no
// use case runs.
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_BODY_BYTES, MAX_JSON_DEPTH, MAX_JSON_MEMBERS } from '../../src/platform/http/limits.ts';
import { startApi, type Ask, type Reply } from '../support/http/api.ts';
import { baseError, topUpError } from '../support/http/error-bodies.ts';
import { keyOf } from '../support/http/shop.ts';
import { forFile } from '../support/world/for-file.ts';

const api = await forFile(startApi());
beforeEach(async () => {
  api.shop.calls.length = 0;
  await api.shop.setBalance(1_000_000_000n);
});

const BASE = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };
const post = (ask: Ask): Promise<Reply> => api.ask('/api/esim/buy', { key: 'ngn', ...ask });

function expectRefused(reply: Reply, status: number, code: string): void {
  expect(reply.text).toContain(`"code":"${code}"`);
  expect(reply.status).toBe(status);
  expect(api.shop.calls).toEqual([]);
}

describe('a body as bytes', () => {
  test.each([
    ['half an object', '{"packageCode":'],
    ['words', 'buy me one'],
    ['form data', 'packageCode=NG'],
    ['a trailing comma', '{"a":1,}'],
    ['single quotes', "{'a':1}"],
    ['a comment', '{}//'],
    ['NaN', '{"a":NaN}'],
    ['two values', '{}{}'],
    ['a NUL', '\u0000'],
    ['only blanks', '   '],
    ['a raw line break inside a string', '{"a":"b\nc"}'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['a broken multi-byte end', Buffer.from([0x22, 0xe2, 0x82])],
    ['compressed bytes under a plain label', gzipSync(JSON.stringify(BASE))],
    ['unclosed nesting', '['.repeat(60_000)],
  ])('is refused as not JSON: %s', async (_why, rawBody) => {
    const reply = await post({ rawBody });
    expectRefused(reply, 400, 'INVALID_JSON');
    expect(reply.json).toEqual({
      success: false,
      error: { code: 'INVALID_JSON', message: 'The request body is not valid JSON' },
      statusCode: 400,
    });
  });

  test.each(['null', 'true', '1', '"text"', '[]', '[{}]', '-0', '1e999'])(
    'is refused as JSON that is no object: %s',
    async (rawBody) => {
      const reply = await post({ rawBody });
      expect(reply.json).toMatchObject({
        error: { code: 'VALIDATION_ERROR', details: 'body: must be a JSON object' },
      });
      expectRefused(reply, 400, 'VALIDATION_ERROR');
    },
  );

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'application/json-patch+json',
    'application/vnd.api+json',
    'text/json',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json; version=2; charset=latin1',
    'application/json, text/plain',
    '',
  ])('is refused with another content type: %s', async (contentType) => {
    expectRefused(
      await post({ body: BASE, headers: { 'content-type': contentType } }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    );
  });

  test.each(['gzip', 'br', 'deflate', 'gzip, identity', 'x'])(
    'is refused with the content encoding %s',
    async (encoding) => {
      const reply = await post({
        rawBody: gzipSync(JSON.stringify(BASE)),
        headers: { 'content-encoding': encoding },
      });
      expectRefused(reply, 415, 'UNSUPPORTED_MEDIA_TYPE');
    },
  );

  test('is refused without a content type', async () => {
    const text = await api.raw(
      `POST /api/esim/buy HTTP/1.1\r\nX-API-Key: ${keyOf('test', 'ngn')}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    );
    expect(text).toContain('HTTP/1.1 415 ');
    expect(text).toContain('UNSUPPORTED_MEDIA_TYPE');
  });

  test.each([
    'application/json',
    'application/json;charset=utf-8',
    'Application/JSON; Charset="UTF-8"',
    'application/json ; charset=utf-8',
    'application/json;',
    'application/json; charset=utf8',
    'application/json; version=2; charset="utf-8"',
    'application/json; odata.metadata=minimal',
  ])('is accepted: %s', async (contentType) => {
    expect((await post({ body: BASE, headers: { 'content-type': contentType } })).status).toBe(201);
  });

  test('is accepted with a byte order mark', async () => {
    expect((await post({ rawBody: `\ufeff${JSON.stringify(BASE)}` })).status).toBe(201);
  });

  test.each([
    ['declared', { 'content-length': String(MAX_BODY_BYTES + 1) }],
    ['chunked', { 'transfer-encoding': 'chunked' }],
  ])('gets 413 with one byte too many (%s)', async (_why, headers) => {
    const rawBody = `{"a":"${'x'.repeat(MAX_BODY_BYTES - 7)}"}`;
    expect(Buffer.byteLength(rawBody)).toBe(MAX_BODY_BYTES + 1);
    const reply = await post({ rawBody, headers });
    expect(reply.json).toEqual({
      success: false,
      error: { code: 'PAYLOAD_TOO_LARGE', message: 'The request body may have at most 65536 bytes' },
      statusCode: 413,
    });
    expectRefused(reply, 413, 'PAYLOAD_TOO_LARGE');
  });

  test('is read up to exactly the limit', async () => {
    const rawBody = `{"a":"${'x'.repeat(MAX_BODY_BYTES - 8)}"}`;
    expect(Buffer.byteLength(rawBody)).toBe(MAX_BODY_BYTES);
    expectRefused(await post({ rawBody }), 400, 'VALIDATION_ERROR');
  });

  test('gets 413 from its declared length, before any of it has arrived', async () => {
    const head = `POST /api/esim/buy HTTP/1.1\r\nX-API-Key: ${keyOf('test', 'ngn')}\r\nContent-Type: application/json\r\nContent-Length: 10737418240\r\n\r\n`;
    const received = await api.raw(head, (text) => text.includes('PAYLOAD_TOO_LARGE'));
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
    expect(received.toLowerCase()).toContain('connection: close');
  });

  test('that breaks off is not logged as our error', async () => {
    api.logLines.length = 0;
    const head = `POST /api/esim/buy HTTP/1.1\r\nX-Request-Id: gone-1\r\nX-API-Key: ${keyOf('test', 'ngn')}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"half`;
    const counted = (): number => [...api.limiter.counts.values()].reduce((sum, count) => sum + count, 0);
    const before = counted();
    const socket = connect(api.server.port, '127.0.0.1', () => socket.write(head));
    await expect.poll(() => counted()).toBe(before + 1);
    socket.destroy();
    const line = (): string => api.logLines.find((one) => one.includes('gone-1')) ?? '';
    await expect.poll(line, { timeout: 5_000 }).toContain('"status":499');
    expect(api.logLines.some((line) => line.includes('"level":"error"'))).toBe(false);
  });
});

describe('a body as values', () => {
  const nested = (levels: number): unknown =>
    Array.from({ length: levels - 1 }).reduce((inner) => ({ a: inner }), {});
  const members = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
  const WRONG: readonly (readonly [string, unknown, string])[] = [
    ['nothing', {}, 'packageCode: is required; paymentMethod: is required; packageType: is required'],
    ['too deep', nested(MAX_JSON_DEPTH + 1), 'body: must not nest deeper than 8 levels'],
    ['too deep in arrays', { a: [[[[[[[[]]]]]]]] }, 'body: must not nest deeper than 8 levels'],
    ['too many fields', members(MAX_JSON_MEMBERS + 1), 'body: must not have more than 200 members in all'],
    [
      'too many items',
      { a: Array.from({ length: MAX_JSON_MEMBERS }, () => 1) },
      'body: must not have more than 200 members in all',
    ],
    ...[1, true, null, [], {}, ['NG-5GB-30D'], { $ne: '' }, { length: 1 }].map(
      (value): [string, unknown, string] => [
        `packageCode ${JSON.stringify(value)}`,
        { ...BASE, packageCode: value },
        'packageCode: must be a string',
      ],
    ),
    ['packageCode empty', { ...BASE, packageCode: '' }, 'packageCode: must not be empty'],
    [
      'packageCode over-long',
      { ...BASE, packageCode: 'p'.repeat(65) },
      'packageCode: must be at most 64 characters long',
    ],
    [
      'packageCode hugely over-long',
      { ...BASE, packageCode: 'p'.repeat(60_000) },
      'packageCode: must be at most 64 characters long',
    ],
    ...['\u0000', 'a\u0000b', 'a\nb', '\u001b[2J', '\u007f', '\u0085', '\ud800', 'a\udc00'].map(
      (value): [string, unknown, string] => [
        `packageCode ${JSON.stringify(value)}`,
        { ...BASE, packageCode: value },
        'packageCode: must not contain control characters or broken Unicode',
      ],
    ),
    ...[1, null, [], ['WALLET'], {}, '', 'wallet', 'CASH', 'WALLET ', 'toString', '__proto__'].map(
      (value): [string, unknown, string] => [
        `paymentMethod ${JSON.stringify(value)}`,
        { ...BASE, paymentMethod: value },
        'paymentMethod: must be one of WALLET, CARD, BANK_TRANSFER, MOBILE_MONEY, APPLE_PAY',
      ],
    ),
    ...[1, null, ['BASE'], '', 'base', 'TOP_UP', 'constructor'].map((value): [string, unknown, string] => [
      `packageType ${JSON.stringify(value)}`,
      { ...BASE, packageType: value },
      'packageType: must be one of BASE, TOPUP',
    ]),
    ...[1, true, [], {}].map((value): [string, unknown, string] => [
      `esimId ${JSON.stringify(value)}`,
      { ...BASE, esimId: value },
      'esimId: must be a string',
    ]),
    [
      'everything wrong at once',
      { packageCode: 1, paymentMethod: 'x', packageType: [], esimId: 5 },
      'packageCode: must be a string; paymentMethod: must be one of WALLET, CARD, BANK_TRANSFER, MOBILE_MONEY, APPLE_PAY; packageType: must be one of BASE, TOPUP; esimId: must be a string',
    ],
  ];

  test.each(WRONG)('is refused: %s', async (_why, body, details) => {
    const reply = await post({ body });
    expect(reply.json).toEqual(baseError('VALIDATION_ERROR', 'Invalid request', details));
    expectRefused(reply, 400, 'VALIDATION_ERROR');
  });

  test.each([1, true, [], {}])(
    'of a top-up with esimId %j is refused in the top-up shape',
    async (esimId) => {
      const reply = await post({ body: { ...BASE, packageType: 'TOPUP', esimId } });
      expect(reply.json).toEqual(topUpError(400, 'VALIDATION_ERROR', 'esimId: must be a string'));
    },
  );

  test.each([
    [{ ...BASE, packageType: 'TOPUP' }, 'esimId is required for TOPUP package type'],
    [
      { packageType: 'TOPUP' },
      'esimId is required for TOPUP package type; packageCode: is required; paymentMethod: is required',
    ],
    [
      { ...BASE, packageType: 'TOPUP', esimId: '', paymentMethod: 'CASH' },
      'esimId is required for TOPUP package type; paymentMethod: must be one of WALLET, CARD, BANK_TRANSFER, MOBILE_MONEY, APPLE_PAY',
    ],
  ])('of a top-up without its eSIM is refused with every other mistake: %j', async (body, message) => {
    const reply = await post({ body });
    const { fields = [], ...error } = topUpError(400, 'VALIDATION_ERROR', message);
    const missing = { field: 'esimId', problem: 'is required' };
    expect(reply.json).toEqual({ ...error, fields: [missing, ...fields] });
    expectRefused(reply, 400, 'VALIDATION_ERROR');
  });

  const FIELDS = JSON.stringify(BASE).slice(1);
  test.each([
    [
      'unknown fields',
      `{"price":0.01,"currency":"USD","status":"SUCCESS","accountId":"acc-1","role":"admin","discount":100,${FIELDS}`,
    ],
    ['__proto__', `{"__proto__":{"packageType":"TOPUP","isAdmin":true},${FIELDS}`],
    ['constructor.prototype', `{"constructor":{"prototype":{"isAdmin":true}},${FIELDS}`],
    ['the same field twice: the last one counts', `{"packageType":"TOPUP",${FIELDS}`],
    ['huge numbers beside it', `{"n":1e308,"m":123456789012345678901234567890,${FIELDS}`],
    [
      'as deep as allowed',
      `{"a":${'{"a":'.repeat(MAX_JSON_DEPTH - 1)}1${'}'.repeat(MAX_JSON_DEPTH - 1)},${FIELDS}`,
    ],
    ['esimId null', `{"esimId":null,${FIELDS}`],
    ['lone surrogates in what is ignored', `{"\\ud800":"\\udfff",${FIELDS}`],
  ])('is accepted with ignored parts: %s', async (_why, rawBody) => {
    const reply = await post({ rawBody });
    expect(reply.json).toMatchObject({
      status: 'SUCCESS',
      package: { packageCode: 'NG-5GB-30D', price: 19178.13, currency: 'NGN' },
    });
    expect(reply.status).toBe(201);
    expect(Object.keys({})).toEqual([]);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });
});

describe('a body on a route without one is never read', () => {
  afterEach(() => expect(api.logLines.some((line) => line.includes('"level":"error"'))).toBe(false));
  test.each(['{', 'x'.repeat(100_000), ''])('%#', async (rawBody) => {
    const reply = await api.ask('/api/esim/regions', { key: 'ngn', method: 'GET', rawBody });
    expect(reply.status).toBe(200);
  });
});
