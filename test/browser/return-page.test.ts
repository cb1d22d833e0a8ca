import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startApi, type TestApi } from '../support/http/api.ts';
import { openBrowser, watchOrigins, watchTroubles } from './browser.ts';
import type { PaymentStatusView } from '../../src/payments/views.ts';
import { forFile } from '../support/world/for-file.ts';

const browser = await forFile(openBrowser());
let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => Promise.all([...browser.contexts().map((context) => context.close()), api.close()]));

const REFERENCE = `txn-${'a'.repeat(32)}`;

function stands(status: PaymentStatusView['status'], changes: Partial<PaymentStatusView> = {}): void {
  const view: PaymentStatusView = {
    reference: REFERENCE,
    purpose: 'purchase',
    status,
    reason: null,
    packageName: 'Nigeria 5GB 30Days',
    charge: { amountMinor: 1_917_812n, currency: 'NGN' },
    receivedMinor: 0n,
    ...changes,
  };
  api.shop.replace('test', 'findPaymentStatus', () => Promise.resolve(view));
}

const url = (): string => `${api.server.url}/pay/return?trxref=${REFERENCE}&reference=${REFERENCE}`;
const heading = (page: Page, text: string): Promise<void> =>
  page.getByRole('heading', { name: text }).waitFor();

it('goes from waiting to paid to done by itself, then stops polling, and asks no other server', async () => {
  stands('PENDING');
  const page = await browser.newPage();
  const troubles = watchTroubles(page);
  const origins = watchOrigins(page);
  let loads = 0;
  page.on('load', () => (loads += 1));
  await page.goto(url());
  await heading(page, 'Checking your payment');
  stands('PROCESSING');
  await heading(page, 'Paid. Preparing your eSIM');
  expect(await page.title()).toBe('Paid. Preparing your eSIM');
  stands('SUCCESS');
  await heading(page, 'Done. Your eSIM is ready');
  expect(await page.getByRole('status').innerText()).toContain('19,178.12 NGN');
  expect(loads).toBe(1);

  expect(await page.locator('#status').getAttribute('data-ask')).toBeNull();
  expect(troubles).toEqual([]);
  expect([...origins]).toEqual([api.server.url]);
});

it('survives a failed poll', async () => {
  stands('PENDING');
  const page = await browser.newPage();
  await page.goto(url());
  await heading(page, 'Checking your payment');
  api.shop.failNext = new Error('storage is away');
  await expect.poll(() => api.shop.failNext).toBeUndefined();
  stands('FAILED', { reason: 'PAYMENT_EXPIRED' });
  await heading(page, 'Not completed');
  expect(await page.getByRole('status').innerText()).toContain('did not arrive in time');
});

it('follows the payment without scripts, too', async () => {
  stands('PENDING');
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(url());
  await heading(page, 'Checking your payment');
  stands('SUCCESS');
  await heading(page, 'Done. Your eSIM is ready');
});

it('reads names as text: markup in them does nothing', async () => {
  stands('PENDING', {
    packageName: '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  });
  const page = await browser.newPage();
  const troubles = watchTroubles(page);
  await page.goto(url());
  await heading(page, 'Checking your payment');
  expect(await page.getByRole('status').innerText()).toContain('<img src=x onerror="document.title=1">');
  expect(await page.title()).toBe('Checking your payment');
  expect(troubles).toEqual([]);
});
