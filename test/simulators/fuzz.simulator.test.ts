/** Both simulators answer any input in their own format, and never with a fault of their own. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { exchange, sharedGateway } from './gateway-simulator.support.ts';
import type { Control } from './simulator.support.ts';
import { sharedSimulator } from './supplier-simulator.support.ts';

const words = (text: string) => text.trim().split(/\s+/);
const ANY_TEXT = fc.string({ unit: 'binary' });

/** Any JSON object with these names, whose values are often among those that mean something. */
function anyBody(names: string, known: readonly unknown[]) {
  const odd = [null, '', 0, 1, -1, 1.5, 1e308, true, [], {}, 'x'.repeat(300)];
  const meant = [fc.constantFrom(...known), fc.constantFrom<unknown>(...odd)];
  const scalar = fc.oneof(...meant, fc.string(), ANY_TEXT, fc.integer());
  return fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, scalar, tie('object'), fc.array(tie('value'), { maxLength: 3 })),
    object: fc.dictionary(fc.constantFrom(...words(names)), tie('value'), { maxKeys: 8 }),
  })).object;
}

/** Sends these bodies to these calls, each a method and a path; the same ones in every run. */
function sendAny(
  calls: readonly string[],
  bodies: fc.Arbitrary<unknown>,
  { numRuns, seed }: { numRuns: number; seed: number },
  send: (method: string, path: string, body: unknown) => Promise<void>,
) {
  const sending = fc.asyncProperty(fc.constantFrom(...calls), bodies, (call, body) => {
    const [method = '', path = ''] = words(call);
    return send(method, path, body);
  });
  return fc.assert(sending, { numRuns, seed });
}

const controlled = (control: () => Control, statuses: readonly number[]) => {
  return async (method: string, path: string, body: unknown) => {
    const reply = await control()(method, path, body);
    expect(statuses).toContain(reply.status);
    if (reply.status !== 200) expect(reply.body).toHaveProperty('error.message');
  };
};

describe('the gateway simulator, arbitrary input', () => {
  const gateway = sharedGateway();
  beforeAll(async () => {
    await gateway.transfer({ reference: 'known' });
    await gateway.pay('known');
    await gateway.call('POST', '/refund', { transaction: 'known', amount: 1000 });
  });
  const KNOWN = [
    ...words('a@example.com NGN GHS card known mtn 0551234987 500000 reset refund 2030-01-01T00:00:00Z'),
    ...['https://shop.example/', 'pay-now', 'drop', 5000, 500_000, ['card']],
  ];

  it('in a body is answered by the API with an envelope, never with 5xx', async () => {
    const calls = [
      ...['POST /transaction/initialize', 'POST /charge', 'POST /charge/submit_otp', 'POST /refund'],
      ...['POST /refund/retry_with_customer_details/3000001', 'POST /apple-pay/domain'],
      ...['DELETE /apple-pay/domain', 'PUT /integration/payment_session_timeout'],
    ];
    const names = `
      email amount currency reference callback_url channels metadata bank_transfer account_expires_at
      mobile_money phone provider otp transaction merchant_note refund_account_details account_number
      bank_id domainName timeout sandbox_scenario __proto__ constructor toString`;
    const runs = { numRuns: 200, seed: 20_260_201 };
    await sendAny(calls, anyBody(names, KNOWN), runs, async (method, path, body) => {
      const reply = await gateway.call(method, path, body);
      expect([200, 400, 404, 422]).toContain(reply.status);
      expect(reply.ok).toBe(reply.status === 200);
      if (reply.status !== 200) expect(JSON.parse(reply.text)).toHaveProperty('meta.nextStep');
    });
  });

  it('in a path or query is answered by the API with 200 or 4xx', async () => {
    const paths = ['/transaction/verify/', '/transaction/', '/transaction/timeline/', '/charge/', '/refund/'];
    const text = fc.oneof(ANY_TEXT, fc.stringMatching(/^[0-9]{1,25}$/), fc.string());
    const sending = fc.asyncProperty(fc.constantFrom(...paths), text, async (path, id) => {
      // A lone surrogate has no encoding.
      const encoded = encodeURIComponent(id.toWellFormed());
      const reply = await gateway.call('GET', `${path}${encoded}?page=${encoded}&from=${encoded}`);
      expect([200, 400, 404]).toContain(reply.status);
    });
    await fc.assert(sending, { numRuns: 120, seed: 20_260_202 });
    expect((await gateway.call('GET', '/charge/%E0%A4%A')).status).toBe(404);
  });

  it('is answered by the control interface with 200 or 4xx', async () => {
    const calls = [
      ...['PUT /faults', 'POST /charges/known/pay', 'POST /charges/known/fail'],
      ...['POST /charges/known/dispute', 'POST /charges/none/pay', 'PUT /webhook-urls'],
    ];
    const names = `
      webhooks latencyMs loseAnswer error network kind next share operation refund amountMinor currency
      feesMinor times action resolution reason urls __proto__`;
    const check = controlled(() => gateway.control, [200, 400, 404, 409]);
    await sendAny(calls, anyBody(names, KNOWN), { numRuns: 120, seed: 20_260_203 }, check);
    await gateway.control('DELETE', '/faults');
    expect((await gateway.call('GET', '/transaction')).status).toBe(200);
  });

  it('is answered by the hosted page with 400 or 404', async () => {
    const { page } = await gateway.initialize();
    const sending = fc.asyncProperty(ANY_TEXT, fc.string(), async (form, path) => {
      const posted = await exchange(page, 'POST', {}, `action=pay&way=${form}`);
      expect(posted.status).toBe(400);
      const other = `${gateway.url}/checkout/${encodeURIComponent(path)}x_`;
      expect((await exchange(other, 'GET', {}, undefined)).status).toBe(404);
    });
    await fc.assert(sending, { numRuns: 100, seed: 20_260_204 });
  });
});

describe('the supplier simulator, arbitrary input', () => {
  const simulator = sharedSimulator();
  let known: string[];
  beforeAll(async () => {
    const { orderNo, iccid, esimTranNo } = await simulator.buy('SIM-OK', 'fuzz-known');
    known = ['fuzz-known', orderNo, iccid, esimTranNo];
  });
  const body = (names: string) => anyBody(names, ['SIM-OK', 'TOPUP_SIM-OK', ...known]);

  it('is answered by the API with a code of the table, never 000001', async () => {
    const calls = words(
      `package/list location/list balance/query webhook/query esim/order esim/query esim/cancel
        esim/suspend esim/unsuspend esim/revoke esim/topup esim/sendSms esim/usage/query`,
    ).map((operation) => `POST ${operation}`);
    const names = `
      transactionId packageInfoList amount packageCode count price periodNum pager pageNum pageSize
      orderNo iccid esimTranNo startTime endTime message type slug locationCode dataType esimTranNoList
      __proto__ constructor toString`;
    const runs = { numRuns: 150, seed: 20_260_101 };
    await sendAny(calls, body(names), runs, async (_method, operation, input) => {
      const reply = await simulator.call(operation, input);
      expect(reply.status).toBe(200);
      expect(reply.errorCode).toMatch(/^(0|\d{6})$/);
      expect(reply.errorCode).not.toBe('000001');
      expect(reply.success).toBe(reply.errorCode === '0');
    });
  });

  it('is answered by the control interface with 200, 400, 404 or 409', async () => {
    const [, , iccid = '', esimTranNo = ''] = known;
    const names = `
      outOfStock busy neverAllocate rateLimit usageLagMs webhooks next reuseIccid esimStatus smdpStatus
      orderUsage withdrawn price balance __proto__ stage bytes advanceMs requestId`;
    const changes = ['/faults', '/balance', '/packages/SIM-OK', `/esims/${iccid}`, '/esims/none'];
    await sendAny(
      changes.map((path) => `PUT ${path}`),
      body(names),
      { numRuns: 120, seed: 20_260_102 },
      controlled(() => simulator.control, [200, 400, 404]),
    );
    await simulator.control('DELETE', '/faults');
    await sendAny(
      words('install use use-up suspend resume switch-off switch-on clock').map(
        (action) => `POST /esims/${esimTranNo}/${action}`,
      ),
      body(names),
      { numRuns: 120, seed: 20_260_103 },
      controlled(() => simulator.control, [200, 400, 409]),
    );
    expect((await simulator.call('location/list', {})).success).toBe(true);
  });
});
