// Promise A2: every route of the table × the caller: the owner, another user, another merchant, a live key
// while live is off, a revoked key, no key, the operator with a session. A route without a case fails.
// Requests of others change nothing, and show nothing of the owner's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import type { Route } from '../../src/platform/http/route.ts';
import { createKey, revoke } from '../../src/accounts/keys/manage-keys.ts';
import { installOf } from '../support/vendors/install-data.ts';
import { SIGN_IN_ENV, signedIn, type Person } from '../support/people/people.ts';
import { givesAway } from '../support/world/secrets.ts';
import { startStack, type Answer, type Stack, type TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { startInbox, type Inbox } from '../support/people/webhook-inbox.ts';

/** What belongs to the owner. */
interface Things {
  readonly transactionId: string;
  readonly esimId: string;
  readonly endpointId: string;
  readonly messageId: string;
  readonly batchId: string;
}

interface Case {
  /** Values for the path's parameters and the query. */
  readonly target: (things: Things) => string;
  readonly body?: (things: Things) => unknown;
  /** The owner's answer. */
  readonly own: number;
  /** The answer to others: a refusal; or `theirs`, an answer like the owner's, with their own data. */
  readonly foreign: 403 | 404 | 'theirs';
}

const ESIM_BODY = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };
const ENDPOINTS = '/api/webhooks/endpoints';
const MESSAGES = '/api/webhooks/messages';
const BATCHES = '/api/esim/orders/batch';
const plain =
  (path: string): Case['target'] =>
  () =>
    path;
const endpoint =
  (way = ''): Case['target'] =>
  ({ endpointId }) =>
    `${ENDPOINTS}/${endpointId}${way}`;
const message =
  (way = ''): Case['target'] =>
  ({ messageId }) =>
    `${MESSAGES}/${messageId}${way}`;

function sandbox(action: string, body?: object, own = 200): Readonly<Record<string, Case>> {
  const path = '/api/sandbox/esims';
  const target: Case['target'] = ({ esimId }) => `${path}/${esimId}/${action}`;
  return {
    [`POST ${path}/{esimId}/${action}`]: { target, ...(body ? { body: () => body } : {}), own, foreign: 403 },
  };
}

/** Routes that take a key, in an order in which the owner can call them. */
const CASES: Readonly<Record<string, Case>> = {
  'GET /api/esim/regions': { target: plain('/api/esim/regions'), own: 200, foreign: 'theirs' },
  'GET /api/esim/packages': {
    target: plain('/api/esim/packages?regionCode=NG'),
    own: 200,
    foreign: 'theirs',
  },
  'GET /api/esim/packages/{packageCode}': {
    target: plain('/api/esim/packages/SIM-OK'),
    own: 200,
    foreign: 'theirs',
  },
  'GET /api/esim/packages/changes': {
    target: plain('/api/esim/packages/changes?limit=5'),
    own: 200,
    foreign: 'theirs',
  },
  // A quote names an eSIM of its owner's; buying with another account's quote:
  // test/purchases/quotes.http.test.ts.
  'POST /api/esim/quotes': {
    target: plain('/api/esim/quotes'),
    body: ({ esimId }) => ({ packageCode: 'TOPUP_SIM-OK', packageType: 'TOPUP', esimId }),
    own: 201,
    foreign: 404,
  },
  'POST /api/esim/buy': {
    target: plain('/api/esim/buy'),
    body: ({ esimId }) => ({ ...ESIM_BODY, packageCode: 'TOPUP_SIM-OK', packageType: 'TOPUP', esimId }),
    own: 200,
    foreign: 404,
  },
  'GET /api/esim/transactions/{transactionId}': {
    target: ({ transactionId }) => `/api/esim/transactions/${transactionId}`,
    own: 200,
    foreign: 404,
  },
  [`POST ${BATCHES}`]: {
    target: plain(BATCHES),
    // Refused, since an accepted one would change the owner's data during the test.
    body: () => ({ rows: [{ reference: 'a', packageCode: 'SIM-TOO-DEAR' }] }),
    own: 400,
    foreign: 'theirs',
  },
  [`GET ${BATCHES}`]: { target: plain(BATCHES), own: 200, foreign: 'theirs' },
  [`GET ${BATCHES}/{batchId}`]: {
    target: ({ batchId }) => `${BATCHES}/${batchId}`,
    own: 200,
    foreign: 404,
  },
  [`GET ${BATCHES}/{batchId}/csv`]: {
    target: ({ batchId }) => `${BATCHES}/${batchId}/csv`,
    own: 200,
    foreign: 404,
  },
  'GET /api/esim/my-esims': { target: plain('/api/esim/my-esims'), own: 200, foreign: 'theirs' },
  'GET /api/esim/top-destinations': {
    target: plain('/api/esim/top-destinations'),
    own: 200,
    foreign: 'theirs',
  },
  'GET /api/esim/statistics': { target: plain('/api/esim/statistics'), own: 200, foreign: 'theirs' },
  'GET /api/esim/spending': { target: plain('/api/esim/spending'), own: 200, foreign: 'theirs' },
  'GET /api/search': {
    target: ({ esimId }) => `/api/search?text=${esimId}`,
    own: 200,
    foreign: 'theirs',
  },
  'GET /api/esim/transactions': { target: plain('/api/esim/transactions'), own: 200, foreign: 'theirs' },
  'GET /api/wallet/entries': { target: plain('/api/wallet/entries'), own: 200, foreign: 'theirs' },
  'GET /api/esim/{esimId}/timeline': {
    target: ({ esimId }) => `/api/esim/${esimId}/timeline`,
    own: 200,
    foreign: 403,
  },
  'GET /api/esim/{esimId}': { target: ({ esimId }) => `/api/esim/${esimId}`, own: 200, foreign: 403 },
  'GET /api/esim/{esimId}/install': {
    target: ({ esimId }) => `/api/esim/${esimId}/install`,
    own: 200,
    foreign: 403,
  },
  'GET /api/esim/{esimId}/diagnosis': {
    target: ({ esimId }) => `/api/esim/${esimId}/diagnosis`,
    own: 200,
    foreign: 403,
  },
  'DELETE /api/esim/{esimId}/install/link': {
    target: ({ esimId }) => `/api/esim/${esimId}/install/link`,
    own: 200,
    foreign: 403,
  },
  'POST /api/esim/confirm-payment': {
    target: plain('/api/esim/confirm-payment'),
    body: ({ transactionId }) => ({ transactionId }),
    own: 200,
    foreign: 404,
  },
  'GET /api/wallet/balance': { target: plain('/api/wallet/balance'), own: 200, foreign: 'theirs' },
  'POST /api/wallet/fund': {
    target: plain('/api/wallet/fund'),
    body: () => ({ amount: 100, paymentMethod: 'CARD' }),
    own: 201,
    foreign: 'theirs',
  },
  'PUT /api/wallet/low-balance': {
    target: plain('/api/wallet/low-balance'),
    body: () => ({ amount: 7.31 }),
    own: 200,
    foreign: 'theirs',
  },
  'GET /api/wallet/low-balance': { target: plain('/api/wallet/low-balance'), own: 200, foreign: 'theirs' },
  [`POST ${ENDPOINTS}`]: {
    target: plain(ENDPOINTS),
    body: () => ({ url: 'http://127.0.0.1:9/' }),
    own: 201,
    foreign: 'theirs',
  },
  [`GET ${ENDPOINTS}`]: { target: plain(ENDPOINTS), own: 200, foreign: 'theirs' },
  [`GET ${ENDPOINTS}/{endpointId}`]: { target: endpoint(), own: 200, foreign: 404 },
  [`PATCH ${ENDPOINTS}/{endpointId}`]: {
    target: endpoint(),
    body: () => ({ events: ['esim.purchased', 'payment.received'] }),
    own: 200,
    foreign: 404,
  },
  [`POST ${ENDPOINTS}/{endpointId}/rotate-secret`]: {
    target: endpoint('/rotate-secret'),
    own: 200,
    foreign: 404,
  },
  [`POST ${ENDPOINTS}/{endpointId}/sample`]: {
    target: endpoint('/sample'),
    body: () => ({ event: 'esim.purchased' }),
    own: 201,
    foreign: 404,
  },
  [`POST ${ENDPOINTS}/{endpointId}/recover`]: {
    target: endpoint('/recover'),
    body: () => ({ from: new Date(Date.now() - 60_000).toISOString() }),
    own: 200,
    foreign: 404,
  },
  [`GET ${MESSAGES}`]: {
    target: ({ endpointId }) => `${MESSAGES}?endpointId=${endpointId}`,
    own: 200,
    foreign: 'theirs',
  },
  'GET /api/events': { target: plain('/api/events'), own: 200, foreign: 'theirs' },
  [`GET ${MESSAGES}/{messageId}`]: { target: message(), own: 200, foreign: 404 },
  [`GET ${MESSAGES}/{messageId}/attempts`]: { target: message('/attempts'), own: 200, foreign: 404 },
  [`POST ${MESSAGES}/{messageId}/resend`]: { target: message('/resend'), own: 200, foreign: 404 },
  [`DELETE ${ENDPOINTS}/{endpointId}`]: { target: endpoint(), own: 200, foreign: 404 },
  ...sandbox('use', { bytes: 1 }),
  ...sandbox('switch-off'),
  ...sandbox('switch-on'),
  ...sandbox('suspend'),
  ...sandbox('resume'),
  ...sandbox('use-up'),
  ...sandbox('clock', { advanceSeconds: 60 }),
  ...sandbox('delete-profile'),
  // The eSIM is installed already.
  ...sandbox('install', undefined, 409),
  ...sandbox('expire'),
};

/** The same for all callers: they contain no data of an account. */
const FOR_ALL = [
  'GET /api/settings/exchange-rate',
  'GET /api/openapi.json',
  'GET /docs',
  'GET /docs/{file}',
  'GET /i/copy.js',
];
/** A caller with the unguessable reference of a payment sees its status, and nothing else (docs/API.md). */
const BY_REFERENCE = ['GET /pay/return', 'GET /pay/status'];
/** A caller with the unguessable link of an eSIM may install it (test/esims/install.http.test.ts). */
const BY_LINK = ['GET /i/{token}'];

const routes = createRouteTable({ version: '1', brand: 'simway' });
const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;
const all = Object.entries(CASES);
const KEY_NEEDED = routes.filter(({ key }) => key === 'required').map(nameOf);

let stack: Stack;
let inbox: Inbox;
let owner: TestAccount;
let others: Readonly<Record<'user' | 'merchant', TestAccount>>;
let revokedKey: string;
let liveKey: string;
let things: Things;
beforeAll(async () => {
  [stack, inbox] = await Promise.all([startStack({ env: SIGN_IN_ENV }), startInbox()]);
  owner = await stack.account();
  others = { user: await stack.account({ type: 'USER' }), merchant: await stack.account() };
  const ownersKey = (environment: 'test' | 'live') =>
    createKey(
      stack.accounts,
      {
        accountId: owner.accountId,
        environment,
        brand: 'simway',
        scopes: ['read', 'purchase'],
        allowedAddresses: ['127.0.0.1', '::1'],
        companyName: 'Owner',
        websiteUrl: 'https://owner.example',
        expiresAt: null,
      },
      'a test',
    );
  const [revoked, live] = await Promise.all([ownersKey('test'), ownersKey('live')]);
  await revoke(stack.accounts, { keyId: revoked.keyId }, 'a test');
  [revokedKey, liveKey] = [revoked.apiKey, live.apiKey];
  things = await acquire();
});
afterAll(async () => {
  await stack.close();
  await inbox.close();
});

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
  const added = await stack.call('POST', ENDPOINTS, { key, body: { url: `${inbox.url}/owner` } });
  const bought = await stack.call('POST', '/api/esim/buy', { key, body: ESIM_BODY });
  const [letter] = await inbox.untilAt('/owner', 1);
  const { esimId } = bought.body.esimDetails;
  // Afterwards nothing of the owner's changes by itself.
  for (const id of [row!.esimId, esimId])
    await until(
      () => stack.call('GET', `/api/esim/${id}`, { key }),
      ({ body }) => body.esimStatus === 'ACTIVE',
      { what: 'an eSIM in use' },
    );
  const eventId = String(letter!.headers['webhook-id']);
  const found = await stack.call('GET', `${MESSAGES}?eventId=${eventId}`, { key });
  const { items } = (found.body as unknown as { data: { items: { id: string }[] } }).data;
  return {
    batchId,
    transactionId: bought.body.transactionId,
    esimId,
    endpointId: (added.body as unknown as { id: string }).id,
    messageId: items[0]!.id,
  };
}

/** Each group fails from its own address, since an address may fail a hundred times a minute. */
const from = (lastOctet: number) => ({ 'X-Forwarded-For': `127.0.0.${lastOctet}` });

function ask(
  name: string,
  { target, body }: Case,
  key: string | undefined,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const method = name.split(' ', 1)[0] ?? '';
  return stack.call(method, target(things), {
    ...(key === undefined ? {} : { key }),
    ...(body ? { body: body(things) } : {}),
    headers,
  });
}

/** The owner's data as the owner sees it. */
async function seen(): Promise<string[]> {
  const { esimId, transactionId, endpointId, messageId, batchId } = things;
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
    const named = all.filter(([name]) => /\{(?!packageCode)/.test(name));
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
      expect(answer.status).toBe(one.foreign === 'theirs' ? one.own : one.foreign);
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
      expect([answer.status, answer.body.error.code]).toEqual([503, 'ENVIRONMENT_UNAVAILABLE']);
    });
  });

  it.each(KEY_NEEDED)('no key: %s', async (name) => {
    const answer = await ask(name, CASES[name]!, undefined, from(72));
    expect(answer.status).toBe(401);
  });

  // By role and account, with a session of the dashboard: test/accounts/members.e2e.test.ts.
  it.each(routes.filter(({ key }) => key === 'session' || key === 'user' || key === 'member').map(nameOf))(
    'a merchant’s key opens no operator route and no route of the dashboard: %s',
    async (name) => {
      const [method = '', path = ''] = name.split(' ');
      const { transactionId } = things;
      const target = path.replace('{transactionId}', transactionId).replaceAll(/\{\w+\}/g, 'x');
      const answer = await stack.call(method, target, {
        key: owner.apiKey,
        ...(method === 'GET' ? {} : { body: {} }),
        headers: from(73),
      });
      expect([401, 403]).toContain(answer.status);
      expect(answer.text).not.toContain(things.esimId);
    },
  );
});

describe('the operator', () => {
  let admin: Person;
  beforeAll(async () => {
    admin = await signedIn(stack, 'ADMIN');
  });

  it.each(routes.filter(({ key }) => key === 'required').map(nameOf))(
    'is refused on merchants’ routes: %s',
    async (name) => {
      const { target, body } = CASES[name]!;
      const [method = ''] = name.split(' ');
      expect((await admin.call(method, target(things), body?.(things), from(74))).status).toBe(401);
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
    expect([answer.status, one.own], answer.text).toEqual([one.own, one.own]);
  });
});
