// SIMWAY_SCREENSHOTS=<folder> keeps what the pages look like.
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { insertRates } from '../../src/catalogue/store/rates.ts';
import { recordVersions } from '../../src/catalogue/store/versions.ts';
import { DAY_MS } from '../../src/domain/clock.ts';
import { graveFaults } from '../support/world/axe.ts';
import { dataOf, signedIn } from '../support/people/people.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { DESK, overflow, PHONE, watchLoading, watchLoads, watchTroubles } from './browser.ts';
import { goTo, startFinance } from './operators.support.ts';

const REASON = 'the central bank published it this morning';

const { stack, ada, bayo, openAs } = await startFinance({ wholeCatalogue: true });

const rateOf = async (): Promise<unknown> => {
  const { items } = dataOf(await ada.call('GET', '/ops/rates')) as {
    items: { currency: string; rate: number }[];
  };
  return items.find(({ currency }) => currency === 'NGN')?.rate;
};

async function fillRate(page: Page, rate: string, reason: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Rate' }).fill(rate);
  await dialog.getByLabel('Reason').fill(reason);
  await dialog.getByRole('button', { name: 'Set the rate' }).click();
}

describe('rates', () => {
  it('a small change applies at once; what is wrong stands at its field and stays typed', async () => {
    const page = await openAs(ada, '');
    const troubles = watchTroubles(page);
    await page.getByRole('link', { name: 'Rates' }).click();
    await page.getByRole('button', { name: 'Set NGN' }).click();
    await fillRate(page, '1,65', 'no');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Not clear. Write it like 1234.50 or 1,234.50').waitFor();
    await dialog.getByText('Give a reason of at least 3 characters').waitFor();
    expect(await dialog.getByRole('textbox', { name: 'Rate' }).inputValue()).toBe('1,65');
    expect(await graveFaults(page)).toEqual([]);
    await fillRate(page, '1,650.25', REASON);
    await page.getByText('The rate is set').waitFor();
    await page.getByRole('table', { name: 'Current rates' }).getByText('1,650.25').waitFor();
    await page.getByRole('table', { name: 'Changes by operators' }).getByText(REASON).waitFor();
    await page.getByRole('img', { name: 'Rate of NGN' }).locator('canvas').waitFor();
    expect(await rateOf()).toBe(1650.25);
    expect(troubles).toEqual([]);
  });

  it('one that is far off waits for another person, who sees the change before confirming it', async () => {
    const page = await openAs(ada, '/rates');
    await page.getByRole('button', { name: 'Set a rate' }).click();
    await page.getByRole('dialog').getByLabel('Currency').fill('ngn');
    await page.getByRole('dialog').getByRole('textbox', { name: 'Rate' }).fill('16502.50');
    await page.getByText('Another person must confirm it before it is used').waitFor();
    await fillRate(page, '16502.50', REASON);
    await page.getByText('Another person must confirm it', { exact: true }).waitFor();
    await page.getByText('Yours: another person confirms it', { exact: true }).waitFor();
    expect(await rateOf()).toBe(1650.25);

    const other = await openAs(bayo, '/rates');
    const troubles = watchTroubles(other);
    await keepScreenshot(other, 'rates-light-whole');
    await other.getByRole('button', { name: 'Confirm 16,502.50 NGN' }).click();
    const dialog = other.getByRole('dialog');
    await dialog.getByText('1,650.25 NGN → 16,502.50 NGN, 900.00 %').waitFor();
    expect(await graveFaults(other)).toEqual([]);
    await dialog.getByLabel('Reason').fill('the naira was changed by law');
    await dialog.getByRole('button', { name: 'Confirm the rate' }).click();
    await other.getByText('Confirmed. Prices use it within a second').waitFor();
    await other.getByRole('button', { name: 'Confirm 16,502.50 NGN' }).waitFor({ state: 'detached' });
    expect(await rateOf()).toBe(16502.5);
    await other.getByText('Show as a table').click();
    await other.getByRole('table', { name: 'Rates of NGN' }).getByText('16,502.5').first().waitFor();
    expect(await graveFaults(other)).toEqual([]);
    expect(troubles).toEqual([]);
  });

  it('one that waits is withdrawn by its author, and declined by another person', async () => {
    const page = await openAs(ada, '/rates');
    const troubles = watchTroubles(page);
    const set = (rate: number) =>
      ada.call('POST', '/ops/rates', { currency: 'NGN', rate, reason: 'a slip of the hand' });
    await set(99_000);
    await set(98_000);
    await page.getByRole('button', { name: 'Withdraw 99,000.00 NGN' }).click();
    const decide = async (shown: Page, verb: string): Promise<void> => {
      await shown.getByRole('dialog').getByLabel('Reason').fill('three zeros too many');
      await shown.getByRole('dialog').getByRole('button', { name: verb }).click();
    };
    await decide(page, 'Withdraw');
    await page.getByText('Withdrawn. Prices stay as they are').waitFor();
    const other = await openAs(bayo, '/rates');
    await other.getByRole('button', { name: 'Decline 98,000.00 NGN' }).click();
    await decide(other, 'Decline');
    await other.getByText('Declined. Prices stay as they are').waitFor();
    await other.getByRole('table', { name: 'Rates awaiting confirmation' }).waitFor({ state: 'detached' });
    expect(troubles).toEqual([]);
  });

  it('one that a provider observed too far off waits for a person, who gives a reason', async () => {
    const provider = 'open.er-api.com';
    // No configured currency: a refresh of those goes before what was observed earlier.
    const observed = { currency: 'ZAR', source: provider, observedAt: new Date() };
    await insertRates(stack.world, [
      { ...observed, micros: 18_500_000n, status: 'GOOD' },
      { ...observed, micros: 990_000_000n, status: 'QUARANTINED' },
    ]);
    const page = await openAs(ada, '/rates');
    const waiting = page.getByRole('table', { name: 'Rates awaiting confirmation' });
    await waiting.getByText(provider).waitFor();
    await waiting.getByRole('button', { name: 'Confirm 990.00 ZAR' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Confirm the rate' }).click();
    await dialog.getByText('Give a reason of at least 3 characters').waitFor();
    expect(await graveFaults(page)).toEqual([]);
    await dialog.getByLabel('Reason').fill(REASON);
    await dialog.getByRole('button', { name: 'Confirm the rate' }).click();
    await waiting.waitFor({ state: 'detached' });
    const current = page.getByRole('table', { name: 'Current rates' }).getByRole('row');
    await current.filter({ hasText: 'ZAR' }).getByText('990.00').waitFor();
  });
});

describe('prices', () => {
  it('are previewed over the whole catalogue, and saved only if no one else saved others meanwhile', async () => {
    const page = await openAs(ada, '');
    await page.getByRole('link', { name: 'Prices' }).click();
    const markup = page.getByLabel('Markup for merchants');
    expect(await markup.inputValue()).toBe('15');
    await markup.fill('1001');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('From 0 to 1,000').waitFor();
    await markup.fill('20.5');
    await page.getByRole('button', { name: 'Preview' }).click();
    const totals = page.getByRole('table', { name: 'What changes' });
    await totals.getByText('Merchants, NGN').waitFor();
    await page.getByText(/^[\d,]+ packages and [\d,]+ top-ups are on sale\./).waitFor();
    await page.getByRole('table', { name: 'Packages and top-ups that change most' }).waitFor();
    expect(await graveFaults(page)).toEqual([]);
    await keepScreenshot(page, 'prices-light-whole');

    // Another person saves first.
    const terms = { userMarkupPercent: 25, merchantMarkupPercent: 16, ngnIncrementPercent: 3 };
    const first = await bayo.call('POST', '/ops/prices', { version: 'initial', ...terms, reason: REASON });
    expect(first.status).toBe(200);
    await page.getByRole('button', { name: 'Save these prices' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Markup for merchants: 15.00 % → 20.50 %').waitFor();
    await dialog.getByLabel('Reason').fill(REASON);
    await dialog.getByRole('button', { name: 'Save and apply' }).click();
    await dialog.getByText('The prices changed since the preview').waitFor();
    await dialog.getByRole('button', { name: 'Back' }).click();

    // The preview is about the new ones now.
    await page.getByRole('button', { name: 'Save these prices' }).click();
    await dialog.getByText('Markup for merchants: 16.00 % → 20.50 %').waitFor();
    await dialog.getByLabel('Reason').fill(REASON);
    await dialog.getByRole('button', { name: 'Save and apply' }).click();
    await page.getByText('Saved. Prices use it within a second').waitFor();
    const history = page.getByRole('table', { name: 'Markups, newest first' });
    await history.getByText('20.50 %').waitFor();
    const { items } = dataOf(await ada.call('GET', '/ops/prices')) as { items: object[] };
    expect(items[0]).toMatchObject({ merchantMarkupPercent: 20.5, by: ada.email, isInForce: true });
  });
});

describe('what was on sale at a given time', () => {
  const CODE = 'SIM-OK';
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

  /** 30 days of history: dearer since 10 days ago, withdrawn since 2 days ago. */
  async function writeHistory(): Promise<void> {
    const { owner, world } = stack;
    await sql`update package_versions set valid_from = valid_from - interval '30 days', valid_to = valid_to - interval '30 days'`.execute(
      owner,
    );
    await sql`update pricing_settings set valid_from = valid_from - interval '30 days' where id = 'initial'`.execute(
      owner,
    );
    await sql`update packages set cost_usd_e4 = 12345 where package_code = ${CODE}`.execute(owner);
    await recordVersions(world, daysAgo(20), [CODE]);
    await sql`update packages set cost_usd_e4 = 30000 where package_code = ${CODE}`.execute(owner);
    await recordVersions(world, daysAgo(10), [CODE]);
    await sql`update packages set withdrawn_at = now() where package_code = ${CODE}`.execute(owner);
    await recordVersions(world, daysAgo(2), [CODE]);
  }

  it('is shown with the cost and prices of that time, and it is said when nothing was on sale or nothing is known', async () => {
    await writeHistory();
    const page = await openAs(ada, '/prices', { timezoneId: 'UTC' });
    const troubles = watchTroubles(page);
    const section = page.getByRole('region', { name: 'On sale at a given time' });
    const ask = async (days: number): Promise<void> => {
      await section.getByLabel('On sale at').fill(daysAgo(days).toISOString().slice(0, 16));
      await section.getByRole('button', { name: 'Show' }).click();
    };
    await section.getByRole('button', { name: 'Show' }).click();
    await section.getByRole('table', { name: 'Packages on sale then' }).waitFor();
    await ask(1);
    await section.getByRole('button', { name: 'Page 2', exact: true }).waitFor();
    await section.getByLabel('Package code').fill(CODE);
    const row = section.getByRole('table', { name: 'Packages on sale then' }).getByRole('row').nth(1);
    for (const [days, ...amounts] of [
      [15, '1.2345', '1.54', '1.42'],
      [5, '3.0000', '3.75', '3.45'],
    ] as const) {
      await ask(days);
      for (const amount of amounts) await row.getByText(amount).waitFor();
    }
    expect(await graveFaults(page)).toEqual([]);
    await keepScreenshot(page, 'prices-on-sale-light-whole');
    await ask(1);
    await section.getByText('No such package was on sale then.').waitFor();
    await ask(400);
    await section.getByText('Not known: the catalogue is stored since').waitFor();
    expect(await section.getByRole('table').count()).toBe(0);
    expect(troubles).toEqual([]);
  });
});

it('who is not of finance has no link to them', async () => {
  const page = await openAs(await signedIn(stack, 'OPERATIONS'), '');
  await page.getByRole('link', { name: 'Stuck', exact: true }).waitFor();
  expect(await page.getByRole('link', { name: 'Rates' }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Prices' }).count()).toBe(0);
  await page.context().close();
});

describe.each([
  { name: 'light, on a desk', options: { colorScheme: 'light', viewport: DESK } },
  { name: 'dark, on a phone', options: { colorScheme: 'dark', viewport: PHONE } },
] as const)('both pages, $name', ({ name, options }) => {
  it('have no grave fault for keyboards and screen readers, fit the screen and break no policy', async () => {
    const page = await openAs(ada, '', options);
    await page.waitForLoadState('networkidle');
    await watchLoading(page.context());
    const troubles = watchTroubles(page);
    const loads = watchLoads();
    for (const path of ['/rates', '/prices']) {
      await goTo(stack, page, path);
      expect(await loads.read(page, path)).toEqual([]);
      expect(await graveFaults(page), path).toEqual([]);
      expect(await overflow(page), `${path} is wider than the screen`).toBeLessThanOrEqual(0);
      await keepScreenshot(page, `operators${path.replace('/', '-')}-${name.split(',')[0] ?? ''}-whole`);
    }
    loads.print();
    expect(troubles).toEqual([]);
  });
});
