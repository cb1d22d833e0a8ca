// Two operators in the same moment, and a session that ends in the middle of a form.
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { graveFaults } from '../support/world/axe.ts';
import { dataOf, PASSWORD, signedIn, type Person } from '../support/people/people.ts';
import { postEvent } from '../support/money/payers.ts';
import type { TestAccount } from '../support/world/stack.ts';
import { watchTroubles } from './browser.ts';
import { makeDelivered, makeStuck, startFinance } from './operators.support.ts';

const { stack, ada, bayo, openAs } = await startFinance({
  env: { SIMWAY_APPROVAL_LIMIT: 'NGN=25.00' },
  // What is in use cannot be cancelled.
  supplier: { activateAfterMs: null },
});
const chidi = await signedIn(stack, 'FINANCE');

const balanceOf = async ({ apiKey: key }: TestAccount): Promise<unknown> =>
  (await stack.call('GET', '/api/wallet/balance', { key })).body.data.balance;

type Made = Record<'status' | 'by' | 'action', string>;

/** What operators did to it, without what was refused. */
const doneTo = async (id: string): Promise<Made[]> => {
  const { made } = dataOf(await ada.call('GET', `/ops/purchases/${id}/actions`)) as { made: Made[] };
  return made.filter(({ status }) => status !== 'REFUSED');
};

/** Changes whose path ends so leave these pages in the same moment, once each page has sent its own. */
async function sendTogether(pages: readonly Page[], end: string): Promise<void> {
  let sent = 0;
  const allSent = Promise.withResolvers<undefined>();
  for (const page of pages) {
    await page.route(
      ({ pathname }) => pathname.endsWith(end),
      async (route) => {
        if (route.request().method() === 'POST') {
          sent += 1;
          if (sent === pages.length) allSent.resolve(undefined);
          await allSent.promise;
        }
        await route.continue();
      },
    );
  }
}

describe('two people in the same moment', () => {
  /** Chooses the action on each page, up to its last button. */
  async function prepare(pages: readonly Page[], action: string, more?: (page: Page) => Promise<void>) {
    for (const page of pages) {
      await page.getByRole('button', { name: action, exact: true }).click();
      const dialog = page.getByRole('dialog');
      await more?.(page);
      await dialog.getByLabel('Reason').fill('the buyer wrote, ticket 4711');
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await dialog.getByRole('region', { name: 'Effect' }).getByText(/\w/).first().waitFor();
    }
  }

  /** What the dialog of each page says after its last button. */
  async function confirmTogether(pages: readonly Page[], button: string): Promise<string[]> {
    await sendTogether(pages, '/actions');
    return Promise.all(
      pages.map(async (page) => {
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('button', { name: button }).click();
        const result = dialog.getByRole('status').filter({ hasText: /^(Done|Already|Awaits)/ });
        await result.waitFor();
        return result.innerText();
      }),
    );
  }

  it('cancel one stuck purchase: it is cancelled once, and the second one reads who did it', async () => {
    const account = await stack.account();
    const balance = await balanceOf(account);
    const [id = ''] = await makeStuck(stack, { account, person: ada }, 1);
    const pages = await Promise.all([openAs(ada, `/purchases/${id}`), openAs(bayo, `/purchases/${id}`)]);
    await stack.clearFaults();
    await prepare(pages, 'Cancel');
    const says = await confirmTogether(pages, 'Cancel now');
    const [done, ...others] = await doneTo(id);
    expect([done, others]).toMatchObject([{ status: 'DONE', action: 'cancel' }, []]);
    const [first, second] = done?.by === ada.email ? says : says.toReversed();
    expect(first).toMatch(/^Done/);
    expect(second).toContain(`Already done by ${done?.by ?? ''}`);
    expect(second).toContain('the buyer wrote, ticket 4711');
    expect(second).toContain('It was not done twice');
    expect(await balanceOf(account)).toBe(balance);
    await Promise.all(pages.map((page) => page.context().close()));
  });

  it('cancel one stuck purchase: who is on record reads that it is done, even where the other one’s request carried it out', async () => {
    const account = await stack.account();
    const [id = ''] = await makeStuck(stack, { account, person: ada }, 1);
    const page = await openAs(ada, `/purchases/${id}`);
    await stack.clearFaults();
    await prepare([page], 'Cancel');
    // As the API answers the slower of two requests.
    await page.route('**/actions?*', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      const response = await route.fetch();
      const answer = await response.text();
      expect(answer).toContain('"again":false');
      await route.fulfill({ response, body: answer.replace('"again":false', '"again":true') });
    });
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel now' }).click();
    const result = page.getByRole('dialog').getByRole('status');
    await result.filter({ hasText: /^(Done|Already)/ }).waitFor();
    expect(await result.innerText()).toMatch(/^Done/);
  });

  it('ask for one credit above the limit: it is requested once, and the second one reads who did it', async () => {
    const account = await stack.account({ currency: 'NGN', fundsMinor: 10_000_000n });
    const id = await makeDelivered(stack, { account, person: ada });
    const pages = await Promise.all([openAs(ada, `/purchases/${id}`), openAs(bayo, `/purchases/${id}`)]);
    await prepare(pages, 'Credit the wallet', async (page) => {
      await page.getByLabel('Amount in NGN').fill('40');
      await page.getByLabel('Goodwill').check();
    });
    const says = await confirmTogether(pages, 'Ask for approval');
    const [asked, ...others] = await doneTo(id);
    expect([asked, others]).toMatchObject([{ status: 'WAITS_FOR_APPROVAL' }, []]);
    const [first, second] = asked?.by === ada.email ? says : says.toReversed();
    expect(first).toMatch(/^Awaits second approval/);
    expect(second).toContain(`Already requested by ${asked?.by ?? ''}`);
    await Promise.all(pages.map((page) => page.context().close()));
  });

  it('approve one action: it is carried out once, and the dialog of the second one says so, with the input kept', async () => {
    const account = await stack.account({ currency: 'NGN', fundsMinor: 10_000_000n });
    const id = await makeDelivered(stack, { account, person: ada });
    const balance = await balanceOf(account);
    const credit = { action: 'credit-wallet', goodwill: true, currency: 'NGN', amount: 30 };
    const asked = await ada.call('POST', `/ops/purchases/${id}/actions`, {
      ...credit,
      reason: 'a gift, ticket 4711',
    });
    expect(asked.status).toBe(202);
    const pages = await Promise.all([openAs(bayo, '/approvals'), openAs(chidi, '/approvals')]);
    const rowOf = (page: Page) =>
      page
        .getByRole('table', { name: 'Actions awaiting second approval' })
        .getByRole('row')
        .filter({ hasText: '30.00' });
    for (const page of pages) {
      await rowOf(page).getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('dialog').getByLabel('Reason for your decision').fill('the buyer is right');
    }
    await sendTogether(pages, '/approve');
    for (const page of pages)
      await page.getByRole('dialog').getByRole('button', { name: 'Approve and start' }).click();
    // Both lists are read again after the decision.
    for (const page of pages) await rowOf(page).waitFor({ state: 'detached' });
    const [made] = (await doneTo(id)) as (Made & { approvedBy: string })[];
    expect(made).toMatchObject({ status: 'DONE', by: ada.email });
    const [first, second] = made?.approvedBy === bayo.email ? pages : pages.toReversed();
    if (!first || !second) throw new Error('two pages are open');
    await first.getByRole('dialog').waitFor({ state: 'detached' });
    const dialog = second.getByRole('dialog');
    await dialog.getByText(`Already approved by ${made?.approvedBy ?? ''}`).waitFor();
    expect(await dialog.getByLabel('Reason for your decision').inputValue()).toBe('the buyer is right');
    expect(await graveFaults(second)).toEqual([]);
    await expect.poll(() => balanceOf(account)).toBe(Number(balance) + 30);
    await Promise.all(pages.map((page) => page.context().close()));
  });
});

describe('a row that another person repairs meanwhile', () => {
  /** The list is read again, as every 15 s. */
  const untilGone = (page: Page, id: string): Promise<void> =>
    expect
      .poll(async () => {
        await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
        return page.locator('table').getByText(id).count();
      })
      .toBe(0);

  it('leaves the dialog open, with what was typed, and it says that nothing is left to do', async () => {
    const data = {
      id: 1,
      domain: 'test',
      status: 'success',
      reference: 'of-another-shop',
      amount: 1_000,
      currency: 'NGN',
    };
    await postEvent(stack, JSON.stringify({ event: 'charge.success', data }));
    const isStuck = /event-\d+/;
    await expect
      .poll(async () => (await ada.call('GET', '/ops/stuck?class=inbox-without-purchase')).text)
      .toMatch(isStuck);
    const { text } = await ada.call('GET', '/ops/stuck?class=inbox-without-purchase');
    const id = isStuck.exec(text)?.[0] ?? '';
    const page = await openAs(bayo, '/stuck?class=inbox-without-purchase');
    await page.getByRole('button', { name: 'Ignore the event' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('of another shop, ticket 4711');
    const dismissed = await ada.call('POST', `/ops/events/${id}/dismiss`, { reason: 'of another shop' });
    expect(dismissed.status).toBe(200);
    await untilGone(page, id);
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('of another shop, ticket 4711');
    await dialog.getByRole('button', { name: 'Ignore the event' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'No unmatched gateway event has this id' }).waitFor();
  });
});

describe('a session that ends in the middle of a form', () => {
  /** As after 30 minutes without a request. The browser keeps its cookie. */
  const endSessionOf = ({ email }: Person) =>
    sql`update accounts.user_sessions set expires_at = now() - interval '1 second'
         where user_id = (select id from accounts.users where email = ${email})`.execute(stack.owner);

  async function signInAgain(page: Page, { email }: Person): Promise<void> {
    const again = page.getByRole('dialog', { name: 'Your session has ended' });
    expect(await again.getByLabel('E-mail address').inputValue()).toBe(email);
    await again.getByLabel('Password').first().fill(PASSWORD);
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.waitFor({ state: 'hidden' });
  }

  it('keeps what was typed, before the preview and at the last button, and it is done once', async () => {
    const account = await stack.account({ currency: 'NGN', fundsMinor: 10_000_000n });
    const id = await makeDelivered(stack, { account, person: ada });
    const balance = await balanceOf(account);
    const page = await openAs(chidi, `/purchases/${id}`);
    const troubles = watchTroubles(page);
    await page.getByRole('button', { name: 'Credit the wallet', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Credit the wallet' });
    const reason = dialog.getByLabel('Reason');
    await dialog.getByLabel('Amount in NGN').fill('12.5');
    await dialog.getByLabel('Goodwill').check();
    await reason.fill('a gift, ticket 4711');
    await endSessionOf(chidi);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await signInAgain(page, chidi);
    const effect = dialog.getByRole('table', { name: 'Ledger entries that would be booked' });
    await effect.getByText(`wallet:${account.accountId}`).waitFor();
    await dialog.getByRole('button', { name: 'Back' }).click();
    expect(await dialog.getByLabel('Amount in NGN').inputValue()).toBe('12.5');
    expect(await dialog.getByLabel('Goodwill').isChecked()).toBe(true);
    expect(await reason.inputValue()).toBe('a gift, ticket 4711');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await effect.waitFor();

    await endSessionOf(chidi);
    await dialog.getByRole('button', { name: 'Credit the wallet now' }).click();
    await signInAgain(page, chidi);
    expect(await doneTo(id)).toEqual([]);
    await dialog.getByText('Reason: a gift, ticket 4711').waitFor();
    await dialog.getByRole('button', { name: 'Credit the wallet now' }).click();
    await dialog.getByRole('status').filter({ hasText: 'Done' }).waitFor();
    expect(await doneTo(id)).toMatchObject([{ status: 'DONE', by: chidi.email }]);
    expect(await balanceOf(account)).toBe(Number(balance) + 12.5);
    // The requests that were refused are what the test is about.
    expect(troubles.filter((trouble) => !trouble.includes('401'))).toEqual([]);
  });
});
