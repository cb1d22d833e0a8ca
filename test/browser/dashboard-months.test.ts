// Finance closes a month, by two people, and opens its PDF; the merchant downloads the papers.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { extractText, getDocumentProxy } from 'unpdf';
import { expect, it } from 'vitest';
import { momentIn, monthAgo, moveBookings } from '../billing/months.support.ts';
import { dataOf } from '../support/people/people.ts';
import { signedUp } from '../support/people/dashboard.ts';
import { graveFaults } from '../support/world/axe.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { until } from '../support/time/until.ts';
import { overflow, PHONE, watchTroubles } from './browser.ts';
import { openMerchant, payIn, placeOf } from './merchant.support.ts';
import { makeDelivered, startFinance } from './operators.support.ts';

const { browser, stack, ada, bayo, account, openAs } = await startFinance();
const [BEFORE, MONTH] = [monthAgo(2), monthAgo(1)];
const owner = await signedUp(stack, 'NGN');

async function download(page: Page, name: string): Promise<Buffer> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name }).click(),
  ]);
  return readFile(await file.path());
}

async function textOf(pdf: Buffer): Promise<string> {
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(pdf)), { mergePages: true });
  return text;
}

const nameOf = (month: string): string =>
  new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${month}-01`),
  );

const COMPANY = {
  ...{ legalName: 'Simway Nigeria Ltd', addressLines: ['1 Marina Road', 'Lagos'], country: 'NG' },
  ...{ taxNumber: '12345678-0001', taxName: 'VAT', taxRateBps: 750, reason: 'a test' },
};

it('finance closes a month and opens its PDF', async () => {
  await makeDelivered(stack, { account, person: ada });
  await moveBookings(stack.owner, (nth) => momentIn(nth === 0 ? BEFORE : MONTH, 0.5));
  const page = await openAs(ada, '/books?book=months');
  const troubles = watchTroubles(page);
  const row = (of: Page, month: string) => of.getByRole('row').filter({ hasText: nameOf(month) });
  await page.getByText('Not set.').waitFor();
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Legal name').fill(COMPANY.legalName);
  await page.getByLabel('Address').fill(COMPANY.addressLines.join('\n'));
  await page.getByLabel('Country').fill('ng');
  await page.getByLabel('Tax number').fill(COMPANY.taxNumber);
  await page.getByLabel('Rate of the tax').fill('7.5');
  await page.getByLabel('Reason').fill('a test');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/VAT, 7\.5/).waitFor();

  // The months before must be closed first.
  await page.getByRole('button', { name: `Ask to close ${nameOf(MONTH)}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Ask to close' }).click();
  await page
    .getByRole('dialog')
    .getByText(`Close ${nameOf(BEFORE)} first`)
    .waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
  await ada.call('POST', `/ops/months/${BEFORE}/ask-close`);
  await bayo.call('POST', `/ops/months/${BEFORE}/close`);

  await page.getByRole('button', { name: `Ask to close ${nameOf(MONTH)}` }).click();
  await page.getByRole('dialog').getByText('1 invoices in NGN').waitFor();
  await keepScreenshot(page, 'operators-close-a-month');
  await page.getByRole('dialog').getByRole('button', { name: 'Ask to close' }).click();
  await row(page, MONTH).getByText('Needs a second person').waitFor();
  expect(await graveFaults(page)).toEqual([]);

  const second = await openAs(bayo, '/books?book=months');
  await second.getByRole('button', { name: `Sign off ${nameOf(MONTH)}` }).click();
  await second.getByRole('dialog').getByRole('button', { name: 'Sign off' }).click();
  await row(second, MONTH).getByText('Closed').waitFor();
  await until(
    async () => (await ada.call('GET', `/ops/invoices?month=${MONTH}`)).text,
    (text) => text.includes('"number"'),
    { what: 'its invoice is written', withinMs: 20_000 },
  );
  await second.reload();
  await row(second, MONTH).getByText('Written').waitFor();
  await keepScreenshot(second, 'operators-months-whole');
  const text = await textOf(await download(second, `Books at the end of ${nameOf(MONTH)} as PDF`));
  const balance = dataOf(await ada.call('GET', '/ops/books/trial-balance')) as {
    lines: { account: string; credit: number }[];
  };
  const { credit } = balance.lines.find((line) => line.account === 'revenue:NGN')!;
  expect(text).toContain(`Books at the end of ${nameOf(MONTH)}`);
  expect(text).toContain(`revenue:NGN 0.00 ${credit.toFixed(2)}`);
  expect(text).toContain(bayo.email);
  const journal = String(await download(second, `Journal of ${nameOf(MONTH)} as CSV`));
  expect(journal).toContain('Sales of data packages NGN');
  const again = await ada.call('POST', `/ops/months/${MONTH}/ask-close`);
  expect(again.text).toContain('MONTH_ALREADY_CLOSED');
  // The one refusal that was asked for.
  expect(troubles.filter((trouble) => !trouble.includes('409'))).toEqual([]);
}, 120_000);

it('an account’s page lists its invoices', async () => {
  const page = await openAs(ada, `/accounts/${account.accountId}`);
  const invoices = page.getByRole('region', { name: 'Invoices' });
  await invoices.getByText(`Invoice, ${nameOf(MONTH)}`).waitFor();
  await invoices.scrollIntoViewIfNeeded();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    invoices.getByRole('button', { name: / as PDF/ }).click(),
  ]);
  expect(await textOf(await readFile(await file.path()))).toContain(COMPANY.legalName);
});

it('a merchant sets billing details and downloads a statement and a receipt', async () => {
  const funding = await payIn(browser, owner, 5_000);
  const page = await openMerchant({ browser, stack }, owner, `${placeOf(owner)}/wallet`);
  await page.getByLabel('Legal name').fill('Ọlá Travel Ltd');
  await page.getByLabel('Address').fill('12 Odeku Street\nLagos');
  await page.getByLabel('Country').fill('NG');
  await page.getByLabel('Send a mail for each invoice').check();
  await page.getByRole('region', { name: 'Billing details' }).getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. New invoices, and all statements and receipts, show them.').waitFor();
  await keepScreenshot(page, 'merchant-papers-whole');
  expect(await graveFaults(page)).toEqual([]);
  const text = await textOf(await download(page, `Statement of ${nameOf(monthAgo(0))} as PDF`));
  for (const part of ['Ọlá Travel Ltd', '₦5,000.00', 'Closing balance']) expect(text).toContain(part);
  await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/purchases/${funding}`);
  expect(await textOf(await download(page, 'Receipt'))).toContain('Receipt for a funding');
  const phone = await openMerchant({ browser, stack }, owner, `${placeOf(owner)}/wallet`, {
    viewport: PHONE,
  });
  await phone.getByRole('region', { name: 'Billing details' }).waitFor();
  await keepScreenshot(phone, 'merchant-papers-phone-whole');
  expect(await overflow(phone)).toBe(0);
}, 60_000);
