/** The hosted page of the gateway simulator, as a browser without scripts uses it. */
import { describe, expect, it } from 'vitest';
import { eventsOf, exchange, sharedGateway, startGateway } from './gateway-simulator.support.ts';

const gateway = sharedGateway({ merchant: 'Ade & Söhne <eSIM>' });
const open = (page: string) => exchange(page, 'GET', {}, undefined);
const press = (page: string, form: Record<string, string>) =>
  exchange(
    page,
    'POST',
    { 'content-type': 'application/x-www-form-urlencoded' },
    new URLSearchParams(form).toString(),
  );
async function paidBy(way: string, extra: object = {}) {
  const { reference, page } = await gateway.initialize(extra);
  await press(page, { action: 'pay', way });
  return { reference, page, ...(await gateway.verify(reference)) };
}
const CALLBACK = 'https://shop.example/back?order=7';

describe('the hosted page of the gateway simulator', () => {
  it('shows amount, merchant, e-mail address and channel in a form that needs no script', async () => {
    const { reference, page } = await gateway.initialize({
      amount: 123_456_700,
      email: "o'neil&co@example.com",
      channels: ['card'],
      callback_url: CALLBACK,
    });
    const { status, headers, text } = await open(page);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    for (const shown of [
      '<html lang="en">',
      '<h1>Pay Ade &amp; Söhne &lt;eSIM&gt;</h1>',
      'NGN 1,234,567.00',
      'o&#39;neil&amp;co@example.com',
      '<dt>Channel</dt><dd>Card</dd>',
      `href="https://shop.example/back?order=7&amp;trxref=${reference}&amp;reference=${reference}"`,
    ])
      expect(text).toContain(shown);
    expect(text).not.toMatch(/<script|onclick|javascript:/);
    expect(text.match(/type="radio"/g)).toHaveLength(5);
    expect(text.match(/name="action" value="(pay|fail|abandon)"/g)).toHaveLength(3);
  });

  it('has a strict content policy that lets the browser return to the merchant', async () => {
    const { page } = await gateway.initialize({ callback_url: CALLBACK });
    const { headers, text } = await open(page);
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self' https:\/\/shop\.example; /,
    );
    expect(policy).not.toContain('unsafe');
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    expect(text.match(/<style>/g)).toHaveLength(1);
  });

  it('makes the charge ongoing when it is opened, and is 404 for a direct charge or an unknown code', async () => {
    const { reference, page } = await gateway.initialize();
    await open(page);
    expect(await gateway.verify(reference)).toMatchObject({ status: 'ongoing', log: { success: false } });
    for (const code of ['000000000000000', ''])
      expect((await open(`${gateway.url}/checkout/${code}`)).status).toBe(404);
    expect((await exchange(page, 'DELETE', {}, undefined)).status).toBe(405);
  });

  it('has the public address of the simulator if there is one', async () => {
    const own = await startGateway({ publicUrl: 'https://pay.example/gateway/' });
    const { page } = await own.initialize();
    expect(page).toMatch(/^https:\/\/pay\.example\/gateway\/checkout\/[0-9a-z]{15}$/);
  });
});

describe('the hosted page of the gateway simulator, Pay', () => {
  it('pays, sends an event and returns to the merchant with the reference, or to the page', async () => {
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
    const plain = await gateway.initialize();
    expect((await press(plain.page, { action: 'pay' })).headers.location).toBe(plain.page);
  });

  it('pays once when it is pressed three times', async () => {
    const { reference, page } = await gateway.initialize();
    await Promise.all([1, 2, 3].map(() => press(page, { action: 'pay' })));
    expect((await gateway.held(reference)).payments).toHaveLength(1);
  });

  it.each([
    ['card:declined', 'Declined'],
    ['card:insufficient-funds', 'Insufficient Funds'],
  ])('with %s does not pay, shows the reason, and may be tried again', async (way, reason) => {
    const { page, ...charge } = await paidBy(way, { callback_url: CALLBACK });
    expect(charge).toMatchObject({ status: 'failed', gateway_response: reason });
    const { text } = await open(page);
    expect(text).toContain(`role="alert">Not paid: ${reason}.`);
    expect(text).toContain('<form');
    await press(page, { action: 'pay', way: 'card:success' });
    expect((await gateway.verify(charge.reference))['status']).toBe('success');
  });

  it.each([
    ['card:refund-fails', 'failed'],
    ['card:refund-needs-attention', 'needs-attention'],
  ])('with %s pays, and a refund ends %s', async (way, ending) => {
    const { reference, ...charge } = await paidBy(way);
    expect(charge).toMatchObject({ status: 'success' });
    await gateway.call('POST', '/refund', { transaction: reference });
    await gateway.advance(600);
    expect((await gateway.held(reference)).refunds).toMatchObject([{ status: ending }]);
  });

  it.each([
    ['bank_transfer:exact', {}, 'bank_transfer', 500_000],
    ['bank_transfer:short', {}, 'bank_transfer', 400_000],
    ['bank_transfer:over', {}, 'bank_transfer', 600_000],
    ['apple_pay', { channels: ['apple_pay'] }, 'apple_pay', 500_000],
    ['mobile_money', { channels: ['mobile_money'], currency: 'GHS' }, 'mobile_money', 500_000],
  ])('with %s of %j pays by %s %i', async (way, extra, channel, amount) => {
    expect(await paidBy(way, extra)).toMatchObject({ status: 'success', channel, amount });
  });

  it('offers only the channel of the charge', async () => {
    const { page } = await gateway.initialize({ channels: ['apple_pay'] });
    expect((await open(page)).text.match(/type="radio"/g)).toHaveLength(1);
  });

  it('sends a transfer of the wrong amount back under the fault shortTransfer', async () => {
    await gateway.setFaults({ shortTransfer: 'return' });
    const { page, ...charge } = await paidBy('bank_transfer:short', { channels: ['bank_transfer'] });
    expect(charge).toMatchObject({ paid_at: null });
    expect((await open(page)).text).toContain('role="alert">The transfer was sent back');
    await press(page, { action: 'pay', way: 'bank_transfer:exact' });
    expect((await gateway.verify(charge.reference))['status']).toBe('success');
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
    for (const [extra, location] of [
      [{ callback_url: CALLBACK, metadata: { cancel_action } }, /^https:\/\/shop\.example\/cancelled$/],
      [{ callback_url: CALLBACK }, /^https:\/\/shop\.example\/back/],
    ] as const) {
      const { page } = await gateway.initialize(extra);
      expect((await press(page, { action: 'abandon' })).headers.location).toMatch(location);
    }
    const plain = await gateway.initialize({ metadata: { cancel_action: 'javascript:alert(1)' } });
    expect(await press(plain.page, { action: 'abandon' })).toMatchObject({ status: 200 });
    expect((await gateway.verify(plain.reference))['status']).toBe('abandoned');
    await press(plain.page, { action: 'pay' });
    expect((await gateway.verify(plain.reference))['status']).toBe('success');
  });

  it('refuses an unknown action or method, and changes nothing', async () => {
    const { reference, page } = await gateway.initialize({ channels: ['card'] });
    const before = await gateway.verify(reference);
    for (const form of [{}, { action: 'steal' }, { action: 'pay', way: 'bank_transfer:exact' }])
      expect((await press(page, form as Record<string, string>)).status).toBe(400);
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
    await gateway.call('PUT', '/integration/payment_session_timeout', { timeout: 0 });
  });
});
