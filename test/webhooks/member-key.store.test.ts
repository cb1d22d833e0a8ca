// Keys that members make: a live one names a company whose website answers, a test one needs neither.
import { afterAll, expect, it } from 'vitest';
import { ENVIRONMENTS } from '../../src/domain/account.ts';
import { createMemberKey } from '../../src/webhooks/create-checked-key.ts';
import { makeAccount } from '../support/people/keys.ts';
import { openBooks } from '../support/world/books.ts';

const books = await openBooks();
afterAll(() => books.close());

const REFUSED = { ok: false, detail: 'must have a web server that answers' } as const;
const key = { allowedAddresses: ['203.0.113.7'], scopes: ['read'] } as const;
const company = { companyName: 'Ada Ltd', websiteUrl: 'http://10.0.0.1/' };

async function make(environment: 'live' | 'test', more: object): Promise<string> {
  const id = await makeAccount(books.accounts);
  const account = { id, name: 'Ada' } as Parameters<typeof createMemberKey>[1]['account'];
  const person = { userId: 'user-1', email: 'ada@example.com', clientAddress: '127.0.0.1' };
  const member = { ...person, role: 'OWNER', account } as const;
  const guard = { check: () => Promise.resolve(REFUSED), reach: () => Promise.resolve(REFUSED) };
  const world = { db: books.world, urlGuard: guard, secretBox: undefined };
  const deps = {
    ...{ accounts: books.accounts, clock: { now: () => new Date() }, brand: 'simway', lifeDays: undefined },
    worldOf: () => world as unknown as ReturnType<Parameters<typeof createMemberKey>[0]['worldOf']>,
  };
  return createMemberKey(deps, member, environment, { ...key, ...more }).then(
    () => 'made',
    (error: unknown) => JSON.stringify((error as { details?: unknown }).details),
  );
}

it.each(ENVIRONMENTS)('a %s key', async (environment) => {
  const isLive = environment === 'live';
  expect(await make(environment, {})).toBe(
    isLive ? '"companyName: is required for a live key; websiteUrl: is required for a live key"' : 'made',
  );
  expect(await make(environment, company)).toBe(
    isLive ? '"websiteUrl: must have a web server that answers"' : 'made',
  );
});
