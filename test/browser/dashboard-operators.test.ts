// SIMWAY_SCREENSHOTS=<folder> keeps what the pages look like.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { graveFaults } from '../support/world/axe.ts';
import { atGateway, buyThroughGateway, chargeAt, untilStatus } from '../support/money/payments.ts';
import { signedIn } from '../support/people/people.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { watchTroubles } from './browser.ts';
import { makeDelivered, TEMPORAL_UI, startFinance } from './operators.support.ts';

const { stack, account, ada, bayo, openAs, open, makeStuck } = await startFinance({
  env: { SIMWAY_APPROVAL_LIMIT: 'NGN=25.00' },
});

const alertOf = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text });

describe('one purchase', () => {
  it('is found by its kind, and an action on it asks for a good reason', async () => {
    const [id = ''] = await makeStuck(1);
    const page = await openAs(ada, '/stuck');
    const troubles = watchTroubles(page);
    await page.getByLabel('Kind').selectOption('paid-not-delivered');
    await page.waitForURL(/class=paid-not-delivered/);
    await page.getByRole('link', { name: id }).click();
    await page.getByRole('heading', { name: 'Purchase', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Credit the wallet' }).waitFor();
    await keepScreenshot(page, 'operators-purchase');

    await page.getByRole('button', { name: 'Credit the wallet' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Amount in NGN').fill('12.50');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    const reason = dialog.getByLabel('Reason');
    expect(await reason.getAttribute('aria-invalid')).toBe('true');
    await dialog.getByText('Give a reason of at least 3 characters').waitFor();
    expect(await dialog.getByLabel('Amount in NGN').inputValue()).toBe('12.50');
    await reason.fill('a gift, ticket 4711');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByRole('region', { name: 'Effect' }).getByText(/\w/).first().waitFor();
    expect(await graveFaults(page)).toEqual([]);
    expect(troubles).toEqual([]);
    await page.context().close();
    await stack.clearFaults();
    await ada.call('POST', `/ops/purchases/${id}/replay`, { reason: 'the supplier has eSIMs again' });
  });

  it('shows what the gateway and the supplier have of it, side by side', async () => {
    const { transactionId, reference } = await buyThroughGateway(stack, account);
    await atGateway(stack, reference, 'pay');
    await untilStatus(stack, transactionId, 'SUCCESS');
    const { requested } = await chargeAt(stack, reference);
    const [order] = await stack.supplierOrders(transactionId);
    const page = await openAs(ada, `/purchases/${transactionId}`);
    const gateway = page.getByRole('region', { name: 'At the payment gateway' });
    const supplier = page.getByRole('region', { name: 'At the supplier' });
    const shows = (side: typeof gateway, fact: string, value: string) =>
      side.locator(`dt:text-is("${fact}") + dd`).filter({ hasText: value }).waitFor();
    const format = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2 });
    const due = `NGN ${format.format(requested.amountMinor / 100)}`;
    await shows(gateway, 'Reference', reference);
    await shows(gateway, 'Payment method', 'card');
    await shows(gateway, 'Amount due', due);
    await shows(gateway, 'Booked here', due);
    await shows(gateway, 'Gateway’s status', 'success');
    await shows(supplier, 'Package', 'SIM-OK');
    await shows(supplier, 'Order', order?.orderNo ?? 'no order');
    await shows(supplier, 'ICCID', order?.esims[0]?.iccid ?? 'no eSIM');
    const [left, right] = await Promise.all([gateway.boundingBox(), supplier.boundingBox()]);
    expect(left?.y).toBe(right?.y);
    expect(left?.x).toBeLessThan(right?.x ?? 0);
  });

  it('is acted on once where two people do it at once, and the second one sees who was first', async () => {
    const [id = ''] = await makeStuck(1);
    const [first, second] = await Promise.all([
      openAs(ada, `/purchases/${id}`),
      openAs(bayo, `/purchases/${id}`),
    ]);
    for (const page of [first, second]) {
      await page.getByRole('button', { name: 'Retry the delivery' }).click();
      await page.getByRole('dialog').getByLabel('Reason').fill('the supplier has eSIMs again, ticket 4711');
      await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click();
    }
    const confirm = (page: Page) => page.getByRole('button', { name: 'Retry the delivery now' }).click();
    await stack.clearFaults();
    await confirm(first);
    await alertOf(first, 'Done').waitFor();
    await confirm(second);
    await alertOf(second, `Already done by ${ada.email}`).waitFor();
    await second.getByRole('dialog').getByLabel('Close').first().click();
    const { body } = await ada.call('GET', `/ops/purchases/${id}/actions`);
    const made = (body.data as unknown as { made: { status: string; by: string }[] }).made;
    expect(made.filter(({ status }) => status === 'DONE').map(({ by }) => by)).toEqual([ada.email]);
  });
});

describe('actions that await approval', () => {
  it('show their effect before an approval, and are declined with a reason that is shown later', async () => {
    const id = await makeDelivered(stack, { account, person: ada });
    const credit = {
      action: 'credit-wallet',
      goodwill: true,
      currency: 'NGN',
      reason: 'a gift, ticket 4711',
    };
    for (const amount of [30, 40])
      expect((await ada.call('POST', `/ops/purchases/${id}/actions`, { ...credit, amount })).status).toBe(
        202,
      );

    const page = await openAs(bayo, '/approvals');
    const troubles = watchTroubles(page);
    const rowOf = (amount: string) => page.getByRole('row').filter({ hasText: amount });
    await rowOf('30.00').getByRole('button', { name: 'Decline' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Decline' }).click();
    await dialog.getByText('Give a reason of at least 3 characters').waitFor();
    expect(await graveFaults(page)).toEqual([]);
    await dialog.getByLabel('Reason for your decision').fill('the buyer was paid by hand');
    await dialog.getByRole('button', { name: 'Decline' }).click();
    await rowOf('30.00').waitFor({ state: 'detached' });

    await rowOf('40.00').getByRole('button', { name: 'Approve' }).click();
    const effect = dialog.getByRole('table', { name: 'Ledger entries that would be booked' });
    await effect.getByText(`wallet:${account.accountId}`).waitFor();
    expect(await graveFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Approve and start' }).click();
    await page.getByText('Nothing awaits approval.').waitFor();

    await open(page, `/purchases/${id}`);
    const log = page.getByRole('table', { name: 'Operator actions' });
    await log.getByText('Decision: the buyer was paid by hand').waitFor();
    await log.getByText(`${ada.email}, declined by ${bayo.email}`).waitFor();
    await open(page, '/audit');
    await page.getByText(/decision: the buyer was paid by hand/).waitFor();
    expect(troubles).toEqual([]);
  });
});

describe('one account', () => {
  it('is found in the box, changed with a reason, and the audit log says so; its purchase leads to Temporal', async () => {
    const [id = ''] = await makeStuck(1);
    const page = await openAs(ada, '');
    const troubles = watchTroubles(page);
    await page.getByRole('link', { name: 'Paid, not delivered' }).waitFor();
    const search = async (text: string): Promise<void> => {
      await page.keyboard.press('/');
      await page.getByRole('searchbox').fill(text);
      await page.keyboard.press('Enter');
    };
    await search(id);
    await page.getByRole('heading', { name: 'Purchase', level: 1 }).waitFor();
    const workflow = page.getByRole('link', { name: new RegExp(id) }).first();
    expect(await workflow.getAttribute('href')).toBe(
      `${TEMPORAL_UI}/namespaces/${stack.namespace}/workflows/${id}`,
    );

    await search(account.accountId);
    await page.waitForURL(/\/accounts\/acc-/);
    const bought = page.getByRole('table', { name: 'Purchases and fundings of the account' });
    await bought.getByRole('link', { name: id }).waitFor();
    await page.getByRole('button', { name: 'Change the plan' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Plan').selectOption('ENTERPRISE');
    await dialog.getByLabel('Requests a minute').fill('many');
    await dialog.getByRole('button', { name: 'Change the plan' }).click();
    await dialog.getByText('a whole number from 1').waitFor();
    await dialog.getByText('Give a reason of at least 3 characters').waitFor();
    expect(await dialog.getByLabel('Requests a minute').inputValue()).toBe('many');
    expect(await graveFaults(page)).toEqual([]);
    await dialog.getByLabel('Requests a minute').fill('1234');
    await dialog.getByLabel('Reason').fill('signed the contract, ticket 4711');
    await dialog.getByRole('button', { name: 'Change the plan' }).click();
    await page.getByText('1,234 requests a minute').waitFor();
    expect(await graveFaults(page)).toEqual([]);
    await keepScreenshot(page, 'operators-account');

    await page.getByRole('link', { name: 'See the audit log of this account' }).click();
    await page.getByRole('cell', { name: 'signed the contract, ticket 4711' }).waitFor();
    await page.getByLabel('Person').fill(bayo.email);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('No results.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('cell', { name: 'session.open' }).first().waitFor();

    await open(page, '/differences');
    const runs = page.getByRole('link', { name: 'Runs in Temporal' });
    expect(await runs.getAttribute('href')).toBe(
      `${TEMPORAL_UI}/namespaces/${stack.namespace}/workflows?query=WorkflowType%3D%22reconcile%22`,
    );

    await search('a-text-that-nothing-has');
    await page.getByText('No result for “a-text-that-nothing-has” in the test environment.').waitFor();
    expect(await graveFaults(page)).toEqual([]);
    // One result leads to its page, several are listed.
    await stack.account();
    await search('example');
    await page.getByRole('table', { name: 'Found' }).waitFor();
    expect(await graveFaults(page)).toEqual([]);
    expect(troubles).toEqual([]);
  });

  it('is disabled with a reason, and its keys with it, and enabled again', async () => {
    const { accountId, apiKey: key } = await stack.account();
    const statusOf = async () => (await stack.call('GET', '/api/wallet/balance', { key })).status;
    const page = await openAs(ada, `/accounts/${accountId}`);
    const dialog = page.getByRole('dialog');
    const change = async (verb: string): Promise<void> => {
      await page.getByRole('button', { name: verb, exact: true }).click();
      await dialog.getByLabel('Reason').fill('the contract is in question, ticket 4711');
      await dialog.getByRole('button', { name: verb, exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    const disabled = page.getByText('Its keys and members are refused since');
    await change('Disable');
    await disabled.waitFor();
    await expect.poll(statusOf).toBe(401);
    await change('Enable');
    await disabled.waitFor({ state: 'detached' });
    await expect.poll(statusOf).toBe(200);
  });

  it('is reached by keyboard: a link skips the menu, and each new page has the focus on its heading', async () => {
    const page = await openAs(ada, '');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
    await page.getByRole('link', { name: 'Accounts', exact: true }).click();
    await page.locator('h1:focus', { hasText: 'Accounts' }).waitFor();
  });

  it('cannot be changed by support, who see no audit log', async () => {
    const support = await signedIn(stack, 'SUPPORT');
    const page = await openAs(support, `/accounts/${account.accountId}`);
    await page.getByText(account.accountId).first().waitFor();
    expect(await page.getByRole('button', { name: 'Disable' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
    const log = await openAs(support, '/audit');
    await log.getByText('Your role does not see this page.').waitFor();
  });
});

describe('people', () => {
  it('get access from two administrators, each of whom sees half of the one-time password', async () => {
    const [first, second] = [await signedIn(stack, 'ADMIN'), await signedIn(stack, 'ADMIN')];
    const page = await openAs(first, '');
    const troubles = watchTroubles(page);
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByRole('button', { name: 'Add a person' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail').fill('grace@operator.example');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('Choose a role').waitFor();
    expect(await graveFaults(page)).toEqual([]);
    expect(await dialog.getByLabel('E-mail').inputValue()).toBe('grace@operator.example');
    await dialog.getByLabel('Name').fill('Grace');
    await dialog.getByLabel('Role').selectOption('SUPPORT');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    const half = page.getByTestId('one-time-half');
    const firstHalf = await half.innerText();
    expect(await graveFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Done' }).click();
    const rowOf = (shown: Page) => shown.getByRole('row').filter({ hasText: 'grace@operator.example' });
    await rowOf(page).getByText(`requested by ${first.email}`).waitFor();
    expect(await rowOf(page).getByRole('button', { name: 'Confirm' }).count()).toBe(0);
    expect(await page.content()).not.toContain(firstHalf);

    const other = await openAs(second, '/people');
    await rowOf(other).getByRole('button', { name: 'Confirm: Grace' }).click();
    const confirming = other.getByRole('dialog');
    await confirming.getByLabel('Role').selectOption('ADMIN');
    await confirming.getByRole('button', { name: 'Confirm', exact: true }).click();
    await confirming.getByText('The person would be SUPPORT').waitFor();
    expect(await graveFaults(other)).toEqual([]);
    await confirming.getByLabel('Role').selectOption('SUPPORT');
    await confirming.getByRole('button', { name: 'Confirm', exact: true }).click();
    const secondHalf = await other.getByTestId('one-time-half').innerText();
    await other.getByRole('button', { name: 'Done' }).click();
    await rowOf(other).getByText('Has a one-time password').waitFor();

    expect(troubles).toEqual([]);

    await page.context().clearCookies();
    await page.goto(`${stack.apiUrl}/dashboard`);
    await page.getByLabel('E-mail address').fill('grace@operator.example');
    const oneTime = `${firstHalf}-${secondHalf}`;
    await page.locator('input[type=password]').fill(oneTime);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Set your own password before you continue').waitFor();
    expect(await graveFaults(page)).toEqual([]);
    await page.getByLabel('Current password').first().fill(oneTime);
    await page.getByLabel('New password').first().fill('a quite new one, long enough');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('Set your own password before you continue').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  });

  it('get another role from two administrators, and their session ends', async () => {
    const [first, second] = [await signedIn(stack, 'ADMIN'), await signedIn(stack, 'ADMIN')];
    const person = await signedIn(stack, 'SUPPORT');
    const rowOf = (shown: Page) => shown.getByRole('row').filter({ hasText: person.email });
    const choose = async (shown: Page, change: string, submit: string): Promise<void> => {
      await rowOf(shown)
        .getByRole('button', { name: new RegExp(`^${change}`) })
        .click();
      const dialog = shown.getByRole('dialog');
      await dialog.getByLabel('Role').selectOption('OPERATIONS');
      await dialog.getByRole('button', { name: submit, exact: true }).click();
      await shown.getByTestId('one-time-half').waitFor();
      await shown.getByRole('button', { name: 'Done' }).click();
    };
    const page = await openAs(first, '/people');
    await choose(page, 'Change role', 'Change the role');
    await rowOf(page).getByText(`requested by ${first.email}`).waitFor();
    expect((await person.call('GET', '/ops/me')).status).toBe(401);
    const other = await openAs(second, '/people');
    await choose(other, 'Confirm', 'Confirm');
    await rowOf(other).getByText('Has a one-time password').waitFor();
    await rowOf(other).getByRole('cell', { name: 'Operations', exact: true }).waitFor();
  });

  it('who are administrators are disabled by two, and their page shows who asked', async () => {
    const [first, second] = [await signedIn(stack, 'ADMIN'), await signedIn(stack, 'ADMIN')];
    const person = await signedIn(stack, 'ADMIN');
    const disable = async (shown: Page): Promise<void> => {
      const row = shown.getByRole('row').filter({ hasText: person.email });
      await row.getByRole('button', { name: /^Disable/ }).click();
      await shown
        .getByRole('dialog')
        .getByRole('button', { name: /^Disable/ })
        .click();
    };
    const page = await openAs(first, '/people');
    await disable(page);
    await page.getByText('Another administrator must ask for the same').waitFor();
    expect((await person.call('GET', '/ops/me')).status).toBe(200);
    const other = await openAs(second, '/people');
    await other.getByText(`${first.email} asked to disable this person`).waitFor();
    await disable(other);
    const row = other.getByRole('row').filter({ hasText: person.email });
    await row.getByText('Disabled', { exact: true }).waitFor();
    expect((await person.call('GET', '/ops/me')).status).toBe(401);
  });
});
