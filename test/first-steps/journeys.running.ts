// Two journeys in a browser, from a running `npm start`: a merchant's from signing up to an eSIM and its
// webhook, and finance's from twenty stuck purchases to an empty list. Uses only what .data/running.json
// tells every program, and makes the purchases stuck as docs/SANDBOX.md says.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunningInfo } from '../../src/dev/running-file.ts';
import type { SandboxLogins } from '../../src/dev/sandbox-logins.ts';
import { openBrowser } from '../browser/browser.ts';
import { choose, fillKey, putInWallet, signUp } from '../browser/merchant.support.ts';
import { goTo, signInOperator } from '../browser/operators.support.ts';
import { startInbox } from '../support/people/webhook-inbox.ts';
import { inShell, LIST_STUCK, readRunning, transactionIds } from './stuck-purchases.ts';

/** Two minutes, and what a busy machine adds. */
const STUCK_WITHIN_MS = 200_000;

const stuck = new Set(inject('stuckIds'));
let running: RunningInfo;
let browser: Browser;
beforeAll(async () => {
  running = await readRunning();
  browser = await openBrowser();
}, 60_000);
afterAll(() => browser.close());

async function openPage(): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  page.setDefaultTimeout(30_000);
  return page;
}

it('a merchant signs up, makes a key, funds the wallet, buys an eSIM with its QR code, and resends its webhook', async () => {
  const inbox = await startInbox();
  const page = await openPage();
  try {
    await signUp(running.apiUrl, page, `journey-${Date.now()}@merchant.example`);
    await choose(page, 'API keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Webhook URL').fill(`${inbox.url}/hook`);
    await fillKey(page, ['127.0.0.0/8']);
    await page.getByText('It is shown once').waitFor();

    await putInWallet(page, '100');
    await page.getByText('USD 100.00').first().waitFor();
    await choose(page, 'Catalogue');
    await page.getByLabel('Package code').fill('SIM-OK');
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    await page.getByRole('button', { name: 'Buy the eSIM' }).click();
    await page.getByAltText('QR code that installs the eSIM').waitFor();

    await choose(page, 'Webhooks');
    await page.getByRole('link', { name: 'esim.purchased' }).first().click();
    await page.getByRole('button', { name: /^Attempt 1.*HTTP 204/ }).click();
    await page.getByText(`POST ${inbox.url}/hook`).first().waitFor();
    await page.getByRole('button', { name: 'Resend', exact: true }).click();
    await page.getByRole('button', { name: /^Attempt 2.*HTTP 204/ }).waitFor();
    const letters = await inbox.untilAt('/hook', 2);
    expect(new Set(letters.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  } finally {
    await page.context().close();
    await inbox.close();
  }
});

describe('twenty stuck purchases', { timeout: 400_000 }, () => {
  async function openAs(name: keyof SandboxLogins, path: string): Promise<Page> {
    if (!running.logins) throw new Error('npm start prints logins only while the live environment is off');
    const page = await openPage();
    await signInOperator(running.apiUrl, page, running.logins[name]);
    await goTo(running, page, path);
    return page;
  }

  it('are cancelled by two people of finance in one batch; the list is empty, and the audit log shows it', async () => {
    expect(stuck.size).toBe(20);
    const page = await openAs('finance', '/stuck?class=paid-not-delivered');
    // Also what an earlier run left.
    const count = async (): Promise<number> => {
      await page.reload();
      const [, items = '0'] = /(\d+) items/.exec(await page.getByText(/^\d+ items?$/).innerText()) ?? [];
      return Number(items);
    };
    await expect.poll(count, { timeout: STUCK_WITHIN_MS, interval: 5_000 }).toBeGreaterThanOrEqual(20);
    expect(stuck.difference(transactionIds(await inShell(running, LIST_STUCK)))).toEqual(new Set());
    const all = await count();

    await page.getByRole('link', { name: 'Repair many at once' }).click();
    await page.getByLabel('Action').selectOption('cancel');
    await page.getByLabel('Evidence').fill('the supplier wrote that it will not deliver, ticket 4711');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText(`Possible on ${all} of ${all} items`).waitFor();
    await page.getByLabel('Reason').fill('the buyers want their money back');
    await page.getByRole('button', { name: `Ask for approval of ${all} items` }).click();
    await page.getByText('You requested it: another person of finance approves it.').waitFor();
    const repairId = /repair-[0-9a-f]{32}/.exec(page.url())?.[0] ?? '';

    const second = await openAs('finance2', '/approvals');
    await second.getByRole('link', { name: 'Review and decide' }).first().click();
    await second.waitForURL(`**/${repairId}`);
    await second.getByRole('button', { name: 'Approve and start' }).click();
    const dialog = second.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('checked the list');
    await dialog.getByRole('button', { name: 'Approve and start' }).click();
    for (const shown of [page, second])
      await shown.getByText(`${all} of ${all} done`, { exact: true }).waitFor({ timeout: 120_000 });

    await goTo(running, page, '/stuck?class=paid-not-delivered');
    await page.getByText('Nothing stuck matches these filters.').waitFor();
    await goTo(running, page, `/audit?subject=${repairId}`);
    const asked = page.getByRole('row').filter({ hasText: 'ask-batch-repair' });
    await asked.getByText('finance@simway.example').waitFor();
    const approved = page.getByRole('row').filter({ hasText: 'approve-batch-repair' });
    await approved.getByText('finance2@simway.example').waitFor();
    await Promise.all([page.context().close(), second.context().close()]);
  });
});
