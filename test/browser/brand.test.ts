// The look of a shop, set by its owner in the dashboard.
import { expect, it } from 'vitest';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { pngOf } from '../support/people/pictures.ts';
import { openPages, PHONE } from './browser.ts';
import { buy, faultsOf, makeFundedOwner, openMerchant, placeOf } from './merchant.support.ts';

const [browser, stack] = await openPages({ env: SIGN_IN_ENV });

it('is set with a preview that follows what is typed', async () => {
  const owner = await makeFundedOwner({ browser, stack });
  const page = await openMerchant({ browser, stack }, owner, `${placeOf(owner)}/brand`);
  const preview = page.getByRole('region', { name: 'What a traveller sees' });
  await page.getByLabel('Name of the shop').fill('Atlas Travel');
  await preview.getByText('Atlas Travel').waitFor();
  await page.getByLabel('Colour of buttons').fill('#ffcc00');
  await page.getByLabel('E-mail for help').fill('help@atlas.example');
  await page.getByLabel('Page for help').fill('http://atlas.example');
  await page.getByLabel('Offer automatic top-ups').check({ force: true });
  await page.getByLabel('What a traveller pays').fill('€4.50 for each top-up, charged to your card');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await save.click();
  await page.getByText('must be an address such as https://shop.example.com/help').waitFor();
  await page.getByLabel('Page for help').fill('https://atlas.example/help');
  await save.click();
  await page.getByText('Saved.').first().waitFor();
  const picture = page.locator('input[type=file]');
  const logo = (name: string, buffer: Buffer) =>
    picture.setInputFiles({ name, mimeType: 'image/png', buffer });
  await logo('logo.png', Buffer.from('<svg/>'));
  await page.getByText('must be a PNG, JPEG or WebP picture').waitFor();
  await logo('logo.png', pngOf(120, 80, [0, 120, 90]));
  await page.getByRole('button', { name: 'Remove the logo' }).waitFor();
  expect(await faultsOf(page, 'brand')).toEqual([]);

  // On a traveller's phone, who is signed in to nothing.
  const { esimDetails } = await buy(owner, 'SIM-OK');
  const { installUrl } = (await owner.ask('GET', `/api/esim/${esimDetails.esimId}/install`)).body;
  const phone = await (await browser.newContext({ viewport: PHONE })).newPage();
  await phone.goto(installUrl);
  await phone.getByRole('banner').getByText('Atlas Travel').waitFor();
  expect(await phone.evaluate("document.querySelector('header img').naturalWidth")).toBe(120);
  await phone.getByRole('link', { name: 'help@atlas.example' }).waitFor();
  expect(await faultsOf(phone, 'a branded install page')).toEqual([]);
});
