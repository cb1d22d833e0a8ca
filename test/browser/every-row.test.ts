// Every page with every kind of row, in light and dark, on a desk and on a phone.
// SIMWAY_SCREENSHOTS=<folder> keeps what the pages look like.
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { signedUp } from '../support/people/dashboard.ts';
import { signedIn } from '../support/people/people.ts';
import { listedPaths } from '../support/world/dashboard-pages.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { DESK, overflow, PHONE, watchTroubles, widest } from './browser.ts';
import { fillAccount, fillApprovals, unreadable } from './every-row.support.ts';
import { openMerchant, payIn, placeOf } from './merchant.support.ts';
import { startFinance } from './operators.support.ts';

const { browser, stack, ada, openAs, makeStuck } = await startFinance({ wholeCatalogue: true });

const owner = await signedUp(stack);
await payIn(browser, owner, 60);
const merchantPaths = await fillAccount(owner, stack);
const operatorPaths = await fillApprovals({ ada, stuck: await makeStuck(3) });

const LOOKS = [
  { look: 'desk', viewport: DESK, colorScheme: 'light' },
  { look: 'phone', viewport: PHONE, colorScheme: 'dark' },
] as const;

const [merchant, finance, admin] = await Promise.all([
  openMerchant({ browser, stack }, owner, placeOf(owner)),
  openAs(ada, ''),
  openAs(await signedIn(stack, 'ADMIN'), ''),
]);

/** In a tab of its own of the same person, whose browser has loaded the program already. */
async function isReadable(opened: Page, part: string, path: string): Promise<void> {
  const page = await opened.context().newPage();
  onTestFinished(() => page.close());
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const found: string[] = [];
  const troubles = watchTroubles(page);
  await page.goto(`${stack.apiUrl}/dashboard${part}${path}`);
  await page.locator('h1').waitFor();
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  for (const { look, viewport, colorScheme } of LOOKS) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    const tooWide = await overflow(page);
    if (tooWide > 0) found.push(`${look}: ${tooWide} px too wide: ${await widest(page)}`);
    found.push(...(await unreadable(page)).map((fault) => `${look}: ${fault}`));
    await keepScreenshot(page, `${part}${path}`.replaceAll(/\W+/g, '-') + `-${look}-whole`);
  }
  expect([...found, ...troubles]).toEqual([]);
}

describe('can be read by', () => {
  const pages = [...listedPaths('merchant'), '/catalogue/SIM-OK', '/search?text=SIM-OK', ...merchantPaths];
  it.each(pages)('a merchant: %s', (path) => isReadable(merchant, placeOf(owner), path));

  it.each([
    ...listedPaths('operators').filter((path) => path !== '/people'),
    ...['charts', 'daily', 'merchants', 'waiting'].map((book) => `/books?book=${book}`),
    `/accounts/${owner.accountId}`,
    ...operatorPaths,
    ...merchantPaths.filter((path) => path.startsWith('/purchases/')),
  ])('finance: %s', (path) => isReadable(finance, '/operators/test', path));

  it('administrators: /people', () => isReadable(admin, '/operators/test', '/people'));
});
