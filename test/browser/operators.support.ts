import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterEach } from 'vitest';
import type { Login } from '../../src/dev/sandbox-logins.ts';
import { openBrowser as openCookieJar, signIn } from '../support/people/dashboard.ts';
import { PASSWORD, SIGN_IN_ENV, signedIn, type Person } from '../support/people/people.ts';
import type { Stack, StackOptions, TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { untilListed } from '../support/world/workflow-harness.ts';
import { DESK, openPages } from './browser.ts';

interface Place {
  readonly browser: Browser;
  readonly stack: Stack;
}

/** A stack with an account and two people of finance, and a browser; both are closed after the tests. */
export async function startFinance(options: StackOptions = {}) {
  const env = { ...SIGN_IN_ENV, TEMPORAL_UI_URL: TEMPORAL_UI, ...options.env };
  const timings = {
    // Purchases need attention soon, and are not checked again before a person acts.
    ...{ attentionAfterMs: 2_000, inFlightGraceMs: 200, slowCheckMs: 3_600_000, checkMaxMs: 300 },
    // No eSIM comes for those that are stuck: each buyer waits that long.
    answerWithinMs: 8_000,
  };
  const [browser, stack] = await openPages({ timings, ...options, env });
  afterEach(() => stack.clearFaults());
  const [ada, bayo] = [await signedIn(stack, 'FINANCE'), await signedIn(stack, 'FINANCE')];
  const account = await stack.account({ currency: 'NGN', fundsMinor: 100_000_000n });
  return {
    ...{ browser, stack, ada, bayo, account },
    openAs: (person: Pick<Person, 'email'>, path: string, context?: BrowserContextOptions) =>
      openOperator({ browser, stack }, person, path, context),
    open: (page: Page, path: string) => goTo(stack, page, path),
    makeStuck: (count: number) => makeStuck(stack, { account, person: ada }, count),
  };
}

export const TEMPORAL_UI = 'https://temporal.example/ui';

/** From an address of its own: sign-ins from one are limited by the minute (`SIGN_IN_ENV`). */
export async function openOperator(
  { browser, stack }: Place,
  { email }: Pick<Person, 'email'>,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: DESK, ...options });
  const jar = openCookieJar(stack);
  const { status, text } = await signIn(jar, email, PASSWORD);
  if (status !== 200) throw new Error(`${email} could not sign in: ${text}`);
  await context.addCookies(Array.from(jar.cookies, ([name, value]) => ({ name, value, url: stack.apiUrl })));
  const page = await context.newPage();
  await goTo(stack, page, path);
  return page;
}

export async function signInOperator(apiUrl: string, page: Page, login: Login): Promise<void> {
  await page.goto(`${apiUrl}/dashboard`);
  await page.getByLabel('E-mail address').fill(login.email);
  await page.locator('input[type=password]').fill(login.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/\/operators\/test/);
}

/** Opens a page of the test environment, whole. */
export async function goTo({ apiUrl }: Pick<Stack, 'apiUrl'>, page: Page, path: string): Promise<void> {
  await page.goto(`${apiUrl}/dashboard/operators/test${path}`);
  await page.locator('h1').waitFor();
}

/** Purchases that the supplier took and goes on not delivering: only so can they be cancelled there. */
export async function makeStuck(
  stack: Stack,
  { account, person }: { readonly account: TestAccount; readonly person: Person },
  count: number,
): Promise<string[]> {
  await stack.faults({ neverAllocate: 1 });
  const ids = await Promise.all(Array.from({ length: count }, () => buy(stack, account)));
  await until(
    () => person.call('GET', '/ops/stuck?class=paid-not-delivered&limit=100'),
    ({ text }) => ids.every((id) => text.includes(id)),
    { what: 'all of them are stuck' },
  );
  // Their workflows are asleep. One whose step’s answer is lost would try again, and deliver.
  await untilListed(stack, `NeedsAttention = true AND Reason = 'SUPPLIER_NEVER_ALLOCATED'`, (found) =>
    ids.every((id) => found.includes(id)),
  );
  return ids;
}

export async function makeDelivered(
  stack: Stack,
  { account, person }: { readonly account: TestAccount; readonly person: Person },
): Promise<string> {
  const id = await buy(stack, account);
  await until(
    () => person.call('GET', `/ops/purchases/${id}/actions`),
    ({ text }) => text.includes('"SUCCESS"'),
    { what: 'it is delivered' },
  );
  return id;
}

async function buy(stack: Stack, { apiKey: key }: TestAccount): Promise<string> {
  const body = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };
  return (await stack.call('POST', '/api/esim/buy', { key, body })).body.transactionId;
}
