// SIMWAY_SCREENSHOTS=<folder> keeps what the pages look like.
import { expect, it } from 'vitest';
import { data, signedUp } from '../support/people/dashboard.ts';
import { atGateway } from '../support/money/payments.ts';
import { SIGN_IN_ENV, signedIn } from '../support/people/people.ts';
import { until } from '../support/time/until.ts';
import { openPages } from './browser.ts';
import { buy, faultsOf, openMerchant, payIn, placeOf } from './merchant.support.ts';
import { openOperator } from './operators.support.ts';

const [browser, stack] = await openPages({ env: SIGN_IN_ENV });
const [merchant, ada] = [await signedUp(stack), await signedIn(stack, 'FINANCE')];

const balance = async () =>
  data<{ balance: number; owed: number }>(await merchant.ask('GET', '/api/wallet/balance'));

it('is said where the merchant reads the wallet, and where finance decides', async () => {
  const funding = await payIn(browser, merchant, 5);
  expect((await buy(merchant, 'SIM-OK')).status).toBe('SUCCESS');
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
