// Promise A1, small: requests generated from the two OpenAPI documents (valid, at the limits, mutated,
// garbage), with generated cookies and headers, some of them sent six times at once. None is answered with
// 5xx, every answer is as documented, and none is logged as our error. A failing run prints its seed.
import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import {
  readContract,
  type Contract,
  type JsonSchema,
  type Operation,
  type Parameter,
} from '../support/http/contract.ts';
import { ROLES } from '../../src/domain/operator-roles.ts';
import { PAYMENT_METHODS } from '../../src/domain/states.ts';
import { WEBHOOK_EVENTS } from '../../src/webhooks/events.ts';
import { startApi, type Ask, type TestApi } from '../support/http/api.ts';
import { plantSales, plantWork } from '../support/http/operator-rows.ts';
import { cookieOf, openOperators, personOf, tokenOf } from '../support/http/operators.ts';
import { GOOD_ASKS, OTHER_ASKS, PATH_IDS } from '../support/http/ops-asks.ts';
import { keyOf } from '../support/http/shop.ts';
import { COOKIES, LINKS, openUsers, sessionCookie, USER } from '../support/http/users.ts';
import { casesOfRun, withSeed } from '../support/time/size.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

/** 250,000 requests and more at full size: every eighth case is sent six times at once. */
const CASES = {
  merchants: casesOfRun({ ci: 1_600, prove: 120_000 }),
  operators: casesOfRun({ ci: 500, prove: 40_000 }),
};

const books = await forFile(openBooks());
const users = openUsers(books);
await users.reset();
const api = await forFile(startApi({ users: users.useCases }));
await api.shop.addAccount(users.accountId);

const opsBooks = await forFile(openBooks());
await plantSales(opsBooks);
const ops = openOperators(opsBooks);
await resetOperators();
const opsApi = await forFile(startApi({ ops }));

/** Whose document it is, and what their requests are made of. */
interface Callers {
  readonly api: TestApi;
  readonly contract: Contract;
  /** By the name of a path's parameter. */
  readonly ids: Readonly<Record<string, string>>;
  /** Requests that a person could send, whole. */
  readonly targets: (operation: Operation) => readonly string[];
  readonly bodies: (operation: Operation) => fc.Arbitrary<object>;
  readonly sentBy: (operation: Operation) => fc.Arbitrary<Pick<Ask, 'key' | 'rawKey' | 'headers'>>;
  /** Before each case. */
  readonly restore: (operation: Operation) => Promise<void>;
  /** Sent six times at once. */
  readonly wanted: () => readonly Shot[];
  readonly answered: readonly string[];
}

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

function targetFor({ ids, targets }: Callers, operation: Operation): fc.Arbitrary<string> {
  const { path } = operation;
  const parameters = operation.operation.parameters ?? [];
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
  const segments = names.map((name) =>
    fc.oneof(
      { weight: 2, arbitrary: fc.constant(ids[name] ?? 'x') },
      { weight: 1, arbitrary: fc.constantFrom(...Object.values(ids)) },
      { weight: 1, arbitrary: text.map(encode) },
      { weight: 1, arbitrary: percentJunk.map((junk) => `x${junk.replace(/[#&=]/g, '')}`) },
    ),
  );
  const made = fc.tuple(fc.tuple(...segments), queryFor(parameters)).map(([chosen, query]) => {
    const parts = Object.fromEntries(names.map((name, index) => [name, chosen[index] || 'x']));
    return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => parts[name] ?? 'x') + query;
  });
  return fc.oneof(made, ...targets(operation).map((target) => fc.constant(target)));
}

/** What operations about people take. */
const HUMAN = {
  ...{ email: 'someone@merchant.example', password: USER.password, currentPassword: USER.password },
  ...{ newPassword: 'another password of mine', code: '123456', companyName: 'Ada Ltd', currency: 'USD' },
  ...{ websiteUrl: 'https://merchant.example', allowedAddresses: ['203.0.113.7'], scopes: ['read'] },
  ...{ role: 'SUPPORT', name: 'Ada' },
};

/** Valid for every operation of merchants and their users, since unknown fields are ignored. */
function merchantBody({ path }: Operation): fc.Arbitrary<object> {
  return fc
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
}

function bodyFor({ contract, bodies }: Callers, operation: Operation): fc.Arbitrary<Pick<Ask, 'rawBody'>> {
  const content = operation.operation.requestBody?.content['application/json'];
  if (!content) return fc.constant({});
  const properties = contract.resolve(content.schema)['properties'] as Record<string, JsonSchema>;
  const fields = Object.entries(properties).map(([name, schema]) => [name, valueFor(schema)] as const);
  const record = fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  const whole = bodies(operation);
  const oneChanged = fc
    .tuple(whole, fc.oneof(...fields.map(([name, value]) => fc.record({ [name]: value }))))
    .map((both) => Object.assign({}, ...both) as object);
  const json = fc.oneof(
    { weight: 6, arbitrary: whole.map((value) => JSON.stringify(value)) },
    { weight: 4, arbitrary: oneChanged.map((value) => JSON.stringify(value)) },
    { weight: 4, arbitrary: record.map((value) => JSON.stringify(value)) },
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
const byKey: fc.Arbitrary<Pick<Ask, 'key' | 'rawKey'>> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('ngn', 'usd').map((key) => ({ key })) },
  { weight: 1, arbitrary: fc.constantFrom('readonly', 'buyonly', 'elsewhere').map((key) => ({ key })) },
  { weight: 1, arbitrary: headerText.map((rawKey) => ({ rawKey })) },
  { weight: 1, arbitrary: fc.constant({}) },
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

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
/** Mostly in a role that may ask for it; `ASKER` signed in at the dashboard. */
const byOperator = ({ method, path }: Operation): fc.Arbitrary<Pick<Ask, 'headers'>> =>
  fc
    .oneof(
      { weight: 6, arbitrary: fc.constantFrom(...asksOf({ method, path }).map(headersOf)) },
      { weight: 4, arbitrary: fc.constantFrom(...ROLES, 'NEW' as const).map((who) => bearer(tokenOf(who))) },
      { weight: 2, arbitrary: ourPage.map((page) => ({ cookie: cookieOf('ASKER'), ...page })) },
      { weight: 1, arbitrary: byBrowser },
      { weight: 1, arbitrary: headerText.map(bearer) },
      { weight: 1, arbitrary: headerText.map((authorization) => ({ authorization })) },
    )
    .map((headers) => ({ headers }));

const asksOf = ({ method, path }: Pick<Operation, 'method' | 'path'>) =>
  [...GOOD_ASKS, ...OTHER_ASKS].filter(({ route }) => route === `${method} ${path}`);
const headersOf = ({ as }: (typeof GOOD_ASKS)[number]) => (as === null ? {} : bearer(tokenOf(as)));

async function resetOperators(): Promise<void> {
  await Promise.all([ops.reset(), plantWork(opsBooks)]);
  // One person removes access ten times a day.
  await sql`delete from accounts.audit_log`.execute(opsBooks.owner);
  await sql`update accounts.user_sessions set user_agent = 'dashboard' where user_id = ${personOf('ASKER')}`.execute(
    opsBooks.owner,
  );
}

interface Shot {
  readonly operationId: string;
  readonly target: string;
  readonly ask: Ask;
  /** At once. */
  readonly times: number;
}

const isForUsers = ({ path }: Operation): boolean => /^\/(?:auth|account)\b/.test(path);

function shots(callers: Callers): fc.Arbitrary<Shot> {
  const { operations } = callers.contract;
  // Operations with more input get more requests.
  const favoured = operations
    .filter((one) => one.method === 'POST' || one.path.includes('/webhooks/'))
    .flatMap((one) => [one, one, one, one]);
  return fc.constantFrom(...operations, ...favoured).chain((operation) =>
    fc
      .record({
        target: targetFor(callers, operation),
        body: bodyFor(callers, operation),
        sender: callers.sentBy(operation),
        times: fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 6),
        idempotency: seldom(headerText),
        contentType: seldom(headerText),
        requestId: seldom(headerText),
      })
      .map(({ target, body, sender, times, idempotency, contentType, requestId }) => ({
        operationId: operation.operation.operationId,
        target,
        times,
        ask: {
          method: operation.method,
          ...body,
          ...sender,
          headers: {
            ...sender.headers,
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
    ...{ operationId: operation.operation.operationId, times: 6, ask: { method, headers, ...body } },
    target: path.replaceAll(/\{\w+\}/g, 'x'),
  };
}

const merchantContract = await readContract(api);
const opsContract = await readContract(opsApi, {
  target: '/ops/openapi.json',
  headers: bearer(tokenOf('SUPPORT')),
});

const CALLERS: Record<keyof typeof CASES, Callers> = {
  merchants: {
    ...{ api, contract: merchantContract, targets: () => [], bodies: merchantBody },
    ids: {
      endpointId: 'ep-00000000000000000000000000000001',
      messageId: 'msg-00000000000000000000000000000002',
      esimId: 'esim-00000000000000000000000000000001',
      transactionId: 'txn-00000000000000000000000000000001',
      packageCode: 'NG-5GB-30D',
    },
    sentBy: (operation) => {
      const bySession = byBrowser.map((headers) => ({ headers }));
      if (isForUsers(operation)) return bySession;
      const byBoth = fc
        .tuple(byKey, seldom(byBrowser))
        .map(([sent, headers]) => ({ ...sent, ...(headers && { headers }) }));
      return fc.oneof({ weight: 5, arbitrary: byBoth }, { weight: 1, arbitrary: bySession });
    },
    restore: async (operation) => {
      await api.shop.setBalance(1_000_000_000n);
      if (isForUsers(operation)) await users.reset();
    },
    wanted: () => merchantContract.operations.filter(isForUsers).map(sixAtOnce),
    // Each way in was walked, not only refused.
    answered: ['signUp 202', 'confirmUser 200', 'acceptInvitation 200', 'createKey 201'],
  },
  operators: {
    ...{ api: opsApi, contract: opsContract, sentBy: byOperator },
    ids: PATH_IDS,
    targets: (operation) => asksOf(operation).map(({ target }) => target),
    bodies: (operation) => fc.constantFrom(...asksOf(operation).map(({ body }) => body ?? {})),
    restore: async () => {
      if (!(await ops.forgetIfUntouched())) await resetOperators();
    },
    wanted: () =>
      opsContract.operations.flatMap((operation) =>
        asksOf(operation).map((one) => ({
          ...{ operationId: operation.operation.operationId, target: one.target, times: 6 },
          ask: { method: operation.method, ...(one.body && { body: one.body }), headers: headersOf(one) },
        })),
      ),
    answered: GOOD_ASKS.map(({ route, status }) => {
      const asked = opsContract.operations.find(({ method, path }) => `${method} ${path}` === route);
      return `${asked?.operation.operationId} ${status}`;
    }),
  },
};

/** A busy machine sends four cases a second. */
const WITHIN_MS = Math.max(600_000, Math.max(...Object.values(CASES)) * 250);

test.each(Object.entries(CALLERS) as [keyof typeof CASES, Callers][])(
  'generated cases of %s get no 5xx, no undocumented answer, and log no error of ours',
  { timeout: WITHIN_MS },
  async (who, callers) => {
    const { contract, restore, wanted, answered } = callers;
    const seen = new Map<string, number>();
    await withSeed((seed) =>
      fc.assert(
        fc.asyncProperty(shots(callers), async ({ operationId, target, ask, times }) => {
          const operation = contract.operations.find((one) => one.operation.operationId === operationId)!;
          await restore(operation);
          callers.api.limiter.counts.clear();
          const replies = await Promise.all(
            Array.from({ length: times }, () => callers.api.ask(target, ask)),
          );
          for (const reply of replies) {
            const name = `${operationId} ${reply.status}`;
            seen.set(name, (seen.get(name) ?? 0) + 1);
            // The operators' live environment is off here.
            if (!reply.text.includes('"ENVIRONMENT_UNAVAILABLE"')) expect(reply.status).toBeLessThan(500);
            expect(reply.headers['x-request-id']).toBeDefined();
            expect(reply.headers['x-ratelimit-limit']).toBeDefined();
            expect(contract.judge(operation, reply)).toBeUndefined();
          }
        }),
        { numRuns: CASES[who], seed, examples: wanted().map((one) => [one]) },
      ),
    );
    const requests = [...seen.values()].reduce((sum, count) => sum + count, 0);
    console.log(`A1: ${requests} requests of ${who} in ${CASES[who]} cases, 0 answers 5xx`);
    expect(users.errors).toEqual([]);
    for (const done of answered) expect(seen.get(done), done).toBeGreaterThan(0);
    // That a person is to look is no fault of ours.
    const isFault = (line: string) =>
      line.includes('"level":"error"') && !line.includes('"msg":"purchase needs attention"');
    expect(callers.api.logLines.filter(isFault)).toEqual([]);
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
          merchantContract.judgeGeneral({ ...reply, json: reply.json ?? generalStandIn(reply.status) }),
        ).toBeUndefined();
    }),
    { numRuns: 400 },
  );
});

/** HEAD has no body to check. */
function generalStandIn(statusCode: number): unknown {
  return { success: false, error: { code: 'METHOD_NOT_ALLOWED', message: '' }, statusCode };
}
