/**
 * Promise M12 through the whole service: 64 agents at once with one budgeted key, some of which lose their
 * answer and send the request again under the same Idempotency-Key. They buy exactly what the budget allows.
 * Then what a budget bounds beside single purchases, and who may change one.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { parseMinor } from '../../src/domain/money.ts';
import { codeOf, colleague, data, signedUp, type User } from '../support/people/dashboard.ts';
import { newBuyer, untilClosed } from '../support/people/buyer.ts';
import { makeKey } from '../support/people/keys.ts';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { size } from '../support/time/size.ts';
import { until } from '../support/time/until.ts';
import { auditBooks } from '../support/world/books.ts';
import { startStack, type Answer, type Stack } from '../support/world/stack.ts';

const AGENTS = 64;
const ROUNDS = size({ ci: 1, prove: 50 });
const PACKAGE = 'SIM-OK';
const BUY = '/api/esim/buy';

interface Budget {
  readonly budget: Readonly<Record<string, unknown>> | null;
  readonly left: { readonly dailyAmount: number | null; readonly purchases: number | null } | null;
  readonly currency: string;
}

let stack: Stack;
let owner: User;
let priceMinor: bigint;
beforeAll(async () => {
  stack = await startStack({ env: { ...SIGN_IN_ENV, SIMWAY_DATABASE_CONNECTIONS: '20' } });
  owner = await signedUp(stack);
  await sql`update accounts.accounts set plan = 'ENTERPRISE', enterprise_requests_per_minute = 100000`.execute(
    stack.owner,
  );
  const { accountId } = owner;
  await ensureWallet(stack.world, accountId, 'USD');
  const amount = { amountMinor: 10_000_000n, currency: 'USD' };
  await fundWallet(stack.world, { operationKey: `fund:${accountId}`, accountId, amount, reason: 'a test' });
  const { apiKey } = await newKey();
  priceMinor = parseMinor(/"price":([\d.]+)/.exec((await buy(apiKey)).text)?.[1] ?? '')!;
});
afterAll(async () => {
  expect(await auditBooks(stack.owner)).toEqual([]);
  await stack.close();
});

const ADDRESSES = { allowedAddresses: ['127.0.0.1', '::1'] };
const dollars = (minor: bigint): number => Number(minor) / 100;

async function newKey(budget?: object): Promise<{ readonly keyId: string; readonly apiKey: string }> {
  const body = { ...ADDRESSES, scopes: ['read', 'purchase'], ...(budget && { budget }) };
  const made = await owner.ask('POST', '/account/keys', { body });
  expect(made.status, made.text).toBe(201);
  return data(made);
}

const post = (key: string, path: string, body: object, idempotencyKey: string = randomUUID()) =>
  stack.call('POST', path, { key, body, headers: { 'Idempotency-Key': idempotencyKey } });
const baseOf = (more: object = {}) => ({
  packageCode: PACKAGE,
  packageType: 'BASE',
  paymentMethod: 'WALLET',
  ...more,
});
const buy = (key: string, more: object = {}, idempotencyKey?: string): Promise<Answer> =>
  post(key, BUY, baseOf(more), idempotencyKey);

const budgetOf = async (key: string): Promise<Budget> =>
  data(await stack.call('GET', '/api/wallet/budget', { key }));

async function countriesOfPackage(): Promise<string[]> {
  const { location } = await stack.owner
    .selectFrom('packages')
    .select('location')
    .where('package_code', '=', PACKAGE)
    .executeTakeFirstOrThrow();
  return location.split(',');
}

const setBudget = (user: User, keyId: string, body: object): Promise<Answer> =>
  user.ask('PUT', `/account/keys/${keyId}/budget`, { body });

/** What is on hold or sold for the key. */
async function holdsOf(keyId: string): Promise<bigint[]> {
  const rows = await stack.owner
    .selectFrom('holds')
    .select('amount_minor')
    .where('key_id', '=', keyId)
    .where('status', '!=', 'VOIDED')
    .execute();
  return rows.map(({ amount_minor: amount }) => BigInt(String(amount)));
}

/** Every third agent hangs up before its answer. Each retries under its key until something is decided. */
async function agent(key: string, nth: number): Promise<'bought' | 'refused'> {
  const idempotencyKey = randomUUID();
  if (nth % 3 === 0)
    await fetch(stack.apiUrl + BUY, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-API-Key': key,
        'Idempotency-Key': idempotencyKey,
        'X-Forwarded-For': '127.0.0.1',
      },
      body: JSON.stringify(baseOf()),
      signal: AbortSignal.timeout(20 + nth * 5),
    }).catch(() => undefined);
  const answer = await until(
    () => buy(key, {}, idempotencyKey),
    ({ status }) => status !== 503 && status !== 409,
    { everyMs: 500, withinMs: 60_000, what: 'an answer to the purchase' },
  );
  if (answer.status === 403) {
    expect(codeOf(answer)).toBe('KEY_BUDGET_EXCEEDED');
    return 'refused';
  }
  expect(answer.status, answer.text).toBe(201);
  const row = await untilClosed(stack, answer.body.transactionId);
  return row.status === 'SUCCESS' ? 'bought' : 'refused';
}

const LIMITS: readonly [string, (bought: number) => object][] = [
  ['the amount of a day', (bought) => ({ dailyAmount: dollars(priceMinor * BigInt(bought + 1) - 1n) })],
  ['the number of purchases', (bought) => ({ maxPurchases: bought })],
];

describe('64 agents at once', () => {
  it.each(LIMITS)('buy exactly what %s allows', { timeout: 240_000 }, async (_name, limitOf) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const allowed = 5 + round;
      const { keyId, apiKey } = await newKey(limitOf(allowed));
      const ends = await Promise.all(Array.from({ length: AGENTS }, (_, nth) => agent(apiKey, nth)));
      expect(ends.filter((end) => end === 'bought')).toHaveLength(allowed);
      expect(await holdsOf(keyId)).toEqual(Array.from({ length: allowed }, () => priceMinor));
      const { left } = await budgetOf(apiKey);
      expect(left?.purchases === 0 || left?.dailyAmount === dollars(priceMinor - 1n)).toBe(true);
      expect(codeOf(await buy(apiKey))).toBe('KEY_BUDGET_EXCEEDED');
    }
  });
});

describe('a key with a budget', () => {
  it('reads what it may spend and what is left; another key has none', async () => {
    const countries = await countriesOfPackage();
    const { apiKey } = await newKey({ dailyAmount: 1_000, countries, maxPurchases: 3 });
    expect((await buy(apiKey)).status).toBe(201);
    expect(await budgetOf(apiKey)).toEqual({
      budget: {
        dailyAmount: 1_000,
        orderAmount: null,
        maxPrice: null,
        maxPurchases: 3,
        countries,
      },
      left: { dailyAmount: dollars(100_000n - priceMinor), purchases: 2 },
      currency: 'USD',
    });
    const other = await newKey();
    expect(await budgetOf(other.apiKey)).toEqual({ budget: null, left: null, currency: 'USD' });
  });

  it('is told which limit it is, how much of it is left and what to do', async () => {
    const { apiKey } = await newKey({ dailyAmount: dollars(priceMinor + 1n) });
    expect((await buy(apiKey)).status).toBe(201);
    const refusal = await buy(apiKey);
    expect(refusal.status).toBe(403);
    expect(refusal.text).toMatch(
      /dailyAmount is USD [\d.]+, and USD 0\.01 of it is left until midnight UTC; a member .*nothing was charged/,
    );
  });

  it('pays by no other method, quotes nothing beyond its limits, and orders no batch beyond them', async () => {
    const { keyId, apiKey } = await newKey({
      orderAmount: dollars(2n * priceMinor),
      maxPrice: dollars(priceMinor),
    });
    const rows = (count: number) => ({
      rows: Array.from({ length: count }, (_, nth) => ({ reference: `r-${nth}`, packageCode: PACKAGE })),
    });
    expect(codeOf(await buy(apiKey, { paymentMethod: 'CARD' }))).toBe('KEY_BUDGET_EXCEEDED');
    const tooMany = await post(apiKey, '/api/esim/orders/batch', rows(3));
    expect([tooMany.status, codeOf(tooMany)], tooMany.text).toEqual([403, 'KEY_BUDGET_EXCEEDED']);
    expect(await holdsOf(keyId)).toEqual([]);
    expect((await post(apiKey, '/api/esim/orders/batch', rows(2))).status).toBe(202);
    await until(
      () => holdsOf(keyId),
      (holds) => holds.length === 2,
      { what: 'both rows of the batch bought' },
    );
    const quote = { packageCode: PACKAGE, packageType: 'BASE' };
    expect((await post(apiKey, '/api/esim/quotes', quote)).status).toBe(201);
    const { apiKey: elsewhere } = await newKey({ countries: ['JP'] });
    const refused = await post(elsewhere, '/api/esim/quotes', quote);
    expect([refused.status, codeOf(refused)], refused.text).toEqual([403, 'KEY_BUDGET_EXCEEDED']);
  });

  it('spends it on top-ups too', async () => {
    const buyer = await newBuyer(stack, { currency: 'USD' });
    const { esimId } = await buyer.activeEsim();
    const budget = {
      ...{ dailyAmountMinor: null, orderAmountMinor: null, maxPriceMinor: null },
      ...{ maxPurchases: 1, countries: null },
    };
    const scopes = ['read', 'purchase'] as const;
    const { apiKey } = await makeKey(stack.accounts, buyer.account.accountId, { scopes, budget });
    const topUp = { packageCode: 'TOPUP_SIM-OK', packageType: 'TOPUP', esimId, paymentMethod: 'WALLET' };
    const first = await post(apiKey, BUY, topUp);
    expect(first.status, first.text).toBe(200);
    const second = await post(apiKey, BUY, topUp);
    expect([second.status, codeOf(second)], second.text).toEqual([403, 'KEY_BUDGET_EXCEEDED']);
  });
});

describe('a budget', () => {
  it('is changed by owners and developers alone, and the log has what was before', async () => {
    const { keyId, apiKey } = await newKey({ maxPurchases: 1 });
    for (const role of ['FINANCE', 'SUPPORT'] as const) {
      const other = await colleague(stack, owner, role);
      expect((await setBudget(other, keyId, { maxPurchases: 2 })).status).toBe(403);
    }
    const developer = await colleague(stack, owner, 'DEVELOPER');
    const changed = await setBudget(developer, keyId, { maxPurchases: 2, countries: ['NG', 'GH'] });
    expect(changed.status, changed.text).toBe(200);
    expect((await budgetOf(apiKey)).left).toEqual({ dailyAmount: null, purchases: 2 });
    expect((await owner.ask('DELETE', `/account/keys/${keyId}/budget`)).status).toBe(200);
    expect((await budgetOf(apiKey)).budget).toBeNull();
    const { rows } = await sql<{ actor: string; before: string; after: string }>`
      select actor, detail ->> 'before' as before, detail ->> 'after' as after from accounts.audit_log
       where subject = ${keyId} and action = 'key.change-budget' order by id`.execute(stack.owner);
    expect(rows).toEqual([
      {
        actor: developer.email,
        before: 'maxPurchases 1',
        after: 'maxPurchases 2, countries NG GH',
      },
      { actor: owner.email, before: 'maxPurchases 2, countries NG GH', after: 'none' },
    ]);
  });

  it('is never changed by a key, nor of a key of others, and holds one limit at least', async () => {
    const { keyId, apiKey } = await newKey({ maxPurchases: 1 });
    const path = `/account/keys/${keyId}/budget`;
    const byKey = await stack.call('PUT', path, { key: apiKey, body: { maxPurchases: 9 } });
    expect(byKey.status).toBe(401);
    const stranger = await signedUp(stack);
    expect((await setBudget(stranger, keyId, { maxPurchases: 9 })).status).toBe(404);
    for (const body of [{}, { maxPurchases: 0 }, { dailyAmount: 0 }, { countries: ['Nigeria'] }])
      expect((await setBudget(owner, keyId, body)).status).toBe(400);
    expect((await budgetOf(apiKey)).left?.purchases).toBe(1);
  });

  it('is in the list of keys, with what is left', async () => {
    const { keyId, apiKey } = await newKey({ maxPurchases: 2 });
    await buy(apiKey);
    const { items } = data<{ items: (Budget & { keyId: string })[] }>(
      await owner.ask('GET', '/account/keys'),
    );
    const found = items.find((key) => key.keyId === keyId);
    expect([found?.budget?.['maxPurchases'], found?.left?.purchases]).toEqual([2, 1]);
  });
});

it('says which keys a member made, in both environments, before they are removed', async () => {
  const developer = await colleague(stack, owner, 'DEVELOPER');
  const made = await developer.ask('POST', '/account/keys', { body: { ...ADDRESSES, scopes: ['read'] } });
  const { keyId } = data<{ keyId: string }>(made);
  const live = { environment: 'live' } as const;
  const other = await makeKey(stack.accounts, owner.accountId, live, developer.email);
  const { userId } = data<{ items: { userId: string; email: string }[] }>(
    await owner.ask('GET', '/account/members'),
  ).items.find(({ email }) => email === developer.email)!;
  const path = `/account/members/${userId}/keys`;
  const listed = data<{ items: { keyId: string; environment: string }[] }>(await owner.ask('GET', path));
  expect(listed.items.map((key) => [key.keyId, key.environment])).toEqual([
    [other.keyId, 'live'],
    [keyId, 'test'],
  ]);
  expect((await developer.ask('GET', path)).status).toBe(403);
});
