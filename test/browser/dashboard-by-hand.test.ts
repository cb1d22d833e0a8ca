// Two people of finance fund a wallet by hand; notes stay; lists keep filters and columns, and are saved.
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { graveFaults } from '../support/world/axe.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { overflow, PHONE, watchTroubles } from './browser.ts';
import { makeDelivered, startFinance } from './operators.support.ts';

const { stack, ada, bayo, account, openAs, open } = await startFinance();
await makeDelivered(stack, { account, person: ada });
const ACCOUNT_PAGE = `/accounts/${account.accountId}`;

it('finance funds a wallet by hand, and another person of finance confirms it', async () => {
  const page = await openAs(ada, ACCOUNT_PAGE);
  const troubles = watchTroubles(page);
  await page.getByRole('button', { name: 'Fund, credit or correct' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Amount, NGN').fill('5,000.50');
  await dialog.getByLabel('Reference').fill('TRF-4711');
  await dialog.getByLabel('Reason').fill('It is on the bank statement');
  await keepScreenshot(page, 'by-hand-ask');
  expect(await graveFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Ask for it' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Needs a second person').waitFor();
  await page.getByText('Yours: another person of finance decides').waitFor();
  expect(await page.getByRole('button', { name: /^Confirm/ }).count()).toBe(0);

  const second = await openAs(bayo, '/approvals');
  await second.getByRole('button', { name: 'Confirm Funding TRF-4711' }).click();
  const confirming = second.getByRole('dialog');
  await confirming.getByText('TRF-4711').waitFor();
  await confirming.getByLabel('Reason').fill('I saw it on the statement');
  await keepScreenshot(second, 'by-hand-confirm');
  await confirming.getByRole('button', { name: 'Confirm and book' }).click();
  await confirming.waitFor({ state: 'detached' });
  await second.getByText('Nothing awaits approval.').waitFor();

  await open(page, ACCOUNT_PAGE);
  await page.getByText('Booked', { exact: true }).waitFor();
  await keepScreenshot(page, 'by-hand-account-whole');
  expect(await graveFaults(page)).toEqual([]);
  expect(troubles).toEqual([]);
});

it('terms that one person changes leave alone what another one has changed meanwhile', async () => {
  const page = await openAs(ada, ACCOUNT_PAGE);
  await page.getByRole('button', { name: 'Change the terms' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Own terms for replacements').check();
  const returns = { allowed: true, windowDays: 12, feePercent: 25 };
  const path = `/ops${ACCOUNT_PAGE}?environment=test`;
  const { status, text } = await bayo.call('PATCH', path, { reason: 'Contract 4711', returns });
  expect([status, text]).toEqual([200, expect.anything()]);
  await dialog.getByLabel('Reason').fill('Contract 4712');
  await dialog.getByRole('button', { name: 'Change the terms' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Within 12 days, fee 25 %').waitFor();
  await page.getByText('Within 30 days, the account pays 100 %').waitFor();
});

it('a note on an account stays, with who wrote it', async () => {
  const page = await openAs(ada, ACCOUNT_PAGE);
  await page.getByText('No notes yet.').waitFor();
  await page.getByLabel('New note').fill('Called on 31 January.\nWants <b>PREMIUM</b>');
  await page.getByRole('button', { name: 'Add the note' }).click();
  await page.getByText('No notes yet.').waitFor({ state: 'detached' });
  expect(await page.getByLabel('New note').inputValue()).toBe('');
  const other = await openAs(bayo, ACCOUNT_PAGE, { viewport: PHONE, colorScheme: 'dark' });
  await other.getByText('Wants <b>PREMIUM</b>').waitFor();
  await other.getByRole('region', { name: 'Notes' }).getByText(ada.email).waitFor();
  expect(await overflow(other)).toBe(0);
  await keepScreenshot(other, 'by-hand-account-phone-whole');
});

it('a list keeps its filters in the address and its columns in the browser, and is saved as it is shown', async () => {
  const page = await openAs(ada, '/purchases');
  const troubles = watchTroubles(page);
  const table = page.getByRole('table', { name: 'Purchases' });
  await table.waitFor();
  const heads = () => table.getByRole('columnheader').allTextContents();
  expect(await heads()).not.toContain('ICCID');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'ICCID' }).check();
  await page.getByRole('checkbox', { name: 'Why' }).uncheck();
  await keepScreenshot(page, 'by-hand-columns');
  await page.keyboard.press('Escape');
  await page.reload();
  await table.waitFor();
  expect(await heads()).toContain('ICCID');
  expect(await heads()).not.toContain('Why');
  await page.getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: 'FAILED' }).click();
  await page.waitForURL(/status=FAILED/);
  await page.getByText('Nothing matches.').waitFor();
  await page.goBack();
  await open(page, '/purchases?status=SUCCESS');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download as CSV' }).click(),
  ]);
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain(account.accountId);
  await table.getByRole('link').first().click();
  await page.locator('h1', { hasText: 'Purchase' }).waitFor();
  await page.getByText('No notes yet.').waitFor();
  expect(troubles).toEqual([]);
});

it('charts of the books name their figures', async () => {
  const page = await openAs(ada, '/books?book=charts');
  await page.getByRole('img', { name: 'In all wallets at the end of the day' }).waitFor();
  await page.locator('.chart canvas').nth(2).waitFor();
  await keepScreenshot(page, 'by-hand-charts-whole');
  expect(await graveFaults(page)).toEqual([]);
});
