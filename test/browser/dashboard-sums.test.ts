// Every list, sum and chart beside rows that were counted by hand.
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { SIGN_IN_ENV, signedIn } from '../support/people/people.ts';
import { until } from '../support/time/until.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { openPages, PHONE } from './browser.ts';
import { makeFundedOwner, openMerchant, placeOf } from './merchant.support.ts';
import { goTo, openOperator } from './operators.support.ts';

const [browser, stack] = await openPages({ env: SIGN_IN_ENV });
const owner = await makeFundedOwner({ browser, stack });
const ada = await signedIn(stack, 'FINANCE');

/** USD 50 in the wallet; two eSIMs delivered, one out of stock, and a funding that nobody paid. */
async function makeRows(): Promise<{ readonly priceMinor: number }> {
  const buy = (packageCode: string) =>
    owner.ask('POST', '/api/esim/buy', {
      body: { packageCode, packageType: 'BASE', paymentMethod: 'WALLET' },
    });
  const found = await owner.ask('GET', '/api/esim/packages/SIM-OK?currency=USD');
  await Promise.all([buy('SIM-OK'), buy('SIM-OK'), buy('SIM-OUT-OF-STOCK')]);
  await owner.ask('POST', '/api/wallet/fund', { body: { amount: 7, paymentMethod: 'CARD' } });
  await until(
    () => owner.ask('GET', '/api/esim/transactions'),
    ({ text }) => text.match(/"status":"SUCCESS"/g)?.length === 3,
    { what: 'one funding and two purchases have ended well' },
  );
  return { priceMinor: Math.round((JSON.parse(found.text) as { price: number }).price * 100) };
}

const usd = (minor: number): string => `USD ${(minor / 100).toFixed(2)}`;
const plainText = (text: string): string => text.replaceAll('\u00a0', ' ');

/** The cells of a column, from the top. */
async function column(page: Page, table: string, title: string): Promise<string[]> {
  const cells = page.getByRole('table', { name: table, exact: true }).locator(`td[data-label="${title}"]`);
  await cells.first().waitFor();
  return (await cells.allInnerTexts()).map((text) => plainText(text).trim());
}

it('the pages of merchants and operators show what the rows are', async () => {
  const { priceMinor } = await makeRows();
  const open = async (path: string) => openMerchant({ browser, stack }, owner, `${placeOf(owner)}${path}`);

  const home = await open('');
  await home.getByText('2 delivered purchases, top-ups included').waitFor();
  expect(await column(home, 'Purchases', 'Status')).toHaveLength(5);

  const figures = await open('/figures');
  const section = figures.locator('main');
  await section
    .getByText(usd(2 * priceMinor).replace(' ', '\u00a0'))
    .first()
    .waitFor();
  await figures.getByText('Days begin and end at midnight UTC.').waitFor();
  await figures.getByText('Money that was given back or is disputed is left out.').waitFor();
  await figures.getByText('Show as a table').first().click();
  const days = figures.getByRole('table', { name: 'Spent per day' }).getByRole('row');
  // A title and thirty days, newest first: today has both purchases.
  expect(await days.count()).toBe(31);
  const today = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date());
  expect(plainText(await days.nth(1).innerText()).split(/\s*\t\s*/)).toEqual([
    today,
    usd(2 * priceMinor),
    '2',
  ]);

  const wallet = await open('/wallet');
  expect((await column(wallet, 'Changes of the balance', 'Kind')).toSorted()).toEqual([
    ...['Funding', 'Given back', 'Hold, charged', 'Hold, charged', 'Hold, given back'],
  ]);
  expect((await column(wallet, 'Changes of the balance', 'Balance'))[0]).toBe(usd(5_000 - 2 * priceMinor));

  const esims = await open('/esims');
  const left = await column(esims, 'eSIMs', 'Data left');
  expect(left.filter((text) => text === '–')).toHaveLength(1);
  expect(left).toHaveLength(3);

  const operator = await openOperator({ browser, stack }, ada, '/books?book=daily');
  expect(await column(operator, 'Totals', 'Deliveries')).toEqual(['2']);
  expect(await column(operator, 'Totals', 'Revenue')).toEqual([usd(2 * priceMinor)]);
  await keepScreenshot(operator, 'operators-books-by-day');
  expect(await operator.getByRole('region', { name: /scrolls sideways/ }).count()).toBe(0);
  await goTo(stack, operator, '/books');
  await operator.getByText('what merchants can spend').waitFor();
  await keepScreenshot(operator, 'operators-trial-balance');
  await goTo(stack, operator, '/stuck');
  await operator.getByText('Nothing is stuck.').waitFor();
});

it('a row on a phone shows its amounts, and the rest when asked', async () => {
  const phone = { viewport: PHONE };
  const wallet = await openMerchant({ browser, stack }, owner, `${placeOf(owner)}/wallet`, phone);
  expect(await column(wallet, 'Changes of the balance', 'Amount')).toHaveLength(5);
  expect(await column(wallet, 'Changes of the balance', 'Balance')).not.toContain('');
  await keepScreenshot(wallet, 'wallet-phone-short-whole');

  const home = await openMerchant({ browser, stack }, owner, placeOf(owner), phone);
  const row = home.getByRole('table', { name: 'Purchases' }).getByRole('row').nth(1);
  const titles = async () =>
    Promise.all((await row.getByRole('cell').all()).map((cell) => cell.getAttribute('data-label')));
  await row.waitFor();
  expect(await titles()).toEqual(['When', 'What', 'Status', 'Amount']);
  await keepScreenshot(home, 'home-phone-short-whole');
  await row.getByRole('button', { name: 'Show all of this row' }).click();
  expect(await titles()).toEqual(['When', 'What', 'Status', 'Amount', 'Paid by']);
});
