// The audit log and accounts over HTTP, on a whole stack: a disabled account is refused everywhere until it
// is enabled again, and no answer contains a secret.
import { describe, expect, it } from 'vitest';
import { signedUp } from '../support/people/dashboard.ts';
import { newBuyer, untilClosed } from '../support/people/buyer.ts';
import { allInstallSecrets } from '../support/vendors/install-data.ts';
import { dataOf, PASSWORD, signedIn, SIGN_IN_ENV, type Person } from '../support/people/people.ts';
import { givesAway } from '../support/world/secrets.ts';
import { startStack, type Answer } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';

const UI = 'https://temporal.example/ui';
const SECRET_PATH = 's3cret-of-the-merchant';
/** Secrets that occurred in the test. */
const unsaid: string[] = [];
/** All answers to operators. */
const answerTexts: string[] = [];

const stack = await forFile(startStack({ env: { ...SIGN_IN_ENV, TEMPORAL_UI_URL: `${UI}/` } }));
const [buyer, user] = await Promise.all([newBuyer(stack), signedUp(stack)]);
const [support, finance, admin] = [
  await signedIn(stack, 'SUPPORT'),
  await signedIn(stack, 'FINANCE'),
  await signedIn(stack, 'ADMIN'),
];
const { body } = await buyer.buy('SIM-OK');
const purchase = body.transactionId;
await untilClosed(stack, purchase);

async function ask(who: Person, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await who.call(method, path, body);
  answerTexts.push(answer.text);
  return answer;
}

const itemsOf = (answer: Answer) => dataOf(answer)['items'] as readonly Record<string, unknown>[];
const account = (): string => `/ops/accounts/${buyer.account.accountId}`;

describe('an account', () => {
  it('is disabled by finance with a reason: its key is refused within 5 s, until it is enabled again', async () => {
    const read = () => stack.call('GET', '/api/wallet/balance', { key: buyer.account.apiKey });
    expect((await read()).status).toBe(200);
    const disable = { disabled: true, reason: 'stolen keys, ticket 4711' };
    expect((await ask(support, 'PATCH', account(), disable)).status).toBe(403);
    const disabled = await ask(finance, 'PATCH', account(), disable);
    expect([disabled.status, typeof dataOf(disabled)['disabledAt']]).toEqual([200, 'string']);
    await until(read, ({ status }) => status === 401, { what: 'the key is refused' });
    await ask(finance, 'PATCH', account(), { disabled: false, reason: 'they have new ones' });
    await until(read, ({ status }) => status === 200, { what: 'the key works again' });
  });

  it('that is disabled refuses its members at once, and is shown to operators', async () => {
    const path = `/ops/accounts/${user.accountId}`;
    expect((await user.ask('GET', '/account')).status).toBe(200);
    await ask(admin, 'PATCH', path, { disabled: true, reason: 'a test of members' });
    const refused = await user.ask('GET', '/account');
    expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
    expect((await user.ask('GET', '/api/wallet/balance')).status).toBe(403);
    expect((await ask(support, 'GET', path)).status).toBe(200);
    await ask(admin, 'PATCH', path, { disabled: false, reason: 'a test of members' });
    expect((await user.ask('GET', '/account')).status).toBe(200);
  });

  it('lists its purchases newest first, page by page, and none of another account', async () => {
    const newer = (await buyer.buy('SIM-OK')).body.transactionId;
    const first = await ask(support, 'GET', `${account()}/transactions?limit=1`);
    expect(itemsOf(first)).toMatchObject([{ transactionId: newer, type: 'BASE' }]);
    const next = `transactions?after=${String(dataOf(first)['nextCursor'])}`;
    const second = await ask(support, 'GET', `${account()}/${next}`);
    expect(itemsOf(second)).toMatchObject([{ transactionId: purchase, status: 'SUCCESS' }]);
    expect(dataOf(second)['nextCursor']).toBeNull();
    const other = `/ops/accounts/${user.accountId}`;
    expect(itemsOf(await ask(support, 'GET', `${other}/transactions`))).toEqual([]);
    const foreign = await ask(support, 'GET', `${other}/${next}`);
    expect([foreign.status, foreign.text]).toEqual([400, expect.stringContaining('after')]);
  });

  it('has a new plan from its next requests on', async () => {
    const changed = await ask(finance, 'PATCH', account(), {
      plan: 'PREMIUM',
      reason: 'signed, ticket 4712',
    });
    expect(dataOf(changed)).toMatchObject({ plan: 'PREMIUM', requestsPerMinute: 500, members: 0, keys: 1 });
    await until(
      () => stack.call('GET', '/api/wallet/balance', { key: buyer.account.apiKey }),
      ({ headers }) => headers.get('x-ratelimit-limit') === '500',
      { what: 'the limit of the new plan' },
    );
  });
});

describe('a purchase', () => {
  it('has its ledger entries on the sides on which the books have them, costs too', async () => {
    const of = dataOf(await ask(finance, 'GET', `/ops/purchases/${purchase}`));
    const booked = dataOf(await ask(finance, 'GET', `/ops/books/ledger?id=${purchase}`));
    const sides = ({ account, debit, credit }: Record<string, unknown>) => [account, debit, credit].join(' ');
    const linesOf = (lines: unknown) => (lines as Record<string, unknown>[]).map(sides);
    expect(linesOf(of['entries'])).toEqual(linesOf(booked['lines']));
    expect(linesOf(of['entries'])).toContainEqual('supplier-cost:USD4 2 0');
    expect(of['timeline']).toContainEqual(
      expect.objectContaining({
        detail: expect.stringMatching(/supplier-cost:USD4 debit 2\.0000/) as string,
      }),
    );
  });
});

describe('the access of an account', () => {
  it('is shown to every role: members, keys, endpoints and undelivered messages', async () => {
    const { keyId, endpointId } = await makeKey();
    const path = `/ops/accounts/${user.accountId}`;
    for (const who of [support, finance, admin]) {
      expect(itemsOf(await ask(who, 'GET', `${path}/members`))).toMatchObject([
        {
          ...{ email: user.email, role: 'OWNER', hasSecondFactor: false, lockedUntil: null },
          lastSignInAt: expect.any(String) as string,
        },
      ]);
      expect(itemsOf(await ask(who, 'GET', `${path}/keys`))).toMatchObject([
        { keyId, companyName: 'Ada Ltd', lastUsedAt: null, revokedAt: null },
      ]);
      expect(itemsOf(await ask(who, 'GET', `${path}/endpoints`))).toMatchObject([
        { endpointId, host: '127.0.0.1:9', enabled: true, deletedAt: null },
      ]);
    }
    await user.ask('POST', `/api/webhooks/endpoints/${endpointId}/sample`, {
      body: { event: 'esim.purchased' },
    });
    const answer = await until(
      () => ask(support, 'GET', `${path}/messages`),
      (one) => (itemsOf(one)[0]?.['attempts'] as number) > 0,
      { what: 'an attempt at an endpoint where nothing listens' },
    );
    expect(itemsOf(answer)).toMatchObject([
      { endpointId, status: 'PENDING', latestAttempts: [{ attempt: 1, status: null }] },
    ]);
    expect(itemsOf(await ask(support, 'GET', `${account()}/messages`))).toEqual([]);
  });

  /** With an endpoint at a URL that contains a secret of the merchant's. */
  async function makeKey(): Promise<{ keyId: string; endpointId: string }> {
    const body = {
      ...{
        companyName: 'Ada Ltd',
        websiteUrl: stack.apiUrl,
        allowedAddresses: ['127.0.0.1'],
        scopes: ['read'],
      },
      webhookUrl: `http://127.0.0.1:9/${SECRET_PATH}`,
    };
    const made = await user.ask('POST', '/account/keys', { body });
    expect(made.status, made.text).toBe(201);
    const { keyId, apiKey, webhook } = dataOf(made) as {
      keyId: string;
      apiKey: string;
      webhook: { endpointId: string; secret: string };
    };
    unsaid.push(apiKey, webhook.secret, SECRET_PATH);
    return { keyId, endpointId: webhook.endpointId };
  }
});

describe('the audit log', () => {
  it('shows finance and administrators who did what, in pages, and no other role', async () => {
    for (const who of [finance, admin]) {
      const answer = await ask(
        who,
        'GET',
        `/ops/audit?subject=${buyer.account.accountId}&action=account.change`,
      );
      expect(itemsOf(answer)).toMatchObject([
        {
          by: finance.email,
          detail: 'plan: ENTERPRISE → PREMIUM; requests a minute: 100000 → none',
          reason: 'signed, ticket 4712',
        },
        { by: finance.email, detail: 'disabled: true → false', outcome: 'DONE' },
        { by: finance.email, detail: 'disabled: false → true', reason: 'stolen keys, ticket 4711' },
      ]);
    }
    const refused = await ask(support, 'GET', '/ops/audit');
    expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
    const own = await ask(finance, 'GET', `/ops/audit?actor=${support.email}`);
    expect(itemsOf(own)).toContainEqual(
      expect.objectContaining({ action: 'ops.refuse', subject: 'GET /ops/audit', outcome: 'REFUSED' }),
    );
  });
});

it('the home page links to the Temporal UI', async () => {
  expect(dataOf(await ask(support, 'GET', '/ops/me'))['temporalUi']).toEqual({
    url: UI,
    namespaces: { test: stack.namespace, live: null },
  });
});

it('no answer contains what installs an eSIM, a key, a password or a token', async () => {
  const secrets = (await allInstallSecrets(stack)).filter((one) => one.length > 3);
  expect(secrets.length).toBeGreaterThan(3);
  expect(answerTexts.length).toBeGreaterThan(15);
  const all = answerTexts.join('\n');
  const unsayable = [...secrets, finance.token, buyer.account.apiKey, PASSWORD, 'scrypt', 'LPA:', ...unsaid];
  expect(unsayable.filter((secret) => givesAway(all, secret))).toEqual([]);
});
