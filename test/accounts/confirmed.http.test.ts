// What asks for the password again: every route that declares it, with a session whose password was given a
// moment ago and too long ago; and which routes have to declare it.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { CONFIRMED_FOR_MS, MAX_FAILED_LOGINS } from '../../src/accounts/users/sessions.ts';
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import type { Route } from '../../src/platform/http/route.ts';
import { startApi, type Ask, type Reply } from '../support/http/api.ts';
import { openOperators, tokenOf } from '../support/http/operators.ts';
import { openUsers, sessionCookie, USER } from '../support/http/users.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
const users = openUsers(books);
// A database of its own: each begins anew with its own people.
const opsBooks = await forFile(openBooks());
const ops = openOperators(opsBooks);
const api = await forFile(startApi({ users: users.useCases, ops, live: true }));

const routes = createRouteTable({ version: '1.2.3', brand: 'simway' });
const asking = routes.filter(({ confirmed }) => confirmed);
const nameOf = ({ docs, method, path }: Route): string => docs?.operationId ?? `${method} ${path}`;

function codeOf({ json }: Reply): string | undefined {
  const { error, code } = (json ?? {}) as { error?: { code?: string }; code?: string };
  return error?.code ?? code?.toUpperCase();
}

/** Every session's password was given so long ago. */
async function confirmedBefore(ms: number): Promise<void> {
  for (const { owner } of [books, opsBooks])
    await sql`update accounts.user_sessions set confirmed_at = now() - ${ms} * interval '1 ms'`.execute(
      owner,
    );
}
const [YOUNG, OLD] = [CONFIRMED_FOR_MS - 60_000, CONFIRMED_FOR_MS];

const pathOf = ({ path, params = {} }: Route): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name]?.example ?? '');

const cookieHeaders = (environment = 'live') => ({
  cookie: sessionCookie(),
  'sec-fetch-site': 'same-origin',
  'simway-account': users.accountId,
  'simway-environment': environment,
});

const askUser = (target: string, ask: Ask = {}, environment?: string): Promise<Reply> =>
  api.ask(target, { method: 'POST', body: {}, ...ask, headers: cookieHeaders(environment) });

const WHO: Partial<Record<string, 'ADMIN' | 'FINANCE'>> = {
  ...{ people: 'ADMIN', see: 'ADMIN', alerts: 'ADMIN' },
};

/** As somebody whose role lets them. */
function askAs(route: Route, environment?: string, body: object = {}): Promise<Reply> {
  const { method, permission } = route;
  const target = pathOf(route);
  if (route.key !== 'session') return askUser(target, { method, body }, environment);
  const token = tokenOf(WHO[permission ?? ''] ?? 'FINANCE');
  return api.ask(`${target}?environment=test`, {
    method,
    body,
    headers: { authorization: `Bearer ${token}` },
  });
}

beforeEach(async () => {
  await ops.reset();
  await users.reset();
});

describe('a route that asks for the password again', () => {
  it.each(asking.map((route) => [nameOf(route), route] as const))(
    '%s does so after 15 minutes, and does nothing',
    async (_name, route) => {
      await confirmedBefore(YOUNG);
      expect(codeOf(await askAs(route))).not.toBe('CONFIRMATION_REQUIRED');
      await confirmedBefore(OLD);
      const refused = await askAs(route);
      expect([refused.status, codeOf(refused)]).toEqual([403, 'CONFIRMATION_REQUIRED']);
    },
  );

  const inLive = asking.filter(({ confirmed }) => confirmed === 'live');
  it.each(inLive.map((route) => [nameOf(route), route] as const))(
    '%s asks neither in the test environment nor of a key',
    async (_name, route) => {
      await confirmedBefore(OLD);
      expect(codeOf(await askAs(route, 'test'))).not.toBe('CONFIRMATION_REQUIRED');
      const withKey = await api.ask(pathOf(route), { method: route.method, key: 'live/shop', body: {} });
      expect(codeOf(withKey)).not.toBe('CONFIRMATION_REQUIRED');
    },
  );

  /** They move no money, and change no access and no account. */
  const HARMLESS = [
    ...['signOut', 'changePassword', 'previewDeviceLogin'],
    ...['previewAction', 'previewBatchRepair', 'previewPrices', 'previewPriceRule'],
    ...['dismissEvent', 'stopBatchRepair', 'closeDifference', 'reconcile'],
    ...['changeAccount', 'withdrawInvitation'],
    ...['checkBalance', 'endShortage', 'writeAccountNote', 'writePurchaseNote', 'testAlertChannel'],
  ];

  it('is every one by which operators change anything, or members change keys or members', () => {
    const changing = routes.filter(
      ({ method, key, memberPermission = '' }) =>
        method !== 'GET' && (key === 'session' || ['keys', 'members'].includes(memberPermission)),
    );
    const unasked = changing.filter((route) => !route.confirmed).map(nameOf);
    expect(new Set(unasked)).toEqual(new Set(HARMLESS));
  });

  const WHY_NOT_OF_MEMBERS = {
    createQuote: 'freezes a price and buys nothing',
    createCheckoutSession: 'freezes a price and buys nothing',
    updateCheckoutSession: 'freezes a price and buys nothing',
    cancelCheckoutSession: 'gives a price up',
    cancelBatch: 'buys less',
    endMandate: 'buys less',
    revokeInstallLink: 'closes a page',
    setLowBalance: 'is about a message',
    setBillingDetails: 'is about the words on papers',
  };

  it('is every one by which members can spend real money, or give back what they bought with it', () => {
    const spending = routes.filter(
      ({ method, key, keysOnly, testKeysOnly, scope, memberPermission = scope ?? '' }) =>
        method !== 'GET' &&
        ['required', 'optional', 'member'].includes(key) &&
        !(keysOnly ?? testKeysOnly) &&
        ['purchase', 'fund'].includes(memberPermission),
    );
    const unasked = spending.filter((route) => route.confirmed !== 'live').map(nameOf);
    expect(new Set(unasked)).toEqual(new Set(Object.keys(WHY_NOT_OF_MEMBERS)));
    // By another permission than these.
    const others = inLive.filter((route) => !spending.includes(route)).map(nameOf);
    expect(others).toEqual(['setBrand']);
  });

  it('does not do so for a dry run, where the route has one', async () => {
    await confirmedBefore(OLD);
    const unasked: string[] = [];
    for (const route of asking) {
      const reply = await askAs(route, undefined, { dryRun: true, reason: 'a test' });
      if (codeOf(reply) !== 'CONFIRMATION_REQUIRED') unasked.push(nameOf(route));
    }
    expect(unasked).toEqual(['replay']);
  });

  it('says so in the API reference', async () => {
    const { json } = await api.ask('/api/openapi.json');
    const { paths } = json as { paths: Record<string, Record<string, { description: string }>> };
    expect(paths['/account/keys']?.['post']?.description).toContain('`CONFIRMATION_REQUIRED`');
    expect(paths['/account/keys']?.['get']?.description).not.toContain('CONFIRMATION_REQUIRED');
  });
});

describe('giving the password again', () => {
  /** As if a minute lay between two tries. */
  function confirm(body: object): Promise<Reply> {
    api.limiter.counts.clear();
    return askUser('/auth/sessions/confirm', { body });
  }
  const invite = (): Promise<Reply> =>
    askUser('/account/invitations', { body: { email: 'new@merchant.example', role: 'OWNER' } });

  it('lets the same request through', async () => {
    await confirmedBefore(OLD);
    expect((await invite()).status).toBe(403);
    expect((await confirm({ password: USER.password })).status).toBe(200);
    expect((await invite()).status).toBe(201);
  });

  it('counts wrong passwords like wrong sign-ins, until none is tried any more', async () => {
    await confirmedBefore(OLD);
    for (let wrong = 0; wrong < MAX_FAILED_LOGINS; wrong += 1)
      expect((await confirm({ password: 'a wrong one' })).text).toContain('UNAUTHORIZED');
    expect((await confirm({ password: USER.password })).text).toContain('UNAUTHORIZED');
    expect(codeOf(await invite())).toBe('CONFIRMATION_REQUIRED');
  });
});

describe('the list of sessions', () => {
  const add = (id: string, userId: string, device: string | null = null) =>
    sql`insert into accounts.user_sessions (id, token, user_id, user_agent, device, ip_address, expires_at)
      values (${id}, ${`token-of-${id}`}, ${userId}, 'dashboard', ${device}, '192.0.2.7', now() + interval '20 minutes')`.execute(
      books.owner,
    );
  const userId = async (): Promise<string> => {
    const found = books.accounts.selectFrom('users').select('id').where('email', '=', USER.email);
    return (await found.executeTakeFirstOrThrow()).id;
  };
  const list = async () => {
    const reply = await askUser('/auth/sessions', { method: 'GET' });
    return { reply, items: (reply.json as { data: { items: Record<string, unknown>[] } }).data.items };
  };
  const end = (id: string) => askUser(`/auth/sessions${id}`, { method: 'DELETE' });

  it('names device and address of one’s own, and no token', async () => {
    await add('other', await userId(), 'Firefox on Windows');
    const { reply, items } = await list();
    expect(items).toMatchObject([
      { isCurrent: true, device: 'An unknown browser' },
      { sessionId: 'other', isCurrent: false, device: 'Firefox on Windows', address: '192.0.2.7' },
    ]);
    const age = Date.now() - Date.parse(String(items[1]?.['lastUsedAt']));
    expect(age).toBeGreaterThan(9 * 60_000);
    expect(age).toBeLessThan(11 * 60_000);
    expect(reply.text).not.toContain('token-of-');
  });

  it('ends one, or all others, and none of other people', async () => {
    const [mine, another] = [await userId(), `user-${'0'.repeat(32)}`];
    const newcomer = { id: another, email: 'another@merchant.example', name: 'Another' };
    await books.accounts.insertInto('users').values(newcomer).execute();
    await add('first', mine);
    await add('second', mine);
    await add('theirs', another);
    for (const id of ['theirs', 'unknown', 'no id'])
      expect([(await end(`/${encodeURIComponent(id)}`)).status, id]).toEqual([404, id]);
    expect((await end('/first')).status).toBe(200);
    expect((await list()).items.map(({ sessionId }) => sessionId)).toContain('second');
    expect((await list()).items).toHaveLength(2);
    expect((await end('')).status).toBe(200);
    expect((await list()).items).toMatchObject([{ isCurrent: true }]);
    const left = books.accounts.selectFrom('user_sessions').select('id').where('user_id', '=', another);
    expect(await left.execute()).toContainEqual({ id: 'theirs' });
    // The session that asks is not mistaken for one with the name `current`.
    expect((await end('/current')).status).toBe(200);
    expect((await askUser('/auth/sessions', { method: 'GET' })).status).toBe(401);
  });
});
