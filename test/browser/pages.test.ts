// What people look at in a browser: the reference on /docs/reference, and a purchase in the Temporal UI.
import { rm } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunningTemporal } from '../../src/dev/temporal.ts';
import { startTestTemporal } from '../support/world/services.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import { openBrowser, watchOrigins, watchTroubles } from './browser.ts';

let browser: Browser;
let temporal: RunningTemporal;
let stack: Stack;
let page: Page;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  browser = await openBrowser();
  closers.push(() => browser.close());
  const folder = await makeTestFolder();
  closers.push(() => rm(folder, { recursive: true, force: true }));
  // Of its own, because the address of the shared one's UI is unknown.
  temporal = await startTestTemporal(folder);
  closers.push(() => temporal.stop());
  stack = await startStack({ temporalAddress: temporal.address, wholeCatalogue: true });
  closers.push(() => stack.close());
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});
beforeEach(async () => {
  page = await browser.newPage();
});
afterEach(() => page.close());

describe('the reference', () => {
  it('shows every operation, without errors and without requests to other servers', async () => {
    const troubles = watchTroubles(page);
    const origins = watchOrigins(page);
    await page.goto(`${stack.apiUrl}/docs/reference`);
    await page.locator('.opblock').first().waitFor();
    const { text } = await stack.call('GET', '/api/openapi.json');
    const { paths, webhooks } = JSON.parse(text) as Record<'paths' | 'webhooks', Record<string, object>>;
    const operations = [paths, webhooks].flatMap((all) => Object.values(all).flatMap(Object.keys));
    expect(operations.length).toBeGreaterThan(8);
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    expect(await page.title()).toBe('eSIM Reseller API');
    expect(troubles).toEqual([]);
    expect([...origins]).toEqual([stack.apiUrl]);
  });

  it('opens an operation and shows its request and responses', async () => {
    const troubles = watchTroubles(page);
    await page.goto(`${stack.apiUrl}/docs/reference`);
    const buy = page.locator('.opblock-post', { hasText: '/api/esim/buy' });
    await buy.locator('.opblock-summary-control').click();
    await buy.locator('.responses-table .response').first().waitFor();
    const text = await buy.innerText();
    for (const word of ['Idempotency-Key', 'packageCode', 'PACKAGE_UNAVAILABLE', '201'])
      expect(text).toContain(word);
    expect(troubles).toEqual([]);
  });
});

describe('the Temporal UI', () => {
  it('finds a purchase by its TransactionId, completed, and without its install secrets', async () => {
    const account = await stack.account();
    const bought = await stack.call('POST', '/api/esim/buy', {
      key: account.apiKey,
      body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
    });
    expect(bought.body.status).toBe('SUCCESS');
    const { transactionId, esimDetails } = bought.body;
    const row = page.getByRole('row').filter({ hasText: transactionId });
    const query = encodeURIComponent(`TransactionId="${transactionId}"`);
    // The search index follows within moments; the page shows what it knew when it was opened.
    await expect
      .poll(async () => {
        await page.goto(`${temporal.uiUrl}/namespaces/${stack.namespace}/workflows?query=${query}`);
        await row.waitFor({ timeout: 5_000 }).catch(() => undefined);
        return (await row.count()) === 1 && (await row.innerText()).includes('Completed');
      })
      .toBe(true);

    await row.getByRole('link', { name: transactionId }).click();
    await page.getByRole('heading', { name: transactionId }).waitFor();
    await page.getByText('Event History').first().waitFor();
    // The page stands before the events in it do.
    await page.getByText(account.accountId).first().waitFor();
    const text = await page.locator('body').innerText();
    expect(text).toContain('purchase');
    expect(text).toContain(account.accountId);
    expect(text).not.toContain(esimDetails.activationCode);
    expect(text).not.toContain(esimDetails.matchingId);
  });
});
