// What a merchant typed or began is neither lost nor done twice, whatever is refused on the way.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { create } from 'qrcode';
import { describe, expect, it } from 'vitest';
import { graveFaults } from '../support/world/axe.ts';
import {
  colleague,
  mailOf,
  signedUp,
  totp,
  uniqueEmail,
  USER_PASSWORD,
  type User,
} from '../support/people/dashboard.ts';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { until } from '../support/time/until.ts';
import { startInbox } from '../support/people/webhook-inbox.ts';
import { openPages } from './browser.ts';
import { buy, faultsOf, fillKey, openMerchant, payIn, placeOf } from './merchant.support.ts';
import { forFile } from '../support/world/for-file.ts';

// All attempts follow each other at once, and an endpoint that fails is disabled after the fourth.
const [browser, stack] = await openPages({ env: { ...SIGN_IN_ENV, SIMWAY_TEST_WEBHOOK_SPEED: '1e9' } });
const inbox = await forFile(startInbox());

const openAs = (user: User, path: string): Promise<Page> => openMerchant({ browser, stack }, user, path);
const pay = (owner: User, amount: number): Promise<string> => payIn(browser, owner, amount);

/** The service gets the first such request; its answer never arrives. */
async function loseFirst(page: Page, url: string): Promise<void> {
  let isLost = false;
  await page.route(url, async (route) => {
    if (isLost || route.request().method() !== 'POST') return route.continue();
    isLost = true;
    await route.fetch();
    return route.abort();
  });
}

describe('a purchase that the wallet could not pay', () => {
  it('is refused in words, and bought once when its button is pressed again after a funding', async () => {
    const owner = await signedUp(stack);
    const page = await openAs(owner, `${placeOf(owner)}/catalogue/SIM-OK`);
    const button = page.getByRole('button', { name: 'Buy the eSIM' });
    await button.click();
    await page.getByRole('alert').filter({ hasText: 'Insufficient wallet balance' }).waitFor();

    await pay(owner, 50);
    await button.click();
    await page.getByAltText('QR code that installs the eSIM').waitFor();
    const { body } = await owner.ask('GET', '/api/esim/transactions?type=BASE&status=SUCCESS');
    expect(body.data.items).toHaveLength(1);
  });

  it('is bought once where the answer to the first try was lost', async () => {
    const owner = await signedUp(stack);
    await pay(owner, 50);
    const page = await openAs(owner, `${placeOf(owner)}/catalogue/SIM-OK`);
    await loseFirst(page, '**/api/esim/buy');
    const button = page.getByRole('button', { name: 'Buy the eSIM' });
    await button.click();
    await page.getByRole('alert').filter({ hasText: 'The service cannot be reached' }).waitFor();
    await button.click();
    await page.getByAltText('QR code that installs the eSIM').waitFor();
    const { body } = await owner.ask('GET', '/api/esim/transactions?type=BASE');
    expect(body.data.items).toHaveLength(1);
  });
});

describe('the price that is shown', () => {
  /** The page sees only this share of the price: it has risen since it was read. */
  async function showLess(page: Page, share: number): Promise<void> {
    await page.route('**/api/esim/packages/SIM-OK*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { price: number };
      await route.fulfill({ response, json: { ...body, price: Math.trunc(body.price * share * 100) / 100 } });
    });
  }

  it('is the most that is charged, for one eSIM and for a batch', async () => {
    const owner = await signedUp(stack);
    await pay(owner, 50);
    const page = await openAs(owner, placeOf(owner));
    await showLess(page, 0.5);
    await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/catalogue/SIM-OK`);
    await page.getByRole('button', { name: 'Buy the eSIM for' }).click();
    await page.getByRole('alert').filter({ hasText: 'above maxPrice' }).waitFor();

    await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/batches`);
    const buffer = Buffer.from('reference,packageCode\na,SIM-OK\nb,SIM-OK\n');
    await page.locator('input[type=file]').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Order 2 eSIMs for' }).click();
    await page.getByRole('button', { name: /^Pay USD/ }).click();
    await page.getByRole('alert').filter({ hasText: 'the rows cost' }).waitFor();

    const { body } = await owner.ask('GET', '/api/wallet/balance');
    expect(body.data.balance).toBe(50);
    // The page reads the price again after a refusal.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
});

describe('a lost answer', () => {
  it('leads to no second endpoint', async () => {
    const owner = await signedUp(stack);
    const page = await openAs(owner, `${placeOf(owner)}/developers/webhooks`);
    await loseFirst(page, '**/api/webhooks/endpoints');
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(`${stack.apiUrl}/hook`);
    await dialog.getByRole('button', { name: 'Add the endpoint' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'The service cannot be reached' }).waitFor();
    await dialog.getByRole('button', { name: 'Add the endpoint' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('It is shown once').waitFor();
    await page.getByRole('region', { name: 'Endpoints' }).getByText(`${stack.apiUrl}/hook`).waitFor();
    const { body } = await owner.ask('GET', '/api/webhooks/endpoints');
    expect(body.data.items).toHaveLength(1);
  });

  it('of a new key names that key before another is created', async () => {
    const owner = await signedUp(stack);
    const page = await openAs(owner, `${placeOf(owner)}/developers/keys`);
    await loseFirst(page, '**/account/keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await fillKey(page, ['127.0.0.0/8']);
    await page
      .getByRole('dialog')
      .getByRole('alert')
      .filter({ hasText: 'The answer was lost, but the key' })
      .waitFor();
    const { body } = await owner.ask('GET', '/account/keys');
    expect(body.data.items).toHaveLength(1);
  });
});

describe('filters', () => {
  it('are in the address, and the CSV has what they show', async () => {
    const owner = await signedUp(stack);
    await pay(owner, 50);
    await buy(owner, 'SIM-OK');
    const page = await openAs(owner, `${placeOf(owner)}/wallet`);
    const table = page.getByRole('table', { name: 'Changes of the balance' });
    await table.getByText('Charged').waitFor();
    await page.getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'Funding' }).click();
    await page.waitForURL('**/wallet?kind=FUNDING');
    await table.getByText('Charged').waitFor({ state: 'detached' });
    await page.reload();
    await table.getByText('Funding').first().waitFor();
    expect(await table.getByRole('row').count()).toBe(2);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    const csv = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(csv.map((line) => line.split(',')[2])).toEqual(['kind', 'FUNDING']);

    await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/wallet?from=2020-01-01&to=2020-01-02`);
    await page.getByText('No results.').waitFor();
    await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/purchases?paymentMethod=CARD&type=BASE`);
    await page.getByText('No results.').waitFor();
  });
});

describe('what cannot be undone', () => {
  it('is asked before: an invitation, a role, the secret of an endpoint', async () => {
    const owner = await signedUp(stack);
    const helper = await colleague(stack, owner, 'SUPPORT');
    await owner.ask('POST', '/account/invitations', {
      body: { email: 'new@merchant.example', role: 'FINANCE' },
    });
    const endpoint = { url: `${stack.apiUrl}/hook`, events: ['esim.purchased'] };
    const created = await owner.ask('POST', '/api/webhooks/endpoints', { body: endpoint });
    expect([created.status, created.text]).toEqual([201, expect.stringContaining(endpoint.url)]);
    const page = await openAs(owner, `${placeOf(owner)}/team`);
    const changes: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') changes.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    const dialog = page.getByRole('dialog');
    const back = async () => {
      await dialog.getByRole('button', { name: 'Back' }).click();
      await dialog.waitFor({ state: 'hidden' });
    };
    const withdraw = page.getByRole('button', { name: 'Withdraw the invitation of new@merchant.example' });
    await withdraw.click();
    expect(await graveFaults(page)).toEqual([]);
    await back();
    expect(await graveFaults(page)).toEqual([]);
    const role = page.getByLabel('Role of A SUPPORT').first();
    await role.click();
    await page.getByRole('option', { name: /^Finance/ }).click();
    await back();
    expect(await role.inputValue()).toMatch(/^Support/);
    expect(changes).toEqual([]);

    await withdraw.click();
    await dialog.getByRole('button', { name: 'Withdraw the invitation' }).click();
    await page.getByText('No open invitations.').waitFor();
    await role.click();
    await page.getByRole('option', { name: /^Finance/ }).click();
    await dialog.getByRole('button', { name: 'Change the role' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => role.inputValue()).toMatch(/^Finance/);
    expect(changes.map((change) => change.replace(/\/(inv-)?[^/]*$/, ''))).toEqual([
      'DELETE /account/invitations',
      'PATCH /account/members',
    ]);
    expect((await helper.ask('GET', '/account')).status).toBe(200);

    await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/developers/webhooks`);
    await page.getByRole('button', { name: 'New secret' }).click();
    await back();
    expect(changes).toHaveLength(2);
    await page.getByRole('button', { name: 'New secret' }).click();
    await dialog.getByRole('button', { name: 'Create the new secret' }).click();
    await page.getByText('It is shown once').waitFor();
  });
});

describe('signing in again over a page', () => {
  it('is not asked for where only the password in a form was wrong', async () => {
    const owner = await signedUp(stack);
    const page = await openAs(owner, '/settings');
    // The page is among the merchant's, with the box that finds any id.
    await page.waitForURL(`**${placeOf(owner)}/login`);
    await page.getByRole('searchbox', { name: 'Any id or ICCID' }).waitFor();
    await page.getByLabel('Current password').first().fill('not the one I have');
    await page.getByLabel('New password').first().fill('a quite new one, long enough');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByRole('alert').filter({ hasText: 'The password is wrong' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.getByRole('dialog', { name: 'Your session has ended' }).count()).toBe(0);
  });
});

describe('an answer of 500', () => {
  it('is shown with a button that tries again', async () => {
    const owner = await signedUp(stack);
    const page = await openAs(owner, placeOf(owner));
    let isBroken = true;
    await page.route('**/api/wallet/entries*', (route) =>
      isBroken
        ? route.fulfill({
            status: 500,
            json: {
              success: false,
              error: { code: 'INTERNAL_ERROR', message: 'Something went wrong on our side' },
            },
          })
        : route.continue(),
    );
    await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/wallet`);
    const failure = page.getByRole('alert').filter({ hasText: 'Something went wrong on our side' });
    const again = failure.getByRole('button', { name: 'Try again' });
    // The balance with its last change, and the list of changes.
    await expect.poll(() => again.count()).toBe(2);
    isBroken = false;
    await again.last().click();
    await page.getByText('No changes yet.').waitFor();
    if ((await again.count()) > 0) await again.click();
    await expect.poll(() => failure.count()).toBe(0);
  });
});

describe('a link', () => {
  it('keeps its filters through signing in; an invitation opens its account to who is signed in', async () => {
    const [ada, other] = [await signedUp(stack), await signedUp(stack, 'NGN')];
    const page = await browser.newPage();
    await page.goto(`${stack.apiUrl}/dashboard${placeOf(ada)}/purchases?status=FAILED`);
    await page.getByLabel('E-mail address').fill(ada.email);
    await page.getByLabel('Password').first().fill(USER_PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Purchases' }).waitFor();
    expect(new URL(page.url()).search).toBe('?status=FAILED');

    const body = { email: ada.email, role: 'FINANCE' };
    const invited = await other.ask('POST', '/account/invitations', { body });
    await page.goto(mailOf(invited)?.link ?? '');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('heading', { name: 'Ada Ltd', level: 1 }).waitFor();
    expect(page.url()).toContain(`/dashboard${placeOf(other)}`);
  });
});

describe('a colleague', () => {
  it('is invited with a role, gets a second factor by its QR code, and keeps it when the password is reset', async () => {
    const owner = await signedUp(stack);
    const email = uniqueEmail('invited');
    const page = await openAs(owner, `${placeOf(owner)}/team`);
    const invitations = page.getByRole('region', { name: 'Invitations' });
    await invitations.getByLabel('E-mail address').fill(email);
    await invitations.getByRole('combobox', { name: 'Role' }).click();
    await page.getByRole('option', { name: /^Support/ }).click();
    await invitations.getByRole('button', { name: 'Invite' }).click();
    const mail = 'Open the link in the mail';
    const link = await page.getByRole('link', { name: mail }).getAttribute('href');
    await page.context().close();

    const context = await browser.newContext({ extraHTTPHeaders: { 'X-Forwarded-For': '127.9.1.1' } });
    const other = await context.newPage();
    const refused: string[] = [];
    other.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) refused.push(message.text());
    });
    const signIn = async (password: string) => {
      await other.getByLabel('E-mail address').fill(email);
      await other.getByLabel('Password').first().fill(password);
      await other.getByRole('button', { name: 'Sign in' }).click();
    };
    await other.goto(link ?? '');
    await other.getByLabel('Your name').fill('Sam Support');
    await other.getByLabel('Password').first().fill(USER_PASSWORD);
    await other.getByRole('button', { name: 'Join' }).click();
    await other.getByRole('heading', { name: 'Ada Ltd', level: 1 }).waitFor();
    await other.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/team`);
    await other.getByRole('table', { name: 'Members' }).getByText('Support', { exact: true }).waitFor();
    expect(await other.getByRole('button', { name: 'Invite' }).count()).toBe(0);

    await other.goto(`${stack.apiUrl}/dashboard/settings`);
    await other.getByLabel('Your password').first().fill(USER_PASSWORD);
    await other.getByRole('button', { name: 'Switch on' }).click();
    const qr = other.getByRole('img', { name: 'QR code for the authenticator app' });
    await qr.waitFor();
    expect(await faultsOf(other, 'second-factor')).toEqual([]);
    const uri = (await other.getByRole('link', { name: 'open the app' }).getAttribute('href')) ?? '';
    const drawn = (await qr.locator('path').getAttribute('d')) ?? '';
    const dark = create(uri).modules.data.filter((isDark) => isDark !== 0);
    expect(drawn.match(/M/g)).toHaveLength(dark.length);
    const secret = new URL(uri).searchParams.get('secret') ?? '';
    await other.getByText(secret.replaceAll(/.{4}(?=.)/g, '$& '), { exact: true }).waitFor();
    const typeCode = async (code: string) => {
      await other.locator('input[autocomplete=one-time-code]').first().click();
      await other.keyboard.type(code);
    };
    await typeCode(totp(secret));
    await other.getByRole('button', { name: 'Switch on' }).click();
    await other.getByText('On. Signing in also needs a code').waitFor();

    await context.clearCookies();
    await other.goto(`${stack.apiUrl}/dashboard/reset-password`);
    await other.getByLabel('E-mail address').fill(email);
    await other.getByRole('button', { name: 'Send the link' }).click();
    await other.getByRole('link', { name: mail }).click();
    await other.getByLabel('New password').first().fill('a quite new one, long enough');
    await other.getByRole('button', { name: 'Change the password' }).click();
    await other.getByRole('link', { name: 'Sign in' }).click();
    await signIn('a quite new one, long enough');
    await other.getByText('The 6 digits that your authenticator app shows now').waitFor();
    expect(await faultsOf(other, 'second-factor-code')).toEqual([]);
    await typeCode(totp(secret, 1));
    await other.getByRole('button', { name: 'Continue' }).click();
    await other.getByRole('heading', { name: 'Ada Ltd', level: 1 }).waitFor();
    expect(refused).toEqual([]);
  });
});

describe('an endpoint', () => {
  it('gets a sample and a new secret', async () => {
    const owner = await signedUp(stack);
    const url = `${inbox.url}/samples`;
    await owner.ask('POST', '/api/webhooks/endpoints', { body: { url, events: ['esim.purchased'] } });
    const page = await openAs(owner, `${placeOf(owner)}/developers/webhooks`);
    await page.getByText('No messages yet. The next event is listed here.').waitFor();
    await page.getByRole('combobox', { name: 'Sample of' }).click();
    await page.getByRole('option', { name: 'esim.expired' }).click();
    await page.getByRole('button', { name: 'Send a sample' }).click();
    await page.getByText('The sample is being sent.').waitFor();
    await page.getByRole('table', { name: 'Messages' }).getByRole('link', { name: 'esim.expired' }).waitFor();

    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'New secret' }).click();
    await dialog.getByRole('button', { name: 'Create the new secret' }).click();
    await page.getByText(/^whsec_/).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'New secret' }).waitFor();
    expect(await page.content()).not.toContain('whsec_');
  });

  it('that answered 500 until it was disabled gets what failed, once it is mended and enabled', async () => {
    const owner = await signedUp(stack);
    await pay(owner, 50);
    const url = `${inbox.url}/orders`;
    await owner.ask('POST', '/api/webhooks/endpoints', { body: { url, events: ['esim.purchased'] } });
    inbox.answerWith({ status: 500, body: 'the shop is out of order' });
    await buy(owner, 'SIM-OK');
    await until(
      () => owner.ask('GET', '/api/webhooks/endpoints'),
      ({ text }) => text.includes('"FAILING"'),
      { what: 'the endpoint is disabled' },
    );
    const page = await openAs(owner, `${placeOf(owner)}/developers/webhooks`);
    await page.getByText('Disabled after 5 days of failures').waitFor();
    const messages = page.getByRole('table', { name: 'Messages' });
    await messages.getByText('FAILED').waitFor();
    const dialog = page.getByRole('dialog');
    const resend = async () => {
      await page.getByRole('button', { name: 'Resend failures' }).click();
      await dialog.getByRole('button', { name: 'Resend' }).click();
    };
    await resend();
    await dialog
      .getByRole('alert')
      .filter({ hasText: 'The endpoint is disabled: enable it first' })
      .waitFor();
    expect(await graveFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Back' }).click();

    inbox.answerWith({ status: 204 });
    await page.getByRole('switch', { name: 'Disabled' }).click();
    await page.getByText('Enabled', { exact: true }).waitFor();
    await resend();
    await page.getByText('1 failed message is being resent.').waitFor();
    await messages.getByText('DELIVERED').waitFor();
    await page.getByRole('link', { name: 'esim.purchased' }).click();
    await page.getByRole('button', { name: /^Attempt 5.*HTTP 204/ }).waitFor();
    await page.getByRole('button', { name: /^Attempt 1.*HTTP 500/ }).click();
    const answers = page.getByText('the shop is out of order');
    await expect.poll(() => answers.first().isVisible()).toBe(true);
    // Each attempt had the same message.
    const letters = inbox.letters.filter(({ path }) => path === '/orders');
    expect(letters).toHaveLength(5);
    expect(new Set(letters.map(({ headers, body }) => `${String(headers['webhook-id'])} ${body}`)).size).toBe(
      1,
    );
  });
});

describe('figures', () => {
  it('are in tables too, below their charts', async () => {
    const owner = await signedUp(stack);
    await pay(owner, 50);
    await buy(owner, 'SIM-OK');
    const page = await openAs(owner, `${placeOf(owner)}/figures`);
    const show = page.getByText('Show as a table');
    await expect.poll(() => show.count()).toBe(2);
    for (const one of await show.all()) await one.click();
    const rowsOf = (name: string) => page.getByRole('table', { name, exact: true }).getByRole('row');
    expect([await rowsOf('Spent per day').count(), await rowsOf('Data per day').count()]).toEqual([31, 31]);
    expect(await rowsOf('Spent per day').nth(1).innerText()).toMatch(/USD.\d+\.\d\d\s+1$/);
    expect(await rowsOf('Purchases by destination').last().innerText()).toMatch(/\w\s+1\b/);
  });
});
