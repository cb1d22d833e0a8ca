// Promise A1, small: requests generated from the OpenAPI document (valid, at the limits, mutated, garbage),
// with generated cookies and headers, some of them sent six times at once. None is answered with 5xx, every
// answer is as documented, and none is logged as our error. A failing run prints its seed.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readContract, type JsonSchema, type Operation, type Parameter } from '../support/http/contract.ts';
import { PAYMENT_METHODS } from '../../src/domain/states.ts';
import { WEBHOOK_EVENTS } from '../../src/webhooks/events.ts';
import { startApi, type Ask } from '../support/http/api.ts';
import { keyOf } from '../support/http/shop.ts';
import { COOKIES, LINKS, openUsers, sessionCookie, USER } from '../support/http/users.ts';
import { casesOfRun, withSeed } from '../support/time/size.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

/** 250,000 requests and more at full size: every eighth case is sent six times at once. */
const CASES = casesOfRun({ ci: 2_400, prove: 160_000 });
/** A busy machine sends four cases a second. */
const WITHIN_MS = Math.max(600_000, CASES * 250);

const books = await forFile(openBooks());
const users = openUsers(books);
await users.reset();
const api = await forFile(startApi({ users: users.useCases }));
await api.shop.addAccount(users.accountId);
const contract = await readContract(api);

const SPICE = [
  '',
  ' ',
  '0',
  '-1',
  '1e309',
  '9007199254740993',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  "' or 1=1 --",
  '${7*7}',
  '../../etc/passwd',
  '\u0000',
  '\ud800',
  '\u202e',
  '🇳🇬',
  'a'.repeat(5_000),
  '[]',
  '{}',
  'NG',
  'NG-5GB-30D',
  'TOPUP_NG-1GB-7D',
  'esim-00000000000000000000000000000001',
  'txn-00000000000000000000000000000001',
  'ep-00000000000000000000000000000001',
  'msg-00000000000000000000000000000002',
  '2026-01-31T09:30:00Z',
];

const text = fc.oneof(
  fc.constantFrom(...SPICE),
  fc.string({ maxLength: 80, unit: 'binary' }),
  fc.string({ maxLength: 300 }),
);

/** Mostly what the schema allows, sometimes its limits, sometimes anything. */
function valueFor(schema: JsonSchema): fc.Arbitrary<unknown> {
  const fitting: fc.Arbitrary<unknown>[] = [];
  if (schema['example'] !== undefined) fitting.push(fc.constant(schema['example']));
  if (Array.isArray(schema['enum'])) fitting.push(fc.constantFrom(...(schema['enum'] as unknown[])));
  else if (schema['type'] === 'integer') {
    const min = Number(schema['minimum'] ?? 0);
    const max = Number(schema['maximum'] ?? 1_000);
    fitting.push(fc.constantFrom(min - 1, min, max, max + 1), fc.integer({ min, max }));
  } else if (schema['type'] === 'number') {
    const [min, max] = [Number(schema['minimum']), Number(schema['maximum'])];
    fitting.push(fc.constantFrom(min, max, max + 1, -min), fc.double({ min, max }), fc.double());
    fitting.push(fc.integer({ min: 1, max: 100_000 }).map((hundredths) => hundredths / 100));
  } else if (schema['type'] === 'array') {
    fitting.push(fc.array(valueFor(schema['items'] as JsonSchema), { maxLength: 3 }));
  } else if (schema['type'] === 'boolean') {
    fitting.push(fc.boolean());
  } else {
    const longest = Number(schema['maxLength'] ?? 64);
    fitting.push(
      fc.constantFrom('x'.repeat(longest), 'x'.repeat(longest + 1)),
      fc.string({ maxLength: longest }),
    );
  }
  return fc.oneof(
    { weight: 6, arbitrary: fc.oneof(...fitting) },
    { weight: 3, arbitrary: text },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
}

const percentJunk = fc.constantFrom(
  '%',
  '%zz',
  '%E0%A4%A',
  '%00',
  '%ED%A0%80',
  '%25',
  '+',
  '&&',
  '=',
  '[]',
  '%5B%5D',
  '#',
);

function queryFor(parameters: readonly Parameter[]): fc.Arbitrary<string> {
  const known = parameters.filter((one) => one.in === 'query');
  const pair = fc.oneof(
    ...known.map((one) => valueFor(one.schema).map((value) => `${one.name}=${encode(value)}`)),
    fc.tuple(text, text).map(([name, value]) => `${encode(name)}=${encode(value)}`),
    percentJunk,
  );
  return fc.array(pair, { maxLength: 6 }).map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`));
}

function encode(value: unknown): string {
  const asText = typeof value === 'string' ? value : JSON.stringify(value);
  return encodeURIComponent(asText.toWellFormed());
}

function targetFor({ path, operation }: Operation): fc.Arbitrary<string> {
  const parameters = operation.parameters ?? [];
  const segment = fc.oneof(
    fc.constantFrom(
      'ep-00000000000000000000000000000001',
      'msg-00000000000000000000000000000002',
      'esim-00000000000000000000000000000001',
    ),
    text.map(encode),
    percentJunk.map((junk) => `x${junk.replace(/[#&=]/g, '')}`),
  );
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), (match) => match[0]);
  return fc
    .tuple(fc.array(segment, { minLength: names.length, maxLength: names.length }), queryFor(parameters))
    .map(
      ([segments, query]) =>
        names.reduce((left, name, index) => left.replace(name, () => segments[index] || 'x'), path) + query,
    );
}

/** What operations about people take. */
const HUMAN = {
  ...{ email: 'someone@merchant.example', password: USER.password, currentPassword: USER.password },
  ...{ newPassword: 'another password of mine', code: '123456', companyName: 'Ada Ltd', currency: 'USD' },
  ...{ websiteUrl: 'https://merchant.example', allowedAddresses: ['203.0.113.7'], scopes: ['read'] },
  ...{ role: 'SUPPORT', name: 'Ada' },
};

function bodyFor({ path, operation }: Operation): fc.Arbitrary<Pick<Ask, 'rawBody'>> {
  const content = operation.requestBody?.content['application/json'];
  if (!content) return fc.constant({});
  const properties = contract.resolve(content.schema)['properties'] as Record<string, JsonSchema>;
  const record = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valueFor(schema)])),
    { requiredKeys: [] },
  );
  // Valid for every operation, since unknown fields are ignored.
  const whole = fc
    .record({
      packageType: fc.constantFrom('BASE', 'TOPUP'),
      paymentMethod: fc.constantFrom(...PAYMENT_METHODS),
      name: fc.constantFrom('transactionId', 'gatewayReference', 'trackingReference'),
      amount: fc.constantFrom(100, 5_000.55),
      event: fc.constantFrom(...WEBHOOK_EVENTS),
    })
    .map(({ packageType, paymentMethod, name, amount, event }) => ({
      packageCode: packageType === 'BASE' ? 'NG-5GB-30D' : 'TOPUP_NG-1GB-7D',
      paymentMethod,
      packageType,
      esimId: 'esim-00000000000000000000000000000001',
      [name]: 'txn-00000000000000000000000000000001',
      amount,
      event,
      url: 'https://shop.example.com/hook',
      from: '2026-01-31T09:30:00Z',
      ...HUMAN,
      token: path.startsWith('/auth/users') ? LINKS.signUp : LINKS.invitation,
    }));
  const json = fc.oneof(
    { weight: 6, arbitrary: whole.map((value) => JSON.stringify(value)) },
    { weight: 8, arbitrary: record.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: fc.json({ maxDepth: 12 }) },
    {
      weight: 1,
      arbitrary: fc.integer({ min: 1, max: 30_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
    },
    {
      weight: 1,
      arbitrary: record.map((value) =>
        JSON.stringify(value).replace('{', '{"__proto__":{"x":1},"packageType":"TOPUP",'),
      ),
    },
  );
  const broken = fc
    .tuple(json, fc.nat(), fc.string({ maxLength: 3, unit: 'binary' }))
    .map(([good, at, junk]) => {
      const cut = at % (good.length + 1);
      return good.slice(0, cut) + junk + good.slice(cut + 1);
    });
  return fc
    .oneof(
      { weight: 6, arbitrary: json },
      { weight: 2, arbitrary: broken },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)) },
    )
    .map((rawBody) => ({ rawBody }));
}

const headerText = fc.oneof(
  fc.constantFrom('', 'a', 'order-1', ' ', 'x'.repeat(300)),
  fc.string({ maxLength: 40 }),
);
/** Left out nine times in ten. */
function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}
const key = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('ngn', 'usd').map((name) => keyOf('test', name)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('readonly', 'buyonly', 'elsewhere').map((name) => keyOf('test', name)),
  },
  { weight: 1, arbitrary: headerText },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

/** Some of them are ours and right, most of them are broken. */
const cookie = fc.oneof(
  { weight: 6, arbitrary: fc.constant(sessionCookie()) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...Object.values(COOKIES), 'other'),
        fc.oneof(percentJunk, headerText, fc.constantFrom('%ff.x', 'a.b', '..', '\u00ff', '%0a.%0d')),
      )
      .map(([name, value]) => `${name}=${value}`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.nat(), percentJunk)
      .map(([at, junk]) => sessionCookie().replace(sessionCookie()[at % 60] ?? '', junk)),
  },
  { weight: 1, arbitrary: headerText },
);

const ourPage = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Record<string, string>>({ 'sec-fetch-site': 'same-origin' }) },
  { weight: 1, arbitrary: headerText.map((origin) => ({ origin })) },
  { weight: 1, arbitrary: fc.constant({}) },
);

const place = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constant(null).map(() => ({
      'simway-account': users.accountId,
      'simway-environment': 'test',
    })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ 'simway-account': headerText, 'simway-environment': headerText }),
  },
  { weight: 1, arbitrary: fc.constant({}) },
);

/** As a browser of a user sends it. */
const byBrowser = fc
  .tuple(cookie, ourPage, place)
  .map(([sent, page, where]) => ({ cookie: sent, ...page, ...where }));

interface Shot {
  readonly operation: Operation;
  readonly target: string;
  readonly ask: Ask;
  /** At once. */
  readonly times: number;
}

const isForUsers = ({ path }: Operation): boolean => /^\/(?:auth|account)\b/.test(path);

function shots(): fc.Arbitrary<Shot> {
  const { operations } = contract;
  // Operations with more input get more requests.
  const favoured = operations
    .filter((one) => one.method === 'POST' || one.path.includes('/webhooks/'))
    .flatMap((one) => [one, one, one, one]);
  return fc.constantFrom(...operations, ...favoured).chain((operation) =>
    fc
      .record({
        target: targetFor(operation),
        body: bodyFor(operation),
        rawKey: isForUsers(operation) ? fc.constant(undefined) : key,
        browser: isForUsers(operation) ? byBrowser : seldom(byBrowser),
        times: fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 6),
        idempotency: seldom(headerText),
        contentType: seldom(headerText),
        requestId: seldom(headerText),
      })
      .map(({ target, body, rawKey, browser, times, idempotency, contentType, requestId }) => ({
        operation,
        target,
        times,
        ask: {
          method: operation.method,
          ...body,
          ...(rawKey === undefined ? {} : { rawKey }),
          headers: {
            ...browser,
            ...(idempotency === undefined ? {} : { 'idempotency-key': idempotency }),
            ...(contentType === undefined ? {} : { 'content-type': contentType }),
            ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
          },
        },
      })),
  );
}

/** What a person does, six times at once, as our page sends it: double clicks are no fault of ours. */
function sixAtOnce(operation: Operation): Shot {
  const { method, path } = operation;
  const token = path.startsWith('/auth/users') ? LINKS.signUp : LINKS.invitation;
  const headers = {
    ...{ cookie: sessionCookie(), 'sec-fetch-site': 'same-origin' },
    ...{ 'simway-account': users.accountId, 'simway-environment': 'test' },
  };
  const body = operation.operation.requestBody && { rawBody: JSON.stringify({ ...HUMAN, token }) };
  return {
    ...{ operation, times: 6, ask: { method, headers, ...body } },
    target: path.replaceAll(/\{\w+\}/g, 'x'),
  };
}

test(
  `${CASES} generated cases get no 5xx, no undocumented answer, and log no error of ours`,
  { timeout: WITHIN_MS },
  async () => {
    const seen = new Map<string, number>();
    await withSeed((seed) =>
      fc.assert(
        fc.asyncProperty(shots(), async ({ operation, target, ask, times }) => {
          await api.shop.setBalance(1_000_000_000n);
          api.limiter.counts.clear();
          if (isForUsers(operation)) await users.reset();
          const replies = await Promise.all(Array.from({ length: times }, () => api.ask(target, ask)));
          for (const reply of replies) {
            const name = `${operation.operation.operationId} ${reply.status}`;
            seen.set(name, (seen.get(name) ?? 0) + 1);
            expect(reply.status).toBeLessThan(500);
            expect(reply.headers['x-request-id']).toBeDefined();
            expect(reply.headers['x-ratelimit-limit']).toBeDefined();
            expect(contract.judge(operation, reply)).toBeUndefined();
          }
        }),
        {
          numRuns: CASES,
          seed,
          examples: contract.operations.filter(isForUsers).map((one) => [sixAtOnce(one)]),
        },
      ),
    );
    const requests = [...seen.values()].reduce((sum, count) => sum + count, 0);
    console.log(`A1: ${requests} requests in ${CASES} cases, 0 answers 5xx`);
    expect(users.errors).toEqual([]);
    // Each way in was walked, not only refused.
    for (const done of ['signUp 202', 'confirmUser 200', 'acceptInvitation 200', 'createKey 201'])
      expect(seen.get(done), done).toBeGreaterThan(0);
    expect(api.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    // The generator is useful only if some of its requests are accepted and some are refused.
    const statuses = new Set([...seen.keys()].map((name) => name.split(' ')[1]));
    expect([...statuses]).toEqual(expect.arrayContaining(['200', '201', '400', '401', '403', '404', '415']));
  },
);

const anyPath = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'api',
        'esim',
        'buy',
        'packages',
        'docs',
        'my-esims',
        'pay',
        'return',
        'webhooks',
        'endpoints',
        'messages',
        '..',
        '.',
        '',
        '%2e%2e',
        '%2F',
      ),
      text.map(encode),
    ),
    {
      maxLength: 6,
    },
  )
  .map((segments) => `/${segments.join('/')}`);

test('400 generated paths and methods get the general shapes and no 5xx', { timeout: 60_000 }, async () => {
  const method = fc.constantFrom(
    'GET',
    'HEAD',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
  );
  await fc.assert(
    fc.asyncProperty(anyPath, method, async (target, verb) => {
      const reply = await api.ask(target, { method: verb, rawKey: keyOf('test', 'ngn') });
      expect(reply.status).toBeLessThan(500);
      expect(reply.headers['x-request-id']).toBeDefined();
      if (reply.status === 405)
        expect(
          contract.judgeGeneral({ ...reply, json: reply.json ?? generalStandIn(reply.status) }),
        ).toBeUndefined();
    }),
    { numRuns: 400 },
  );
});

/** HEAD has no body to check. */
function generalStandIn(statusCode: number): unknown {
  return { success: false, error: { code: 'METHOD_NOT_ALLOWED', message: '' }, statusCode };
}
