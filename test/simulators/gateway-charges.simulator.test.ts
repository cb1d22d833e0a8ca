/** Keys, amounts, currencies, transfer accounts, mobile money, lists, settings. See also test/vendors/. */
import { describe, expect, it } from 'vitest';
import {
  fresh,
  HOUR_MS,
  MINUTE_MS,
  SECRET_KEY,
  sharedGateway,
  startGateway,
} from './gateway-simulator.support.ts';

const gateway = sharedGateway();
const SOME_WORDS = expect.stringMatching(/./) as unknown;
const send = (path: string) => (extra: object) =>
  gateway.call('POST', path, { email: 'a@example.com', amount: 500_000, reference: fresh(), ...extra });
const [initialize, charge] = [send('/transaction/initialize'), send('/charge')];

describe('the gateway simulator, authentication', () => {
  it.each([
    [{}, 'No Authorization Header was found'],
    [{ authorization: SECRET_KEY }, 'Format is Authorization: Bearer [secret key]'],
    [{ authorization: 'Basic abc' }, 'Format is Authorization: Bearer [secret key]'],
    [{ authorization: `Bearer ${SECRET_KEY}x` }, 'Invalid key'],
  ])('refuses the headers %j with 401, before it looks at path and body: %s', async (headers, message) => {
    const reply = await gateway.call('POST', '/nowhere', undefined, { headers, rawBody: '{' });
    expect(reply).toMatchObject({ status: 401, ok: false, message });
    expect(JSON.parse(reply.text)).toMatchObject({
      type: 'validation_error',
      meta: { nextStep: SOME_WORDS },
    });
  });
});

describe('the gateway simulator, POST /transaction/initialize', () => {
  it('makes a reference if none is given, accepts an amount as text, and keeps metadata as it was sent', async () => {
    const object = { order: 7, nested: { deep: [1] } };
    for (const metadata of [object, JSON.stringify(object)]) {
      const { reference } = await gateway.initialize({ amount: '500000', reference: undefined, metadata });
      expect(reference).toMatch(/^[0-9a-z]{15}$/);
      expect(await gateway.verify(reference)).toMatchObject({ requested_amount: 500_000, metadata });
    }
  });

  it.each([
    [{ email: '' }, 'missing_params'],
    [{ email: 'no-address' }, 'invalid_params'],
    [{ amount: undefined }, 'missing_params'],
    [{ amount: 0 }, 'invalid_amount'],
    [{ amount: 5000.5 }, 'invalid_amount'],
    [{ amount: '5000.00' }, 'invalid_amount'],
    [{ amount: 1_000_000_100 }, 'invalid_amount'],
    [{ currency: 'EUR' }, 'unsupported_currency'],
    [{ channels: ['carrier_pigeon'] }, 'invalid_params'],
    [{ channels: [] }, 'invalid_params'],
    [{ channels: ['mobile_money'] }, 'no_active_channel'],
    [{ channels: ['bank_transfer'], amount: 9999 }, 'invalid_amount'],
    [{ reference: 'has_underscore' }, 'invalid_params'],
    [{ reference: 'x'.repeat(101) }, 'invalid_params'],
    [{ callback_url: 'javascript:alert(1)' }, 'invalid_params'],
    [{ metadata: 7 }, 'invalid_params'],
  ])('refuses %j with 400 %s', async (extra, code) => {
    expect(await initialize(extra)).toMatchObject({ status: 400, ok: false, code, message: SOME_WORDS });
  });

  it.each([
    ['NGN', 5000],
    ['USD', 200],
    ['GHS', 10],
    ['KES', 300],
    ['XOF', 100],
    ['ZAR', 100],
  ])('in %s takes %i, and nothing below', async (currency, amount) => {
    expect((await initialize({ currency, amount })).status).toBe(200);
    expect((await initialize({ currency, amount: amount - 1 })).code).toBe('invalid_amount');
  });

  it('rounds XOF down to whole francs', async () => {
    const { reference } = await gateway.initialize({ currency: 'XOF', amount: 12_345 });
    expect((await gateway.verify(reference))['requested_amount']).toBe(12_300);
  });

  it('refuses a reference that was used, like POST /charge, counts the request and keeps the first', async () => {
    const reference = `A.z-0=${fresh()}`;
    expect((await initialize({ reference })).status).toBe(200);
    const taken = { status: 400, code: 'duplicate_reference', message: 'Duplicate Transaction Reference' };
    expect(await initialize({ reference, amount: 700_000 })).toMatchObject(taken);
    expect(await charge({ reference, bank_transfer: {} })).toMatchObject(taken);
    expect(await gateway.held(encodeURIComponent(reference))).toMatchObject({
      requests: 3,
      requested: { amountMinor: 500_000, currency: 'NGN' },
    });
  });
});

describe('the gateway simulator, POST /charge', () => {
  it.each([
    [-HOUR_MS, 15 * MINUTE_MS],
    [30 * MINUTE_MS, 30 * MINUTE_MS],
    [9 * HOUR_MS, 8 * HOUR_MS],
  ])('an account that should expire in %i ms expires in %i ms', async (wantedMs, givenMs) => {
    const { nowMs } = gateway.clock;
    const account_expires_at = new Date(nowMs + wantedMs).toISOString();
    const { data } = await charge({ bank_transfer: { account_expires_at } });
    expect(data['account_expires_at']).toBe(new Date(nowMs + givenMs).toISOString());
  });

  const [phone, mtn] = [{ phone: '0550000000' }, { provider: 'mtn' }];
  it.each([
    [{ bank_transfer: {}, amount: 9999 }, 'invalid_amount'],
    [{ bank_transfer: {}, currency: 'USD' }, 'no_active_channel'],
    [{ bank_transfer: {}, currency: 'KES' }, 'no_active_channel'],
    [{ bank_transfer: { account_expires_at: 'soon' } }, 'invalid_params'],
    [{ bank_transfer: 'yes' }, 'invalid_params'],
    [{ card: { number: '1' } }, 'invalid_params'],
    [{ bank_transfer: {}, mobile_money: {} }, 'invalid_params'],
    [{ mobile_money: { ...phone, provider: 'mpesa' }, currency: 'GHS' }, 'invalid_params'],
    [{ mobile_money: { ...phone, ...mtn }, currency: 'NGN' }, 'unsupported_currency'],
    [{ mobile_money: phone, currency: 'GHS' }, 'missing_params'],
    [{ mobile_money: { phone: 'call me', ...mtn }, currency: 'GHS' }, 'invalid_params'],
    [{ mobile_money: { ...phone, provider: 'mptill' }, currency: 'KES' }, 'missing_params'],
  ])('refuses %j with 400 %s', async (extra, code) => {
    expect(await charge(extra)).toMatchObject({ status: 400, code });
  });

  it('has accounts in KES for an integration in Kenya, for 25 minutes', async () => {
    const kenya = await startGateway({ bankCountry: 'KE' });
    const reference = await kenya.transfer({ amount: 5000, currency: 'KES' });
    expect((await kenya.call('GET', `/charge/${reference}`)).data).toMatchObject({
      status: 'pending_bank_transfer',
      amount: 5000,
      transaction_reference: reference,
      account_expires_at: new Date(kenya.clock.nowMs + 25 * MINUTE_MS).toISOString(),
    });
    await expect(kenya.transfer()).rejects.toThrow('no_active_channel');
  });

  it('serves only the currencies of the integration, and USD only in Nigeria and Kenya', async () => {
    const ghana = await startGateway({ bankCountry: 'GH', currencies: ['GHS', 'USD'] });
    for (const currency of ['USD', 'NGN'])
      await expect(ghana.initialize({ currency })).rejects.toThrow('unsupported_currency');
    const { reference } = await ghana.initialize();
    expect((await ghana.verify(reference))['currency']).toBe('GHS');
  });

  it.each([
    ['GHS', 'mtn'],
    ['KES', 'mpesa_offline'],
    ['XOF', 'wave'],
  ])('in %s by %s is paid on the phone', async (currency, provider) => {
    const mobile_money = { phone: '+233 55 000 0000', provider };
    const { data } = await charge({ currency, mobile_money });
    expect(data).toMatchObject({ status: 'pay_offline', display_text: SOME_WORDS });
    const reference = String(data['reference']);
    expect(await gateway.verify(reference)).toMatchObject({ status: 'pending', channel: 'mobile_money' });
    expect((await gateway.call('GET', `/charge/${reference}`)).data['status']).toBe('pending');
  });

  it('by Vodafone needs a voucher code, and the correct one pays', async () => {
    const { data } = await charge({
      currency: 'GHS',
      mobile_money: { phone: '0200000000', provider: 'vod' },
    });
    expect(data['status']).toBe('send_otp');
    const { reference } = data;
    const submit = (otp?: string) => gateway.call('POST', '/charge/submit_otp', { otp, reference });
    expect(await submit('000000')).toMatchObject({ status: 400, code: 'invalid_otp' });
    expect(await submit()).toMatchObject({ status: 400, code: 'missing_params' });
    expect((await gateway.verify(String(reference)))['status']).toBe('ongoing');
    expect((await submit('123456')).data).toMatchObject({ status: 'success', amount: 500_000, reference });
    expect(await submit('123456')).toMatchObject({ status: 400, code: 'invalid_state' });
  });
});

describe('the gateway simulator, requests for what it does not have', () => {
  it.each(['/transaction/verify/', '/charge/', '/transaction/timeline/'])(
    'GET %s is 404, or 400 under the fault unknownReference, also under otherIntegration',
    async (path) => {
      const { reference } = await gateway.initialize();
      const missing = { ok: false, code: 'transaction_not_found' };
      expect(await gateway.call('GET', `${path}nothing`)).toMatchObject({ status: 404, ...missing });
      await gateway.setFaults({ unknownReference: 400 });
      expect(await gateway.call('GET', `${path}nothing`)).toMatchObject({ status: 400, ...missing });
      expect((await gateway.call('GET', path + reference)).status).toBe(200);
      await gateway.setFaults({ otherIntegration: true });
      expect(await gateway.call('GET', path + reference)).toMatchObject({ status: 400, ...missing });
    },
  );

  it('answers 404 for an unknown path or method, 400 for a body that is no object, 413 above 1 MB', async () => {
    expect(await gateway.call('GET', '/nowhere')).toMatchObject({ status: 404, ok: false });
    expect(await gateway.call('DELETE', '/charge')).toMatchObject({ status: 404, ok: false });
    for (const rawBody of ['{', '[]', '"x"', '7', 'null']) {
      const reply = await gateway.call('POST', '/charge', undefined, { rawBody });
      expect(reply).toMatchObject({ status: 400, ok: false, code: 'invalid_params' });
    }
    expect((await charge({ email: 'x'.repeat(1_100_000) })).status).toBe(413);
  });
});

describe('the gateway simulator, GET /transaction', () => {
  it('lists charges by page, newest first, by range, status and customer', async () => {
    const own = await startGateway();
    for (let i = 0; i < 5; i += 1) {
      const email = i < 2 ? 'first@example.com' : 'other@example.com';
      const { reference } = await own.initialize({ email });
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
    const { id } = all.rows[4]!['customer'] as { id: number };
    for (const [query, count] of [
      ['?status=success', 1],
      ['?status=abandoned', 4],
      [`?from=${created[1]}`, 2],
      [`?to=${created[1]}`, 4],
      [`?customer=${id}`, 2],
    ] as const)
      expect([query, (await list(query)).rows.length]).toEqual([query, count]);
    for (const query of ['?page=0', '?perPage=x', '?from=yesterday', '?customer=me'])
      expect((await own.call('GET', `/transaction${query}`)).status).toBe(400);
  });

  it('returns one charge by its id, and its timeline by id or reference', async () => {
    const reference = await gateway.paid();
    const id = String((await gateway.verify(reference))['id']);
    const fetched = await gateway.call('GET', `/transaction/${id}`);
    expect(fetched.data).toMatchObject({ reference, status: 'success' });
    expect((await gateway.call('GET', '/transaction/99')).status).toBe(404);
    expect((await gateway.call('GET', `/transaction/${reference}`)).message).toMatch(/numeric/);
    for (const named of [id, reference])
      expect((await gateway.call('GET', `/transaction/timeline/${named}`)).data).toMatchObject({
        success: true,
        history: [{ type: 'success' }],
      });
  });
});

describe('the gateway simulator, settings', () => {
  it('registers, lists and unregisters domains of Apple Pay', async () => {
    const statusOf = async (method: string, domainName: string) =>
      (await gateway.call(method, '/apple-pay/domain', { domainName })).status;
    const listed = async () => (await gateway.call('GET', '/apple-pay/domain')).data['domainNames'];
    expect(await listed()).toEqual([]);
    expect(await statusOf('POST', 'shop.example.com')).toBe(200);
    expect(await statusOf('POST', 'not a domain')).toBe(400);
    expect(await listed()).toEqual(['shop.example.com']);
    expect(await statusOf('DELETE', 'shop.example.com')).toBe(200);
    expect(await statusOf('DELETE', 'shop.example.com')).toBe(404);
  });

  it('keeps the payment session timeout', async () => {
    const path = '/integration/payment_session_timeout';
    expect((await gateway.call('GET', path)).data).toEqual({ payment_session_timeout: 0 });
    expect((await gateway.call('PUT', path, { timeout: 60 })).data).toEqual({ payment_session_timeout: 60 });
    expect((await gateway.call('PUT', path, { timeout: -1 })).status).toBe(400);
    expect((await gateway.call('PUT', path, { timeout: 0 })).data).toEqual({ payment_session_timeout: 0 });
  });
});
