// SIMWAY_SCREENSHOTS=<folder> keeps what the pages look like.
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { graveFaults } from '../support/world/axe.ts';
import { addSecondFactor, data, me, signedUp } from '../support/people/dashboard.ts';
import { PASSWORD, SIGN_IN_ENV, signedIn } from '../support/people/people.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { until } from '../support/time/until.ts';
import { DESK, openPages, overflow, PHONE } from './browser.ts';
import { openMerchant, placeOf } from './merchant.support.ts';
import { goTo, openOperator, TEMPORAL_UI } from './operators.support.ts';

const HOOK = 'http://127.0.0.1:9/hook';

const [browser, stack] = await openPages({ env: { ...SIGN_IN_ENV, TEMPORAL_UI_URL: TEMPORAL_UI } });
const [ada, bayo] = [await signedIn(stack, 'FINANCE'), await signedIn(stack, 'FINANCE')];
const merchant = await signedUp(stack);
const address = (path: string): string => `${stack.apiUrl}/dashboard${placeOf(merchant)}${path}`;
const open = (path: string): Promise<Page> =>
  openMerchant({ browser, stack }, merchant, placeOf(merchant) + path, { reducedMotion: 'reduce' });

const makeKey = async () => {
  const body = {
    ...{ companyName: 'Ada Ltd', websiteUrl: stack.apiUrl, allowedAddresses: ['127.0.0.1'] },
    ...{ scopes: ['read', 'purchase'], webhookUrl: HOOK },
  };
  return data<{ apiKey: string; keyId: string; webhook: { endpointId: string } }>(
    await merchant.ask('POST', '/account/keys', { body }),
  );
};

/** How much more red than green or blue the text of an element is: 1 for white, grey and black. */
const redness = (element: ReturnType<Page['getByRole']>): Promise<number> =>
  element.evaluate((one) => {
    const window = globalThis as unknown as { getComputedStyle(of: unknown): { color: string } };
    const [red = 0, green = 0, blue = 0] =
      window
        .getComputedStyle(one)
        .color.match(/[\d.]+/g)
        ?.map(Number) ?? [];
    return red / Math.max(green, blue);
  });

describe('merchants', () => {
  it('see first that the wallet is to be funded, and that it has no change yet', async () => {
    const page = await open('');
    const steps = page.getByRole('region', { name: 'First steps' });
    await steps.getByRole('link', { name: 'Fund the wallet' }).waitFor();
    await keepScreenshot(page, 'details-first-steps');
    await steps.getByRole('link', { name: 'Fund the wallet' }).click();
    await page.getByText('Last change: none yet').waitFor();
    const balance = await merchant.ask('GET', '/api/wallet/balance');
    expect(data<{ balance: number }>(balance).balance).toBe(0);
  });

  it('filter the catalogue by keyboard, and the address keeps the filters', async () => {
    const page = await open('/catalogue');
    const place = page.getByRole('textbox', { name: 'Search destinations' });
    await place.fill('Nigeria');
    const card = page.getByRole('link', { name: /^Nigeria/ });
    await page.getByRole('list', { name: 'Found' }).waitFor();
    await card.focus();
    await card.press('Enter');
    await page.waitForURL(/region=NG/);
    const count = page.getByText(/^\d+ of \d+ packages/);
    const shown = async () => Number((await count.innerText()).split(' ', 1)[0]);
    await count.waitFor();
    const all = await shown();
    await page.getByLabel('Search', { exact: true }).focus();
    for (const label of ['Minimum data, GB', 'Minimum days', 'Maximum price, USD']) {
      await page.keyboard.press('Tab');
      await page.getByLabel(label, { exact: true }).and(page.locator(':focus')).waitFor();
    }
    await page.getByLabel('Minimum data, GB').fill('5');
    await page.getByLabel('Minimum days').fill('30');
    await page.waitForURL(/data=5&days=30/);
    await expect.poll(shown).toBeLessThan(all);
    const some = await shown();
    expect(some).toBeGreaterThan(0);
    expect(await graveFaults(page)).toEqual([]);
    await keepScreenshot(page, 'details-catalogue');

    await page.reload();
    expect(await page.getByLabel('Minimum data, GB').inputValue()).toBe('5');
    await expect.poll(shown).toBe(some);
    await page.getByLabel('Maximum price').fill('0.01');
    await page.getByText('No results.').waitFor();
    expect(page.url()).toMatch(/region=NG.*data=5.*days=30.*price=0\.01/);
  });

  it('see which key sent a request, and where a message goes', async () => {
    const { apiKey, webhook } = await makeKey();
    await stack.call('GET', '/api/wallet/balance', { key: apiKey });
    const shown = `simway_test_…${apiKey.slice(-4)}`;
    await until(
      () => merchant.ask('GET', '/account/requests'),
      ({ text }) => text.includes(shown),
      { what: 'the request in the log' },
    );
    const page = await open('/developers/requests');
    const request = page.getByRole('row').filter({ hasText: 'GET /api/wallet/balance' });
    await request.getByText(shown, { exact: true }).waitFor();

    await merchant.ask('POST', `/api/webhooks/endpoints/${webhook.endpointId}/sample`, {
      body: { event: 'wallet.low_balance' },
    });
    await page.goto(address('/developers/webhooks'));
    const message = page.getByRole('row').filter({ hasText: 'wallet.low_balance' });
    await message.getByRole('cell', { name: HOOK }).waitFor();
  });

  it('tell a dangerous button by its colour, in light and dark, and can read it', async () => {
    const page = await open('/developers/keys');
    const revoke = page.getByRole('button', { name: 'Revoke' }).first();
    await revoke.waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await redness(revoke), colorScheme).toBeGreaterThan(1.4);
      await revoke.hover();
      expect(await graveFaults(page), colorScheme).toEqual([]);
      await revoke.click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke the key' }).waitFor();
      expect(await graveFaults(page), colorScheme).toEqual([]);
      await keepScreenshot(page, `details-danger-${colorScheme}`);
      await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });

  it('see an id on one line, on a desk and on a phone, with all of it in the title', async () => {
    const page = await open('/developers/requests');
    for (const viewport of [DESK, PHONE]) {
      await page.setViewportSize(viewport);
      if (viewport === PHONE)
        await page.getByRole('button', { name: 'Show all of this row' }).first().click();
      const id = page.getByRole('table').locator('.id').first();
      await id.waitFor();
      expect(await id.getAttribute('title')).toBe(await id.textContent());
      expect((await id.boundingBox())?.height ?? 0).toBeLessThan(30);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    }
  });

  it('see charts drawn in the colours of light and dark, whose labels fit a phone, with their values in a table', async () => {
    const days = Array.from({ length: 30 }, (_, n) => ({
      day: new Date(Date.now() - (29 - n) * 86_400_000).toISOString().slice(0, 10),
      ...{ spent: 1_234_567.5 * (n % 7), purchases: n % 7, failed: 0 },
      ...{ dataBytes: n * 5 * 1024 ** 3, usedBytes: n * 1024 ** 3 },
    }));
    const total = { spent: 1e8, purchases: 80, failed: 0, dataBytes: 1e12, usedBytes: 1e11 };
    const topDestinations = [
      { regionCode: 'NG', regionName: 'Nigeria', purchases: 60 },
      { regionCode: 'GH', regionName: 'Ghana', purchases: 20 },
    ];
    const spending = { currency: 'NGN', usageAsOf: '', total, days, topDestinations };
    const page = await open('');
    await page.route('**/api/esim/spending?*', (route) => route.fulfill({ json: spending }));
    await page.goto(address('/figures'));
    const chart = page.getByRole('img', { name: 'Spent per day' });
    const shares = page.getByRole('table', { name: 'Purchases by destination' });
    await shares.getByRole('progressbar', { name: '75 % of all purchases' }).waitFor();
    const drawn = () =>
      chart
        .locator('canvas')
        .evaluate((canvas) => (canvas as unknown as { toDataURL(): string }).toDataURL());
    // Each look differs from the one before in one thing, so that there is one new drawing to wait for.
    const looks = [
      ['light', 'desk', DESK],
      ['dark', 'desk', DESK],
      ['dark', 'phone', PHONE],
      ['light', 'phone', PHONE],
    ] as const;
    let drawing = '';
    for (const [colorScheme, size, viewport] of looks) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      drawing = await until(drawn, (now) => now !== drawing, { what: 'another drawing' });
      await keepScreenshot(page, `details-figures-${colorScheme}-${size}-whole`);
      expect(await graveFaults(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    }
    // Below the chart stands what the keyboard, the mouse or a finger points at.
    const legend = page.getByRole('region', { name: 'Spent per day' }).getByRole('status');
    const said = async () => (await legend.innerText()).replaceAll(/\s+/g, ' ');
    const dayAt = (index: number) =>
      new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' }).format(
        new Date(days[index]?.day ?? ''),
      );
    await expect.poll(said).toBe(`Latest: ${dayAt(29)} Spent NGN 1,234,567.50`);
    const { height } = (await legend.boundingBox()) ?? {};
    await chart.focus();
    await chart.press('Home');
    await expect.poll(said).toBe(`${dayAt(0)} Spent NGN 0.00`);
    for (let n = 0; n < 6; n += 1) await chart.press('ArrowRight');
    await expect.poll(said).toBe(`${dayAt(6)} Spent NGN 7,407,405.00`);
    expect((await legend.boundingBox())?.height).toBe(height);
    await chart.press('Escape');
    await expect.poll(said).toMatch(/^Latest/);
    const { x = 0, y = 0, width = 0 } = (await chart.locator('.u-over').boundingBox()) ?? {};
    await page.mouse.move(x + 2, y + 20);
    await expect.poll(said).toMatch(new RegExp(`^${dayAt(0)} `));
    await page.mouse.move(x + width / 2, y - 60);
    await expect.poll(said).toMatch(/^Latest/);
    await page.getByText('Show as a table').first().click();
    await page.getByRole('table', { name: 'Spent per day' }).getByText('NGN 7,407,405.00').first().waitFor();
  });
});

describe('operators', () => {
  it('remove a member’s lost second factor by two, and give their password again where it is too long ago', async () => {
    const member = await signedUp(stack);
    await addSecondFactor(member.browser);
    const askAs = async (person: typeof ada) => {
      const page = await openOperator({ browser, stack }, person, `/accounts/${member.accountId}`);
      await sql`
        update accounts.user_sessions set confirmed_at = now() - interval '15 minutes'
         where user_id = ${person.personId}`.execute(stack.owner);
      await page.getByRole('button', { name: 'Remove second factor: Ada Owner' }).click();
      const dialog = page.getByRole('dialog', { name: 'Remove the second factor: Ada Owner' });
      const submit = dialog.getByRole('button', { name: 'Remove the second factor' });
      await submit.click();
      await dialog.getByText('Required').waitFor();
      await dialog.getByLabel('Evidence').fill('https://tickets.example/4711');
      await keepScreenshot(page, 'details-remove-second-factor');
      await submit.click();
      const again = page.getByRole('dialog', { name: 'Your password again' });
      await again.getByRole('textbox', { name: 'Your password' }).fill(PASSWORD);
      await again.getByRole('button', { name: 'Continue' }).click();
      await dialog.waitFor({ state: 'detached' });
      return page;
    };
    const first = await askAs(await signedIn(stack, 'FINANCE'));
    await first.getByText('Another operator must ask for the same').waitFor();
    expect(data(await me(member.browser))).toMatchObject({ user: { hasSecondFactor: true } });
    const second = await askAs(await signedIn(stack, 'FINANCE'));
    const row = second
      .getByRole('table', { name: 'Members' })
      .getByRole('row')
      .filter({ hasText: 'Ada Owner' });
    await row.getByText('Off', { exact: true }).waitFor();
    expect(await row.getByRole('button', { name: /Remove second factor/ }).count()).toBe(0);
    expect((await me(member.browser)).status).toBe(401);
  });

  it('see an exchange rate that waits on Home and under Approvals, and who confirmed it in its history', async () => {
    const reason = 'the central bank published it';
    const proposed = await ada.call('POST', '/ops/rates', { currency: 'NGN', rate: 16_000, reason });
    expect(proposed.status).toBe(202);
    const finance = await openOperator({ browser, stack }, bayo, '');
    const card = finance.getByRole('region', { name: 'Awaiting approval' });
    await card.getByRole('link', { name: 'Rates and prices: 1' }).waitFor();
    await keepScreenshot(finance, 'details-operators-home');
    await card.getByRole('link', { name: 'See approvals' }).click();
    const waiting = finance.getByRole('table', { name: 'Exchange rates awaiting confirmation' });
    await waiting.getByText(ada.email).waitFor();
    expect(await graveFaults(finance)).toEqual([]);
    await keepScreenshot(finance, 'details-approvals');
    await waiting.getByRole('link', { name: 'Review 16,000.00 NGN' }).click();
    await finance.getByRole('button', { name: 'Confirm 16,000.00 NGN' }).click();
    await finance.getByRole('dialog').getByLabel('Reason').fill('the naira was changed by law');
    await finance.getByRole('dialog').getByRole('button', { name: 'Confirm the rate' }).click();
    const change = finance
      .getByRole('table', { name: 'Changes by operators' })
      .getByRole('row')
      .filter({ hasText: '16,000.00' });
    for (const text of [ada.email, reason, bayo.email, 'the naira was changed by law'])
      await change.getByText(text).waitFor();
    expect(await graveFaults(finance)).toEqual([]);
    await keepScreenshot(finance, 'details-rates-whole');
    await goTo(stack, finance, '/approvals');
    await finance.getByText('Nothing awaits approval.').waitFor();
    expect(await waiting.count()).toBe(0);
  });

  it('open the workflow of a merchant’s batch from the search and from its purchase', async () => {
    const { apiKey } = await stack.account();
    const ordered = await stack.call('POST', '/api/esim/orders/batch', {
      key: apiKey,
      body: { rows: [{ reference: 'first', packageCode: 'SIM-OK' }] },
    });
    const { batchId } = data<{ batchId: string }>(ordered);
    await until(
      () => stack.call('GET', `/api/esim/orders/batch/${batchId}`, { key: apiKey }),
      ({ text }) => text.includes('"txn-'),
      { what: 'the purchase of the batch' },
    );
    const address = `${TEMPORAL_UI}/namespaces/${stack.namespace}/workflows/${batchId}`;
    const support = await openOperator({ browser, stack }, ada, `/search?text=${batchId}`);
    const found = support.getByRole('table', { name: 'Found' });
    expect(await found.getByRole('link', { name: batchId }).getAttribute('href')).toBe(address);
    await found.getByRole('link', { name: /USD/ }).first().click();
    await support.getByRole('heading', { name: 'Purchase', level: 1 }).waitFor();
    expect(await support.getByRole('link', { name: batchId }).first().getAttribute('href')).toBe(address);
  });
});
