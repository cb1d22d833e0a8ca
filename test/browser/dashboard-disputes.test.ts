// SIMWAY_SCREENSHOTS=<folder> keeps what the pages look like.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { data, signedUp, type User } from '../support/people/dashboard.ts';
import { atGateway } from '../support/money/payments.ts';
import { SIGN_IN_ENV, signedIn, type Person } from '../support/people/people.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { openBrowser } from './browser.ts';
import { faultsOf, openMerchant, payIn, placeOf } from './merchant.support.ts';
import { openOperator } from './operators.support.ts';

let browser: Browser;
let stack: Stack;
let merchant: User;
let ada: Person;

beforeAll(async () => {
  [browser, stack] = await Promise.all([openBrowser(), startStack({ env: SIGN_IN_ENV })]);
  [merchant, ada] = [await signedUp(stack), await signedIn(stack, 'FINANCE')];
});
afterAll(async () => {
  await browser.close();
  await stack.close();
});

const balance = async () =>
  data<{ balance: number; owed: number }>(await merchant.ask('GET', '/api/wallet/balance'));

it('is said where the merchant reads the wallet, and where finance decides', async () => {
  const funding = await payIn(browser, merchant, 5);
  const body = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };
  expect((await merchant.ask('POST', '/api/esim/buy', { body })).status).toBe(201);
  await atGateway(stack, funding, 'dispute');
  await until(balance, ({ balance: left }) => left === 0, { what: 'what is left is frozen' });

  const finance = await openOperator({ browser, stack }, ada, `/purchases/${funding}`);
  await finance.getByRole('table', { name: 'Disputes' }).getByText('USD').first().waitFor();
  const wallet = await openMerchant({ browser, stack }, merchant, `${placeOf(merchant)}/wallet`);
  await wallet.getByRole('cell', { name: 'Dispute' }).first().waitFor();
  expect(await faultsOf(wallet, 'disputed-wallet')).toEqual([]);

  await atGateway(stack, funding, 'dispute', { action: 'resolve', resolution: 'merchant-accepted' });
  await until(balance, ({ owed }) => owed > 0, { what: 'the bank took it' });
  await wallet.reload();
  await wallet.getByText('A bank took back a payment.').waitFor();
  expect(await faultsOf(wallet, 'owing-wallet')).toEqual([]);
  await finance.reload();
  await finance.getByRole('table', { name: 'Disputes' }).waitFor();
  expect(await faultsOf(finance, 'lost-funding')).toEqual([]);
  await finance.getByRole('button', { name: 'Settle the dispute' }).click();
  const dialog = finance.getByRole('dialog');
  await dialog.getByLabel(/^Outcome/).selectOption('lost');
  await dialog.getByLabel('Evidence').fill('ticket 4711');
  await dialog.getByLabel('Reason').fill('the bank decided for the buyer');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByRole('region', { name: 'Effect' }).getByText(/\w/).first().waitFor();
  expect(await faultsOf(finance, 'settle-preview')).toEqual([]);
  const account = await openOperator({ browser, stack }, ada, `/accounts/${merchant.accountId}`);
  await account.getByText('Owes us').waitFor();
  expect(await faultsOf(account, 'owing-account')).toEqual([]);
});
