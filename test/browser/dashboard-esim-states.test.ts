// What the pages of a merchant say of eSIMs that are dead or never came, and of an endpoint that fails.
import { describe, expect, it } from 'vitest';
import { type User } from '../support/people/dashboard.ts';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { startInbox } from '../support/people/webhook-inbox.ts';
import { forFile } from '../support/world/for-file.ts';
import { openPages } from './browser.ts';
import { buy, openMerchant, makeFundedOwner, placeOf } from './merchant.support.ts';

const [browser, stack] = await openPages({ env: SIGN_IN_ENV });
const inbox = await forFile(startInbox());

const openAs = (user: User, path: string) => openMerchant({ browser, stack }, user, path);

const fundedOwner = () => makeFundedOwner({ browser, stack });

describe('an eSIM', () => {
  it('that failed has no data left, no install link and no top-up, and is not counted', async () => {
    const owner = await fundedOwner();
    await buy(owner, 'SIM-OK');
    await buy(owner, 'SIM-OUT-OF-STOCK');
    const { text } = await owner.ask('GET', '/api/esim/my-esims?status=FAILED');
    const esimId = /"_id":"(esim-[^"]+)"/.exec(text)?.[1] ?? '';
    const page = await openAs(owner, placeOf(owner));
    const counted = page.getByRole('region', { name: 'Spent in the last 30 days' });
    await counted.getByText('1 delivered purchase, top-ups included').waitFor();

    await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/esims`);
    const row = page.getByRole('table', { name: 'eSIMs' }).getByRole('row').filter({ hasText: 'FAILED' });
    await row.waitFor();
    expect(await row.innerText()).not.toMatch(/ of /);

    await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/esims/${esimId}`);
    await page.getByText('Only an eSIM in use can be topped up. This one is FAILED.').waitFor();
    for (const name of ['Install', 'Usage', 'Sandbox: control this eSIM'])
      expect(await page.getByRole('region', { name, exact: true }).count()).toBe(0);
    const timeline = await owner.ask('GET', `/api/esim/${esimId}/timeline`);
    expect(timeline.text).not.toContain('install-link-made');

    await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/figures`);
    await page.getByText('Days begin and end at midnight UTC.').waitFor();
    await page
      .getByRole('table', { name: 'Purchases by destination' })
      .getByText('Unlisted packages')
      .waitFor();
  });

  it('that was deleted from the phone or is suspended offers no top-up', async () => {
    const owner = await fundedOwner();
    const { esimId } = (await buy(owner, 'SIM-MANUAL-LIFE')).esimDetails;
    const act = (action: string) => owner.ask('POST', `/api/sandbox/esims/${esimId}/${action}`, { body: {} });
    const page = await openAs(owner, `${placeOf(owner)}/esims/${esimId}`);
    const topUp = page.getByRole('region', { name: 'Top up' });
    await topUp.getByText('Once the eSIM is in use it can be topped up.').waitFor();
    await act('install');
    await page.reload();
    await topUp.getByRole('combobox', { name: 'Top-up package' }).waitFor();
    await act('suspend');
    await page.reload();
    await topUp.getByText('This one is SUSPENDED.').waitFor();
    await act('resume');
    await act('delete-profile');
    await page.reload();
    await topUp.getByText('was deleted from the phone').waitFor();
    expect(await topUp.getByRole('combobox').count()).toBe(0);
    await page.getByText('It cannot be installed any more.').waitFor();
    expect(await page.getByRole('region', { name: 'Usage' }).count()).toBe(0);
  });

  it('without top-ups offers none; the page of a top-up names its eSIM and how it was paid', async () => {
    const owner = await fundedOwner();
    const without = (await buy(owner, 'SIM-NO-TOPUP')).esimDetails;
    const page = await openAs(owner, `${placeOf(owner)}/esims/${without.esimId}`);
    await page.getByText('This package cannot be topped up.').waitFor();

    const { esimId } = (await buy(owner, 'SIM-MANUAL-LIFE')).esimDetails;
    await owner.ask('POST', `/api/sandbox/esims/${esimId}/install`, { body: {} });
    const packageCode = 'TOPUP_SIM-MANUAL-LIFE';
    const body = { packageCode, packageType: 'TOPUP', paymentMethod: 'WALLET', esimId };
    const { text } = await owner.ask('POST', '/api/esim/buy', { body });
    const id = /txn-[0-9a-f]{32}/.exec(text)?.[0] ?? '';
    await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/purchases/${id}`);
    await page.getByRole('heading', { name: 'Top-up', level: 1 }).waitFor();
    const overview = page.getByRole('region', { name: 'Overview' });
    await overview.getByText('Wallet', { exact: true }).waitFor();
    await overview.getByRole('link').click();
    await page.getByText(esimId).first().waitFor();

    await page.goto(`${stack.apiUrl}/dashboard${placeOf(owner)}/catalogue/TOPUP_SIM-OK`);
    await page.getByText('This is a top-up.').waitFor();
  });
});

it('an endpoint that fails is named on Home and among the endpoints while it fails', async () => {
  const owner = await fundedOwner();
  const url = `${inbox.url}/orders`;
  await owner.ask('POST', '/api/webhooks/endpoints', { body: { url, events: ['esim.purchased'] } });
  inbox.answerWith({ status: 500, body: 'out of order' });
  await buy(owner, 'SIM-OK');
  await expect
    .poll(async () => (await owner.ask('GET', '/api/webhooks/endpoints')).text)
    .toMatch(/"failingSince":"/);
  const page = await openAs(owner, placeOf(owner));
  const toDo = page.getByRole('region', { name: 'To do' });
  const line = toDo.getByRole('listitem').filter({ hasText: 'A webhook endpoint fails' });
  await line.getByText(url).waitFor();
  await line.getByRole('link', { name: 'See what it answers' }).click();
  await page.getByText('Fails since').waitFor();
});
