import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { graveFaults } from '../support/world/axe.ts';
import { data, signedUp, USER_PASSWORD, type User } from '../support/people/dashboard.ts';
import { PASSWORD, SIGN_IN_ENV, signedIn, type Person } from '../support/people/people.ts';
import { until } from '../support/time/until.ts';
import { DESK, openPages, overflow, PHONE, watchTroubles } from './browser.ts';

const HOOK = 'http://127.0.0.1:9';

const [browser, stack] = await openPages({ env: SIGN_IN_ENV });
let ada: Person;
let merchant: User;
let key: { apiKey: string; keyId: string; webhook: { endpointId: string } };
let messageId: string;

beforeAll(async () => {
  [ada, merchant] = [await signedIn(stack, 'FINANCE'), await signedUp(stack)];
  const made = await merchant.ask('POST', '/account/keys', {
    body: {
      ...{ companyName: 'Ada Ltd', websiteUrl: stack.apiUrl, allowedAddresses: ['127.0.0.1'] },
      ...{ scopes: ['read'], webhookUrl: `${HOOK}/s3cret` },
    },
  });
  key = data(made);
  await merchant.ask('POST', `/api/webhooks/endpoints/${key.webhook.endpointId}/sample`, {
    body: { event: 'wallet.low_balance' },
  });
  const messages = await until(
    () => ada.call('GET', `/ops/accounts/${merchant.accountId}/messages`),
    (answer) => data<{ items: { attempts: number }[] }>(answer).items.some(({ attempts }) => attempts > 0),
    { what: 'an attempt' },
  );
  messageId = data<{ items: { messageId: string }[] }>(messages).items[0]?.messageId ?? '';
});

async function signIn(email: string, password: string, viewport = DESK, at = ''): Promise<Page> {
  const page = await (await browser.newContext({ viewport })).newPage();
  await page.goto(`${stack.apiUrl}/dashboard${at}`);
  await page.getByLabel('E-mail address').fill(email);
  await page.locator('input[type=password]').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/\/(operators|m)\//);
  return page;
}

async function search(page: Page, text: string): Promise<void> {
  const box = page.getByRole('searchbox');
  await box.fill(text);
  await box.press('Enter');
}

it.each([
  ['an operator', () => [ada.email, PASSWORD, '/operators/test/device'] as const],
  ['a merchant', () => [merchant.email, USER_PASSWORD, `/m/${merchant.accountId}/test/esims`] as const],
])('a link that %s opens without a session leads there after signing in', async (_who, given) => {
  const [email, password, at] = given();
  const page = await signIn(email, password, DESK, at);
  await page.waitForURL(`**/dashboard${at}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
});

describe('operators', () => {
  it('find purchases by what the supplier calls them, differences, endpoints, messages, keys and users', async () => {
    const account = await stack.account();
    const bought = await stack.call('POST', '/api/esim/buy', {
      key: account.apiKey,
      body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
    });
    const { transactionId, esimDetails } = bought.body;
    const esim = await stack.call('GET', `/api/esim/${esimDetails.esimId}`, { key: account.apiKey });
    const { orderNo } = esim.body as unknown as { orderNo: string };
    await sql`
      insert into reconciliation_runs (id, run_key, asked_by, is_regular, from_at, to_at, new_from_at, settled_before, slices)
      overriding system value values (7, 'run-7', 'ada', false, now(), now(), now(), now(), '[]')`.execute(
      stack.owner,
    );
    await sql`
      insert into reconciliation_differences (id, kind, subject, currency, amount_minor, dated_from, dated_to, first_run_id, last_run_id,
                                              first_seen_at, last_seen_at, closed_at, closed_how, closed_by, close_reason)
      overriding system value
      values (900042, 'missing-in-ledger', 'pay-of-nobody', 'NGN', 5, now(), now(), 7, 7, now(), now(), now(), 'BY_PERSON', 'bayo', 'a gift')`.execute(
      stack.owner,
    );
    const page = await signIn(ada.email, PASSWORD);
    const troubles = watchTroubles(page);
    await search(page, orderNo);
    await page.waitForURL(`**/purchases/${transactionId}`);

    await search(page, 'pay-of-nobody');
    await page.waitForURL(/\/differences\?id=/);
    await page.getByRole('cell', { name: /by bayo: a gift/ }).waitFor();
    expect(await page.getByRole('button', { name: 'Close' }).count()).toBe(0);
    expect(await graveFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Show all that are open' }).click();
    await page.getByText('No open differences.').waitFor();

    const isShown = async (text: string, label: string) => {
      await search(page, text);
      await page.waitForURL(/\/accounts\/acc-/);
      await page.getByRole('table', { name: label }).getByText(text).waitFor();
      await page.goto(`${stack.apiUrl}/dashboard/operators/test/stuck`);
    };
    const { userId } = data<{ user: { userId: string } }>(
      await merchant.browser.call('GET', '/auth/me'),
    ).user;
    await isShown(key.webhook.endpointId, 'Webhook endpoints');
    await isShown(key.keyId, 'API keys');
    await isShown(userId, 'Members');
    await isShown(messageId, 'Webhook message');
    expect(troubles).toEqual([]);
  });

  it('see on the page of an account who acts for it, its keys, and what was not delivered', async () => {
    const page = await signIn(ada.email, PASSWORD);
    const troubles = watchTroubles(page);
    const address = `${stack.apiUrl}/dashboard/operators/test/accounts/${merchant.accountId}`;
    await page.goto(address);
    const table = (name: string) => page.getByRole('table', { name, exact: true });
    const members = table('Members');
    await members.getByRole('cell', { name: merchant.email, exact: true }).waitFor();
    for (const cell of ['Owner', 'Off'])
      await members.getByRole('cell', { name: cell, exact: true }).waitFor();
    const keys = table('API keys');
    await keys.getByText(`simway_test_…${key.apiKey.slice(-4)}`).waitFor();
    await keys.getByText('Works').waitFor();
    await table('Webhook endpoints').getByText('127.0.0.1:9', { exact: true }).waitFor();
    const undelivered = table('Undelivered webhook messages');
    await undelivered.getByText('wallet.low_balance').waitFor();
    await undelivered.getByText(/^1\. No connection/).waitFor();
    const html = await page.content();
    for (const secret of [key.apiKey, 's3cret', 'whsec_']) expect(html).not.toContain(secret);
    expect(await graveFaults(page)).toEqual([]);
    await page.setViewportSize(PHONE);
    // The menu takes its time to go.
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
    expect(await graveFaults(page)).toEqual([]);
    expect(troubles).toEqual([]);
  });

  it('see where an account has none of these, where they cannot be read, and while they load', async () => {
    const { accountId } = await stack.account();
    const page = await signIn(ada.email, PASSWORD);
    await page.route('**/endpoints?*', (route) => route.fulfill({ status: 503, json: {} }));
    const { promise: held, resolve: letGo } = Promise.withResolvers<undefined>();
    await page.route('**/keys?*', async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${stack.apiUrl}/dashboard/operators/test/accounts/${accountId}`);
    const keys = page.getByRole('region', { name: 'API keys' });
    await keys.locator('[aria-busy=true]').waitFor();
    expect(await graveFaults(page)).toEqual([]);
    letGo(undefined);
    await keys.getByText('Works').waitFor();
    await page.getByText('No members.').waitFor();
    await page.getByText('Every message is delivered.').waitFor();
    const endpoints = page.getByRole('region', { name: 'Webhook endpoints' });
    await endpoints.getByRole('alert').waitFor();
    await page.unroute('**/endpoints?*');
    await endpoints.getByRole('button', { name: 'Try again' }).click();
    await endpoints.getByText('No webhook endpoints.').waitFor();
  });
});

describe('merchants', () => {
  it('find endpoints, messages, keys and API requests by their ids', async () => {
    const called = await stack.call('GET', '/api/wallet/balance', { key: key.apiKey });
    const requestId = called.headers.get('x-request-id') ?? '';
    await until(
      () => merchant.ask('GET', `/account/requests?requestId=${requestId}`),
      (answer) => data<{ items: object[] }>(answer).items.length === 1,
      { what: 'the request in the log' },
    );
    const page = await signIn(merchant.email, USER_PASSWORD);
    const troubles = watchTroubles(page);
    await search(page, key.webhook.endpointId);
    await page.waitForURL(`**/developers/webhooks?endpointId=${key.webhook.endpointId}`);
    await search(page, messageId);
    await page.waitForURL(`**/developers/webhooks/${messageId}`);
    await search(page, key.keyId);
    await page.waitForURL('**/developers/keys');
    await search(page, requestId);
    await page.waitForURL(`**/developers/requests?requestId=${requestId}`);
    await page.getByRole('table', { name: 'API requests' }).getByText('GET /api/wallet/balance').waitFor();
    expect(await graveFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.waitForURL('**/developers/requests');
    const { quoteId } = data<{ quoteId: string }>(
      await merchant.ask('POST', '/api/esim/quotes', {
        body: { packageCode: 'SIM-OK', packageType: 'BASE' },
      }),
    );
    await search(page, quoteId);
    await page.getByRole('table', { name: 'Found' }).getByText(quoteId).waitFor();
    expect(await graveFaults(page)).toEqual([]);
    expect(troubles).toEqual([]);
  });

  it('are shown in the search of an address all digits of an ICCID', async () => {
    const iccid = '89999261126193801432';
    const page = await signIn(merchant.email, USER_PASSWORD);
    await page.goto(`${stack.apiUrl}/dashboard/m/${merchant.accountId}/test/esims?search=${iccid}`);
    await page.getByText('No results.').waitFor();
    expect(await page.getByLabel('Search', { exact: true }).inputValue()).toBe(iccid);
    await page.getByLabel('Search', { exact: true }).fill(`${iccid}F`);
    await page.waitForURL(`**?search=${iccid}F`);
  });
});
