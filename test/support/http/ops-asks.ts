// At least one request for every answer of a route under /ops, with its caller and the status. Used by the
// tests of the document and of roles, so that a route without a row fails them.
import type { Role } from '../../../src/domain/operator-roles.ts';
import { LET_IN, NO_PERSON, PASSWORD, personOf, WAITS } from './operators.ts';
import {
  ACCOUNT,
  ACTION,
  NO_ACCOUNT,
  NO_ACTION,
  NO_REPAIR,
  NO_TXN,
  OWN_ACTION,
  REPAIR,
  RUNNING_REPAIR,
  SOLD,
  TXN,
} from './operator-rows.ts';

export interface OpsAsk {
  /** Method and path of the route. */
  readonly route: string;
  readonly target: string;
  readonly body?: object;
  /** `null`: not signed in. */
  readonly as: Role | 'NEW' | null;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** While Temporal cannot be reached. */
  readonly isEngineAway?: true;
}

const PERSON = personOf('OTHER');
const REASON = { reason: 'a test' };
const DEVICES = '/ops/device-logins';
const post = (target: string, body: object, as: OpsAsk['as'], status: number): OpsAsk => ({
  ...{ route: `POST ${target}`, target, body, as, status },
});
const REPAIRS = '/ops/batch-repairs';
const ONE_REPAIR = `${REPAIRS}/{repairId}`;
const BATCH = { action: 'check-gateway', filter: { class: 'paid-not-delivered' } };
const TERMS = { userMarkupPercent: 25, merchantMarkupPercent: 17.5, ngnIncrementPercent: 3 };
const CHECK = { action: 'check-gateway', ...REASON };
const ONE = `/ops/purchases/${TXN}`;
const ACT = 'POST /ops/purchases/{transactionId}/actions';
const SEE_EFFECT = 'GET /ops/actions/{actionId}/preview';
const APPROVE = 'POST /ops/actions/{actionId}/approve';
const APPROVAL = `/ops/actions/${ACTION}/approve`;
const ACCOUNTS = '/ops/accounts';
const BOUGHT = `${ACCOUNTS}/${ACCOUNT}/transactions`;
const OF_ACCOUNT = 'GET /ops/accounts/{accountId}';
const ITS_PURCHASES = 'GET /ops/accounts/{accountId}/transactions';
const CHANGE_ACCOUNT = 'PATCH /ops/accounts/{accountId}';

/** The simplest request that each route answers with 2xx. */
export const GOOD_ASKS: readonly OpsAsk[] = [
  { route: `${ACT}/preview`, target: `${ONE}/actions/preview`, body: CHECK, as: 'SUPPORT', status: 200 },
  post('/ops/sessions', { email: 'admin@operator.example', password: PASSWORD }, null, 201),
  post(DEVICES, { machine: 'adas-laptop' }, null, 201),
  post(`${DEVICES}/token`, { deviceCode: LET_IN.deviceCode }, null, 201),
  post(`${DEVICES}/preview`, { userCode: WAITS.userCode }, 'SUPPORT', 200),
  post(`${DEVICES}/approve`, { userCode: WAITS.userCode }, 'SUPPORT', 200),
  { route: 'GET /ops/me', target: '/ops/me', as: 'SUPPORT', status: 200 },
  post('/ops/me/password', { currentPassword: PASSWORD, newPassword: 'another one of mine' }, 'NEW', 200),
  { route: 'GET /ops/people', target: '/ops/people', as: 'ADMIN', status: 200 },
  post('/ops/people', { email: 'ada@x.example', name: 'Ada', role: 'FINANCE' }, 'ADMIN', 201),
  {
    route: 'POST /ops/people/{personId}/confirm',
    target: `/ops/people/${PERSON}/confirm`,
    body: { role: 'SUPPORT' },
    as: 'ADMIN',
    status: 200,
  },
  {
    route: 'PATCH /ops/people/{personId}',
    target: `/ops/people/${PERSON}`,
    body: { disabled: true },
    as: 'ADMIN',
    status: 200,
  },
  {
    route: 'POST /ops/people/{personId}/reset-password',
    target: `/ops/people/${PERSON}/reset-password`,
    as: 'ADMIN',
    status: 200,
  },
  {
    route: 'GET /ops/stuck',
    target: '/ops/stuck?class=paid-not-delivered&olderThanSeconds=60&currency=USD&page=2&limit=5',
    as: 'SUPPORT',
    status: 200,
  },
  { route: 'GET /ops/purchases/{transactionId}', target: ONE, as: 'SUPPORT', status: 200 },
  { route: ACT.replace('POST', 'GET'), target: `${ONE}/actions`, as: 'SUPPORT', status: 200 },
  { route: ACT, target: `${ONE}/actions`, body: CHECK, as: 'SUPPORT', status: 200 },
  {
    route: 'POST /ops/purchases/{transactionId}/replay',
    target: `${ONE}/replay`,
    body: REASON,
    as: 'OPERATIONS',
    status: 200,
  },
  { route: 'GET /ops/actions/pending', target: '/ops/actions/pending', as: 'SUPPORT', status: 200 },
  { route: SEE_EFFECT, target: `/ops/actions/${ACTION}/preview`, as: 'FINANCE', status: 200 },
  { route: APPROVE, target: APPROVAL, as: 'FINANCE', status: 200 },
  {
    route: 'POST /ops/actions/{actionId}/decline',
    target: `/ops/actions/${ACTION}/decline`,
    body: REASON,
    as: 'FINANCE',
    status: 200,
  },
  {
    route: 'POST /ops/events/{eventId}/dismiss',
    target: '/ops/events/event-42/dismiss',
    body: REASON,
    as: 'FINANCE',
    status: 200,
  },
  { route: `POST ${REPAIRS}/preview`, target: `${REPAIRS}/preview`, body: BATCH, as: 'FINANCE', status: 200 },
  { route: `POST ${REPAIRS}`, target: REPAIRS, body: { ...BATCH, ...REASON }, as: 'FINANCE', status: 201 },
  { route: `GET ${REPAIRS}`, target: `${REPAIRS}?open=true`, as: 'SUPPORT', status: 200 },
  { route: `GET ${ONE_REPAIR}`, target: `${REPAIRS}/${REPAIR}`, as: 'SUPPORT', status: 200 },
  ...(['approve', 'decline', 'stop'] as const).map((verb) => ({
    route: `POST ${ONE_REPAIR}/${verb}`,
    target: `${REPAIRS}/${verb === 'stop' ? RUNNING_REPAIR : REPAIR}/${verb}`,
    body: REASON,
    as: 'FINANCE' as const,
    status: 200,
  })),
  {
    route: 'GET /ops/differences',
    target: '/ops/differences?kind=amount-differs&currency=USD4',
    as: 'FINANCE',
    status: 200,
  },
  {
    route: 'POST /ops/differences/{differenceId}/close',
    target: '/ops/differences/42/close',
    body: REASON,
    as: 'FINANCE',
    status: 200,
  },
  post('/ops/reconciliations', {}, 'FINANCE', 200),
  { route: 'GET /ops/books/trial-balance', target: '/ops/books/trial-balance', as: 'FINANCE', status: 200 },
  {
    route: 'GET /ops/books/daily',
    target: '/ops/books/daily?from=2026-01-01&to=2026-02-01',
    as: 'FINANCE',
    status: 200,
  },
  {
    route: 'GET /ops/books/merchants',
    target: '/ops/books/merchants?from=2026-01-01&to=2026-02-01',
    as: 'FINANCE',
    status: 200,
  },
  { route: 'GET /ops/books/waiting', target: '/ops/books/waiting', as: 'FINANCE', status: 200 },
  { route: 'GET /ops/books/ledger', target: '/ops/books/ledger?id=revenue', as: 'FINANCE', status: 200 },
  { route: 'GET /ops/rates', target: '/ops/rates?currency=NGN&days=7', as: 'FINANCE', status: 200 },
  post('/ops/rates', { currency: 'NGN', rate: 1_550.5, ...REASON }, 'FINANCE', 200),
  {
    route: 'POST /ops/rates/{rateId}/confirm',
    target: '/ops/rates/42/confirm',
    body: REASON,
    as: 'FINANCE',
    status: 200,
  },
  { route: 'GET /ops/prices', target: '/ops/prices', as: 'FINANCE', status: 200 },
  {
    route: 'POST /ops/prices/preview',
    target: '/ops/prices/preview?limit=5',
    body: TERMS,
    as: 'FINANCE',
    status: 200,
  },
  post('/ops/prices', { version: 'initial', ...TERMS, ...REASON }, 'FINANCE', 200),
  { route: 'GET /ops/on-sale', target: '/ops/on-sale?regionCode=NG', as: 'FINANCE', status: 200 },
  { route: 'GET /ops/overview', target: '/ops/overview', as: 'SUPPORT', status: 200 },
  { route: 'GET /ops/search', target: `/ops/search?text=${TXN}`, as: 'SUPPORT', status: 200 },
  {
    route: 'GET /ops/audit',
    target:
      '/ops/audit?actor=ada%40operator.example&action=wallet.fund&subject=x&from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z&limit=5',
    as: 'FINANCE',
    status: 200,
  },
  {
    route: 'GET /ops/accounts',
    target: `${ACCOUNTS}?text=merchant&page=1&limit=5`,
    as: 'SUPPORT',
    status: 200,
  },
  { route: 'GET /ops/accounts/{accountId}', target: `${ACCOUNTS}/${ACCOUNT}`, as: 'SUPPORT', status: 200 },
  { route: ITS_PURCHASES, target: `${BOUGHT}?limit=5`, as: 'SUPPORT', status: 200 },
  ...['members', 'keys', 'endpoints', 'messages'].map((list) => ({
    route: `${OF_ACCOUNT}/${list}`,
    target: `${ACCOUNTS}/${ACCOUNT}/${list}`,
    as: 'SUPPORT' as const,
    status: 200,
  })),
  {
    route: CHANGE_ACCOUNT,
    target: `${ACCOUNTS}/${ACCOUNT}`,
    body: { ...REASON, plan: 'ENTERPRISE', requestsPerMinute: 2_000 },
    as: 'FINANCE',
    status: 200,
  },
  { route: 'GET /ops/openapi.json', target: '/ops/openapi.json', as: 'SUPPORT', status: 200 },
  { route: 'DELETE /ops/sessions/current', target: '/ops/sessions/current', as: 'OPERATIONS', status: 200 },
];

const badQuery = (path: string, query: string): OpsAsk => ({
  route: `GET ${path}`,
  target: `${path}?${query}`,
  as: 'ADMIN',
  status: 400,
});
const badChange = (body: object): OpsAsk => ({
  route: CHANGE_ACCOUNT,
  target: `${ACCOUNTS}/${ACCOUNT}`,
  body,
  as: 'ADMIN',
  status: 400,
});

export const OTHER_ASKS: readonly OpsAsk[] = [
  { route: 'GET /ops/books/ledger', target: '/ops/books/ledger?id=revenue', as: 'SUPPORT', status: 403 },
  { route: 'GET /ops/books/ledger', target: '/ops/books/ledger?id=nothing', as: 'FINANCE', status: 404 },
  post(`${DEVICES}/token`, { deviceCode: WAITS.deviceCode }, null, 202),
  post(`${DEVICES}/token`, { deviceCode: 'unknown' }, null, 404),
  post(`${DEVICES}/approve`, { userCode: 'BBBB-BBBB' }, 'SUPPORT', 404),
  ...[
    'limit=0',
    'limit=101',
    'from=yesterday',
    'from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z',
    'after=now',
    'after=YXVkaXQ6MTptb3ZlLTE',
    `action=${'x'.repeat(51)}`,
    'actor=%00',
    'subject=',
    'environment=prod',
  ].map((query) => badQuery('/ops/audit', query)),
  ...['', 'text=', 'text=%20', `text=${'x'.repeat(255)}`, 'text=a%00b', 'text=a&text=b'].map((query) =>
    badQuery('/ops/search', query),
  ),
  ...['page=0', 'limit=1000', `text=${'x'.repeat(255)}`].map((query) => badQuery(ACCOUNTS, query)),
  badQuery('/ops/overview', 'environment=prod'),
  { ...badQuery('/ops/differences', 'id=first'), as: 'FINANCE' },
  ...[
    REASON,
    { plan: 'PREMIUM' },
    { ...REASON, plan: 'GOLD' },
    { ...REASON, plan: 'ENTERPRISE' },
    { ...REASON, plan: 'PREMIUM', requestsPerMinute: 5 },
    { ...REASON, requestsPerMinute: 5 },
    { ...REASON, plan: 'ENTERPRISE', requestsPerMinute: 0 },
    { ...REASON, plan: 'ENTERPRISE', requestsPerMinute: 1.5 },
    { ...REASON, disabled: 'yes' },
    { reason: 'x', disabled: true },
  ].map(badChange),
  {
    route: CHANGE_ACCOUNT,
    target: `${ACCOUNTS}/${NO_ACCOUNT}`,
    body: { ...REASON, disabled: true },
    as: 'ADMIN',
    status: 404,
  },
  { route: 'GET /ops/accounts/{accountId}', target: `${ACCOUNTS}/${NO_ACCOUNT}`, as: 'SUPPORT', status: 404 },
  { route: ITS_PURCHASES, target: `${ACCOUNTS}/${NO_ACCOUNT}/transactions`, as: 'SUPPORT', status: 404 },
  { route: ITS_PURCHASES, target: `${BOUGHT}?after=txn-1`, as: 'SUPPORT', status: 400 },
  ...['members', 'keys', 'endpoints', 'messages'].map((list) => ({
    route: `${OF_ACCOUNT}/${list}`,
    target: `${ACCOUNTS}/${NO_ACCOUNT}/${list}`,
    as: 'SUPPORT' as const,
    status: 404,
  })),
  ...['messageId=msg-1', 'after=msg-1', `after=msg-${'0'.repeat(32)}`, 'limit=101'].map((query) => ({
    ...badQuery(`${ACCOUNTS}/${ACCOUNT}/messages`, query),
    route: `${OF_ACCOUNT}/messages`,
  })),
  { route: 'GET /ops/accounts/{accountId}', target: `${ACCOUNTS}/acc-1`, as: 'SUPPORT', status: 404 },
  post('/ops/sessions', { email: 'admin@operator.example', password: 'x' }, null, 401),
  { route: 'POST /ops/sessions', target: '/ops/sessions', body: { email: 7 }, as: null, status: 400 },
  post('/ops/me/password', { currentPassword: 'x', newPassword: 'another one of mine' }, 'ADMIN', 401),
  post('/ops/people', { email: 'no address', name: '', role: 'OWNER' }, 'ADMIN', 400),
  {
    route: 'PATCH /ops/people/{personId}',
    target: `/ops/people/${PERSON}`,
    body: {},
    as: 'ADMIN',
    status: 400,
  },
  {
    route: 'PATCH /ops/people/{personId}',
    target: `/ops/people/${NO_PERSON}`,
    body: { name: 'B' },
    as: 'ADMIN',
    status: 404,
  },
  {
    route: 'PATCH /ops/people/{personId}',
    target: '/ops/people/ada',
    body: { name: 'B' },
    as: 'ADMIN',
    status: 404,
  },
  {
    route: 'POST /ops/people/{personId}/confirm',
    target: `/ops/people/${PERSON}/confirm`,
    body: { role: 'FINANCE' },
    as: 'ADMIN',
    status: 400,
  },
  {
    route: 'POST /ops/people/{personId}/confirm',
    target: `/ops/people/${personOf('FINANCE')}/confirm`,
    body: { role: 'FINANCE' },
    as: 'ADMIN',
    status: 404,
  },
  { route: 'GET /ops/stuck', target: '/ops/stuck?class=lost', as: 'ADMIN', status: 400 },
  { route: 'GET /ops/stuck', target: '/ops/stuck?environment=live', as: 'ADMIN', status: 503 },
  { route: 'GET /ops/stuck', target: '/ops/stuck?environment=prod', as: 'ADMIN', status: 400 },
  { route: 'GET /ops/stuck', target: '/ops/stuck?environment=test&environment=', as: 'ADMIN', status: 400 },
  {
    route: 'GET /ops/purchases/{transactionId}',
    target: `/ops/purchases/${NO_TXN}`,
    as: 'ADMIN',
    status: 404,
  },
  {
    route: 'GET /ops/purchases/{transactionId}',
    target: `/ops/purchases/${'x'.repeat(101)}`,
    as: 'ADMIN',
    status: 404,
  },
  {
    route: 'GET /ops/purchases/{transactionId}/actions',
    target: '/ops/purchases/x/actions',
    as: 'ADMIN',
    status: 404,
  },
  {
    route: `${ACT}/preview`,
    target: `/ops/purchases/${NO_TXN}/actions/preview`,
    body: CHECK,
    as: 'ADMIN',
    status: 404,
  },
  {
    route: `${ACT}/preview`,
    target: `${ONE}/actions/preview`,
    body: { ...REASON, action: 'refund-to-source' },
    as: 'SUPPORT',
    status: 403,
  },
  {
    route: `${ACT}/preview`,
    target: `${ONE}/actions/preview`,
    body: { action: 'steal' },
    as: 'ADMIN',
    status: 400,
  },
  { route: ACT, target: `/ops/purchases/${NO_TXN}/actions`, body: CHECK, as: 'ADMIN', status: 404 },
  { route: ACT, target: `${ONE}/actions`, body: { action: 'steal' }, as: 'ADMIN', status: 400 },
  { route: ACT, target: `${ONE}/actions`, body: { ...CHECK, amount: 5 }, as: 'ADMIN', status: 400 },
  {
    route: ACT,
    target: `${ONE}/actions`,
    body: { ...REASON, action: 'refund-to-source' },
    as: 'FINANCE',
    status: 202,
  },
  {
    route: ACT,
    target: `/ops/purchases/${SOLD}/actions`,
    body: { ...REASON, action: 'cancel' },
    as: 'FINANCE',
    status: 409,
  },
  { route: ACT, target: `${ONE}/actions`, body: CHECK, as: 'ADMIN', status: 503, isEngineAway: true },
  {
    route: ACT,
    target: `${ONE}/actions`,
    body: { ...REASON, action: 'refund-to-source' },
    as: 'SUPPORT',
    status: 403,
  },
  {
    route: 'POST /ops/purchases/{transactionId}/replay',
    target: `${ONE}/replay`,
    body: { reason: 'x' },
    as: 'OPERATIONS',
    status: 400,
  },
  {
    route: 'POST /ops/purchases/{transactionId}/replay',
    target: '/ops/purchases/event-42/replay',
    body: REASON,
    as: 'OPERATIONS',
    status: 200,
  },
  { route: APPROVE, target: `/ops/actions/${OWN_ACTION}/approve`, as: 'FINANCE', status: 403 },
  { route: APPROVE, target: `/ops/actions/${NO_ACTION}/approve`, as: 'FINANCE', status: 404 },
  { route: APPROVE, target: '/ops/actions/1/approve', as: 'FINANCE', status: 404 },
  { route: APPROVE, target: APPROVAL, body: REASON, as: 'FINANCE', status: 200 },
  { route: APPROVE, target: APPROVAL, body: { reason: 'no' }, as: 'FINANCE', status: 400 },
  {
    route: 'POST /ops/events/{eventId}/dismiss',
    target: '/ops/events/42/dismiss',
    body: REASON,
    as: 'FINANCE',
    status: 404,
  },
  {
    route: `POST ${REPAIRS}`,
    target: REPAIRS,
    body: { ...BATCH, ...REASON, action: 'credit-wallet' },
    as: 'SUPPORT',
    status: 403,
  },
  { route: `POST ${REPAIRS}`, target: REPAIRS, body: BATCH, as: 'FINANCE', status: 400 },
  {
    route: `POST ${REPAIRS}/preview`,
    target: `${REPAIRS}/preview`,
    body: { ...BATCH, filter: {} },
    as: 'FINANCE',
    status: 400,
  },
  {
    route: `POST ${REPAIRS}/preview`,
    target: `${REPAIRS}/preview`,
    body: { ...BATCH, maxRows: 501 },
    as: 'FINANCE',
    status: 400,
  },
  {
    route: `POST ${REPAIRS}/preview`,
    target: `${REPAIRS}/preview`,
    body: { ...BATCH, action: 'mark-paid' },
    as: 'FINANCE',
    status: 400,
  },
  { route: `GET ${REPAIRS}`, target: `${REPAIRS}?open=maybe`, as: 'SUPPORT', status: 400 },
  { route: `GET ${ONE_REPAIR}`, target: `${REPAIRS}/${NO_REPAIR}`, as: 'SUPPORT', status: 404 },
  {
    route: `POST ${ONE_REPAIR}/stop`,
    target: `${REPAIRS}/repair-1/stop`,
    body: REASON,
    as: 'FINANCE',
    status: 404,
  },
  {
    route: 'POST /ops/differences/{differenceId}/close',
    target: '/ops/differences/404/close',
    body: REASON,
    as: 'FINANCE',
    status: 404,
  },
  {
    route: 'POST /ops/differences/{differenceId}/close',
    target: '/ops/differences/x/close',
    body: REASON,
    as: 'FINANCE',
    status: 404,
  },
  post('/ops/reconciliations', { from: '2001-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }, 'FINANCE', 200),
  post('/ops/reconciliations', { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }, 'FINANCE', 202),
  post('/ops/reconciliations', { from: '2026-01-01T00:00:00Z' }, 'FINANCE', 400),
  post('/ops/reconciliations', { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'FINANCE', 400),
  { route: 'GET /ops/rates', target: '/ops/rates?currency=naira&days=91', as: 'FINANCE', status: 400 },
  post('/ops/rates', { currency: 'NGN', rate: 16_000, ...REASON }, 'FINANCE', 202),
  post('/ops/rates', { currency: 'NGN', rate: null, ...REASON }, 'FINANCE', 200),
  { route: 'POST /ops/rates', target: '/ops/rates', body: { rate: '1,600' }, as: 'FINANCE', status: 400 },
  {
    route: 'POST /ops/rates/{rateId}/confirm',
    target: '/ops/rates/404/confirm',
    body: REASON,
    as: 'FINANCE',
    status: 404,
  },
  {
    route: 'POST /ops/rates/{rateId}/confirm',
    target: '/ops/rates/x/confirm',
    body: REASON,
    as: 'FINANCE',
    status: 404,
  },
  post('/ops/prices/preview', { userMarkupPercent: 1_000.01 }, 'FINANCE', 400),
  post('/ops/prices', { version: 'set-other', ...TERMS, ...REASON }, 'FINANCE', 409),
  { route: 'POST /ops/prices', target: '/ops/prices', body: TERMS, as: 'FINANCE', status: 400 },
  { route: 'GET /ops/on-sale', target: '/ops/on-sale?at=soon', as: 'FINANCE', status: 400 },
  { route: 'GET /ops/books/daily', target: '/ops/books/daily', as: 'FINANCE', status: 400 },
  { route: 'GET /ops/books/merchants', target: '/ops/books/merchants', as: 'FINANCE', status: 400 },
  {
    route: 'GET /ops/books/daily',
    target: '/ops/books/daily?from=2024-01-01&to=2026-01-01',
    as: 'FINANCE',
    status: 400,
  },
  {
    route: 'GET /ops/books/daily',
    target: '/ops/books/daily?from=2026-02-30&to=2026-03-01',
    as: 'FINANCE',
    status: 400,
  },
];
