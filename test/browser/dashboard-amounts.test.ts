// Amounts that are typed, key by key: a comma never makes an amount a thousand times smaller.
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { signedUp } from '../support/people/dashboard.ts';
import { openMerchant, placeOf } from './merchant.support.ts';
import { makeDelivered, startFinance } from './operators.support.ts';

const { browser, stack, ada, account, openAs } = await startFinance();

async function type(field: Locator, text: string): Promise<void> {
  await field.fill('');
  await field.pressSequentially(text);
}

/** The bodies that the page sends to this path. */
function watchBodies(page: Page, path: string): unknown[] {
  const bodies: unknown[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET' && new URL(request.url()).pathname === path)
      bodies.push(request.postDataJSON());
  });
  return bodies;
}

async function openWallet(locale: string): Promise<Page> {
  const owner = await signedUp(stack);
  return openMerchant({ browser, stack }, owner, `${placeOf(owner)}/wallet`, { locale });
}

describe('a typed amount', () => {
  it.each([
    ['en-NG', '150,000', /^Continue with USD\s150,000\.00$/, '1,5', 'Not clear. Write it like 1234.50'],
    ['de-DE', '150.000', /^Continue with 150\.000,00\sUSD$/, '1.5', 'Not clear. Write it like 1234,50'],
  ])('funds the wallet with what it says in %s', async (locale, text, label, unclear, fault) => {
    const page = await openWallet(locale);
    const sent = watchBodies(page, '/api/wallet/fund');
    const form = page.getByRole('region', { name: 'Fund the wallet' });
    const field = form.getByLabel('Amount, USD');
    await type(field, unclear);
    await field.press('Enter');
    await form.getByText(fault).waitFor();
    await type(field, text);
    expect(await field.inputValue()).toBe(text);
    await form.getByRole('button', { name: label }).click();
    await form.getByRole('link', { name: 'Open the payment page' }).waitFor();
    expect(sent).toEqual([{ amount: 150_000, paymentMethod: 'CARD' }]);
  });

  // The gateway takes transfers in naira only: the amount is another one than was typed.
  it('is shown in the currency that is to be paid, also after a reload and on the page of the funding', async () => {
    const page = await openWallet('en-NG');
    const form = page.getByRole('region', { name: 'Fund the wallet' });
    await type(form.getByLabel('Amount, USD'), '25');
    await form.getByRole('combobox', { name: 'Pay by' }).click();
    await page.getByRole('option', { name: 'Bank transfer' }).click();
    await form.getByRole('button', { name: 'Continue' }).click();
    const facts = async (place: Locator) => {
      await place.getByText('Account number').waitFor();
      return (await place.locator('dl', { hasText: 'to pay' }).innerText()).replace(/\s+/g, ' ');
    };
    expect(await facts(form)).toMatch(/Amount to pay NGN 40,000\.00 Reference txn-/);
    await page.reload();
    const open = page.getByRole('table', { name: 'Fundings not paid yet' });
    await open.getByRole('link', { name: 'Funding' }).click();
    await page.getByRole('heading', { name: 'Funding of the wallet', level: 1 }).waitFor();
    expect(await facts(page.locator('main'))).toMatch(/Amount to pay NGN 40,000\.00 Reference txn-/);
    await page.getByText('Until').waitFor();
    await page.getByText('Opened, not paid yet').waitFor();
  });

  it('warns below what it says, and is shown as it is read', async () => {
    const page = await openWallet('en-NG');
    const sent = watchBodies(page, '/api/wallet/low-balance');
    const warning = page.getByRole('region', { name: 'Low-balance warning' });
    const field = warning.getByLabel('Below this balance, USD');
    await type(field, '100,00');
    await warning.getByRole('button', { name: 'Save' }).click();
    await warning.getByText('Not clear.').waitFor();
    await type(field, '100,000');
    await warning.getByRole('status').filter({ hasText: 'USD 100,000.00' }).waitFor();
    await warning.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').first().waitFor();
    expect(sent).toEqual([{ amount: 100_000 }]);
    await page.reload();
    await field.waitFor();
    expect(await field.inputValue()).toBe('100,000');
  });

  it('filters the catalogue by what it says', async () => {
    const owner = await signedUp(stack);
    const path = `${placeOf(owner)}/catalogue?region=NG`;
    const page = await openMerchant({ browser, stack }, owner, path, { locale: 'en-NG' });
    await type(page.getByLabel('Maximum price, USD'), '10,000');
    await page.waitForURL(/price=10000/);
  });

  it('is repeated in full before an operator gives money back', async () => {
    const id = await makeDelivered(stack, { account, person: ada });
    const page = await openAs(ada, `/purchases/${id}`, { locale: 'en-NG' });
    await page.getByRole('button', { name: 'Credit the wallet', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('a gift, ticket 4711');
    await type(dialog.getByLabel('Amount in NGN'), '1,00');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByText('Not clear.').waitFor();
    await type(dialog.getByLabel('Amount in NGN'), '1,000');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByText(/^Amount:\sNGN\s1,000\.00$/).waitFor();
  });
});
