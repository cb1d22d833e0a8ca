/**
 * The gateway simulator answers any input in its own format, on both ports and on the hosted page, and never
 * with a fault of its own.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { exchange, sharedGateway } from './gateway-simulator.support.ts';
import { anyBody } from './simulator.support.ts';

const CALLS = [
  ['POST', '/transaction/initialize'],
  ['POST', '/charge'],
  ['POST', '/charge/submit_otp'],
  ['POST', '/refund'],
  ['POST', '/refund/retry_with_customer_details/3000001'],
  ['POST', '/apple-pay/domain'],
  ['DELETE', '/apple-pay/domain'],
  ['PUT', '/integration/payment_session_timeout'],
] as const;
const NAMES = [
  ...['email', 'amount', 'currency', 'reference', 'callback_url', 'channels', 'metadata', 'bank_transfer'],
  ...['account_expires_at', 'mobile_money', 'phone', 'provider', 'otp', 'transaction', 'merchant_note'],
  ...['refund_account_details', 'account_number', 'bank_id', 'domainName', 'timeout', 'sandbox_scenario'],
  ...['__proto__', 'constructor', 'toString'],
];
const PATHS = ['/transaction/verify/', '/transaction/', '/transaction/timeline/', '/charge/', '/refund/'];
const CONTROL_NAMES = [
  ...['webhooks', 'latencyMs', 'loseAnswer', 'error', 'network', 'kind', 'next', 'share', 'operation'],
  ...[
    'refund',
    'amountMinor',
    'currency',
    'feesMinor',
    'times',
    'action',
    'resolution',
    'reason',
    'urls',
    '__proto__',
  ],
];
const KNOWN = [
  ...['a@example.com', 'NGN', 'GHS', 'card', 'known', 'mtn', '0551234987', '500000', 'reset', 'refund'],
  ...['2030-01-01T00:00:00Z', 'https://shop.example/', 'pay-now', 'drop', 5000, 500_000, ['card']],
];
const body = (names: readonly string[]) => anyBody(names, KNOWN);

const gateway = sharedGateway();
beforeAll(async () => {
  await gateway.transfer({ reference: 'known' });
  await gateway.pay('known');
  await gateway.call('POST', '/refund', { transaction: 'known', amount: 1000 });
});

describe('the gateway simulator, arbitrary input', () => {
  it('in a body is answered by the API with an envelope, never with 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...CALLS), body(NAMES), async ([method, path], input) => {
        const reply = await gateway.call(method, path, input);
        expect([200, 400, 404, 422]).toContain(reply.status);
        expect(reply.ok).toBe(reply.status === 200);
        if (reply.status !== 200) expect(JSON.parse(reply.text)).toHaveProperty('meta.nextStep');
      }),
      { numRuns: 200, seed: 20_260_201 },
    );
  });

  it('in a path or query is answered by the API with 200 or 4xx', async () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[0-9]{1,25}$/), fc.string());
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PATHS), text, async (path, id) => {
        // A lone surrogate has no encoding.
        const encoded = encodeURIComponent(id.toWellFormed());
        const reply = await gateway.call('GET', `${path}${encoded}?page=${encoded}&from=${encoded}`);
        expect([200, 400, 404]).toContain(reply.status);
      }),
      { numRuns: 120, seed: 20_260_202 },
    );
    expect((await gateway.call('GET', '/charge/%E0%A4%A')).status).toBe(404);
  });

  it('is answered by the control interface with 200 or 4xx', async () => {
    const calls = [
      ['PUT', '/faults'],
      ['POST', '/charges/known/pay'],
      ['POST', '/charges/known/fail'],
      ['POST', '/charges/known/dispute'],
      ['POST', '/charges/none/pay'],
      ['PUT', '/webhook-urls'],
    ] as const;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...calls), body(CONTROL_NAMES), async ([method, path], input) => {
        const reply = await gateway.control(method, path, input);
        expect([200, 400, 404, 409]).toContain(reply.status);
        if (reply.status !== 200) expect(reply.body).toHaveProperty('error.message');
      }),
      { numRuns: 120, seed: 20_260_203 },
    );
    await gateway.control('DELETE', '/faults');
    expect((await gateway.call('GET', '/transaction')).status).toBe(200);
  });

  it('is answered by the hosted page with 400 or 404', async () => {
    const { page } = await gateway.initialize();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string(), async (form, path) => {
        const posted = await exchange(page, 'POST', {}, `action=pay&way=${form}`);
        expect(posted.status).toBe(400);
        const other = `${gateway.url}/checkout/${encodeURIComponent(path)}x_`;
        const opened = await exchange(other, 'GET', {}, undefined);
        expect(opened.status).toBe(404);
      }),
      { numRuns: 100, seed: 20_260_204 },
    );
  });
});
