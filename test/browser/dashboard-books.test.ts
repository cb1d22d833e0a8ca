import { readFileSync } from 'node:fs';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { graveFaults } from '../support/world/axe.ts';
import { atGateway } from '../support/money/payments.ts';
import { dataOf, SIGN_IN_ENV, signedIn } from '../support/people/people.ts';
import { openPages, watchTroubles } from './browser.ts';
import { goTo, makeDelivered, openOperator } from './operators.support.ts';

// What happened up to now is compared.
const [browser, stack] = await openPages({ env: { ...SIGN_IN_ENV, SIMWAY_TEST_RECONCILE_SETTLE_MS: '1' } });
const ada = await signedIn(stack, 'FINANCE');
const account = await stack.account({ currency: 'NGN', fundsMinor: 100_000_000n });

const openAda = (path: string, options?: BrowserContextOptions) =>
  openOperator({ browser, stack }, ada, path, options);

/** A payment at the gateway that we know nothing of. */
async function payAsStranger(reference: string): Promise<void> {
  const answer = await fetch(`${stack.gatewayUrl}/transaction/initialize`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: 'Bearer sk_test_simulator' },
    body: JSON.stringify({ email: 'a@b.example', amount: 500_000, currency: 'NGN', reference }),
  });
  expect(answer.status).toBe(200);
  await atGateway(stack, reference, 'pay');
}

describe('reconciliation', () => {
  it('runs at the press of a button; what it finds is closed with a reason, and is not found again', async () => {
    // The opening balance at the supplier, which a person agrees to.
    await ada.call('POST', '/ops/reconciliations', {});
    const { items } = dataOf(await ada.call('GET', '/ops/differences')) as { items: { id: string }[] };
    await ada.call('POST', `/ops/differences/${items[0]?.id ?? ''}/close`, { reason: 'paid in' });
    const page = await openAda('/differences');
    const troubles = watchTroubles(page);
    const compare = async (result: string): Promise<void> => {
      await page.getByRole('button', { name: 'Compare now' }).click();
      await page.getByText(result).waitFor();
    };
    await compare('Compared. 0 opened, 0 resolved.');
    await makeDelivered(stack, { account, person: ada });
    await payAsStranger('stranger-1');
    await compare('Compared. 1 opened, 0 resolved.');
    const row = page
      .getByRole('table', { name: 'Differences' })
      .getByRole('row')
      .filter({ hasText: 'stranger-1' });
    await row.getByText('Received at the gateway, not booked').waitFor();
    expect((await row.locator('.amount').first().innerText()).replaceAll('\u00a0', ' ')).toBe('NGN 5,000.00');

    await row.getByRole('button', { name: 'Close' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Close the difference' }).click();
    await dialog.getByText('Give a reason of at least 3 characters').waitFor();
    expect(await graveFaults(page)).toEqual([]);
    await dialog.getByLabel('Reason').fill('of another shop of ours, ticket 4711');
    await dialog.getByRole('button', { name: 'Close the difference' }).click();
    await page.getByText('Difference closed').waitFor();
    await page.getByText('No open differences.').waitFor();
    await compare('Compared. 0 opened, 0 resolved.');
    await page.getByText('No open differences.').waitFor();

    const box = page.getByRole('searchbox');
    await box.fill('stranger-1');
    await box.press('Enter');
    // The gateway's event has the reference too.
    await page.getByRole('row').filter({ hasText: 'Difference' }).getByRole('link').first().click();
    await page.getByText(`by ${ada.email}: of another shop of ours, ticket 4711`).waitFor();
    expect(troubles).toEqual([]);
  });
});

describe('the books', () => {
  /** The lines of the report that the button hands over, without the line of names. */
  async function download(page: Page, name: string): Promise<string[]> {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe(name);
    return readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\r\n')
      .slice(1);
  }

  it('are downloaded as CSV, with the lines that the page shows', async () => {
    await makeDelivered(stack, { account, person: ada });
    const page = await openAda('/books');
    const table = (name: string) => page.getByRole('table', { name, exact: true });
    const balance = table('Trial balance').getByRole('row');
    await balance.first().waitFor();
    const accounts = await download(page, 'trial-balance-test.csv');
    expect(accounts.filter((line) => line.startsWith('revenue:NGN,'))).toHaveLength(1);
    const shown = await balance.count();
    expect(accounts.length).toBeGreaterThanOrEqual(shown - 1);

    await page.getByRole('tab', { name: 'By merchant' }).click();
    await table('Earned by merchant').getByText('@test.example').waitFor();
    const merchants = await download(page, 'merchants-test.csv');
    expect(merchants.filter((line) => line.includes(account.accountId))).toHaveLength(1);
  });
});

describe('a moment', () => {
  it.each(['Asia/Tokyo', 'America/New_York'])(
    'is shown as it is in %s, where the reader is',
    async (timezoneId) => {
      const page = await openAda(`/accounts/${account.accountId}`, { timezoneId, locale: 'en-US' });
      const since = page.getByRole('region', { name: 'Account', exact: true }).locator('time');
      const at = new Date((await since.getAttribute('datetime')) ?? '');
      const format = new Intl.DateTimeFormat('en-US', {
        dateStyle: 'medium',
        timeStyle: 'medium',
        timeZone: timezoneId,
      });
      expect((await since.innerText()).replace('\u00a0', ' ')).toBe(format.format(at));

      // Days of the books are UTC, and say so.
      await goTo(stack, page, '/books?book=daily');
      await page.getByLabel('First day (UTC)').waitFor();
    },
  );
});
