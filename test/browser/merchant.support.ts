import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { graveFaults } from '../support/world/axe.ts';
import { signedUp, USER_PASSWORD, type User } from '../support/people/dashboard.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { until } from '../support/time/until.ts';
import type { Stack } from '../support/world/stack.ts';
import { DESK, overflow, PHONE, widest } from './browser.ts';

interface Place {
  readonly browser: Browser;
  readonly stack: Pick<Stack, 'apiUrl'>;
}

/** The path of the user's first page, below /dashboard. */
export const placeOf = ({ accountId }: User): string => `/m/${accountId}/test`;

export async function openMerchant(
  { browser, stack }: Place,
  { browser: { cookies } }: User,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: DESK, ...options });
  await context.addCookies(Array.from(cookies, ([name, value]) => ({ name, value, url: stack.apiUrl })));
  const page = await context.newPage();
  await page.goto(`${stack.apiUrl}/dashboard${path}`);
  await page.locator('h1').waitFor();
  return page;
}

let visitors = 0;

export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly email: string;
  readonly faults: string[];
}

/** A page of someone who is not signed in. */
export async function openVisitor(browser: Browser): Promise<Visitor> {
  visitors += 1;
  // Sign-ins from one address are limited by the minute.
  const context = await browser.newContext({
    viewport: DESK,
    reducedMotion: 'reduce',
    extraHTTPHeaders: { 'X-Forwarded-For': `127.9.0.${visitors}` },
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) faults.push(message.text());
  });
  return { context, page, email: `browser-${visitors}@merchant.example`, faults };
}

/** Funds the wallet of a new user at the gateway's payment page. The id of the funding. */
export async function payIn(browser: Browser, owner: User, amount: number): Promise<string> {
  const { body } = await owner.ask('POST', '/api/wallet/fund', { body: { amount, paymentMethod: 'CARD' } });
  const page = await browser.newPage();
  await page.goto(body.paymentUrl);
  await page.getByRole('button', { name: 'Pay' }).click();
  await until(
    () => owner.ask('GET', '/api/wallet/balance'),
    ({ body: { data } }) => data.balance === amount,
    { what: 'the money in the wallet' },
  );
  await page.close();
  return body.transactionId;
}

/** A new user with USD 50 in the wallet. */
export async function makeFundedOwner({
  browser,
  stack,
}: {
  readonly browser: Browser;
  readonly stack: Stack;
}): Promise<User> {
  const owner = await signedUp(stack);
  await payIn(browser, owner, 50);
  return owner;
}

/** Through the pages, as a person does it. The token of the mail. */
export async function signUp(apiUrl: string, page: Page, email: string): Promise<string> {
  await page.goto(`${apiUrl}/dashboard/sign-up`);
  await page.getByLabel('Company').fill('Ada Ltd');
  await page.getByLabel('Your name').fill('Ada Owner');
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').first().fill(USER_PASSWORD);
  await page.getByRole('button', { name: 'Open the account' }).click();
  const link = page.getByRole('link', { name: 'Open the link in the mail' });
  await link.waitFor();
  expect(await page.getByText('We sent').count()).toBe(0);
  const token = /#token=([^&]+)/.exec((await link.getAttribute('href')) ?? '')?.[1] ?? '';
  expect(token).not.toBe('');
  await link.click();
  await page.getByLabel('Password').first().fill(USER_PASSWORD);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('heading', { name: 'Ada Ltd', level: 1 }).waitFor();
  return token;
}

/** From the wallet, by the API. */
export const buy = async (owner: User, packageCode: string) => {
  const body = { packageCode, packageType: 'BASE', paymentMethod: 'WALLET' };
  return (await owner.ask('POST', '/api/esim/buy', { body })).body;
};

export const choose = (page: Page, name: string): Promise<void> =>
  page.getByRole('link', { name, exact: true }).first().click();

/** In the test environment, which asks for no company and no website. */
export async function fillKey(page: Page, addresses: readonly string[]): Promise<void> {
  const dialog = page.getByRole('dialog');
  const tags = dialog.getByRole('combobox', { name: 'Allowed network addresses' });
  await tags.focus();
  for (let n = 0; n < 12; n += 1) await tags.press('Backspace');
  for (const address of addresses) {
    await tags.fill(address);
    await tags.press('Enter');
  }
  await dialog.getByRole('button', { name: 'Create the key' }).click();
}

export async function putInWallet(page: Page, amount: string): Promise<void> {
  await choose(page, 'Wallet');
  await page.getByLabel(/^Amount/).fill(amount);
  await page.getByRole('button', { name: 'Continue' }).click();
  const [checkout] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Open the payment page' }).click(),
  ]);
  await checkout.getByRole('button').first().click();
  await page.getByText('The money is in your wallet').waitFor();
  await checkout.close();
}

/** Fields that are too narrow for what they say. */
const cutFields = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `[...document.querySelectorAll('input')].filter((one) => one.scrollWidth > one.clientWidth)
      .map((one) => one.value || one.placeholder).join(' | ')`,
  );

/** The open page in light and dark, on a desk and on a phone. `badge` names the environment. */
export async function faultsOf(page: Page, name: string, badge?: string): Promise<string[]> {
  const found: string[] = [];
  for (const viewport of [DESK, PHONE]) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      const faults = await graveFaults(page);
      found.push(...faults.map((fault) => `${name}, ${colorScheme}, ${viewport.width}: ${fault}`));
      await keepScreenshot(
        page,
        `merchant-${name}-${colorScheme}-${viewport === DESK ? 'desk' : 'phone'}-whole`,
      );
    }
    const tooWide = await overflow(page);
    if (tooWide > 0) found.push(`${name} is ${tooWide} too wide: ${await widest(page)}`);
    const cut = await cutFields(page);
    if (cut !== '') found.push(`${name} cuts what its fields say, on ${viewport.width}: ${cut}`);
    if (badge !== undefined && !(await page.getByText(badge).isVisible()))
      found.push(`${name} does not say its environment`);
  }
  await page.setViewportSize(DESK);
  return found;
}
