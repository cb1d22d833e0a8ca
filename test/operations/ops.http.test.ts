// The operators' API: every route under /ops against every role, against keys of merchants, and against its
// own OpenAPI document.
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { rolesWith, ROLES, type Role } from '../../src/domain/operator-roles.ts';
import { REFUSAL_MESSAGES } from '../../src/operations/rules.ts';
import { LOGINS_PER_MINUTE, PERSON_REQUESTS_PER_MINUTE } from '../../src/platform/http/limits.ts';
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import { openBooks } from '../support/world/books.ts';
import { readContract, type Operation } from '../support/http/contract.ts';
import { startApi, type Ask, type Reply } from '../support/http/api.ts';
import { openOperators, PASSWORD, personOf, tokenOf } from '../support/http/operators.ts';
import { ACTION, plantSales, plantWork, SOLD, TXN } from '../support/http/operator-rows.ts';
import { keyOf } from '../support/http/shop.ts';
import { GOOD_ASKS, OTHER_ASKS, type OpsAsk } from '../support/http/ops-asks.ts';
import { generalError, unauthorised } from '../support/http/error-bodies.ts';
import { forFile } from '../support/world/for-file.ts';

const table = createRouteTable({ version: '1.2.3', brand: 'simway' });
const opsRoutes = table.filter(({ path }) => path.startsWith('/ops'));
const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

const books = await forFile(openBooks());
await plantSales(books);
const ops = openOperators(books);
await reset();
const api = await forFile(startApi({ ops }));
const contract = await readContract(api, { target: '/ops/openapi.json', ...as('SUPPORT') });
beforeEach(async () => {
  if (!(await ops.forgetIfUntouched())) await reset();
});

async function reset(): Promise<void> {
  await Promise.all([ops.reset(), plantWork(books)]);
}

function as(who: Role | 'NEW'): Ask {
  return { headers: { authorization: `Bearer ${tokenOf(who)}` } };
}

function askFor({ route, target, body, as: who }: OpsAsk, onApi = api): Promise<Reply> {
  const method = route.split(' ')[0] ?? '';
  return onApi.ask(target, { method, ...(body && { body }), ...(who && as(who)) });
}

const SIGNED_IN_ASKS = GOOD_ASKS.filter(({ as: who, target }) => who && !target.startsWith('/ops/sessions'));

describe('the route table', () => {
  test('has sessions of operators on every route under /ops, and on no other', () => {
    for (const route of table)
      expect(route.key === 'session' || route.key === 'login', nameOf(route)).toBe(
        route.path.startsWith('/ops'),
      );
  });

  test('names a permission for every route but signing in, and no key’s scope', () => {
    for (const route of opsRoutes) {
      expect(route.permission === undefined, nameOf(route)).toBe(route.key === 'login');
      expect(route.scope).toBeUndefined();
      expect(route.shapes).toEqual(['general']);
    }
  });

  test('has a test request for every route', () => {
    expect(GOOD_ASKS.map((ask) => ask.route).sort()).toEqual(opsRoutes.map(nameOf).sort());
  });
});

describe('each role on each route', () => {
  const cases = SIGNED_IN_ASKS.flatMap((ask) => ROLES.map((role) => [role, ask.route, ask] as const));

  test.each(cases)('%s, %s', async (role, name, ask) => {
    const permission = opsRoutes.find((route) => nameOf(route) === name)?.permission ?? 'people';
    const isAllowed = permission === 'own' || rolesWith(permission).includes(role);
    const reply = await askFor({ ...ask, as: role });
    if (isAllowed) {
      expect(reply.status).toBe(ask.status);
      expect(await ops.refused()).toEqual([]);
      return;
    }
    expect(reply.status).toBe(403);
    expect(reply.json).toEqual(
      generalError(403, 'FORBIDDEN', expect.stringContaining('Your role') as string),
    );
    expect(await ops.refused()).toEqual([`${role} ${ask.route.split(' ')[0]} ${ask.target.split('?')[0]}`]);
    expect(ops.calls).toEqual([]);
  });

  test.each(
    SIGNED_IN_ASKS.filter((ask) => !ask.target.startsWith('/ops/me') && !ask.target.endsWith('openapi.json')),
  )('a person who must choose a password first, $route', async (ask) => {
    expect((await askFor({ ...ask, as: 'NEW' })).status).toBe(403);
    expect(ops.calls).toEqual([]);
  });

  test('a role without the permission is refused before the body is read', async () => {
    const reply = await api.ask('/ops/people', { ...as('FINANCE'), rawBody: '{broken' });
    expect(reply.status).toBe(403);
  });
});

describe('without a valid session', () => {
  const key = keyOf('test', 'ngn');
  const wrong: readonly (readonly [string, Ask, string])[] = [
    ['no token', {}, 'UNAUTHORIZED'],
    ['a merchant', { rawKey: key }, 'UNAUTHORIZED'],
    ['a merchant of the live environment', { rawKey: keyOf('live', 'ngn') }, 'UNAUTHORIZED'],
    ['an invalid key', { rawKey: 'junk' }, 'UNAUTHORIZED'],
    ['a merchant’s key in the place of a token', bearer(key), 'INVALID_TOKEN'],
    ['an unknown token', bearer(`ops_${'a'.repeat(75)}`), 'INVALID_TOKEN'],
    ['an empty token', { headers: { authorization: 'Bearer ' } }, 'INVALID_TOKEN'],
    ['a token without its word', { headers: { authorization: tokenOf('ADMIN') } }, 'INVALID_TOKEN'],
    ['another scheme', { headers: { authorization: `Basic ${tokenOf('ADMIN')}` } }, 'INVALID_TOKEN'],
    ['two tokens', bearer(`${tokenOf('ADMIN')}, ${tokenOf('ADMIN')}`), 'INVALID_TOKEN'],
    ['a very long token', bearer('a'.repeat(5_000)), 'INVALID_TOKEN'],
    [
      'a token in the query and in a cookie',
      { headers: { cookie: `token=${tokenOf('ADMIN')}` } },
      'UNAUTHORIZED',
    ],
  ];
  const closed = opsRoutes.filter((route) => route.key === 'session');
  const exampleOf = ({ path, params }: (typeof table)[number]) =>
    path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params?.[name]?.example ?? '');

  test.each(closed.map((route) => [nameOf(route), route] as const))('%s', async (_name, route) => {
    const target = exampleOf(route);
    for (const [who, ask, code] of wrong) {
      const reply = await api.ask(`${target}?token=${tokenOf('ADMIN')}`, { ...ask, method: route.method });
      expect(reply.status, who).toBe(401);
      expect(reply.json, who).toEqual(unauthorised(code, expect.any(String) as string));
      expect(reply.headers['x-ratelimit-limit']).toBeDefined();
    }
    expect(ops.calls).toEqual([]);
  });

  test('an operator’s session is refused by the merchants’ API', async () => {
    const merchantRoutes = table.filter((route) => route.key === 'required');
    expect(merchantRoutes.length).toBeGreaterThan(10);
    for (const route of merchantRoutes) {
      const target = exampleOf(route);
      for (const ask of [as('ADMIN'), { rawKey: tokenOf('ADMIN') }])
        expect((await api.ask(target, { ...ask, method: route.method })).status, nameOf(route)).toBe(401);
    }
    expect(api.shop.calls).toEqual([]);
  });

  function bearer(token: string): Ask {
    return { headers: { authorization: `Bearer ${token}` } };
  }
});

describe('signing in', () => {
  const credentials = { email: 'finance@operator.example', password: PASSWORD };

  test('answers the token this once, the person and the expiry', async () => {
    const reply = await api.ask('/ops/sessions', { body: credentials });
    expect(reply.status).toBe(201);
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.headers['set-cookie']).toBeUndefined();
    expect(reply.json).toEqual({
      success: true,
      data: {
        token: expect.stringMatching(/^ops_[\w-]{75}$/) as string,
        personId: personOf('FINANCE'),
        email: 'finance@operator.example',
        name: 'FINANCE',
        role: 'FINANCE',
        mustChangePassword: false,
        mustAddSecondFactor: false,
        expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      },
    });
    expect(ops.calls).toEqual(['signIn']);
    const audit = books.accounts.selectFrom('audit_log').select(['subject', 'detail']);
    expect(
      await audit.where('action', '=', 'session.open').orderBy('id', 'desc').limit(1).executeTakeFirst(),
    ).toEqual({ subject: personOf('FINANCE'), detail: { address: '127.0.0.1', newDevice: true } });
  });

  test('ignores a key that is sent too', async () => {
    const reply = await api.ask('/ops/sessions', { body: credentials, rawKey: 'junk' });
    expect(reply.status).toBe(201);
  });

  test(`${LOGINS_PER_MINUTE} tries a minute from one address, right or wrong; another address has its own`, async () => {
    const other = await startApi({ ops });
    try {
      const statuses: number[] = [];
      for (let one = 0; one < LOGINS_PER_MINUTE; one += 1) {
        const password = one % 2 === 0 ? PASSWORD : 'wrong';
        statuses.push((await other.ask('/ops/sessions', { body: { ...credentials, password } })).status);
      }
      expect(statuses).toEqual([201, 401, 201, 401, 201, 401, 201, 401, 201, 401]);
      ops.calls.length = 0;
      const last = await other.ask('/ops/sessions', { body: credentials });
      expect(last.status).toBe(429);
      expect(last.headers['retry-after']).toBeDefined();
      expect(last.headers['x-ratelimit-limit']).toBe(String(LOGINS_PER_MINUTE));
      expect(ops.calls).toEqual([]);
      expect((await other.ask('/ops/sessions', { body: credentials, from: '127.0.0.9' })).status).toBe(201);
    } finally {
      await other.close();
    }
  });
});

test('a person has a limit of requests a minute, over all sessions', async () => {
  const reply = await api.ask('/ops/me', as('SUPPORT'));
  expect(reply.headers['x-ratelimit-limit']).toBe(String(PERSON_REQUESTS_PER_MINUTE));
  expect(api.limiter.counts.get(`person:${personOf('SUPPORT')}`)).toBeGreaterThan(0);
});

describe('access by address', () => {
  test('is allowed only from addresses that the operator configured, signing in included, whatever headers are sent', async () => {
    const other = await startApi({ ops, settings: { opsAddresses: ['127.0.0.1', '10.0.0.0/8'] } });
    try {
      const ways: readonly (readonly [string, Ask])[] = [
        ['/ops/me', as('ADMIN')],
        ['/ops/me', {}],
        ['/ops/sessions', { body: { email: 'admin@operator.example', password: PASSWORD } }],
      ];
      for (const [target, ask] of ways) {
        const reply = await other.ask(target, { ...ask, from: '127.0.0.2' });
        expect(reply.json).toEqual(generalError(403, 'IP_NOT_WHITELISTED', expect.any(String) as string));
      }
      expect(ops.calls).toEqual([]);
      expect((await other.ask('/ops/me', as('ADMIN'))).status).toBe(200);
      const forged = { headers: { ...as('ADMIN').headers, 'x-forwarded-for': '127.0.0.1' } };
      expect((await other.ask('/ops/me', { ...forged, from: '127.0.0.2' })).status).toBe(403);
    } finally {
      await other.close();
    }
  });

  test.each(['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-forwarded-host', 'x-forwarded-proto'])(
    'is refused through an untrusted proxy, even if its own address is configured: %s',
    async (header) => {
      const through = { headers: { ...as('ADMIN').headers, [header]: '127.0.0.1' } };
      const reply = await api.ask('/ops/me', through);
      expect(reply.json).toEqual(
        generalError(
          403,
          'IP_NOT_WHITELISTED',
          'This came through a proxy that is not trusted, or that sends no X-Forwarded-For',
        ),
      );
      const credentials = { email: 'admin@operator.example', password: PASSWORD };
      const signingIn = { body: credentials, headers: { [header]: '127.0.0.1' } };
      expect((await api.ask('/ops/sessions', signingIn)).status).toBe(403);
      expect(ops.calls).toEqual([]);
      expect((await api.ask('/ops/me', as('ADMIN'))).status).toBe(200);
    },
  );

  test('is allowed through a trusted proxy, for clients whose address is configured', async () => {
    const settings = { opsAddresses: ['203.0.113.0/24'], trustedProxies: ['127.0.0.1'] };
    const other = await startApi({ ops, settings });
    try {
      for (const [address, status] of [
        ['203.0.113.7', 200],
        ['198.51.100.7', 403],
      ] as const) {
        const headers = { ...as('ADMIN').headers, 'x-forwarded-for': address };
        expect((await other.ask('/ops/me', { headers })).status).toBe(status);
      }
    } finally {
      await other.close();
    }
  });

  test.each<Record<string, string>>([{}, { 'x-real-ip': '203.0.113.7' }, { forwarded: 'for=203.0.113.7' }])(
    'is refused through a trusted proxy that does not say for whom: %o',
    async (named) => {
      const settings = { opsAddresses: ['127.0.0.0/8'], trustedProxies: ['127.0.0.1'] };
      const other = await startApi({ ops, settings });
      try {
        const reply = await other.ask('/ops/me', { headers: { ...as('ADMIN').headers, ...named } });
        expect(reply.json).toMatchObject({ error: { code: 'IP_NOT_WHITELISTED' } });
        const behind = { ...as('ADMIN').headers, 'x-forwarded-for': '127.0.0.1' };
        expect((await other.ask('/ops/me', { headers: behind })).status).toBe(200);
      } finally {
        await other.close();
      }
    },
  );

  test('must be configured with valid addresses: another entry stops the start', async () => {
    await expect(startApi({ ops, settings: { opsAddresses: ['office'] } })).rejects.toThrow(RangeError);
  });

  test('is refused in a process that does not serve operators', async () => {
    const other = await startApi();
    try {
      for (const route of opsRoutes) {
        const target = route.path.replaceAll(/\{(\w+)\}/g, 'x');
        expect((await other.ask(target, { ...as('ADMIN'), method: route.method })).status).toBe(404);
      }
    } finally {
      await other.close();
    }
  });
});

test('a difference is read and closed by its number', async () => {
  const read = async (query: string) => {
    const { json } = await api.ask(`/ops/differences${query}`, as('FINANCE'));
    return (json as { data: { items: object[] } }).data.items;
  };
  expect(await read('?id=42')).toMatchObject([
    { id: '42', closedAt: null, closedBy: null, closeReason: null },
  ]);
  const close = { ...as('FINANCE'), body: { reason: 'a test' } };
  expect((await api.ask('/ops/differences/42/close', close)).status).toBe(200);
  expect(await read('')).toEqual([]);
  const closed = { closedBy: 'finance@operator.example', closeReason: 'a test' };
  expect(await read('?id=42')).toMatchObject([{ ...closed, closedAt: expect.any(String) as string }]);
  expect(await read('?id=43')).toEqual([]);
});

describe('environments', () => {
  test.each([
    [false, '', 'test'],
    [false, '?environment=test', 'test'],
    [true, '?environment=live', 'live'],
    [true, '?environment=test', 'test'],
  ])('live on: %s, "%s": %s', async (live, query, expected) => {
    const both = openOperators(books, { live });
    const other = await startApi({ live, ops: both });
    try {
      await other.ask(`/ops/actions/pending${query}`, as('SUPPORT'));
      expect(both.calls).toEqual([`${expected} listWaitingActions`]);
    } finally {
      await other.close();
      await both.close();
    }
  });
});

test('every route that works in an environment accepts its name, and requires it once live is on', async () => {
  const both = openOperators(books, { live: true });
  const other = await startApi({ live: true, ops: both });
  try {
    for (const ask of SIGNED_IN_ASKS) {
      const route = opsRoutes.find((one) => nameOf(one) === ask.route);
      const isAboutPeople = /^\/ops\/(me|people|users|device-logins|openapi)/.test(ask.target);
      expect(route?.queryNames.includes('environment'), ask.route).toBe(!isAboutPeople);
      const reply = await askFor(ask, other);
      expect(reply.status, ask.route).toBe(isAboutPeople ? ask.status : 400);
      if (!isAboutPeople) expect(reply.text).toContain('environment: must be given once');
    }
    expect(both.calls.filter((call) => /^(live|test) /.test(call))).toEqual([]);
  } finally {
    await other.close();
    await both.close();
  }
});

describe('the author', () => {
  test('is the person who signed in, whatever the request says', async () => {
    const body = {
      ...{ action: 'credit-wallet', goodwill: true, amount: 12.5, currency: 'USD' },
      ...{ reason: 'a test of the name', by: 'ceo@operator.example' },
    };
    const target = `/ops/purchases/${SOLD}/actions?by=ceo@operator.example`;
    const reply = await api.ask(target, { ...as('FINANCE'), body });
    expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('"outcome":"done"')]);
    const recorded = books.world.selectFrom('operator_actions').where('reason', '=', body.reason);
    expect(
      await recorded.select(['action', 'by_person', 'amount_minor', 'currency', 'status']).execute(),
    ).toEqual([
      {
        ...{ action: 'credit-wallet', by_person: 'finance@operator.example', status: 'DONE' },
        ...{ amount_minor: 1_250n, currency: 'USD' },
      },
    ]);
  });
});

describe('operator actions', () => {
  const ask = (body: object): Promise<Reply> =>
    api.ask(`/ops/purchases/${SOLD}/actions`, { ...as('FINANCE'), body });

  test('that are refused answer the reason and the allowed actions, and are counted under their code', async () => {
    const reply = await ask({ action: 'cancel', reason: 'a test' });
    expect(reply.json).toEqual({
      success: false,
      error: {
        code: 'ACTION_REFUSED',
        message: REFUSAL_MESSAGES.ALREADY_DELIVERED,
        refusal: 'ALREADY_DELIVERED',
        fits: ['check-supplier', 'credit-wallet'],
      },
      statusCode: 409,
    });
    const line = api.logLines.findLast((one) => one.includes('request answered'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      errorCode: 'ACTION_REFUSED',
      personId: personOf('FINANCE'),
      transactionId: SOLD,
      environment: 'test',
      status: 409,
    });
  });

  test('with several mistakes are answered with all of them', async () => {
    const reply = await ask({
      action: 'steal',
      reason: 'no',
      evidence: '',
      amount: 0.001,
      packageCode: 7,
      goodwill: 'yes',
    });
    const { message } = (reply.json as { error: { message: string } }).error;
    expect(reply.status).toBe(400);
    for (const field of ['action', 'reason', 'evidence', 'amount', 'packageCode', 'goodwill'])
      expect(message).toMatch(new RegExp(`(^|; )${field}: `));
    expect(ops.calls).toEqual([]);
  });
});

describe('reports', () => {
  const dayFrom = (days: number): string =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const ask = (accept: string | undefined): Promise<Reply> =>
    api.ask(`/ops/books/daily?from=${dayFrom(-1)}&to=${dayFrom(2)}`, {
      headers: { ...as('FINANCE').headers, ...(accept === undefined ? {} : { accept }) },
    });

  test.each([undefined, '*/*', 'application/json', 'text/html', 'text/csv;q=0.1, application/json'])(
    'are JSON for a caller that accepts %s, amounts exact',
    async (accept) => {
      const reply = await ask(accept);
      expect(reply.headers['content-type']).toContain('application/json');
      expect(reply.text).toContain('"sold":2000.00,"corrected":-0.05,"revenue":1999.95,"costUsd":0.9999');
    },
  );

  test('include the last day that is asked for, and no other', async () => {
    const linesOf = async (from: number, to: number) => {
      const target = `/ops/books/daily?from=${dayFrom(from)}&to=${dayFrom(to)}`;
      return ((await api.ask(target, as('FINANCE'))).json as { data: { lines: object[] } }).data.lines;
    };
    expect((await linesOf(-1, 0)).length).toBeGreaterThan(0);
    expect(await linesOf(0, 0)).toEqual(await linesOf(-1, 0));
    expect(await linesOf(-2, -1)).toEqual([]);
  });

  test.each(['text/csv', 'text/csv, application/json;q=0.5'])('are CSV for %s', async (accept) => {
    const reply = await ask(accept);
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(reply.headers['content-disposition']).toBe('attachment; filename="daily.csv"');
    expect(reply.text).toMatch(
      /^day,currency,[^]*\d\d,NGN,BASE,1,2000\.00,-0\.05,1999\.95,0\.9999,[^]*\r\n$/,
    );
  });
});

describe('the OpenAPI document', () => {
  test('describes every route under /ops and no other, each under a tag that is listed', () => {
    expect(contract.operations.map(nameOf).sort()).toEqual(opsRoutes.map(nameOf).sort());
    const tags = contract.document.tags.map((tag) => tag.name);
    const ids = contract.operations.map((one) => one.operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const open = ['/ops/sessions', '/ops/device-logins', '/ops/device-logins/token'];
    for (const { operation, path } of contract.operations) {
      expect(operation.summary).toMatch(/^[A-Z].{4,60}[^.]$/);
      expect(operation.description?.length).toBeGreaterThan(20);
      expect(operation.tags?.every((tag) => tags.includes(tag))).toBe(true);
      expect(operation.security).toEqual(open.includes(path) ? [] : [{ Session: [] }, { SessionCookie: [] }]);
    }
  });

  test('is for operators only, and the merchants’ document does not mention it', async () => {
    expect((await api.ask('/ops/openapi.json', { rawKey: keyOf('test', 'ngn') })).status).toBe(401);
    const merchants = await api.ask('/api/openapi.json');
    expect(merchants.text).not.toContain('/ops');
    expect(merchants.text).not.toMatch(/"Session"|trial-balance|refund-to-source/);
  });

  test.each([...OTHER_ASKS, ...GOOD_ASKS].map((ask, index) => [index, ask.route, ask.status, ask] as const))(
    '%i: %s answers %i as documented',
    async (_index, name, status, ask) => {
      ops.isEngineAway = ask.isEngineAway ?? false;
      const operation = contract.operations.find((one) => nameOf(one) === name) as Operation;
      const reply = await askFor(ask);
      expect(reply.status, reply.text).toBe(status);
      expect(contract.judge(operation, reply)).toBeUndefined();
      expect(reply.headers['x-request-id']).toBeDefined();
    },
  );

  test('docs/OPERATIONS.md names every route', () => {
    const page = readFileSync(new URL('../../docs/OPERATIONS.md', import.meta.url), 'utf8');
    const section = page.split('\n## People, roles and sessions over /ops\n')[1]?.split('\n## ')[0] ?? '';
    for (const { path } of opsRoutes) expect(section).toContain(path.replace('/ops/', ''));
  });

  test('every reference resolves and every component is used', () => {
    const referred = new Set(
      Array.from(
        JSON.stringify(contract.document).matchAll(/"#\/components\/schemas\/(\w+)"/g),
        (match) => match[1],
      ),
    );
    expect([...referred].sort()).toEqual(Object.keys(contract.document.components.schemas).sort());
  });
});

test('refuses to approve what nobody who is known asked for', async () => {
  await reset();
  await sql`delete from accounts.operators where user_id = ${personOf('ASKER')}`.execute(books.owner);
  const reply = await api.ask(`/ops/actions/${ACTION}/approve`, {
    ...as('FINANCE'),
    method: 'POST',
    body: {},
  });
  await reset();
  expect(reply.status).toBe(403);
  expect(reply.text).toContain('may not do so any more');
});

test('shows a purchase with its entries by debit and credit, and the supplier’s cost', async () => {
  const { status, text } = await api.ask(`/ops/purchases/${SOLD}`, as('SUPPORT'));
  expect(status, text).toBe(200);
  const { data } = JSON.parse(text) as {
    data: { entries: { account: string; debit: number; credit: number }[] };
  };
  const sidesOf = (account: string) =>
    data.entries.filter((entry) => entry.account === account).map(({ debit, credit }) => [debit, credit]);
  expect(sidesOf('revenue:USD')).toContainEqual([0, 1_000]);
  expect(data).toMatchObject({ disputes: [], supplier: { costUsd: expect.any(Number) as number } });
});

test('shows a purchase with the disputes of its payment', async () => {
  const { status, text } = await api.ask(`/ops/purchases/${TXN}`, as('SUPPORT'));
  expect(status, text).toBe(200);
  expect((JSON.parse(text) as { data: object }).data).toMatchObject({
    disputes: [{ disputeId: '4711', outcome: null, settledAt: null }],
  });
});
