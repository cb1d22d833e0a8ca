/** The hosted page of the gateway simulator, as a browser without scripts uses it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, exchange, startGateway, stopAll, type TestGateway } from './gateway-simulator.support.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ merchant: 'Ade & Söhne <eSIM>' });
});
afterEach(async () => {
  await gateway.control('DELETE', '/faults');
  await gateway.call('PUT', '/integration/payment_session_timeout', { timeout: 0 });
});
afterAll(stopAll);

const open = (page: string) => exchange(page, 'GET', {}, undefined);
const press = (page: string, form: Record<string, string>) =>
  exchange(
    page,
    'POST',
    { 'content-type': 'application/x-www-form-urlencoded' },
    new URLSearchParams(form).toString(),
  );
const CALLBACK = 'https://shop.example/back?order=7';

describe('the hosted page of the gateway simulator', () => {
  it('shows amount, merchant, e-mail address and channel in a form that needs no script', async () => {
    const { reference, page } = await gateway.initialize({
      amount: 123_456_700,
      email: 'o\'neil&"co@example.com'.replace('"', ''),
      channels: ['card'],
      callback_url: CALLBACK,
    });
    const { status, headers, text } = await open(page);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).toContain('<html lang="en">');
    expect(text).toContain('<h1>Pay Ade &amp; Söhne &lt;eSIM&gt;</h1>');
    expect(text).toContain('NGN 1,234,567.00');
    expect(text).toContain('o&#39;neil&amp;co@example.com');
    expect(text).toContain('<dt>Channel</dt><dd>Card</dd>');
    expect(text).not.toMatch(/<script|onclick|javascript:/);
    expect(text.match(/type="radio"/g)).toHaveLength(5);
    expect(text.match(/name="action" value="(pay|fail|abandon)"/g)).toHaveLength(3);
    expect(text).toContain(
      `href="https://shop.example/back?order=7&amp;trxref=${reference}&amp;reference=${reference}"`,
    );
  });

  it('has a strict content policy that lets the browser return to the merchant', async () => {
    const { page } = await gateway.initialize({ callback_url: CALLBACK });
    const { headers, text } = await open(page);
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self' https:\/\/shop\.example; /,
    );
    expect(policy).not.toContain('unsafe');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(text.match(/<style>/g)).toHaveLength(1);
  });

  it('makes the charge ongoing when it is opened, and is 404 for a direct charge or an unknown code', async () => {
    const { reference, page } = await gateway.initialize();
    await open(page);
    expect(await gateway.verify(reference)).toMatchObject({ status: 'ongoing', log: { success: false } });
    const { instructions } = await gateway.held(await gateway.transfer());
    expect(instructions).toMatchObject({ kind: 'bank-transfer' });
    expect((await open(`${gateway.url}/checkout/000000000000000`)).status).toBe(404);
    expect((await open(`${gateway.url}/checkout/`)).status).toBe(404);
    expect((await exchange(page, 'DELETE', {}, undefined)).status).toBe(405);
  });
});

describe('the hosted page of the gateway simulator, Pay', () => {
  it('pays, sends an event and returns to the merchant with the reference', async () => {
    const { reference, page } = await gateway.initialize({ callback_url: CALLBACK });
    const { status, headers } = await press(page, { action: 'pay', way: 'card:success' });
    expect(status).toBe(303);
    expect(headers.location).toBe(`${CALLBACK}&trxref=${reference}&reference=${reference}`);
    expect(await gateway.verify(reference)).toMatchObject({
      status: 'success',
      channel: 'card',
      gateway_response: 'Successful',
      authorization: { last4: '4081', brand: 'visa' },
    });
    expect(eventsOf(await gateway.held(reference), 'charge.success')).toHaveLength(1);
    const after = await open(page);
    expect(after.text).toContain('role="status">Paid. Thank you.');
    expect(after.text).not.toContain('<form');
  });

  it('pays once when it is pressed three times', async () => {
    const { reference, page } = await gateway.initialize();
    await Promise.all([1, 2, 3].map(() => press(page, { action: 'pay' })));
    expect((await gateway.held(reference)).payments).toHaveLength(1);
  });

  it('returns to the page if the charge has no callback', async () => {
    const { page } = await gateway.initialize();
    const { headers } = await press(page, { action: 'pay', way: 'card:success' });
    expect(headers.location).toBe(page);
  });

  it.each([
    ['card:declined', 'Declined'],
    ['card:insufficient-funds', 'Insufficient Funds'],
  ])('with %s does not pay, shows the reason, and may be tried again', async (way, reason) => {
    const { reference, page } = await gateway.initialize({ callback_url: CALLBACK });
    const { headers } = await press(page, { action: 'pay', way });
    expect(headers.location).toBe(page);
    expect(await gateway.verify(reference)).toMatchObject({ status: 'failed', gateway_response: reason });
    const { text } = await open(page);
    expect(text).toContain(`role="alert">Not paid: ${reason}.`);
    expect(text).toContain('<form');
    await press(page, { action: 'pay', way: 'card:success' });
    expect((await gateway.verify(reference))['status']).toBe('success');
  });

  it.each([
    ['card:refund-fails', 'failed'],
    ['card:refund-needs-attention', 'needs-attention'],
  ])('with %s pays, and a refund ends %s', async (way, ending) => {
    const { reference, page } = await gateway.initialize();
    await press(page, { action: 'pay', way });
    expect((await gateway.verify(reference))['status']).toBe('success');
    await gateway.call('POST', '/refund', { transaction: reference });
    await gateway.advance(600);
    expect((await gateway.held(reference)).refunds).toMatchObject([{ status: ending }]);
  });

  it.each([
    ['bank_transfer:exact', 500_000],
    ['bank_transfer:short', 400_000],
    ['bank_transfer:over', 600_000],
  ])('with %s pays %i', async (way, amount) => {
    const { reference, page } = await gateway.initialize();
    await press(page, { action: 'pay', way });
    expect(await gateway.verify(reference)).toMatchObject({
      status: 'success',
      channel: 'bank_transfer',
      amount,
    });
  });

  it('sends a transfer of the wrong amount back under the fault shortTransfer', async () => {
    await gateway.setFaults({ shortTransfer: 'return' });
    const { reference, page } = await gateway.initialize({ channels: ['bank_transfer'] });
    await open(page);
    await press(page, { action: 'pay', way: 'bank_transfer:short' });
    expect(await gateway.verify(reference)).toMatchObject({ status: 'ongoing', paid_at: null });
    expect((await open(page)).text).toContain('role="alert">The transfer was sent back');
    await press(page, { action: 'pay', way: 'bank_transfer:exact' });
    expect((await gateway.verify(reference))['status']).toBe('success');
  });

  it.each([
    [['apple_pay'], 'NGN', 'apple_pay'],
    [['mobile_money'], 'GHS', 'mobile_money'],
  ])('offers only the channel of the charge: %j in %s', async (channels, currency, channel) => {
    const { reference, page } = await gateway.initialize({ channels, currency });
    expect((await open(page)).text.match(/type="radio"/g)).toHaveLength(1);
    await press(page, { action: 'pay', way: channel });
    expect(await gateway.verify(reference)).toMatchObject({ status: 'success', channel });
  });
});

describe('the hosted page of the gateway simulator, Fail and Abandon', () => {
  it('Fail declines the charge', async () => {
    const { reference, page } = await gateway.initialize();
    await press(page, { action: 'fail' });
    expect((await gateway.verify(reference))['status']).toBe('failed');
  });

  it('Abandon goes to cancel_action, else to the merchant, else answers 200', async () => {
    const cancel_action = 'https://shop.example/cancelled';
    const cancelling = await gateway.initialize({ callback_url: CALLBACK, metadata: { cancel_action } });
    expect((await press(cancelling.page, { action: 'abandon' })).headers.location).toBe(cancel_action);
    expect((await gateway.verify(cancelling.reference))['status']).toBe('abandoned');
    const back = await gateway.initialize({ callback_url: CALLBACK });
    expect((await press(back.page, { action: 'abandon' })).headers.location).toMatch(
      /^https:\/\/shop\.example\/back/,
    );
    const plain = await gateway.initialize({ metadata: { cancel_action: 'javascript:alert(1)' } });
    expect(await press(plain.page, { action: 'abandon' })).toMatchObject({ status: 200 });
    expect((await gateway.verify(plain.reference))['status']).toBe('abandoned');
    await press(plain.page, { action: 'pay' });
    expect((await gateway.verify(plain.reference))['status']).toBe('success');
  });

  it('refuses an unknown action or method, and changes nothing', async () => {
    const { reference, page } = await gateway.initialize({ channels: ['card'] });
    const before = await gateway.verify(reference);
    for (const form of [{}, { action: 'steal' }, { action: 'pay', way: 'bank_transfer:exact' }]) {
      expect((await press(page, form as Record<string, string>)).status).toBe(400);
    }
    expect((await press(page, { action: 'pay', way: 'x'.repeat(20_000) })).status).toBe(413);
    expect(await gateway.verify(reference)).toEqual(before);
  });

  it('takes no payment after the payment session timeout', async () => {
    await gateway.call('PUT', '/integration/payment_session_timeout', { timeout: 60 });
    const { reference, page } = await gateway.initialize();
    await open(page);
    gateway.clock.nowMs += 60_001;
    const { text } = await open(page);
    expect(text).toContain('role="alert">The time to pay is over.');
    expect(text).not.toContain('<form');
    await press(page, { action: 'pay' });
    expect((await gateway.held(reference)).payments).toEqual([]);
  });
});

it('the gateway simulator names its hosted pages by its public address if it has one', async () => {
  const own = await startGateway({ publicUrl: 'https://pay.example/gateway/' });
  const { page } = await own.initialize();
  expect(page).toMatch(/^https:\/\/pay\.example\/gateway\/checkout\/[0-9a-z]{15}$/);
});
