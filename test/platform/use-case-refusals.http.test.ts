// Every refusal by the application, on every route: right status, right body, and nothing that is not for the
// caller.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DomainError, ERROR_CODES } from '../../src/domain/errors.ts';
import { shapeOf, STATUS_OF } from '../../src/platform/http/errors.ts';
import { startApi, type TestApi } from '../support/http/api.ts';
import { baseError, unauthorised } from '../support/http/error-bodies.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const BASE = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };
const TOPUP = { packageCode: 'TOPUP_NG-1GB-7D', paymentMethod: 'WALLET', packageType: 'TOPUP' };
const NO_ESIM = 'esim-ffffffffffffffffffffffffffffffff';

const ROUTES = [
  ['/api/esim/my-esims', {}, 'base'],
  ['/api/esim/buy', { body: BASE }, 'base'],
  ['/api/esim/buy', { body: { ...TOPUP, esimId: NO_ESIM } }, 'top-up'],
  ['/api/esim/packages/NG-5GB-30D', {}, 'top-up'],
  ['/api/wallet/balance', {}, 'general'],
  ['/api/wallet/fund', { body: { amount: 100, paymentMethod: 'CARD' } }, 'general'],
  ['/api/esim/confirm-payment', { body: { transactionId: `txn-${'f'.repeat(32)}` } }, 'general'],
  ['/api/esim/packages/changes', {}, 'general'],
  ['/api/esim/quotes', { body: { packageCode: 'NG-5GB-30D', packageType: 'BASE' } }, 'general'],
  ['/api/settings/exchange-rate', {}, 'general'],
  ['/api/webhooks/endpoints', { body: { url: 'https://shop.example.com/' } }, 'general'],
  [`/api/webhooks/messages/msg-${'f'.repeat(32)}/resend`, { method: 'POST' }, 'general'],
] as const;

test.each(ERROR_CODES)(
  '%s is answered with its status, in the route shape or the general one',
  async (code) => {
    for (const [target, ask, shape] of ROUTES) {
      api.shop.failNext = new DomainError(code, 'words', { details: 'more words' });
      const { status, json } = await api.ask(target, { ...ask, key: 'ngn' });
      const shown = shape === 'top-up' && code === 'NOT_YOUR_ESIM' ? 'ESIM_NOT_FOUND' : code;
      expect(status).toBe(STATUS_OF[shown]);
      if (status === 401) expect(json).toEqual(unauthorised(shown, 'words'));
      else if (shapeOf(code, shape) === 'general')
        expect(json).toMatchObject({ success: false, error: { code: shown }, statusCode: status });
      else if (shape === 'base') expect(json).toEqual(baseError(shown, 'words', 'more words'));
      else expect(json).toMatchObject({ success: false, statusCode: status, code: shown });
    }
  },
);

test('a top-up says why it failed if its purchase was written, and nothing more of an eSIM', async () => {
  const buy = async (words: object) => {
    api.shop.failNext = new DomainError('PACKAGE_UNAVAILABLE', 'words', {
      details: 'OUT_OF_STOCK',
      ...words,
    });
    const { json } = await api.ask('/api/esim/buy', { body: { ...TOPUP, esimId: NO_ESIM }, key: 'ngn' });
    return json;
  };
  expect(await buy({ transactionId: 'txn-1' })).toHaveProperty('details', 'OUT_OF_STOCK');
  expect(await buy({})).not.toHaveProperty('details');
});

test('an unknown error is hidden, logged with the request id, and reveals nothing', async () => {
  for (const [target, ask, shape] of ROUTES) {
    api.shop.failNext = new TypeError('secret plan at 10.1.2.3');
    const reply = await api.ask(target, {
      ...ask,
      key: 'ngn',
      headers: { 'x-request-id': `masked-${shape}` },
    });
    expect(reply.status).toBe(500);
    expect(reply.text).toContain('INTERNAL_ERROR');
    expect(reply.text).not.toContain('secret plan');
    const line = api.logLines.find((one) => one.includes(`masked-${shape}`) && one.includes('secret plan'));
    expect(line).toContain('"level":"error"');
    api.logLines.length = 0;
  }
});

test.each([
  ['SERVICE_UNAVAILABLE', undefined, '5'],
  ['SERVICE_UNAVAILABLE', 17, '17'],
  ['EXCHANGE_RATE_UNAVAILABLE', undefined, '60'],
  ['TOO_MANY_UNPAID_PAYMENTS', undefined, '60'],
  ['IDEMPOTENCY_KEY_IN_USE', undefined, '1'],
  ['INSUFFICIENT_BALANCE', undefined, undefined],
] as const)('%s with %s s has Retry-After %s', async (code, retryAfterSeconds, expected) => {
  api.shop.failNext = new DomainError(
    code,
    'words',
    retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
  );
  const reply = await api.ask('/api/wallet/balance', { key: 'ngn' });
  expect(reply.headers['retry-after']).toBe(expected);
});
