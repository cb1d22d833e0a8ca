// SIMWAY_SCREENSHOTS=<folder> keeps what the pages look like.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { USER_PASSWORD } from '../support/people/dashboard.ts';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { startInbox } from '../support/people/webhook-inbox.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { openPages, watchLoading, watchLoads } from './browser.ts';
import {
  choose,
  faultsOf as faultsOfPage,
  fillKey,
  openVisitor,
  putInWallet,
  signUp as signUpAt,
  type Visitor,
} from './merchant.support.ts';
import { forFile } from '../support/world/for-file.ts';

const [browser, stack] = await openPages({ env: SIGN_IN_ENV, wholeCatalogue: true });
/** The merchant's website, which also takes webhooks. */
const website = await forFile(startInbox());
const websiteUrl = `${website.url}/`;

const openPage = (): Promise<Visitor> => openVisitor(browser);

const signUp = ({ page, email }: Visitor): Promise<string> => signUpAt(stack.apiUrl, page, email);

const BADGE = 'Test: no real money';

const faultsOf = (page: Page, name: string) => faultsOfPage(page, name, BADGE);

describe('the journey', () => {
  it('sign up, key, wallet, eSIM with its QR code, webhook, resend', async () => {
    const visitor = await openPage();
    const { page, context, faults } = visitor;
    const addresses: string[] = [];
    context.on('request', (request) => addresses.push(request.url()));
    page.on('framenavigated', (frame) => addresses.push(frame.url()));
    const token = await signUp(visitor);
    const shown = addresses.filter((address) => address.includes(token));
    // The link of the mail alone, which sends it to no server.
    expect(shown.every((address) => address.includes('/dashboard/confirm#token='))).toBe(true);
    expect(await page.evaluate<string>('location.href')).not.toContain(token);
    await choose(page, 'API keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Shop server');
    await page.getByLabel('Webhook URL').fill(`${websiteUrl}hook`);
    await fillKey(page, ['127.0.0.0/8']);
    await page.getByText('It is shown once').waitFor();
    const key = await page
      .getByText(/^simway_test_/)
      .first()
      .innerText();
    const answer = await stack.call('GET', '/api/wallet/balance', { key });
    expect([answer.status, answer.body.data.balance]).toEqual([200, 0]);
    await page.reload();
    await page.getByRole('table', { name: 'API keys' }).getByText('Shop server').waitFor();
    expect(await page.content()).not.toContain(key);

    await putInWallet(page, '100');
    await page.getByText('USD 100.00').first().waitFor();
    await page.getByRole('table', { name: 'Changes of the balance' }).waitFor();
    await keepScreenshot(page, 'merchant-wallet');

    await choose(page, 'Catalogue');
    await page.getByLabel('Package code').fill('SIM-OK');
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    await page.getByRole('button', { name: 'Buy the eSIM' }).click();
    const qr = page.getByAltText('QR code that installs the eSIM');
    await qr.waitFor();
    expect(
      await qr.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
    ).toBeGreaterThan(0);
    await page.getByRole('link', { name: 'Open the eSIM' }).click();
    // What it says depends on how soon the sandbox puts the eSIM in use.
    await page.getByRole('heading', { name: 'Diagnosis' }).waitFor();
    await keepScreenshot(page, 'merchant-esim');
    const found = await faultsOf(page, 'esim');
    const opened = [page.url()];

    await choose(page, 'Home');
    await page.getByText('1 delivered purchase, top-ups included').waitFor();
    await page.getByRole('table', { name: 'Purchases' }).waitFor();
    await keepScreenshot(page, 'merchant-home');

    await choose(page, 'Webhooks');
    await page.getByRole('link', { name: 'esim.purchased' }).first().click();
    await page.getByRole('button', { name: /^Attempt 1/ }).click();
    await page.getByText(`POST ${websiteUrl}hook`).waitFor();
    await keepScreenshot(page, 'merchant-webhook');
    found.push(...(await faultsOf(page, 'message')));
    opened.push(page.url());
    await page.getByRole('button', { name: 'Resend', exact: true }).click();
    await page.getByRole('button', { name: /^Attempt 2/ }).waitFor();

    await choose(page, 'API requests');
    await page.getByText('GET /api/wallet/balance').waitFor();

    await page.goto(page.url().replace(/\/developers\/.*/, '/purchases?type=BASE'));
    await page.getByRole('table').getByRole('link').first().click();
    await page.waitForURL('**/purchases/txn-*');
    await page.getByText('Ordered, paid from the wallet').waitFor();
    found.push(...(await faultsOf(page, 'purchase')));
    opened.push(page.url());
    await watchLoading(context);
    const loads = watchLoads();
    for (const url of opened) {
      await page.goto(url);
      // What tops up an eSIM is listed by region, which only the package of the eSIM has: a fourth round
      // trip.
      const most = url.includes('/esims/') ? 4 : 3;
      found.push(...(await loads.read(page, new URL(url).pathname, { most })));
    }
    loads.print();
    expect(found).toEqual([]);

    // A key is never searched for; an ICCID leads to its eSIM from any page.
    const box = page.getByRole('searchbox', { name: 'Any id or ICCID' });
    await box.fill(key);
    await box.press('Enter');
    await page.getByText('This looks like a key or a secret').waitFor();
    const { body } = await stack.call('GET', '/api/esim/my-esims', { key });
    const [esim] = (body as unknown as { esims: { _id: string; iccid: string }[] }).esims;
    await box.fill(esim?.iccid ?? '');
    await box.press('Enter');
    await page.waitForURL(`**/esims/${esim?._id ?? ''}`);
    await page.goto(`${page.url().replace(/\/esims\/.*/, '')}/search?text=txn-${'0'.repeat(32)}`);
    await page.getByText('No result for').waitFor();

    const sent = addresses.map((address) => decodeURIComponent(address.split('#', 1)[0] ?? ''));
    expect(sent.length).toBeGreaterThan(50);
    expect(
      sent.filter((address) => [token, key, USER_PASSWORD].some((secret) => address.includes(secret))),
    ).toEqual([]);
    expect(faults).toEqual([]);
  });
});

describe('what is wrong is said at its field, and nothing is done', () => {
  it('eleven addresses, a malformed range', async () => {
    const visitor = await openPage();
    const { page } = visitor;
    await signUp(visitor);
    await choose(page, 'API keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog');
    const says = (label: string, text: RegExp): Promise<void> =>
      dialog.locator('.mantine-InputWrapper-root', { hasText: label }).getByText(text).waitFor();
    const eleven = Array.from({ length: 11 }, (_, n) => `203.0.113.${n + 1}`);
    await fillKey(page, eleven);
    await says('Allowed network addresses', /Must have (at most|1 to) 10/i);
    await fillKey(page, ['203.0.113.0/99']);
    await says('Allowed network addresses', /Must be an address such as/);
    await page.keyboard.press('Escape');
    await page.getByText('No keys yet.').waitFor();
  });

  it('a session that ended in the middle of a form: the input stays, also after Escape, and it is sent when its button is pressed again', async () => {
    const visitor = await openPage();
    const { page, context, email } = visitor;
    await signUp(visitor);
    await choose(page, 'Webhooks');
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.getByLabel('URL').fill(`${websiteUrl}late`);
    await context.clearCookies();
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    const again = page.getByRole('dialog', { name: 'Your session has ended' });
    const password = again.getByLabel('Password').first();
    await password.waitFor();
    expect(await faultsOfPage(page, 'session-ended')).toEqual([]);
    await page.getByText('No messages.').waitFor({ state: 'hidden' });
    await page.keyboard.press('Escape');
    await password.fill(USER_PASSWORD);
    expect(await again.getByLabel('E-mail address').inputValue()).toBe(email);
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.waitFor({ state: 'hidden' });
    expect(await page.getByLabel('URL').inputValue()).toBe(`${websiteUrl}late`);
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    await page.getByText('It is shown once').waitFor();
    const added = page.getByRole('region', { name: 'Endpoints' }).getByText(`${websiteUrl}late`);
    await added.first().waitFor();
    expect(await added.count()).toBe(1);
  });

  it('a file with a broken row: its line is named; a good one is ordered at the price that was confirmed', async () => {
    const visitor = await openPage();
    const { page, context } = visitor;
    await signUp(visitor);
    await putInWallet(page, '100');
    await choose(page, 'Batches');
    const file = (text: string) => ({ name: 'order.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    const input = page.locator('input[type=file]');
    await input.setInputFiles(file('reference,packageCode,email\na,SIM-OK,\na,SIM-OK,nobody\n'));
    await page.getByText('Line 3: “nobody” is not an e-mail address').waitFor();
    await page.getByText('Line 3: the reference is the same as on line 2').waitFor();
    expect(await page.getByRole('button', { name: /^Order/ }).count()).toBe(0);

    await input.setInputFiles(file('reference;packageCode\na;SIM-TOO-DEAR\n'));
    await page.getByText(/^The rows cost USD\s[\d,.]+, the wallet has USD\s100\.00/).waitFor();
    expect(await page.getByRole('button', { name: /^Order/ }).isDisabled()).toBe(true);

    await input.setInputFiles(file('reference,packageCode\n"a\nb",SIM-OK\nc,SIM-NONE\n'));
    await page.getByText('Line 4: “SIM-NONE” is not on sale').waitFor();
    expect(await page.getByRole('button', { name: /^Order/ }).count()).toBe(0);

    const order = page.getByRole('button', { name: /^Order \d+ eSIMs? for USD/ });
    const dialog = page.getByRole('dialog');
    const late = new Date(Date.now() + 500 * 86_400_000).toISOString();
    await input.setInputFiles(
      file(`reference,packageCode,email,sendAt\na,SIM-OK,,\n\nc,SIM-OK,c@traveller.example,${late}\n`),
    );
    await page.getByText('Line 4: this service sends no e-mails to travellers').waitFor();

    await input.setInputFiles(file('reference,packageCode\nfirst,SIM-OK\n"second, quoted",SIM-OK\n'));
    await order.click();
    await dialog.getByRole('button', { name: 'Back' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('No batches yet.').waitFor();
    const price = (await order.innerText()).split(' for ')[1] ?? '';
    await order.click();
    await dialog.getByRole('button', { name: `Pay ${price} from the wallet` }).click();
    await page.getByText('COMPLETED').waitFor();
    await page.getByText('second, quoted').waitFor();
    expect(await page.getByRole('link', { name: 'Open', exact: true }).count()).toBe(2);
    const found = await faultsOf(page, 'batch');
    await watchLoading(context);
    await page.reload();
    expect([...found, ...(await watchLoads().read(page, 'batch'))]).toEqual([]);
  });
});
