// Promise A2: every route of the table × the caller: the owner, another user, another merchant, a live key
// while live is off, a revoked key, no key, the operator with a session. A route without a case fails.
// Requests of others change nothing, and show nothing of the owner's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import type { Route } from '../../src/platform/http/route.ts';
import { revoke } from '../../src/accounts/keys/manage-keys.ts';
import { installOf } from '../support/vendors/install-data.ts';
import { makeKey } from '../support/people/keys.ts';
import { SIGN_IN_ENV, signedIn } from '../support/people/people.ts';
import { givesAway } from '../support/world/secrets.ts';
import { startStack, type Answer } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { startInbox } from '../support/people/webhook-inbox.ts';
import { forFile } from '../support/world/for-file.ts';

/** What belongs to the owner. */
interface Things {
  readonly transactionId: string;
  readonly esimId: string;
  /** One that nothing is to replace. */
  readonly batchEsimId: string;
  readonly endpointId: string;
  readonly messageId: string;
  readonly batchId: string;
  readonly returnId: string;
  readonly replacementId: string;
  readonly quoteId: string;
  readonly sessionId: string;
}

interface Case {
  /** With names of things in braces, as in the path. */
  readonly query?: string;
  readonly body?: (things: Things) => unknown;
  /** The owner's answer. */
  readonly own?: number;
  /** The answer to others: a refusal; or `theirs`, an answer like the owner's, with their own data. */
  readonly foreign: 403 | 404 | 'theirs';
}

const BASE = { packageCode: 'SIM-OK', packageType: 'BASE' };
const ESIM_BODY = { ...BASE, paymentMethod: 'WALLET' };
const TOP_UP = { packageCode: 'TOPUP_SIM-OK', packageType: 'TOPUP' };
const ENDPOINTS = '/api/webhooks/endpoints';
const ENDPOINT = `${ENDPOINTS}/{endpointId}`;
const MESSAGES = '/api/webhooks/messages';
const MESSAGE = `${MESSAGES}/{messageId}`;
const BATCHES = '/api/esim/orders/batch';
const SANDBOX = '/api/sandbox/esims/{esimId}';
const SESSIONS = '/acp/checkout_sessions';
const CHECKOUT = { line_items: [{ id: 'SIM-OK' }], currency: 'usd', capabilities: {} };
const BY_WALLET = { type: 'wallet', credential: { type: 'none', token: 'none' } };

const BILLING_DETAILS = {
  ...{
    legalName: 'Owner Ltd',
    addressLines: ['1 Street'],
    country: 'NG',
    taxNumber: null,
    papersByMail: false,
  },
};

/** Routes that take a key, in an order in which the owner can call them. */
const MANDATE = { limit: 50, currency: 'USD', expiresAt: new Date(Date.now() + 86_400_000).toISOString() };
const CASES: Readonly<Record<string, Case>> = {
  'GET /api/esim/regions': { foreign: 'theirs' },
  'GET /api/esim/packages': { query: '?regionCode=NG', foreign: 'theirs' },
  'GET /api/esim/packages/{packageCode}': { foreign: 'theirs' },
  'GET /api/esim/price-list': { query: '?limit=5', foreign: 'theirs' },
  'GET /api/esim/packages/changes': { query: '?limit=5', foreign: 'theirs' },
  // A quote names an eSIM of its owner's; buying with another account's quote:
  // test/purchases/quotes.http.test.ts.
  'POST /api/esim/quotes': { body: ({ esimId }) => ({ ...TOP_UP, esimId }), own: 201, foreign: 404 },
  'GET /api/esim/quotes/{quoteId}': { foreign: 404 },
  [`POST ${SESSIONS}`]: { body: () => CHECKOUT, own: 201, foreign: 'theirs' },
  [`GET ${SESSIONS}/{sessionId}`]: { foreign: 404 },
  [`POST ${SESSIONS}/{sessionId}`]: { body: () => ({ line_items: CHECKOUT.line_items }), foreign: 404 },
  [`POST ${SESSIONS}/{sessionId}/complete`]: {
    body: () => ({ payment_data: { handler_id: 'wallet', instrument: BY_WALLET } }),
    foreign: 404,
  },
  // It is completed by now.
  [`POST ${SESSIONS}/{sessionId}/cancel`]: { body: () => ({}), own: 405, foreign: 404 },
  'POST /api/esim/buy': {
    body: ({ batchEsimId: esimId }) => ({ ...ESIM_BODY, ...TOP_UP, esimId }),
    foreign: 404,
  },
  'GET /api/esim/transactions/{transactionId}': { foreign: 404 },
  [`POST ${BATCHES}`]: {
    // Refused, since an accepted one would change the owner's data during the test.
    body: () => ({ rows: [{ reference: 'a', packageCode: 'SIM-TOO-DEAR' }] }),
    own: 400,
    foreign: 'theirs',
  },
  [`GET ${BATCHES}`]: { foreign: 'theirs' },
  [`GET ${BATCHES}/{batchId}`]: { foreign: 404 },
  // It has ended by now.
  [`POST ${BATCHES}/{batchId}/cancel`]: { body: () => ({}), own: 409, foreign: 404 },
  [`GET ${BATCHES}/{batchId}/csv`]: { foreign: 404 },
  [`GET ${BATCHES}/{batchId}/sheets`]: { foreign: 404 },
  'GET /api/esim/my-esims': { foreign: 'theirs' },
  'GET /api/esim/top-destinations': { foreign: 'theirs' },
  'GET /api/esim/statistics': { foreign: 'theirs' },
  'GET /api/esim/spending': { foreign: 'theirs' },
  'GET /api/search': { query: '?text={esimId}', foreign: 'theirs' },
  'GET /api/esim/transactions': { foreign: 'theirs' },
  'GET /api/wallet/entries': { foreign: 'theirs' },
  'GET /api/esim/{esimId}/timeline': { foreign: 403 },
  'GET /api/esim/{esimId}': { foreign: 403 },
  'GET /api/esim/{esimId}/return-terms': { foreign: 403 },
  // It is in use; that a stranger's return writes nothing: test/purchases/returns.e2e.test.ts.
  'POST /api/esim/{esimId}/returns': { body: () => ({}), own: 409, foreign: 403 },
  'POST /api/esim/returns': {
    // What it answers names the ids that it was sent; strangers' ids: test/purchases/returns.e2e.test.ts.
    body: () => ({ esimIds: [`esim-${'0'.repeat(32)}`] }),
    own: 202,
    foreign: 'theirs',
  },
  'GET /api/esim/returns': { foreign: 'theirs' },
  'GET /api/esim/returns/{returnId}': { foreign: 404 },
  'GET /api/esim/replacements': { foreign: 'theirs' },
  'GET /api/esim/{esimId}/replacement-terms': { foreign: 403 },
  // A replacement of it waits for a person already.
  'POST /api/esim/{esimId}/replacements': { body: () => ({}), own: 409, foreign: 403 },
  'GET /api/esim/replacements/{replacementId}': { foreign: 404 },
  'GET /api/esim/{esimId}/install': { foreign: 403 },
  'GET /api/esim/{esimId}/diagnosis': { foreign: 403 },
  'PUT /api/esim/{esimId}/mandate': { body: () => MANDATE, foreign: 403 },
  'GET /api/esim/{esimId}/mandate': { foreign: 403 },
  'DELETE /api/esim/{esimId}/mandate': { foreign: 403 },
  'DELETE /api/esim/{esimId}/install/link': { foreign: 403 },
  'POST /api/esim/confirm-payment': { body: ({ transactionId }) => ({ transactionId }), foreign: 404 },
  'GET /api/wallet/balance': { foreign: 'theirs' },
  'GET /api/wallet/budget': { foreign: 'theirs' },
  'POST /api/wallet/fund': {
    body: () => ({ amount: 100, paymentMethod: 'CARD' }),
    own: 201,
    foreign: 'theirs',
  },
  'GET /api/wallet/statements/{month}': { foreign: 'theirs' },
  'GET /api/wallet/invoices': { foreign: 'theirs' },
  // Of an invoice that there is: test/billing/papers.http.test.ts.
  'GET /api/wallet/invoices/{number}': { own: 404, foreign: 404 },
  'GET /api/esim/transactions/{transactionId}/receipt': { foreign: 404 },
  'GET /api/wallet/billing-details': { foreign: 'theirs' },
  'PUT /api/wallet/billing-details': { body: () => BILLING_DETAILS, foreign: 'theirs' },
  'PUT /api/wallet/low-balance': { body: () => ({ amount: 7.31 }), foreign: 'theirs' },
  'GET /api/wallet/low-balance': { foreign: 'theirs' },
  [`POST ${ENDPOINTS}`]: { body: () => ({ url: 'http://127.0.0.1:9/' }), own: 201, foreign: 'theirs' },
  [`GET ${ENDPOINTS}`]: { foreign: 'theirs' },
  [`GET ${ENDPOINT}`]: { foreign: 404 },
  [`PATCH ${ENDPOINT}`]: { body: () => ({ events: ['esim.purchased', 'payment.received'] }), foreign: 404 },
  [`POST ${ENDPOINT}/rotate-secret`]: { foreign: 404 },
  [`POST ${ENDPOINT}/sample`]: { body: () => ({ event: 'esim.purchased' }), own: 201, foreign: 404 },
  [`POST ${ENDPOINT}/recover`]: {
    body: () => ({ from: new Date(Date.now() - 60_000).toISOString() }),
    foreign: 404,
  },
  [`GET ${MESSAGES}`]: { query: '?endpointId={endpointId}', foreign: 'theirs' },
  'GET /api/events': { foreign: 'theirs' },
  [`GET ${MESSAGE}`]: { foreign: 404 },
  [`GET ${MESSAGE}/attempts`]: { foreign: 404 },
  [`POST ${MESSAGE}/resend`]: { foreign: 404 },
  [`DELETE ${ENDPOINT}`]: { foreign: 404 },
  [`POST ${SANDBOX}/use`]: { body: () => ({ bytes: 1 }), foreign: 403 },
  [`POST ${SANDBOX}/switch-off`]: { foreign: 403 },
  [`POST ${SANDBOX}/switch-on`]: { foreign: 403 },
  [`POST ${SANDBOX}/suspend`]: { foreign: 403 },
  [`POST ${SANDBOX}/resume`]: { foreign: 403 },
  [`POST ${SANDBOX}/use-up`]: { foreign: 403 },
  [`POST ${SANDBOX}/clock`]: { body: () => ({ advanceSeconds: 60 }), foreign: 403 },
  [`POST ${SANDBOX}/delete-profile`]: { foreign: 403 },
  // The eSIM is installed already.
  [`POST ${SANDBOX}/install`]: { own: 409, foreign: 403 },
  [`POST ${SANDBOX}/expire`]: { foreign: 403 },
};

/** The same for all callers: they contain no data of an account. */
const FOR_ALL = [
  'GET /api/settings/exchange-rate',
  'GET /api/openapi.json',
  'GET /.well-known/acp.json',
  'GET /',
  'GET /docs/reference',
  'GET /docs/reference/{file}',
  'GET /i/copy.js',
  'GET /i/logos/{hash}',
];
/** A caller with the unguessable reference of a payment sees its status, and nothing else (docs/API.md). */
const BY_REFERENCE = ['GET /pay/return', 'GET /pay/status'];
/** A caller with the unguessable link of an eSIM may install it (test/esims/install.http.test.ts). */
const BY_LINK = ['GET /i/{token}', 'POST /i/{token}/top-ups'];

const routes = createRouteTable({ version: '1', brand: 'simway' });
const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;
const all = Object.entries(CASES);
const KEY_NEEDED = routes.filter(({ key }) => key === 'required').map(nameOf);

const stack = await forFile(startStack({ env: SIGN_IN_ENV }));
const inbox = await forFile(startInbox());
const owner = await stack.account();
const others = { user: await stack.account({ type: 'USER' }), merchant: await stack.account() };
const ownersKey = (environment: 'test' | 'live') =>
  makeKey(stack.accounts, owner.accountId, { environment, scopes: ['read', 'purchase'] });
const { keyId, apiKey: revokedKey } = await ownersKey('test');
const { apiKey: liveKey } = await ownersKey('live');
await revoke(stack.accounts, { keyId }, 'a test');
const things = await acquire();

/** A batch, an eSIM in use, its purchase, an endpoint, and a message that was delivered there. */
async function acquire(): Promise<Things> {
  const key = owner.apiKey;
  const rows = [{ reference: 'owner', packageCode: 'SIM-OK' }];
  const ordered = await stack.call('POST', BATCHES, { key, body: { rows } });
  const { batchId } = ordered.body.data;
  const batch = await until(
    () => stack.call('GET', `${BATCHES}/${batchId}`, { key }),
    ({ body }) => body.data.completedAt !== '',
    { what: 'a batch completed' },
  );
  const [row] = (batch.body as unknown as { data: { items: { esimId: string }[] } }).data.items;
  const session = await stack.call('POST', SESSIONS, { key, body: CHECKOUT });
  const added = await stack.call('POST', ENDPOINTS, { key, body: { url: `${inbox.url}/owner` } });
  const bought = await stack.call('POST', '/api/esim/buy', { key, body: ESIM_BODY });
  const quoted = await stack.call('POST', '/api/esim/quotes', { key, body: BASE });
  const [letter] = await inbox.untilAt('/owner', 1);
  const { esimId } = bought.body.esimDetails;
  // Afterwards nothing of the owner's changes by itself.
  for (const id of [row!.esimId, esimId])
    await until(
      () => stack.call('GET', `/api/esim/${id}`, { key }),
      ({ body }) => body.esimStatus === 'ACTIVE',
      { what: 'an eSIM in use' },
    );
  const unused = await stack.call('POST', '/api/esim/buy', {
    key,
    body: { ...ESIM_BODY, packageCode: 'SIM-MANUAL-LIFE' },
  });
  const { esimId: unusedId } = unused.body.esimDetails;
  const returned = await stack.call('POST', `/api/esim/${unusedId}/returns`, { key, body: {} });
  const replaced = await stack.call('POST', `/api/esim/${esimId}/replacements`, { key, body: {} });
  const eventId = String(letter!.headers['webhook-id']);
  const found = await stack.call('GET', `${MESSAGES}?eventId=${eventId}`, { key });
  const { items } = (found.body as unknown as { data: { items: { id: string }[] } }).data;
  return {
    batchId,
    returnId: returned.body.data.returnId,
    replacementId: replaced.body.data.replacementId,
    quoteId: (quoted.body as unknown as { data: { quoteId: string } }).data.quoteId,
    transactionId: bought.body.transactionId,
    esimId,
    batchEsimId: row!.esimId,
    endpointId: (added.body as unknown as { id: string }).id,
    messageId: items[0]!.id,
    sessionId: (session.body as unknown as { id: string }).id,
  };
}

/** Each group fails from its own address, since an address may fail a hundred times a minute. */
const from = (lastOctet: number) => ({ 'X-Forwarded-For': `127.0.0.${lastOctet}` });

/** The method and the path with the owner's ids. */
function targetOf(name: string): readonly [method: string, path: string] {
  const [method = '', path = ''] = name.split(' ');
  const ids: Readonly<Record<string, string>> = {
    ...things,
    packageCode: 'SIM-OK',
    month: new Date().toISOString().slice(0, 7),
    number: '2026-999999',
  };
  const whole = `${path}${CASES[name]?.query ?? ''}`;
  return [method, whole.replaceAll(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? 'x')];
}

function ask(
  name: string,
  { body }: Case,
  key: string | undefined,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return stack.call(...targetOf(name), {
    ...(key === undefined ? {} : { key }),
    ...(body ? { body: body(things) } : {}),
    headers,
  });
}

/** The owner's data as the owner sees it. */
async function seen(): Promise<string[]> {
  const { esimId, transactionId, endpointId, messageId, batchId, sessionId } = things;
  const paths = [
    '/api/wallet/balance',
    '/api/wallet/low-balance',
    '/api/esim/my-esims',
    `/api/esim/transactions/${transactionId}`,
    BATCHES,
    `${BATCHES}/${batchId}`,
    ENDPOINTS,
    `${ENDPOINTS}/${endpointId}`,
    `${MESSAGES}/${messageId}`,
    `${MESSAGES}/${messageId}/attempts`,
    MESSAGES,
    `${SESSIONS}/${sessionId}`,
  ];
  const answers = await Promise.all(paths.map((path) => stack.call('GET', path, { key: owner.apiKey })));
  // A read refreshes usage, so its age changes by itself.
  return [esimId, ...answers.map(({ text }) => text.replaceAll(/"usageAsOf":"[^"]*"/g, ''))];
}

describe('the matrix is complete', () => {
  it('every route that takes a key has a case, and every case has a route', () => {
    const keyed = routes.filter(({ key }) => key === 'required' || key === 'optional').map(nameOf);
    expect(Object.keys(CASES).toSorted()).toEqual(keyed.toSorted());
  });

  it('every other route answers all callers alike, or has its own key rule', () => {
    const open = routes.filter(({ key }) => key === 'public').map(nameOf);
    expect(open.toSorted()).toEqual([...FOR_ALL, ...BY_REFERENCE, ...BY_LINK].toSorted());
  });

  it('a route whose parameter names data of an account refuses others', () => {
    const named = all.filter(([name]) => /\{(?!packageCode|month)/.test(name));
    expect(named.filter(([, { foreign }]) => foreign === 'theirs')).toEqual([]);
    expect(named.length).toBeGreaterThan(8);
  });
});

describe('others', () => {
  let before: string[];
  beforeAll(async () => {
    before = await seen();
  });
  afterAll(async () => {
    expect(await seen()).toEqual(before);
  });

  describe.each(['user', 'merchant'] as const)('another %s', (who) => {
    it.each(all)('%s', async (name, one) => {
      const answer = await ask(name, one, others[who].apiKey);
      expect(answer.status).toBe(one.foreign === 'theirs' ? (one.own ?? 200) : one.foreign);
      for (const id of Object.values(things)) expect(answer.text).not.toContain(id);
    });
  });

  describe('the owner’s own keys that are not valid here', () => {
    it.each(all)('a revoked key: %s', async (name, one) => {
      const answer = await ask(name, one, revokedKey, from(71));
      expect(answer.status).toBe(401);
    });

    it.each(all)('a live key, while live is off: %s', async (name, one) => {
      const answer = await ask(name, one, liveKey);
      expect(answer.status).toBe(503);
      expect(answer.text.toUpperCase()).toContain('"CODE":"ENVIRONMENT_UNAVAILABLE"');
    });
  });

  it.each(KEY_NEEDED)('no key: %s', async (name) => {
    const answer = await ask(name, CASES[name]!, undefined, from(72));
    expect(answer.status).toBe(401);
  });

  // By role and account, with a session of the dashboard: test/accounts/members.e2e.test.ts.
  const forPeople = routes.filter(({ key }) => key === 'session' || key === 'user' || key === 'member');
  // They are more than an address may fail in a minute.
  it.each(forPeople.map((route, index) => [nameOf(route), index % 2 === 0 ? 73 : 76] as const))(
    'a merchant’s key opens no operator route and no route of the dashboard: %s',
    async (name, lastOctet) => {
      const [method, target] = targetOf(name);
      const answer = await stack.call(method, target, {
        key: owner.apiKey,
        ...(method === 'GET' ? {} : { body: {} }),
        headers: from(lastOctet),
      });
      expect([401, 403]).toContain(answer.status);
      expect(answer.text).not.toContain(things.esimId);
    },
  );
});

const admin = await signedIn(stack, 'ADMIN');

describe('the operator', () => {
  it.each(routes.filter(({ key }) => key === 'required').map(nameOf))(
    'is refused on merchants’ routes: %s',
    async (name) => {
      const body = CASES[name]!.body?.(things);
      expect((await admin.call(...targetOf(name), body, from(74))).status).toBe(401);
      expect((await ask(name, CASES[name]!, admin.token, from(75))).status).toBe(401);
    },
  );

  it('sees the owner’s whole purchase, and nothing that installs the eSIM', async () => {
    const answer = await admin.call('GET', `/ops/purchases/${things.transactionId}`);
    expect(answer.status).toBe(200);
    for (const id of [owner.accountId, things.transactionId, things.esimId, things.messageId])
      expect(answer.text).toContain(id);
    const esim = await installOf(stack, things.esimId);
    const secrets = Object.values(esim).filter((value): value is string => value !== null && value !== '');
    expect(secrets.length).toBeGreaterThan(2);
    expect(secrets.filter((secret) => givesAway(answer.text, secret))).toEqual([]);
  });
});

describe('the owner', () => {
  it.each(all)('%s', async (name, one) => {
    const answer = await ask(name, one, owner.apiKey);
    expect(answer.status, answer.text).toBe(one.own ?? 200);
  });
});
