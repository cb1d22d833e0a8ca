// The look of a shop: set by its owner in the dashboard, and seen by a traveller, who agrees to automatic
// top-ups on the install page and turns them off.
import { expect, it } from 'vitest';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { pngOf } from '../support/people/pictures.ts';
import { graveFaults } from '../support/world/axe.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { openPages, overflow } from './browser.ts';
import { buy, faultsOf, makeFundedOwner, openMerchant, placeOf } from './merchant.support.ts';

const [browser, stack] = await openPages({ env: SIGN_IN_ENV });

it('is set with a preview, and a traveller sees it and agrees to automatic top-ups', async () => {
  const owner = await makeFundedOwner({ browser, stack });
  const page = await openMerchant({ browser, stack }, owner, `${placeOf(owner)}/brand`);
  const preview = page.getByRole('region', { name: 'What a traveller sees' });
  await page.getByLabel('Name of the shop').fill('Atlas Travel');
  await preview.getByText('Atlas Travel').waitFor();
  await page.getByLabel('Colour of buttons').fill('#ffcc00');
  await page.getByLabel('E-mail for help').fill('help@atlas.example');
  await page.getByLabel('Page for help').fill('http://atlas.example');
  await page.getByText('Offer automatic top-ups').click();
  await page.getByLabel('What a traveller pays').fill('€4.50 for each top-up, charged to your card');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await save.click();
  await page.getByText('must be an https address without a user').waitFor();
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

  const { esimId } = (await buy(owner, 'SIM-MANUAL-LIFE')).esimDetails;
  const { body } = await owner.ask('GET', `/api/esim/${esimId}/install`);
  const { installUrl } = body as unknown as { installUrl: string };
  const link = `${stack.apiUrl}${new URL(installUrl).pathname}`;
  for (const [name, lang, colorScheme, width] of [
    ['brand-install-phone-whole', 'en', 'light', 390],
    ['brand-install-arabic-dark-whole', 'ar', 'dark', 390],
    ['brand-install-desktop-whole', 'fr', 'light', 1200],
  ] as const) {
    const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme });
    const visitor = await context.newPage();
    await visitor.goto(`${link}?lang=${lang}`);
    const seen = `[document.querySelector('.shop img').naturalWidth,
      getComputedStyle(document.querySelector('a.tap')).backgroundColor]`;
    expect(await visitor.evaluate(seen)).toEqual([120, 'rgb(255, 204, 0)']);
    expect(await overflow(visitor)).toBe(0);
    expect(await graveFaults(visitor)).toEqual([]);
    await keepScreenshot(visitor, name);
    if (lang !== 'fr') {
      await context.close();
      continue;
    }
    await visitor.locator('select[name=topUps]').selectOption('2');
    await visitor.locator('#top-ups button').click();
    await visitor.locator('[data-top-ups=on]').waitFor();
    expect(await visitor.locator('#top-ups').textContent()).toContain('0 recharge');
    await keepScreenshot(visitor, 'brand-install-top-ups-on-whole');
    await visitor.locator('#top-ups button').click();
    await visitor.locator('[data-top-ups=offered]').waitFor();
    await context.close();
  }
});
