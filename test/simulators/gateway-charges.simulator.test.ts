/**
 * The wire format of the gateway simulator for charges: authentication, initialize, charge, verify, listing,
 * settings, and every refusal.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  fresh,
  HOUR_MS,
  MINUTE_MS,
  SECRET_KEY,
  startGateway,
  stopAll,
  type TestGateway,
} from './gateway-simulator.support.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(async () => {
  await gateway.control('DELETE', '/faults');
});
afterAll(stopAll);

const initialize = (extra: Record<string, unknown>) =>
  gateway.call('POST', '/transaction/initialize', { email: 'a@example.com', amount: 500_000, ...extra });
const charge = (extra: Record<string, unknown>) =>
  gateway.call('POST', '/charge', { email: 'a@example.com', amount: 500_000, ...extra });

describe('the gateway simulator, authentication', () => {
  it.each([
    [{}, 'No Authorization Header was found'],
    [{ authorization: SECRET_KEY }, 'Format is Authorization: Bearer [secret key]'],
    [{ authorization: 'Basic abc' }, 'Format is Authorization: Bearer [secret key]'],
    [{ authorization: 'Bearer sk_test_another' }, 'Invalid key'],
    [{ authorization: `Bearer ${SECRET_KEY}x` }, 'Invalid key'],
  ])('refuses the headers %j with 401: %s', async (headers, message) => {
    const reply = await gateway.call('GET', '/transaction', undefined, { headers });
    expect(reply).toMatchObject({ status: 401, ok: false, message });
    expect(reply.text).toContain('"meta":{"nextStep":');
    expect(JSON.parse(reply.text)).toMatchObject({ type: 'validation_error' });
  });

  it('checks the key before path and body', async () => {
    const headers = { authorization: 'Bearer sk_test_another' };
    expect((await gateway.call('GET', '/nowhere', undefined, { headers })).status).toBe(401);
    const reply = await gateway.call('POST', '/charge', undefined, { headers, rawBody: '{' });
    expect(reply.status).toBe(401);
  });
});

describe('the gateway simulator, POST /transaction/initialize', () => {
  it('answers with the address of the hosted page, and the charge is abandoned until the page is opened', async () => {
    const reference = fresh();
    const reply = await initialize({ reference });
    expect(reply).toMatchObject({ status: 200, ok: true, message: 'Authorization URL created' });
    const { access_code } = reply.data;
    expect(reply.data).toEqual({
      authorization_url: `${gateway.url}/checkout/${String(access_code)}`,
      access_code: expect.stringMatching(/^[0-9a-z]{15}$/) as string,
      reference,
    });
    expect(await gateway.verify(reference)).toMatchObject({
      domain: 'test',
      status: 'abandoned',
      reference,
      amount: 500_000,
      requested_amount: 500_000,
      currency: 'NGN',
      paid_at: null,
      fees: null,
      metadata: '',
      authorization: {},
      customer: { email: 'a@example.com' },
    });
  });

  it('makes a reference if none is given, and accepts an amount as text', async () => {
    const { data } = await initialize({ amount: '500000' });
    expect(data['reference']).toMatch(/^[0-9a-z]{15}$/);
    expect(await gateway.verify(String(data['reference']))).toMatchObject({ requested_amount: 500_000 });
  });

  it('keeps metadata as it was sent: an object, or text', async () => {
    const object = { order: 7, nested: { deep: [1] } };
    const sent = await gateway.initialize({ metadata: object });
    expect((await gateway.verify(sent.reference))['metadata']).toEqual(object);
    const text = await gateway.initialize({ metadata: JSON.stringify(object) });
    expect((await gateway.verify(text.reference))['metadata']).toBe(JSON.stringify(object));
  });

  it.each([
    [{ email: undefined }, 'missing_params'],
    [{ email: '' }, 'missing_params'],
    [{ email: 'no-address' }, 'invalid_params'],
    [{ email: 7 }, 'invalid_params'],
    [{ amount: undefined }, 'missing_params'],
    [{ amount: 0 }, 'invalid_amount'],
    [{ amount: -5 }, 'invalid_amount'],
    [{ amount: 5000.5 }, 'invalid_amount'],
    [{ amount: '5000.00' }, 'invalid_amount'],
    [{ amount: true }, 'invalid_amount'],
    [{ amount: 4999 }, 'invalid_amount'],
    [{ amount: 1_000_000_100 }, 'invalid_amount'],
    [{ currency: 'EUR' }, 'unsupported_currency'],
    [{ currency: 'USD', amount: 199 }, 'invalid_amount'],
    [{ currency: 'GHS', amount: 9 }, 'invalid_amount'],
    [{ currency: 'KES', amount: 299 }, 'invalid_amount'],
    [{ currency: 'XOF', amount: 99 }, 'invalid_amount'],
    [{ currency: 'ZAR', amount: 99 }, 'invalid_amount'],
    [{ channels: ['carrier_pigeon'] }, 'invalid_params'],
    [{ channels: [] }, 'invalid_params'],
    [{ channels: 'card' }, 'invalid_params'],
    [{ channels: ['mobile_money'] }, 'no_active_channel'],
    [{ channels: ['apple_pay'], currency: 'ZAR' }, 'no_active_channel'],
    [{ channels: ['bank_transfer'], currency: 'USD' }, 'no_active_channel'],
    [{ channels: ['bank_transfer'], amount: 9999 }, 'invalid_amount'],
    [{ reference: 'has_underscore' }, 'invalid_params'],
    [{ reference: 'has space' }, 'invalid_params'],
    [{ reference: 'a/b' }, 'invalid_params'],
    [{ reference: 'x'.repeat(101) }, 'invalid_params'],
    [{ callback_url: 'example.com' }, 'invalid_params'],
    [{ callback_url: 'javascript:alert(1)' }, 'invalid_params'],
    [{ metadata: 7 }, 'invalid_params'],
    [{ metadata: { sandbox_scenario: 'no-such-thing' } }, 'invalid_params'],
  ])('refuses %j with 400 %s', async (extra, code) => {
    const reply = await initialize({ reference: fresh(), ...extra });
    expect(reply).toMatchObject({ status: 400, ok: false, code });
    expect(reply.message).not.toBe('');
  });

  it.each([
    ['NGN', 5000],
    ['USD', 200],
    ['GHS', 10],
    ['KES', 300],
    ['XOF', 100],
    ['ZAR', 100],
  ])('accepts the minimum in %s, %i', async (currency, amount) => {
    expect((await initialize({ currency, amount })).status).toBe(200);
  });

  it('rounds XOF down to whole francs', async () => {
    const { reference } = await gateway.initialize({ currency: 'XOF', amount: 12_345 });
    expect((await gateway.verify(reference))['requested_amount']).toBe(12_300);
  });

  it('accepts every character that a reference may have', async () => {
    const reference = `A.z-0=${fresh()}`;
    expect((await initialize({ reference })).status).toBe(200);
    expect((await gateway.verify(encodeURIComponent(reference)))['reference']).toBe(reference);
  });

  it('refuses a reference that was used, for initialize and charge, and keeps the first request', async () => {
    const reference = fresh();
    expect((await initialize({ reference })).status).toBe(200);
    const again = await initialize({ reference, amount: 700_000 });
    expect(again).toMatchObject({ status: 400, code: 'duplicate_reference' });
    expect(again.message).toBe('Duplicate Transaction Reference');
    expect(await charge({ reference, bank_transfer: {} })).toMatchObject({
      status: 400,
      code: 'duplicate_reference',
    });
    expect(await gateway.held(reference)).toMatchObject({
      requests: 3,
      requested: { amountMinor: 500_000, currency: 'NGN' },
    });
  });
});

describe('the gateway simulator, POST /charge by bank transfer', () => {
  it('answers with an account for this charge, and GET /charge repeats the answer while the charge waits', async () => {
    const reference = fresh();
    const reply = await charge({ reference, bank_transfer: { account_expires_at: null } });
    expect(reply).toMatchObject({ status: 200, ok: true, message: 'Charge attempted' });
    expect(reply.data).toEqual({
      reference,
      status: 'pending_bank_transfer',
      display_text: expect.any(String) as string,
      account_name: 'Sandbox Merchant / Checkout',
      account_number: expect.stringMatching(/^\d{10}$/) as string,
      bank: { slug: 'sandbox-bank', name: 'Sandbox Bank', id: 24 },
      account_expires_at: new Date(gateway.clock.nowMs + 8 * HOUR_MS).toISOString(),
    });
    expect((await gateway.call('GET', `/charge/${reference}`)).data).toEqual(reply.data);
    expect(await gateway.verify(reference)).toMatchObject({ status: 'ongoing', channel: 'bank_transfer' });
    const other = await charge({ reference: fresh(), bank_transfer: {} });
    expect(other.data['account_number']).not.toBe(reply.data['account_number']);
  });

  it.each([
    [5 * MINUTE_MS, 15 * MINUTE_MS],
    [-HOUR_MS, 15 * MINUTE_MS],
    [15 * MINUTE_MS, 15 * MINUTE_MS],
    [30 * MINUTE_MS, 30 * MINUTE_MS],
    [8 * HOUR_MS, 8 * HOUR_MS],
    [9 * HOUR_MS, 8 * HOUR_MS],
  ])('an account that should expire in %i ms expires in %i ms', async (wantedMs, givenMs) => {
    const { nowMs } = gateway.clock;
    const account_expires_at = new Date(nowMs + wantedMs).toISOString();
    const { data } = await charge({ reference: fresh(), bank_transfer: { account_expires_at } });
    expect(data['account_expires_at']).toBe(new Date(nowMs + givenMs).toISOString());
  });

  it.each([
    [{ bank_transfer: {}, amount: 9999 }, 'invalid_amount'],
    [{ bank_transfer: {}, currency: 'USD' }, 'no_active_channel'],
    [{ bank_transfer: {}, currency: 'KES' }, 'no_active_channel'],
    [{ bank_transfer: { account_expires_at: 'soon' } }, 'invalid_params'],
    [{ bank_transfer: 'yes' }, 'invalid_params'],
    [{}, 'invalid_params'],
    [{ card: { number: '1' } }, 'invalid_params'],
    [{ bank_transfer: {}, mobile_money: {} }, 'invalid_params'],
    [{ bank_transfer: {}, email: undefined }, 'missing_params'],
    [{ bank_transfer: {}, reference: 'under_score' }, 'invalid_params'],
  ])('refuses %j with 400 %s', async (extra, code) => {
    expect(await charge({ reference: fresh(), ...extra })).toMatchObject({ status: 400, code });
  });

  it('has accounts in KES for an integration in Kenya, for 25 minutes', async () => {
    const kenya = await startGateway({ bankCountry: 'KE' });
    const reference = fresh();
    const body = { email: 'a@example.com', amount: 5000, currency: 'KES', reference, bank_transfer: {} };
    const { data } = await kenya.call('POST', '/charge', body);
    expect(data).toMatchObject({
      status: 'pending_bank_transfer',
      amount: 5000,
      transaction_reference: reference,
      account_expires_at: new Date(kenya.clock.nowMs + 25 * MINUTE_MS).toISOString(),
    });
    const naira = await kenya.call('POST', '/charge', {
      ...body,
      currency: 'NGN',
      reference: fresh(),
      amount: 50_000,
    });
    expect(naira.code).toBe('no_active_channel');
  });

  it('serves only the currencies of the integration, and USD only in Nigeria and Kenya', async () => {
    const ghana = await startGateway({ bankCountry: 'GH', currencies: ['GHS', 'USD'] });
    const initializeIn = (currency?: string) =>
      ghana.call('POST', '/transaction/initialize', { email: 'a@example.com', amount: 5000, currency });
    expect((await initializeIn('USD')).code).toBe('unsupported_currency');
    expect((await initializeIn('NGN')).code).toBe('unsupported_currency');
    const { data } = await initializeIn();
    expect((await ghana.verify(String(data['reference'])))['currency']).toBe('GHS');
  });
});

describe('the gateway simulator, POST /charge by mobile money', () => {
  const byPhone = (mobile_money: Record<string, unknown>, currency = 'GHS') =>
    charge({ reference: fresh('phone'), amount: 1000, currency, mobile_money });

  it.each([
    ['GHS', 'mtn'],
    ['GHS', 'atl'],
    ['KES', 'mpesa'],
    ['KES', 'mpesa_offline'],
    ['XOF', 'orange'],
    ['XOF', 'wave'],
  ])('in %s by %s is paid on the phone', async (currency, provider) => {
    const { data } = await byPhone({ phone: '+233 55 000 0000', provider }, currency);
    expect(data).toMatchObject({ status: 'pay_offline', display_text: expect.any(String) as string });
    const reference = String(data['reference']);
    expect(await gateway.verify(reference)).toMatchObject({ status: 'pending', channel: 'mobile_money' });
    expect((await gateway.call('GET', `/charge/${reference}`)).data['status']).toBe('pending');
  });

  it('Vodafone needs a voucher code, and the correct one pays', async () => {
    const { data } = await byPhone({ phone: '0200000000', provider: 'vod' });
    expect(data['status']).toBe('send_otp');
    const reference = String(data['reference']);
    const submit = (otp: unknown) => gateway.call('POST', '/charge/submit_otp', { otp, reference });
    expect(await submit('000000')).toMatchObject({ status: 400, code: 'invalid_otp' });
    expect(await submit(undefined)).toMatchObject({ status: 400, code: 'missing_params' });
    expect((await gateway.verify(reference))['status']).toBe('ongoing');
    expect((await submit('123456')).data).toMatchObject({ status: 'success', amount: 1000, reference });
    expect(await submit('123456')).toMatchObject({ status: 400, code: 'invalid_state' });
  });

  it.each([
    [{ phone: '0550000000', provider: 'mpesa' }, 'GHS', 'invalid_params'],
    [{ phone: '0550000000', provider: 'mtn' }, 'NGN', 'unsupported_currency'],
    [{ phone: '0550000000', provider: 'mtn' }, 'USD', 'unsupported_currency'],
    [{ phone: '0550000000' }, 'GHS', 'missing_params'],
    [{ provider: 'mtn' }, 'GHS', 'missing_params'],
    [{ phone: 'call me', provider: 'mtn' }, 'GHS', 'invalid_params'],
    [{ phone: '0550000000', provider: 'mptill' }, 'KES', 'missing_params'],
  ])('refuses %j in %s with %s', async (mobile_money, currency, code) => {
    const amount = currency === 'NGN' ? 5000 : 1000;
    const reply = await charge({ reference: fresh(), amount, currency, mobile_money });
    expect(reply).toMatchObject({ status: 400, code });
  });
});

describe('the gateway simulator, requests for what it does not have', () => {
  it.each(['/transaction/verify/nothing', '/charge/nothing', '/transaction/timeline/nothing'])(
    'GET %s is 404, or 400 under the fault unknownReference',
    async (path) => {
      const missing = { ok: false, code: 'transaction_not_found' };
      expect(await gateway.call('GET', path)).toMatchObject({ status: 404, ...missing });
      await gateway.setFaults({ unknownReference: 400 });
      expect(await gateway.call('GET', path)).toMatchObject({ status: 400, ...missing });
    },
  );

  it('finds no charge under the fault otherIntegration', async () => {
    const { reference } = await gateway.initialize({});
    await gateway.setFaults({ otherIntegration: true });
    for (const path of [`/transaction/verify/${reference}`, `/charge/${reference}`])
      expect(await gateway.call('GET', path)).toMatchObject({ status: 404, code: 'transaction_not_found' });
    await gateway.setFaults({ otherIntegration: false });
    expect(await gateway.call('GET', `/transaction/verify/${reference}`)).toMatchObject({ status: 200 });
  });

  it('answers 404 for an unknown path or method, 400 for a body that is no object, 413 above 1 MB', async () => {
    expect(await gateway.call('GET', '/nowhere')).toMatchObject({ status: 404, ok: false });
    expect(await gateway.call('DELETE', '/charge')).toMatchObject({ status: 404, ok: false });
    for (const rawBody of ['{', '[]', '"x"', '7', 'null']) {
      const reply = await gateway.call('POST', '/charge', undefined, { rawBody });
      expect(reply).toMatchObject({ status: 400, ok: false, code: 'invalid_params' });
    }
    const rawBody = JSON.stringify({ email: 'x'.repeat(1_100_000) });
    expect((await gateway.call('POST', '/charge', undefined, { rawBody })).status).toBe(413);
  });
});

describe('the gateway simulator, GET /transaction', () => {
  it('lists charges by page, newest first, by range, status and customer', async () => {
    const own = await startGateway();
    for (let i = 0; i < 5; i += 1) {
      const { reference } = await own.initialize({
        email: i < 2 ? 'first@example.com' : 'other@example.com',
      });
      if (i === 1) await own.pay(reference);
      own.clock.nowMs += HOUR_MS;
    }
    const list = async (query: string) => {
      const { data, meta } = await own.call('GET', `/transaction${query}`);
      return { rows: data as unknown as Record<string, unknown>[], meta };
    };
    const all = await list('');
    expect(all.rows).toHaveLength(5);
    const created = all.rows.map((row) => String(row['created_at']));
    expect(created).toEqual(created.toSorted().toReversed());
    expect(all.meta).toMatchObject({ total: 5, perPage: 50, page: 1, pageCount: 1 });
    const second = await list('?perPage=2&page=2');
    expect(second.rows).toEqual(all.rows.slice(2, 4));
    expect(second.meta).toMatchObject({ skipped: 2, page: 2, pageCount: 3 });
    expect((await list('?status=success')).rows).toHaveLength(1);
    expect((await list('?status=abandoned')).rows).toHaveLength(4);
    const from = encodeURIComponent(created[1] ?? '');
    expect((await list(`?from=${from}`)).rows).toHaveLength(2);
    expect((await list(`?to=${from}`)).rows).toHaveLength(4);
    const { id } = all.rows[4]?.['customer'] as { id: number };
    expect((await list(`?customer=${id}`)).rows).toHaveLength(2);
    for (const query of ['?page=0', '?perPage=x', '?from=yesterday', '?customer=me']) {
      expect((await own.call('GET', `/transaction${query}`)).status).toBe(400);
    }
  });

  it('returns one charge by its id, and its timeline by id or reference', async () => {
    const reference = await gateway.transfer();
    const { id } = await gateway.verify(reference);
    await gateway.pay(reference);
    const fetched = await gateway.call('GET', `/transaction/${String(id)}`);
    expect(fetched).toMatchObject({
      message: 'Transaction retrieved',
      data: { reference, status: 'success' },
    });
    expect((await gateway.call('GET', '/transaction/99')).status).toBe(404);
    expect((await gateway.call('GET', `/transaction/${reference}`)).message).toMatch(/numeric/);
    const byId = await gateway.call('GET', `/transaction/timeline/${String(id)}`);
    expect(byId.data).toMatchObject({ success: true, history: [{ type: 'success' }] });
    const byReference = await gateway.call('GET', `/transaction/timeline/${reference}`);
    expect(byReference.data).toEqual(byId.data);
  });
});

describe('the gateway simulator, settings', () => {
  it('registers, lists and unregisters domains of Apple Pay', async () => {
    const domain = (method: string, domainName: string) =>
      gateway.call(method, '/apple-pay/domain', { domainName });
    expect((await gateway.call('GET', '/apple-pay/domain')).data).toEqual({ domainNames: [] });
    expect(await domain('POST', 'shop.example.com')).toMatchObject({ status: 200, ok: true });
    expect((await domain('POST', 'shop.example.com')).status).toBe(200);
    expect((await domain('POST', 'not a domain')).status).toBe(400);
    expect((await gateway.call('GET', '/apple-pay/domain')).data).toEqual({
      domainNames: ['shop.example.com'],
    });
    expect((await domain('DELETE', 'shop.example.com')).status).toBe(200);
    expect((await domain('DELETE', 'shop.example.com')).status).toBe(404);
  });

  it('keeps the payment session timeout', async () => {
    const path = '/integration/payment_session_timeout';
    expect((await gateway.call('GET', path)).data).toEqual({ payment_session_timeout: 0 });
    expect((await gateway.call('PUT', path, { timeout: 60 })).data).toEqual({ payment_session_timeout: 60 });
    expect((await gateway.call('PUT', path, { timeout: -1 })).status).toBe(400);
    expect((await gateway.call('PUT', path, { timeout: 0 })).data).toEqual({ payment_session_timeout: 0 });
  });
});
