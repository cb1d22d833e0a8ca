// Guessed keys and tokens, over real sockets: past the limit they no longer reach Postgres, and neighbours
// behind the same address are not locked out.
import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newApiKey } from '../../src/accounts/keys/api-key.ts';
import { createAuthenticator } from '../../src/accounts/keys/authenticate.ts';
import type { AccountsDatabase } from '../../src/platform/database/tables.ts';
import { makeAccount, makeKey as makeKeyOf, openAccountsPool } from '../support/people/keys.ts';
import { openBooks } from '../support/world/books.ts';
import { startApi, type TestApi, type Reply } from '../support/http/api.ts';
import { openOperators, tokenOf } from '../support/http/operators.ts';
import { forFile } from '../support/world/for-file.ts';

const LIMIT = 20;
const GUESSES = 200;

const books = await forFile(openBooks());
let statements = 0;
const db = new Kysely<AccountsDatabase>({
  dialect: new PostgresDialect({ pool: openAccountsPool(books.url, 4) }),
  log: () => void (statements += 1),
});
afterAll(() => db.destroy());
const accountId = await makeAccount(books.accounts);
const ops = openOperators(books);

let api: TestApi;
async function unusable(): Promise<typeof db> {
  const closed = new Kysely<AccountsDatabase>({ dialect: new PostgresDialect({ pool: new Pool() }) });
  await closed.destroy();
  return closed;
}

/** In a process whose poll is always current, or always fails. */
async function openAt({ isPolled }: { readonly isPolled: boolean }): Promise<void> {
  const authenticator = createAuthenticator({
    db,
    pollDb: isPolled ? books.accounts : await unusable(),
    clock: { now: () => new Date() },
    brand: 'simway',
    onError: () => undefined,
  });
  await ops.reset();
  api = await startApi({ ops, settings: { failedAuthPerMinute: LIMIT } });
  Object.assign(api.shop.useCases.accounts, authenticator);
  if (isPolled) authenticator.start();
  stop = () => authenticator.stop();
}
let stop = (): Promise<void> => Promise.resolve();
beforeEach(() => openAt({ isPolled: true }));
afterEach(async () => {
  await stop();
  await api.close();
});

const makeKey = async (): Promise<string> => (await makeKeyOf(books.accounts, accountId)).apiKey;

// Uses the accounts' database for the key only.
const PATH = '/api/settings/exchange-rate';
const withKey = (rawKey: string, from = '127.0.0.1'): Promise<Reply> => api.ask(PATH, { rawKey, from });

async function guess(count = GUESSES): Promise<number[]> {
  const replies = await Promise.all(
    Array.from({ length: count }, () => withKey(newApiKey('simway', 'test'))),
  );
  return replies.map(({ status }) => status);
}

describe('guessed keys', () => {
  it('cost one statement each up to the address’s limit, and none after it, in parallel or in sequence', async () => {
    statements = 0;
    const first = await guess();
    expect(first.filter((status) => status === 401)).toHaveLength(LIMIT);
    expect(first.filter((status) => status === 429)).toHaveLength(GUESSES - LIMIT);
    expect(statements).toBe(LIMIT);
    for (let i = 0; i < 5; i += 1) expect((await withKey(newApiKey('simway', 'test'))).status).toBe(429);
    expect(statements).toBe(LIMIT);
  });

  it('are answered as documented', async () => {
    await guess();
    const reply = await withKey(newApiKey('simway', 'test'));
    expect(reply.json).toEqual({
      success: false,
      error: {
        code: 'RATE_LIMIT_EXCEEDED',
        message: `At most ${LIMIT} failed authentications a minute are allowed from your address`,
      },
      statusCode: 429,
    });
    expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(reply.headers['x-ratelimit-remaining']).toBe('0');
  });

  it('lock out no neighbour behind the address, whether or not the process has seen the neighbour’s key', async () => {
    const [known, later] = [await makeKey(), await makeKey()];
    expect((await withKey(known)).status).toBe(200);
    await guess();
    statements = 0;
    expect((await withKey(known)).status).toBe(200);
    expect(statements).toBe(0);
    // Two keys that this process has not seen: one known from its poll, and one made a moment ago.
    expect((await withKey(later)).status).toBe(200);
    expect((await withKey(await makeKey())).status).toBe(200);
    expect((await guess(10)).every((status) => status === 429)).toBe(true);
  });

  it('lock out no known key while the cache is not trusted and each request queries Postgres', async () => {
    await stop();
    await api.close();
    await openAt({ isPolled: false });
    const known = await makeKey();
    expect((await withKey(known)).status).toBe(200);
    await guess();
    statements = 0;
    expect((await withKey(known)).status).toBe(200);
    expect(statements).toBe(1);
  });
});

it('a good key that is used for the first time uses up nothing of the limit', async () => {
  for (let i = 0; i < LIMIT + 5; i += 1) {
    const reply = await withKey(await makeKey());
    expect([reply.status, reply.headers['x-ratelimit-limit']]).toEqual([200, '100']);
  }
  expect(api.limiter.counts.get('failed-auth:127.0.0.1')).toBe(0);
});

it('a failed authentication is counted once, with or without a query', async () => {
  const unknown = newApiKey('simway', 'test');
  for (const rawKey of [unknown, unknown, 'junk', '']) expect((await withKey(rawKey)).status).toBe(401);
  expect(api.limiter.counts.get('failed-auth:127.0.0.1')).toBe(4);
});

it('failed authentications are not counted while the database is down', async () => {
  const away = Object.assign(new Error('connection terminated'), { code: '57P01' });
  api.shop.useCases.accounts.authenticate = async (_rawKey, beforeKeyLookup) => {
    await beforeKeyLookup?.();
    throw away;
  };
  expect((await withKey('any')).status).toBe(500);
  expect(api.limiter.counts.get('failed-auth:127.0.0.1')).toBe(0);
});

describe('guessed tokens of sessions', () => {
  const withToken = (token: string): Promise<Reply> =>
    api.ask('/ops/me', { headers: { authorization: `Bearer ${token}` } });
  let asked = 0;
  beforeEach(() => {
    asked = 0;
    const { sessions } = ops;
    const original = sessions.authenticate;
    Object.assign(sessions, {
      authenticate: (token: string, address: string) => {
        asked += 1;
        return original(token, address);
      },
    });
  });

  it('reach Postgres up to the address’s limit; a signed-in user keeps working until the session ends', async () => {
    expect((await withToken(tokenOf('SUPPORT'))).status).toBe(200);
    const before = asked;
    const guessed = await Promise.all(
      Array.from({ length: GUESSES }, (_, i) => withToken(`ops_${String(i).padStart(43, 'x')}`)),
    );
    expect(guessed.filter(({ status }) => status === 401)).toHaveLength(LIMIT);
    expect(asked - before).toBe(LIMIT);
    expect((await withToken(tokenOf('FINANCE'))).status).toBe(429);
    const some = await Promise.all(Array.from({ length: 5 }, () => withToken(tokenOf('SUPPORT'))));
    expect(some.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await books.accounts.deleteFrom('user_sessions').execute();
    expect((await withToken(tokenOf('SUPPORT'))).status).toBe(429);
    const asks = asked;
    expect((await withToken(tokenOf('SUPPORT'))).status).toBe(429);
    expect(asked).toBe(asks);
  });
});
