// At least one request for every answer of a route under /ops, with its caller and the status. Used by the
// tests of the document and of roles, so that a route without a line fails them.
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
  readonly body?: object | undefined;
  /** `null`: not signed in. */
  readonly as: Role | 'NEW' | null;
  readonly status: number;
  /** While Temporal cannot be reached. */
  readonly isEngineAway?: boolean;
}

/** What stands for a parameter of a path, unless the line has another: `{eventId=42}`. */
export const PATH_IDS: Readonly<Record<string, string>> = {
  transactionId: TXN,
  actionId: ACTION,
  repairId: REPAIR,
  accountId: ACCOUNT,
  personId: personOf('OTHER'),
  eventId: 'event-42',
  differenceId: '42',
  rateId: '42',
};
const PARAMETER = /\{(\w+)(?:=([^}]*))?\}/g;

/** Of a line: who asks, the status of the answer, and the method and path of the route. */
function ask(line: string, body?: object, more: Pick<OpsAsk, 'isEngineAway'> = {}): OpsAsk {
  const [as, status, method, path = ''] = line.split(' ');
  return {
    route: `${method} ${path.replace(/\?.*/, '').replaceAll(PARAMETER, '{$1}')}`,
    target: path.replaceAll(PARAMETER, (_all, name: string, id = PATH_IDS[name]) => String(id)),
    body,
    as: as === 'NOBODY' ? null : (as as Role | 'NEW'),
    status: Number(status),
    ...more,
  };
}

const REASON = { reason: 'a test' };
const CHECK = { action: 'check-gateway', ...REASON };
const BATCH = { action: 'check-gateway', filter: { class: 'paid-not-delivered' } };
const PRICE_RULE = { scope: 'ALL', target: 'ALL', markupPercent: 20 };
const TERMS = { userMarkupPercent: 25, merchantMarkupPercent: 17.5, ngnIncrementPercent: 3 };
const ACCOUNT_LISTS = ['members', 'keys', 'endpoints', 'messages'] as const;

/** The simplest request that each route answers with 2xx. */
export const GOOD_ASKS: readonly OpsAsk[] = [
  ask('SUPPORT 200 POST /ops/purchases/{transactionId}/actions/preview', CHECK),
  ask('NOBODY 201 POST /ops/sessions', { email: 'admin@operator.example', password: PASSWORD }),
  ask('NOBODY 201 POST /ops/device-logins', { machine: 'adas-laptop' }),
  ask('NOBODY 201 POST /ops/device-logins/token', { deviceCode: LET_IN.deviceCode }),
  ask('SUPPORT 200 POST /ops/device-logins/preview', { userCode: WAITS.userCode }),
  ask('SUPPORT 200 POST /ops/device-logins/approve', { userCode: WAITS.userCode }),
  ask('SUPPORT 200 GET /ops/me'),
  ask('NEW 200 POST /ops/me/password', { currentPassword: PASSWORD, newPassword: 'another one of mine' }),
  ask('ADMIN 200 GET /ops/people'),
  ask('ADMIN 201 POST /ops/people', { email: 'ada@x.example', name: 'Ada', role: 'FINANCE' }),
  ask('ADMIN 200 POST /ops/people/{personId}/confirm', { role: 'SUPPORT' }),
  ask('ADMIN 200 PATCH /ops/people/{personId}', { disabled: true }),
  ask('ADMIN 200 POST /ops/people/{personId}/reset-password'),
  ask('ADMIN 200 POST /ops/people/{personId}/remove-second-factor', { evidence: 'a ticket' }),
  ask(`FINANCE 404 POST /ops/users/{userId=${NO_PERSON}}/remove-second-factor`, { evidence: 'a ticket' }),
  ask('SUPPORT 200 GET /ops/stuck?class=paid-not-delivered&olderThanSeconds=60&currency=USD&page=2&limit=5'),
  ask('SUPPORT 200 GET /ops/purchases/{transactionId}'),
  ask('SUPPORT 200 GET /ops/purchases/{transactionId}/actions'),
  ask('SUPPORT 200 POST /ops/purchases/{transactionId}/actions', CHECK),
  ask('OPERATIONS 200 POST /ops/purchases/{transactionId}/replay', REASON),
  ask('SUPPORT 200 GET /ops/actions/pending'),
  ask('FINANCE 200 GET /ops/actions/{actionId}/preview'),
  ask('FINANCE 200 POST /ops/actions/{actionId}/approve'),
  ask('FINANCE 200 POST /ops/actions/{actionId}/decline', REASON),
  ask('FINANCE 200 POST /ops/events/{eventId}/dismiss', REASON),
  ask('FINANCE 200 POST /ops/batch-repairs/preview', BATCH),
  ask('FINANCE 201 POST /ops/batch-repairs', { ...BATCH, ...REASON }),
  ask('SUPPORT 200 GET /ops/batch-repairs?open=true'),
  ask('SUPPORT 200 GET /ops/batch-repairs/{repairId}'),
  ask('FINANCE 200 POST /ops/batch-repairs/{repairId}/approve', REASON),
  ask('FINANCE 200 POST /ops/batch-repairs/{repairId}/decline', REASON),
  ask(`FINANCE 200 POST /ops/batch-repairs/{repairId=${RUNNING_REPAIR}}/stop`, REASON),
  ask('FINANCE 200 GET /ops/differences?kind=amount-differs&currency=USD4'),
  ask('FINANCE 200 POST /ops/differences/{differenceId}/close', REASON),
  ask('FINANCE 200 POST /ops/reconciliations', {}),
  ask('FINANCE 200 GET /ops/books/trial-balance'),
  ask('FINANCE 200 GET /ops/books/daily?from=2026-01-01&to=2026-02-01'),
  ask('FINANCE 200 GET /ops/books/merchants?from=2026-01-01&to=2026-02-01'),
  ask('FINANCE 200 GET /ops/books/waiting'),
  ask('FINANCE 200 GET /ops/books/ledger?id=revenue'),
  ask('FINANCE 200 GET /ops/rates?currency=NGN&days=7'),
  ask('FINANCE 200 POST /ops/rates', { ...REASON, currency: 'NGN', rate: 1_550.5 }),
  ask('FINANCE 200 POST /ops/rates/{rateId}/confirm', REASON),
  ask('FINANCE 404 POST /ops/rates/{rateId=404}/decline', REASON),
  ask('FINANCE 200 GET /ops/prices'),
  ask('FINANCE 200 POST /ops/prices/preview?limit=5', TERMS),
  ask('FINANCE 200 POST /ops/prices', { ...TERMS, ...REASON, version: 'initial' }),
  ask('FINANCE 404 POST /ops/prices/{proposalId=404}/confirm', REASON),
  ask('FINANCE 404 POST /ops/prices/{proposalId=404}/decline', REASON),
  ask('FINANCE 200 GET /ops/price-rules?status=IN_FORCE'),
  ask('FINANCE 200 POST /ops/price-rules/preview?limit=5', PRICE_RULE),
  ask('FINANCE 200 POST /ops/price-rules', { ...PRICE_RULE, ...REASON }),
  ...['confirm', 'decline', 'end'].map((what) =>
    ask(`FINANCE 404 POST /ops/price-rules/{ruleId=404}/${what}`, REASON),
  ),
  ask('FINANCE 200 GET /ops/supplier-prices'),
  ask('FINANCE 404 POST /ops/supplier-prices/{holdId=404}/confirm', REASON),
  ask('FINANCE 200 GET /ops/on-sale?regionCode=NG'),
  ask('SUPPORT 200 GET /ops/overview'),
  ask(`SUPPORT 200 GET /ops/search?text=${TXN}`),
  ask(
    'FINANCE 200 GET /ops/audit?actor=ada%40operator.example&action=wallet.fund&subject=x&from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z&limit=5',
  ),
  ask('SUPPORT 200 GET /ops/accounts?text=merchant&page=1&limit=5'),
  ask('SUPPORT 200 GET /ops/accounts/{accountId}'),
  ask('SUPPORT 200 GET /ops/accounts/{accountId}/transactions?limit=5'),
  ...ACCOUNT_LISTS.map((list) => ask(`SUPPORT 200 GET /ops/accounts/{accountId}/${list}`)),
  ask('FINANCE 200 PATCH /ops/accounts/{accountId}', {
    ...REASON,
    plan: 'ENTERPRISE',
    requestsPerMinute: 2_000,
  }),
  ask('SUPPORT 200 GET /ops/openapi.json'),
  ask('OPERATIONS 200 DELETE /ops/sessions/current'),
];

export const OTHER_ASKS: readonly OpsAsk[] = [
  ask('SUPPORT 403 GET /ops/books/ledger?id=revenue'),
  ask('FINANCE 404 GET /ops/books/ledger?id=nothing'),
  ask('NOBODY 202 POST /ops/device-logins/token', { deviceCode: WAITS.deviceCode }),
  ask('NOBODY 404 POST /ops/device-logins/token', { deviceCode: 'unknown' }),
  ask('SUPPORT 404 POST /ops/device-logins/approve', { userCode: 'BBBB-BBBB' }),
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
  ].map((query) => ask(`ADMIN 400 GET /ops/audit?${query}`)),
  ...['', 'text=', 'text=%20', `text=${'x'.repeat(255)}`, 'text=a%00b', 'text=a&text=b'].map((query) =>
    ask(`ADMIN 400 GET /ops/search?${query}`),
  ),
  ...['page=0', 'limit=1000', `text=${'x'.repeat(255)}`].map((query) =>
    ask(`ADMIN 400 GET /ops/accounts?${query}`),
  ),
  ask('ADMIN 400 GET /ops/overview?environment=prod'),
  ask('FINANCE 400 GET /ops/differences?id=first'),
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
  ].map((body) => ask('ADMIN 400 PATCH /ops/accounts/{accountId}', body)),
  ask(`ADMIN 404 PATCH /ops/accounts/{accountId=${NO_ACCOUNT}}`, { ...REASON, disabled: true }),
  ask(`SUPPORT 404 GET /ops/accounts/{accountId=${NO_ACCOUNT}}`),
  ask(`SUPPORT 404 GET /ops/accounts/{accountId=${NO_ACCOUNT}}/transactions`),
  ask('SUPPORT 400 GET /ops/accounts/{accountId}/transactions?after=txn-1'),
  ...ACCOUNT_LISTS.map((list) => ask(`SUPPORT 404 GET /ops/accounts/{accountId=${NO_ACCOUNT}}/${list}`)),
  ...['messageId=msg-1', 'after=msg-1', `after=msg-${'0'.repeat(32)}`, 'limit=101'].map((query) =>
    ask(`ADMIN 400 GET /ops/accounts/{accountId}/messages?${query}`),
  ),
  ask('SUPPORT 404 GET /ops/accounts/{accountId=acc-1}'),
  ask('NOBODY 401 POST /ops/sessions', { email: 'admin@operator.example', password: 'x' }),
  ask('NOBODY 400 POST /ops/sessions', { email: 7 }),
  ask('ADMIN 401 POST /ops/me/password', { currentPassword: 'x', newPassword: 'another one of mine' }),
  ask('ADMIN 400 POST /ops/people', { email: 'no address', name: '', role: 'OWNER' }),
  ask('ADMIN 400 PATCH /ops/people/{personId}', {}),
  ask(`ADMIN 404 PATCH /ops/people/{personId=${NO_PERSON}}`, { name: 'B' }),
  ask('ADMIN 404 PATCH /ops/people/{personId=ada}', { name: 'B' }),
  ask('ADMIN 400 POST /ops/people/{personId}/confirm', { role: 'FINANCE' }),
  ask(`ADMIN 404 POST /ops/people/{personId=${personOf('FINANCE')}}/confirm`, { role: 'FINANCE' }),
  ask('ADMIN 400 GET /ops/stuck?class=lost'),
  ask('ADMIN 503 GET /ops/stuck?environment=live'),
  ask('ADMIN 400 GET /ops/stuck?environment=prod'),
  ask('ADMIN 400 GET /ops/stuck?environment=test&environment='),
  ask(`ADMIN 404 GET /ops/purchases/{transactionId=${NO_TXN}}`),
  ask(`ADMIN 404 GET /ops/purchases/{transactionId=${'x'.repeat(101)}}`),
  ask('ADMIN 404 GET /ops/purchases/{transactionId=x}/actions'),
  ask(`ADMIN 404 POST /ops/purchases/{transactionId=${NO_TXN}}/actions/preview`, CHECK),
  ask('SUPPORT 403 POST /ops/purchases/{transactionId}/actions/preview', {
    ...REASON,
    action: 'refund-to-source',
  }),
  ask('ADMIN 400 POST /ops/purchases/{transactionId}/actions/preview', { action: 'steal' }),
  ask(`ADMIN 404 POST /ops/purchases/{transactionId=${NO_TXN}}/actions`, CHECK),
  ask('ADMIN 400 POST /ops/purchases/{transactionId}/actions', { action: 'steal' }),
  ask('ADMIN 400 POST /ops/purchases/{transactionId}/actions', { ...CHECK, amount: 5 }),
  ask('FINANCE 202 POST /ops/purchases/{transactionId}/actions', { ...REASON, action: 'refund-to-source' }),
  ask(`FINANCE 409 POST /ops/purchases/{transactionId=${SOLD}}/actions`, { ...REASON, action: 'cancel' }),
  ask('ADMIN 503 POST /ops/purchases/{transactionId}/actions', CHECK, { isEngineAway: true }),
  ask('SUPPORT 403 POST /ops/purchases/{transactionId}/actions', { ...REASON, action: 'refund-to-source' }),
  ask('OPERATIONS 400 POST /ops/purchases/{transactionId}/replay', { reason: 'x' }),
  ask('OPERATIONS 200 POST /ops/purchases/{transactionId=event-42}/replay', REASON),
  ask(`FINANCE 403 POST /ops/actions/{actionId=${OWN_ACTION}}/approve`),
  ask(`FINANCE 404 POST /ops/actions/{actionId=${NO_ACTION}}/approve`),
  ask('FINANCE 404 POST /ops/actions/{actionId=1}/approve'),
  ask('FINANCE 200 POST /ops/actions/{actionId}/approve', REASON),
  ask('FINANCE 400 POST /ops/actions/{actionId}/approve', { reason: 'no' }),
  ask('FINANCE 404 POST /ops/events/{eventId=42}/dismiss', REASON),
  ask('SUPPORT 403 POST /ops/batch-repairs', { ...BATCH, ...REASON, action: 'credit-wallet' }),
  ask('OPERATIONS 403 POST /ops/batch-repairs', { ...BATCH, ...REASON, action: 'credit-wallet' }),
  ask('FINANCE 400 POST /ops/batch-repairs', BATCH),
  ask('FINANCE 400 POST /ops/batch-repairs/preview', { ...BATCH, filter: {} }),
  ask('FINANCE 400 POST /ops/batch-repairs/preview', { ...BATCH, filter: { class: 'lost' } }),
  ask('FINANCE 400 POST /ops/batch-repairs/preview', { ...BATCH, maxRows: 501 }),
  ask('FINANCE 400 POST /ops/batch-repairs/preview', { ...BATCH, action: 'mark-paid' }),
  ask('SUPPORT 400 GET /ops/batch-repairs?open=maybe'),
  ask(`SUPPORT 404 GET /ops/batch-repairs/{repairId=${NO_REPAIR}}`),
  ask('FINANCE 404 POST /ops/batch-repairs/{repairId=repair-1}/stop', REASON),
  ask('FINANCE 404 POST /ops/differences/{differenceId=404}/close', REASON),
  ask('FINANCE 404 POST /ops/differences/{differenceId=x}/close', REASON),
  ask('FINANCE 200 POST /ops/reconciliations', { from: '2001-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }),
  ask('FINANCE 202 POST /ops/reconciliations', { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }),
  ask('FINANCE 400 POST /ops/reconciliations', { from: '2026-01-01T00:00:00Z' }),
  ask('FINANCE 400 POST /ops/reconciliations', { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }),
  ask('FINANCE 400 GET /ops/rates?currency=naira&days=91'),
  ask('FINANCE 202 POST /ops/rates', { ...REASON, currency: 'NGN', rate: 16_000 }),
  ask('FINANCE 200 POST /ops/rates', { ...REASON, currency: 'NGN', rate: null }),
  ask('FINANCE 400 POST /ops/rates', { rate: '1,600' }),
  ask('FINANCE 404 POST /ops/rates/{rateId=404}/confirm', REASON),
  ask('FINANCE 404 POST /ops/rates/{rateId=x}/confirm', REASON),
  ask('FINANCE 400 POST /ops/prices/preview', { userMarkupPercent: 1_000.01 }),
  ask('FINANCE 409 POST /ops/prices', { ...TERMS, ...REASON, version: 'set-other' }),
  ask('FINANCE 400 POST /ops/prices', TERMS),
  ask('FINANCE 400 POST /ops/price-rules', { ...PRICE_RULE, ...REASON, price: 1 }),
  ask('FINANCE 400 POST /ops/price-rules/preview', { ...PRICE_RULE, target: 'CITY' }),
  ask('FINANCE 400 GET /ops/on-sale?at=soon'),
  ask('FINANCE 400 GET /ops/books/daily'),
  ask('FINANCE 400 GET /ops/books/merchants'),
  ask('FINANCE 400 GET /ops/books/daily?from=2024-01-01&to=2026-01-01'),
  ask('FINANCE 400 GET /ops/books/daily?from=&to=x'),
  ask('FINANCE 400 GET /ops/books/daily?from=2026-02-30&to=2026-03-01'),
];
