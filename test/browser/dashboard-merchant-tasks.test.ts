// What merchants do after their first purchase; and the badge that names the environment.
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runApi } from '../../src/app/processes/api.ts';
import { freePort } from '../../src/dev/ports.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { graveFaults } from '../support/world/axe.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { colleague, data, signedUp, type User } from '../support/people/dashboard.ts';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { startInbox } from '../support/people/webhook-inbox.ts';
import { openPages, watchTroubles } from './browser.ts';
import {
  buy,
  choose,
  faultsOf,
  fillKey,
  openMerchant,
  makeFundedOwner,
  placeOf,
} from './merchant.support.ts';
import { forFile } from '../support/world/for-file.ts';

const [browser, stack] = await openPages({ env: SIGN_IN_ENV });
const inbox = await forFile(startInbox());

const openAs = (user: User, path: string) => openMerchant({ browser, stack }, user, path);

const fundedOwner = () => makeFundedOwner({ browser, stack });

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

const saved = (page: Page): Promise<void> => page.getByText('Saved.').first().waitFor();

describe('an eSIM', () => {
  it('is installed, used, topped up, used up and expired in the sandbox, and its page shows each', async () => {
    const owner = await fundedOwner();
    const { esimId } = (await buy(owner, 'SIM-MANUAL-LIFE')).esimDetails;
    const page = await openAs(owner, `${placeOf(owner)}/esims/${esimId}`);
    const used = (percent: number) =>
      page.getByRole('img', { name: `${percent} % of the data is used` }).waitFor();
    await page.getByText('CREATED', { exact: true }).waitFor();
    await page.getByAltText('QR code that installs the eSIM').waitFor();
    await page.getByText('Not in use yet').waitFor();
    await used(0);

    await press(page, 'Install');
    await page.getByText('ACTIVE', { exact: true }).waitFor();
    await page.getByText('A QR code works only once.').waitFor();
    await press(page, 'Resume');
    await page.getByRole('alert').filter({ hasText: 'Nothing was changed' }).waitFor();

    await page.getByLabel('Data to use, MB').fill('512');
    await press(page, 'Use data');
    await used(50);

    const timeline = page.getByRole('region', { name: 'Timeline' });
    const topUps = page.getByRole('region', { name: 'Top up' });
    await topUps.first().getByRole('combobox', { name: 'Top-up package' }).click();
    await page.getByRole('option').first().click();
    await topUps
      .last()
      .getByRole('button', { name: /^Top up for USD/ })
      .click();
    await page.getByRole('region', { name: 'Your top-up' }).getByText('The data was added').waitFor();
    await page.getByRole('button', { name: 'Top up again' }).waitFor();
    await used(25);

    await press(page, 'Use all data');
    await used(100);
    await press(page, 'Expire');
    const question = page.getByRole('dialog', { name: 'Expire' });
    await question.getByText('This cannot be undone.').waitFor();
    await question.getByRole('button', { name: 'Expire' }).click();
    await page.getByText('EXPIRED', { exact: true }).waitFor();
    await timeline
      .getByText(/expired/i)
      .first()
      .waitFor();
    const { body } = await owner.ask('GET', '/api/esim/transactions?type=TOPUP&status=SUCCESS');
    expect(body.data.items).toHaveLength(1);
  });
});

describe('a batch', () => {
  it('shows how far it is, each result, and the results as CSV', async () => {
    const owner = await fundedOwner();
    const page = await openAs(owner, `${placeOf(owner)}/batches`);
    // No mail server is set here: said before paying.
    await page.locator('input[type=file]').setInputFiles({
      ...{ name: 'mailed.csv', mimeType: 'text/csv' },
      buffer: Buffer.from('reference,packageCode,email\na,SIM-OK,\nb,SIM-OK,b@traveller.example\n'),
    });
    await page.getByText('Line 3: this service sends no e-mails to travellers').waitFor();
    expect(await page.getByRole('button', { name: /^Order/ }).count()).toBe(0);
    const codes = ['SIM-OK', 'SIM-OK', 'SIM-OUT-OF-STOCK', 'SIM-NEVER-ALLOCATE'];
    // The third is wrong until it is edited, and the last is dropped before it is paid.
    const rows = [...codes.with(2, 'SIM-OUT'), 'SIM-OK'].map((code, at) => `Anaïs ${at};${code};`);
    await page.locator('input[type=file]').setInputFiles({
      name: 'order.csv',
      mimeType: 'text/csv',
      // As Excel saves "CSV" in Western Europe.
      buffer: Buffer.from(['Reference;Package code;', ...rows].join('\r\n'), 'latin1'),
    });
    const read = page.getByRole('table', { name: 'Rows of the file' }).getByRole('row');
    await read.filter({ hasText: 'Anaïs 3' }).getByText('SIM-NEVER-ALLOCATE').waitFor();
    expect(await read.count()).toBe(6);
    await page.getByText('Line 4: “SIM-OUT” is not on sale').waitFor();
    await press(page, 'Remove line 6');
    await press(page, 'Edit line 4');
    await page.getByRole('textbox', { name: 'Package code' }).fill('SIM-OUT-OF-STOCK');
    await press(page, 'Save');
    await expect.poll(() => read.count()).toBe(5);
    const [template] = await Promise.all([page.waitForEvent('download'), press(page, 'Download a template')]);
    expect(readFileSync(await template.path(), 'utf8')).toBe(
      '\uFEFFreference,packageCode,email,sendAt,language\r\n',
    );
    const when = page.getByLabel('Buy at');
    await when.fill('2099-01-01T00:00');
    await page.getByRole('button', { name: /^Schedule 4 eSIMs for up to USD/ }).waitFor();
    await when.fill('');
    await page.getByRole('button', { name: /^Order 4 eSIMs for USD/ }).click();
    await page.getByRole('button', { name: /^Pay USD/ }).click();
    const bar = page.getByRole('progressbar');
    const shows = async (name: string, percent: string) => {
      await page.getByRole('progressbar', { name }).waitFor();
      expect(await bar.getAttribute('aria-valuenow')).toBe(percent);
    };
    await shows('3 of 4 rows are finished', '75');
    const rowOf = (code: string) => page.getByRole('row').filter({ hasText: code });
    await rowOf('SIM-OUT-OF-STOCK').getByText('FAILED').waitFor();
    await rowOf('SIM-NEVER-ALLOCATE').getByText('PROCESSING').waitFor();
    expect(await rowOf('SIM-OK').getByText('SUCCESS').count()).toBe(2);

    const { pathname } = new URL(page.url());
    const { items } = data<{ items: { transactionId: string; packageCode: string }[] }>(
      await owner.ask('GET', `/api/esim/orders/batch/${pathname.split('/').at(-1) ?? ''}`),
    );
    const slow = items.find(({ packageCode }) => packageCode === 'SIM-NEVER-ALLOCATE');
    const [order] = await stack.supplierOrders(slow?.transactionId ?? '');
    await fetch(`${stack.supplierControlUrl}/orders/${order?.orderNo ?? ''}/allocate`, { method: 'POST' });
    await shows('4 of 4 rows are finished', '100');
    await page.getByText('COMPLETED').waitFor();

    const [sheets] = await Promise.all([
      page.waitForEvent('download'),
      press(page, 'Download sheets to print'),
    ]);
    expect(readFileSync(await sheets.path(), 'utf8')).toMatch(/^<!doctype html>/);
    const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Download as CSV')]);
    const [head = '', ...lines] = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    const at = head.split(',').indexOf('status');
    expect(lines.map((line) => line.split(',')[at])).toEqual(['SUCCESS', 'SUCCESS', 'FAILED', 'SUCCESS']);
    expect(head.startsWith('\uFEFFrow,')).toBe(true);

    // Read back, it names what would be bought again.
    await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/batches`);
    await page.locator('input[type=file]').setInputFiles(await download.path());
    await page.getByText('Line 2: its status is SUCCESS').waitFor();
    expect(await page.getByText('Line 4:').count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Order/ }).count()).toBe(0);
  });
});

it('a batch is scheduled, waits for its start, and is cancelled', async () => {
  const owner = await fundedOwner();
  const page = await openAs(owner, `${placeOf(owner)}/batches`);
  await page.locator('input[type=file]').setInputFiles({
    ...{ name: 'later.csv', mimeType: 'text/csv' },
    buffer: Buffer.from('reference,packageCode\na,SIM-OK\n'),
  });
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
  await page.getByLabel('Buy at').fill(tomorrow);
  await page.getByRole('button', { name: /^Schedule 1 eSIM/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Schedule', exact: true }).click();
  await page.getByText('SCHEDULED').waitFor();
  await keepScreenshot(page, 'batch-scheduled');
  await press(page, 'Cancel the batch');
  await press(page, 'Cancel it');
  await page.getByText('CANCELLED', { exact: true }).first().waitFor();
  await page.getByText('Somebody cancelled it').waitFor();
});

const plain = (text: string): string => text.replaceAll('\u00a0', ' ').trim();

/** The numbers of a column, from the top; without one, such as for unlimited data: infinite. */
async function numbersIn(table: Locator, title: string): Promise<number[]> {
  const cells = await table.locator(`td[data-label="${title}"]`).allInnerTexts();
  return cells.map((text) => Number(/[\d,.]+/.exec(text)?.[0].replaceAll(',', '') ?? Infinity));
}

async function inTheOrder(
  page: Page,
  order: string,
  before: number[],
  title: string,
  way: 1 | -1,
): Promise<void> {
  await page.getByRole('combobox', { name: 'Sort by' }).click();
  await page.getByRole('option', { name: order, exact: true }).click();
  const sorted = before.toSorted((a, b) => way * (a - b));
  const table = page.getByRole('table', { name: 'Packages' });
  await expect.poll(() => numbersIn(table, title)).toEqual(sorted);
}

describe('the catalogue', () => {
  it('is filtered by country and text, at the price that is charged', async () => {
    const owner = await signedUp(stack, 'NGN');
    const page = await openAs(owner, `${placeOf(owner)}/catalogue`);
    const place = page.getByRole('textbox', { name: 'Search destinations' });
    await place.fill('Nowhere');
    await page.getByText('No destination has this name.').waitFor();
    await page.getByRole('button', { name: 'Show all destinations' }).click();
    await page.getByRole('list', { name: 'Countries' }).waitFor();
    await place.fill('Nigeria');
    const card = page.getByRole('link', { name: /^Nigeria/ });
    const from = plain(await card.innerText());
    await card.click();
    await page.waitForURL(/region=NG/);
    await page.getByRole('heading', { name: 'Nigeria', level: 1 }).waitFor();
    const packages = page.getByRole('table', { name: 'Packages' });
    const links = packages.getByRole('link');
    await links.first().waitFor();
    const all = await links.count();
    // The first one is the cheapest: what the card says.
    const prices = packages.locator('td[data-label="Price"]');
    expect(from).toContain(`from ${plain(await prices.first().innerText())} · ${all} packages`);
    await inTheOrder(page, 'Price per GB', await numbersIn(packages, 'Per GB'), 'Per GB', 1);
    await inTheOrder(page, 'Most days', await numbersIn(packages, 'Days'), 'Days', -1);
    expect(page.url()).toContain('sort=days');
    const name = await links.first().innerText();
    const search = page.getByRole('textbox', { name: 'Search' });
    await search.fill(name);
    await expect.poll(() => links.count()).toBeLessThan(all);
    expect(await links.allInnerTexts()).toContain(name);
    await search.fill('no package has this name');
    await page.getByText('No results.').waitFor();
    await page.getByRole('button', { name: 'Remove the filters' }).click();
    expect(await search.inputValue()).toBe('');
    await expect.poll(() => links.count()).toBe(all);

    const row = packages.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    const price = plain(await row.first().locator('.amount').first().innerText());
    expect(price).toMatch(/^NGN [\d,]+\.\d\d$/);
    await row.first().getByRole('link').click();
    const button = page.getByRole('button', { name: /^Buy the eSIM for/ });
    await button.waitFor();
    expect((await button.innerText()).replaceAll('\u00a0', ' ')).toBe(`Buy the eSIM for ${price}`);
  });
});

describe('an API key', () => {
  it('is made with limits, and they are changed and taken away', async () => {
    const owner = await signedUp(stack);
    const page = await openAs(owner, `${placeOf(owner)}/developers/keys`);
    await press(page, 'Create a key');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Amount a day').fill('12,34,5');
    await fillKey(page, ['127.0.0.0/8']);
    await dialog.getByText(/^Not clear/).waitFor();
    await dialog.getByLabel('Amount a day').fill('150');
    await dialog.getByLabel('Number of purchases').fill('3');
    await press(page, 'Create the key');
    await page.getByText('It is shown once').waitFor();
    await page.keyboard.press('Escape');
    const table = page.getByRole('table', { name: 'API keys' });
    await table.getByText('3 purchases: 3 left').waitFor();
    await table.getByText(/150\.00 a day: \D*150\.00 left until midnight UTC/).waitFor();

    await table.getByRole('button', { name: 'Change limits' }).click();
    await dialog.getByLabel('Number of purchases').fill('1.5');
    await press(page, 'Save the limits');
    await dialog.getByText('A whole number').waitFor();
    await dialog.getByLabel('Number of purchases').fill('');
    await dialog.getByLabel('Amount a day').fill('');
    await dialog.getByLabel('Countries').fill('ng');
    await press(page, 'Save the limits');
    await table.getByText('Only NG').waitFor();
    expect(await table.getByText('purchases:').count()).toBe(0);
  });

  const statusOf = async (key: string) => (await stack.call('GET', '/api/wallet/balance', { key })).status;

  it('is copied with a button, expires when it should, and is refused once it is revoked', async () => {
    const owner = await signedUp(stack);
    const page = await openAs(owner, `${placeOf(owner)}/developers/keys`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await press(page, 'Create a key');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Expires').fill('2020-01-01T10:00');
    await fillKey(page, ['127.0.0.0/8']);
    await dialog.locator('.mantine-InputWrapper-root', { hasText: 'Expires' }).getByText(/^Must/).waitFor();
    await dialog.getByLabel('Expires').fill('2099-12-31T10:00');
    await press(page, 'Create the key');
    await page.getByText('It is shown once').waitFor();
    await press(page, 'Copy');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const key = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(await statusOf(key)).toBe(200);

    const row = page
      .getByRole('table', { name: 'API keys' })
      .getByRole('row')
      .filter({ hasText: key.slice(-4) });
    const expires = row.getByText('Dec 31, 2099');
    await expires.waitFor();
    expect(Date.parse((await expires.getAttribute('datetime')) ?? '')).toBe(Date.parse('2099-12-31T10:00'));
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('This cannot be undone').waitFor();
    await press(page, 'Back');
    expect(await statusOf(key)).toBe(200);
    await row.getByRole('button', { name: 'Revoke' }).click();
    await press(page, 'Revoke the key');
    await row.getByText(/^Revoked/).waitFor();
    await expect.poll(() => statusOf(key)).toBe(401);
  });
});

describe('Home', () => {
  it('says what is to be done, and shows the balance, sales and what ends soon', async () => {
    const owner = await fundedOwner();
    const page = await openAs(owner, placeOf(owner));
    const toDo = page.getByRole('region', { name: 'To do' });
    await toDo.getByRole('button', { name: 'Close the hint' }).click();
    await toDo.getByText('Nothing waits for you.').waitFor();
    await page.getByRole('region', { name: 'First steps' }).waitFor();

    const { esimDetails } = (await buy(owner, 'SIM-MANUAL-LIFE')) as unknown as {
      esimDetails: { esimId: string };
    };
    const act = (action: string, body = {}) =>
      owner.ask('POST', `/api/sandbox/esims/${esimDetails.esimId}/${action}`, { body });
    await act('install');
    await act('use', { bytes: 1 });
    const { text } = await owner.ask('GET', `/api/esim/${esimDetails.esimId}`);
    const end = Date.parse(/"expiredTime":"([^"]+)"/.exec(text)?.[1] ?? '');
    const days = Math.round((end - Date.now()) / 86_400_000);
    await act('clock', { advanceSeconds: (days - 2) * 86_400 });
    await owner.ask('POST', '/api/wallet/fund', { body: { amount: 20, paymentMethod: 'BANK_TRANSFER' } });
    await page.reload();
    await toDo.getByText('1 payment not made yet').waitFor();
    const ending = toDo.getByRole('listitem').filter({ hasText: '1 eSIM ends within 3 days' });
    await ending.waitFor();
    const soon = page.getByRole('table', { name: 'eSIMs that end soon' });
    await expect.poll(() => soon.getByRole('link').count()).toBe(1);
    const sales = page.getByRole('region', { name: 'Spent in the last 30 days' });
    await sales.getByText('1 delivered purchase, top-ups included').waitFor();
    const wallet = page.getByRole('region', { name: 'Wallet' });
    const said = async () => plain(await wallet.getByRole('status').innerText()).replaceAll(/\s+/g, ' ');
    const usd = (amount: number) => `USD ${amount.toFixed(2)}`;
    const { balance } = data<{ balance: number }>(await owner.ask('GET', '/api/wallet/balance'));
    expect(balance).toBeLessThan(50);
    expect(await said()).toBe(`Now Balance ${usd(balance)}`);
    const chart = wallet.getByRole('img', { name: 'Balance over time' });
    await chart.focus();
    // What it was before any change, then the funding, then the purchase.
    await chart.press('Home');
    await expect.poll(said).toMatch(/Balance USD 0\.00$/);
    await chart.press('ArrowRight');
    await expect.poll(said).toMatch(/Balance USD 50\.00$/);
    await keepScreenshot(page, 'home-to-do-whole');
    expect(await graveFaults(page)).toEqual([]);

    await ending.getByRole('link', { name: 'See them' }).click();
    await page.waitForURL(/esims\?ends=3/);
    const rows = page.getByRole('table', { name: 'eSIMs' }).getByRole('row');
    await expect.poll(() => rows.count()).toBe(2);
    await page.goBack();
    await toDo.getByRole('link', { name: 'See them' }).first().click();
    await page.waitForURL(/purchases\?status=PENDING/);
    // The address changes before the page does.
    await page.getByRole('heading', { name: 'Purchases', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Funding' }).waitFor();
  });
});

describe('a webhook endpoint', () => {
  it('is removed after a question, and gets nothing more', async () => {
    const owner = await fundedOwner();
    for (const path of ['/kept', '/removed'])
      await owner.ask('POST', '/api/webhooks/endpoints', {
        body: { url: `${inbox.url}${path}`, events: ['esim.purchased'] },
      });
    const page = await openAs(owner, `${placeOf(owner)}/developers/webhooks`);
    const endpoints = page.getByRole('region', { name: 'Endpoints' });
    const remove = async (answer: string) => {
      await endpoints
        .locator('.mantine-Stack-root', { has: page.getByText(`${inbox.url}/removed`, { exact: true }) })
        .last()
        .getByRole('button', { name: 'Remove' })
        .click();
      await page.getByRole('dialog').getByText(`${inbox.url}/removed`).waitFor();
      await press(page, answer);
    };
    await remove('Back');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await remove('Remove the endpoint');
    await page.getByText('The endpoint is removed.').waitFor();
    await endpoints.getByText(`${inbox.url}/removed`).waitFor({ state: 'detached' });
    await endpoints.getByText(`${inbox.url}/kept`).waitFor();
    await buy(owner, 'SIM-OK');
    await inbox.untilAt('/kept', 1);
    expect(inbox.letters.filter(({ path }) => path === '/removed')).toEqual([]);
  });
});

describe('the warning of a low balance', () => {
  it('is set to an amount, sent and shown once the balance falls below it, and switched off', async () => {
    const owner = await fundedOwner();
    await owner.ask('POST', '/api/webhooks/endpoints', {
      body: { url: `${inbox.url}/low`, events: ['wallet.low_balance'] },
    });
    const page = await openAs(owner, `${placeOf(owner)}/wallet`);
    const warning = page.getByRole('region', { name: 'Low-balance warning' });
    const limit = warning.getByLabel('Below this balance, USD');
    await limit.fill('49.5');
    await warning.getByRole('button', { name: 'Save' }).click();
    await saved(page);
    await page.reload();
    await limit.waitFor();
    expect(await limit.inputValue()).toMatch(/^49\.50?$/);
    await page.getByText('USD 50.00').first().waitFor();
    const alert = page.getByRole('alert').filter({ hasText: 'The balance is low' });
    expect(await alert.count()).toBe(0);
    await buy(owner, 'SIM-OK');
    const [letter] = await inbox.untilAt('/low', 1);
    expect(JSON.parse(letter?.body ?? '')).toMatchObject({ event: 'wallet.low_balance' });

    await page.reload();
    await alert.waitFor();
    expect(await faultsOf(page, 'low-balance')).toEqual([]);
    await choose(page, 'Home');
    const toDo = page.getByRole('listitem').filter({ hasText: 'The balance is low' });
    await toDo.getByRole('link', { name: 'Fund the wallet' }).click();
    await page.waitForURL('**/wallet#fund');
    await limit.fill('');
    await warning.getByRole('button', { name: 'Save' }).click();
    await alert.waitFor({ state: 'detached' });
    const { body } = await owner.ask('GET', '/api/wallet/low-balance');
    expect(body).toMatchObject({ amount: null });
  });
});

describe('the settings', () => {
  it('change name and website; a website that does not answer is refused at its field, and stays typed', async () => {
    const owner = await signedUp(stack);
    const page = await openAs(owner, `${placeOf(owner)}/settings`);
    await page.getByLabel('Name').fill('Ada Travel');
    const website = page.getByLabel('Website');
    await website.fill('http://127.0.0.1:9/');
    await press(page, 'Save');
    await page.getByText('Must have a web server that answers').waitFor();
    expect(await website.inputValue()).toBe('http://127.0.0.1:9/');
    await website.fill(`${stack.apiUrl}/dashboard/sign-in`);
    await press(page, 'Save');
    await saved(page);
    await choose(page, 'Home');
    await page.getByRole('heading', { name: 'Ada Travel', level: 1 }).waitFor();
    const { name, websiteUrl } = data<Record<string, string>>(await owner.ask('GET', '/account'));
    expect([name, websiteUrl]).toEqual(['Ada Travel', `${stack.apiUrl}/dashboard/sign-in`]);
  });
});

describe('a member of the team', () => {
  it('gets another role, which changes what the member sees, and is removed', async () => {
    const owner = await signedUp(stack);
    const helper = await colleague(stack, owner, 'SUPPORT');
    const [page, theirs] = await Promise.all([
      openAs(owner, `${placeOf(owner)}/team`),
      openAs(helper, placeOf(helper)),
    ]);
    const keys = theirs.getByRole('link', { name: 'API keys', exact: true });
    expect(await keys.count()).toBe(0);
    const role = page.getByLabel('Role of A SUPPORT').first();
    await role.waitFor();
    expect(await page.getByRole('region', { name: 'Members, scrolls sideways' }).count()).toBe(0);
    await role.click();
    await page.getByRole('option', { name: /^Developer/ }).click();
    await press(page, 'Change the role');
    await expect.poll(() => role.inputValue()).toMatch(/^Developer/);
    await theirs.reload();
    await keys.waitFor();

    await press(page, 'Remove A SUPPORT');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove A SUPPORT' }).click();
    const members = page.getByRole('table', { name: 'Members' });
    await members.getByText(helper.email).waitFor({ state: 'detached' });
    await members.getByText(owner.email).waitFor();
    expect((await helper.ask('GET', '/account')).status).not.toBe(200);
  });
});

describe('with both environments on', () => {
  let apiUrl: string;
  let api: Awaited<ReturnType<typeof runApi>>;
  beforeAll(async () => {
    apiUrl = `http://127.0.0.1:${await freePort()}`;
    const { config, secrets } = readConfig({
      ...stack.env,
      SIMWAY_HTTP_PORT: new URL(apiUrl).port,
      SIMWAY_ADMIN_PORT: '0',
      SIMWAY_LIVE_SUPPLIER_URL: stack.supplierUrl,
      SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: 'test-access',
    });
    // On the same database.
    api = await runApi({ ...stack.context, config, secrets, processName: 'api' });
  });
  afterAll(() => api.stop());

  const openLive = (owner: User, path: string) =>
    openMerchant({ browser, stack: { apiUrl } }, owner, `/m/${owner.accountId}/live${path}`);

  it('the badge names the environment of each page, and the switch leads to the other environment', async () => {
    const owner = await fundedOwner();
    const page = await openLive(owner, '/wallet');
    const troubles = watchTroubles(page);
    await page.getByText('Live: real money', { exact: true }).waitFor();
    await page.getByText('USD 0.00', { exact: true }).first().waitFor();
    await page.getByRole('radiogroup', { name: 'Environment' }).getByText('Test', { exact: true }).click();
    await page.waitForURL(`**/m/${owner.accountId}/test`);
    await page.getByText('Test: no real money', { exact: true }).waitFor();
    await page.getByText('USD 50.00').first().waitFor();
    expect(await page.getByText('Live: real money').count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  it('a purchase with real money is asked for first, with package and price', async () => {
    const owner = await signedUp(stack);
    const { body: sold } = await owner.ask('GET', '/api/esim/packages/SIM-OK?currency=USD');
    const { name, price } = sold as unknown as { name: string; price: number };
    const page = await openLive(owner, '');
    // No worker fills the catalogue of the live environment.
    await page.route('**/api/esim/packages/SIM-OK*', (route) => route.fulfill({ json: sold }));
    let orders = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/api/esim/buy')) orders += 1;
    });
    await page.goto(`${apiUrl}/dashboard/m/${owner.accountId}/live/catalogue/SIM-OK`);
    const buyIt = `Buy the eSIM for USD ${price.toFixed(2)}`;
    const dialog = page.getByRole('dialog', { name: 'Buy the eSIM' });
    await page.getByRole('button', { name: buyIt }).click();
    await dialog.getByText(name).waitFor();
    expect(await graveFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Back' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(orders).toBe(0);
    await page.getByRole('button', { name: buyIt }).click();
    await dialog.getByRole('button', { name: buyIt }).click();
    await dialog.getByRole('alert').waitFor();
    expect(orders).toBe(1);
  });
});
