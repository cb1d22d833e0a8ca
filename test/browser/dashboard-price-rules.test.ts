// Finance sets prices for one merchant, who sees them in the catalogue and downloads the list.
// SIMWAY_SCREENSHOTS=<folder> keeps what the pages look like.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { graveFaults } from '../support/world/axe.ts';
import { signedUp } from '../support/people/dashboard.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { overflow, PHONE, watchTroubles } from './browser.ts';
import { openMerchant, placeOf } from './merchant.support.ts';
import { startFinance } from './operators.support.ts';

const { browser, stack, ada, bayo, openAs } = await startFinance({ wholeCatalogue: true });

interface Listed {
  readonly packageCode: string;
  readonly price: number;
  readonly currency: 'NGN' | 'USD';
  readonly regionCode: string;
}

/** Decides in the dialog, with a reason. */
async function decide(page: Page, label: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('agreed in the contract');
  await dialog.getByRole('button', { name: label }).click();
}

it('prices of one merchant are set, confirmed, seen, downloaded and ended', async () => {
  const merchant = await signedUp(stack);
  const { body } = await merchant.ask('GET', '/api/esim/price-list?limit=1');
  const { packageCode, price, currency, regionCode } = body.data.items[0] as Listed;

  // Near the agreed prices: at once.
  const page = await openAs(ada, `/accounts/${merchant.accountId}`);
  const troubles = watchTroubles(page);
  await page.getByText('No rules: the markups make every price.').waitFor();
  await page.getByRole('button', { name: 'Set a price' }).click();
  await page.getByLabel('What').selectOption('REGION');
  await page.getByRole('textbox', { name: 'Region code' }).fill(regionCode);
  await page.getByRole('textbox', { name: 'Markup' }).fill('20');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('Nothing is saved yet.').waitFor();
  await keepScreenshot(page, 'price-rule-preview-whole');
  expect(await graveFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Set this price' }).click();
  await decide(page, 'Set and apply');
  await page.getByText('Set. Prices use it within a second of its beginning').waitFor();
  const rules = page.getByRole('table', { name: 'Price rules' });
  await rules.getByText('In force').waitFor();

  // Below cost: refused, and the package named.
  await page.getByRole('button', { name: 'Set a price' }).click();
  await page.getByLabel('Price', { exact: true }).selectOption('PRICE');
  await page.getByRole('textbox', { name: 'Package code' }).fill(packageCode);
  await page.getByLabel('Currency').selectOption(currency);
  await page.getByRole('textbox', { name: 'Fixed price' }).fill('0.01');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText(`Cannot be set: 1 below our cost. ${packageCode}: ${currency} 0.01`).waitFor();
  expect(await page.getByRole('button', { name: 'Set this price' }).isDisabled()).toBe(true);
  await keepScreenshot(page, 'price-rule-below-cost');

  // Far from them: another person confirms it.
  const fixed = Math.ceil(price * 3);
  await page.getByRole('textbox', { name: 'Fixed price' }).fill(String(fixed));
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('another person must confirm this rule').waitFor();
  await page.getByRole('button', { name: 'Set this price' }).click();
  await decide(page, 'Ask for confirmation');
  await rules.getByText('Awaits another person').waitFor();
  const other = await openAs(bayo, '/prices');
  await other.getByRole('button', { name: /^Confirm rule/ }).click();
  await decide(other, 'Confirm and apply');
  await other.getByText('Confirmed. It applies from its time on').waitFor();
  await other.getByRole('table', { name: 'Price rules' }).getByText('In force').nth(1).waitFor();
  await keepScreenshot(other, 'price-rules-whole');
  await other.setViewportSize(PHONE);
  await keepScreenshot(other, 'price-rules-phone-whole');
  expect(await overflow(other)).toBe(0);

  const shop = await openMerchant({ browser, stack }, merchant, `${placeOf(merchant)}/catalogue`);
  await expect
    .poll(
      async () =>
        (await merchant.ask('GET', `/api/esim/packages/${packageCode}?currency=${currency}`)).body.price,
    )
    .toBe(fixed);
  const downloading = shop.waitForEvent('download');
  await shop.getByRole('button', { name: 'Download the price list' }).click();
  const file = await downloading;
  expect(file.suggestedFilename()).toBe('price-list.csv');
  const lines = readFileSync(await file.path(), 'utf8')
    .trimEnd()
    .split('\r\n');
  expect(lines.find((line) => line.startsWith(`${packageCode},`))).toContain(`,${fixed}.00,${currency},`);
  await keepScreenshot(shop, 'price-list');
  expect(await graveFaults(shop)).toEqual([]);

  await page.reload();
  await page
    .getByRole('button', { name: /^End rule/ })
    .first()
    .click();
  await decide(page, 'End the rule');
  await page.getByText('Ended. Prices are without it within a second').waitFor();
  await rules.getByText('Ended', { exact: true }).waitFor();
  expect(troubles).toEqual([]);
});
