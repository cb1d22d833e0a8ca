// The whole way of a card, without confirm-payment; once with the gateway's events, once without.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { timelineOf } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { buyThroughGateway, clearGatewayFaults, gatewayFaults } from '../support/money/payments.ts';
import { openPages, watchOrigins, watchTroubles } from './browser.ts';

const [browser, stack] = await openPages({
  timings: { pollFirstMs: 1_000 },
});
const account = await stack.account({ fundsMinor: 0n, currency: 'NGN' });
let page: Page;
beforeEach(async () => {
  page = await browser.newPage();
});
afterEach(() => clearGatewayFaults(stack));
afterAll(() => expectSoundBooks(stack));

const heading = (text: string): Promise<void> => page.getByRole('heading', { name: text }).waitFor();

const press = (name: string): Promise<void> => page.getByRole('button', { name }).click();

async function openCheckout(packageCode = 'SIM-OK'): Promise<{ transactionId: string }> {
  const { transactionId, answer } = await buyThroughGateway(stack, account, { packageCode });
  expect(answer.body.status).toBe('PENDING');
  await page.goto(answer.body.paymentUrl);
  await heading('Pay Sandbox Merchant');
  expect(await page.locator('main').innerText()).toContain(transactionId);
  return { transactionId };
}

const read = async (transactionId: string) =>
  (await stack.call('GET', `/api/esim/transactions/${transactionId}`, { key: account.apiKey })).body;

const isOnReturnPage = (transactionId: string): void => {
  const url = new URL(page.url());
  expect(url.origin + url.pathname).toBe(`${stack.apiUrl}/pay/return`);
  expect(url.searchParams.get('reference')).toBe(transactionId);
};

describe.each([
  { name: 'with the gateway’s events', webhooks: 'deliver' },
  { name: 'with every event dropped', webhooks: 'drop' },
])('a card, $name', ({ webhooks }) => {
  it('is paid on the gateway’s page, and the return page then shows the eSIM by itself', async () => {
    await gatewayFaults(stack, { webhooks });
    const troubles = watchTroubles(page);
    const origins = watchOrigins(page);
    const { transactionId } = await openCheckout();
    await press('Pay');
    await heading('Done. Your eSIM is ready');
    isOnReturnPage(transactionId);
    expect(await page.getByRole('status').innerText()).toContain('SIM-OK');

    const purchase = await read(transactionId);
    expect(purchase.status).toBe('SUCCESS');
    expect(purchase.esimDetails.activationCode).toMatch(/^LPA:1\$/);
    expect(await timelineOf(stack, transactionId)).toEqual(['opened', 'payment-received', 'delivered']);
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
    expect(troubles).toEqual([]);
    expect([...origins].toSorted()).toEqual([stack.apiUrl, stack.gatewayUrl].toSorted());
  });
});

it('after a declined card the buyer can pay with another one', async () => {
  const { transactionId } = await openCheckout();
  await press('Fail (declined)');
  await page.getByRole('alert').waitFor();
  expect((await read(transactionId)).status).toBe('PENDING');
  await press('Pay');
  await heading('Done. Your eSIM is ready');
  isOnReturnPage(transactionId);
});

it('a buyer who leaves sees a waiting page and can still pay', async () => {
  const { transactionId } = await openCheckout();
  const checkout = page.url();
  await press('Abandon');
  await heading('Checking your payment');
  isOnReturnPage(transactionId);
  const secondTab = await browser.newPage();
  await secondTab.goto(checkout);
  await secondTab.getByRole('button', { name: 'Pay' }).click();
  await heading('Done. Your eSIM is ready');
});

it('a buyer whose eSIM cannot be delivered reads that the money is refunded', async () => {
  const { transactionId } = await openCheckout('SIM-OUT-OF-STOCK');
  await press('Pay');
  await heading('Not completed');
  isOnReturnPage(transactionId);
  expect(await page.getByRole('status').innerText()).toContain('Your money goes back to where it came from');
  await expect.poll(async () => (await timelineOf(stack, transactionId)).at(-1)).toBe('refunded');
});
