// Refusals of confirm-payment and of funding: each in the general error shape and in its exact words,
// whatever was sent.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startApi, type Ask, type TestApi } from '../support/http/api.ts';
import { generalError, unauthorised } from '../support/http/error-bodies.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const NO_ESIM = 'esim-ffffffffffffffffffffffffffffffff';
const NO_TRANSACTION = 'txn-ffffffffffffffffffffffffffffffff';
const BAD_KEY = 'Invalid or expired API key';

interface Case {
  readonly why: string;
  readonly target: string;
  readonly ask: Ask;
  readonly status: number;
  readonly body: unknown;
}

const CASES: readonly Case[] = [
  ...[
    {},
    { transactionId: null },
    { orderNo: 'x' },
    { transactionId: NO_TRANSACTION, gatewayReference: NO_TRANSACTION },
    { transactionId: '', gatewayReference: '', trackingReference: '' },
  ].map((body) => ({
    why: `confirm-payment with ${JSON.stringify(body)}`,
    target: '/api/esim/confirm-payment',
    ask: { key: 'ngn', body },
    status: 400,
    body: generalError(
      400,
      'VALIDATION_ERROR',
      'body: exactly one of transactionId, gatewayReference, trackingReference must be given',
    ),
  })),
  {
    why: 'confirm-payment with names that are no texts',
    target: '/api/esim/confirm-payment',
    ask: { key: 'ngn', body: { transactionId: 1, gatewayReference: [], trackingReference: {} } },
    status: 400,
    body: generalError(
      400,
      'VALIDATION_ERROR',
      'transactionId: must be a string; gatewayReference: must be a string; trackingReference: must be a string',
    ),
  },
  ...['transactionId', 'gatewayReference', 'trackingReference'].flatMap((name) =>
    [NO_TRANSACTION, '', 'x', "' or 1=1 --", 'txn-\u0000', '\ud800', 't'.repeat(5_000), NO_ESIM].map(
      (text) => ({
        why: `confirm-payment, ${name} that is not there: ${JSON.stringify(text).slice(0, 40)}`,
        target: '/api/esim/confirm-payment',
        ask: { key: 'ngn', body: { [name]: text } },
        status: 404,
        body: generalError(404, 'TRANSACTION_NOT_FOUND', 'Transaction not found'),
      }),
    ),
  ),
  ...[
    '10.123',
    '10.100',
    '1e400',
    '1e2',
    '1E2',
    '-10.50',
    '-0',
    '0',
    '0.00',
    '0.001',
    '10000000.01',
    '123456789012345678901234567890',
    '"10"',
    '"10.10"',
    'null',
    'true',
    '[10]',
    '{"rawJSON":"10"}',
  ].map((amount) => ({
    why: `fund with the amount ${amount}`,
    target: '/api/wallet/fund',
    ask: { key: 'ngn', rawBody: `{"amount":${amount},"paymentMethod":"CARD"}` },
    status: 400,
    body: generalError(
      400,
      'VALIDATION_ERROR',
      'amount: must be a number from 0.01 to 10000000.00 with at most two decimals',
    ),
  })),
  ...['NaN', 'Infinity', '+10', '.5', '10.', '010', '0x10', '1_000'].map((amount) => ({
    why: `fund with an amount that is no JSON: ${amount}`,
    target: '/api/wallet/fund',
    ask: { key: 'ngn', rawBody: `{"amount":${amount},"paymentMethod":"CARD"}` },
    status: 400,
    body: generalError(400, 'INVALID_JSON', 'The request body is not valid JSON'),
  })),
  ...['WALLET', 'CASH', 'card', '', null, 1].map((paymentMethod) => ({
    why: `fund by ${JSON.stringify(paymentMethod)}`,
    target: '/api/wallet/fund',
    ask: { key: 'ngn', body: { amount: 100, paymentMethod } },
    status: 400,
    body: generalError(
      400,
      'VALIDATION_ERROR',
      'paymentMethod: must be one of CARD, BANK_TRANSFER, MOBILE_MONEY, APPLE_PAY',
    ),
  })),
  {
    why: 'fund with nothing',
    target: '/api/wallet/fund',
    ask: { key: 'ngn', body: {} },
    status: 400,
    body: generalError(400, 'VALIDATION_ERROR', 'amount: is required; paymentMethod: is required'),
  },
  {
    why: 'fund with less than the method takes',
    target: '/api/wallet/fund',
    ask: { key: 'ngn', body: { amount: 99.99, paymentMethod: 'BANK_TRANSFER' } },
    status: 400,
    body: generalError(
      400,
      'PAYMENT_METHOD_UNAVAILABLE',
      'BANK_TRANSFER takes NGN 100.00 to 10000000.00, this would be NGN 99.99',
    ),
  },
  {
    why: 'fund, an invalid key',
    target: '/api/wallet/fund',
    ask: { rawKey: 'nonsense', body: {} },
    status: 401,
    body: unauthorised('UNAUTHORIZED', BAD_KEY),
  },
  {
    why: 'confirm-payment, an invalid key',
    target: '/api/esim/confirm-payment',
    ask: { rawKey: 'nonsense', body: {} },
    status: 401,
    body: unauthorised('INVALID_TOKEN', BAD_KEY),
  },
  ...['/api/wallet/fund', '/api/esim/confirm-payment'].map((target) => ({
    why: `a key that may only read: ${target}`,
    target,
    ask: { key: 'readonly', body: {} },
    status: 403,
    body: generalError(403, 'FORBIDDEN', 'This key lacks the permission "purchase"'),
  })),
];

test.each(CASES.map((one) => [one.why, one] as const))('%s', async (_why, { target, ask, status, body }) => {
  const reply = await api.ask(target, ask);
  expect(reply.json).toEqual(body);
  expect(reply.status).toBe(status);
  const mine = api.shop.db.selectFrom('fundings').where('account_id', '=', api.shop.accountId());
  expect(await mine.select('transaction_id').execute()).toEqual([]);
});
