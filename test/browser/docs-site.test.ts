// The built documentation, in a browser: under its content policy, by keyboard, on a phone, in both colours.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { navigationOf, readSite } from '../../packages/docs-site/pages.ts';
import { DOCS_FOLDER } from '../../src/platform/http/docs/site.ts';
import { startApi, type TestApi } from '../support/http/api.ts';
import { graveFaults } from '../support/world/axe.ts';
import {
  DESK,
  firstLoad,
  openBrowser,
  overflow,
  PHONE,
  watchOrigins,
  watchTroubles,
  widest,
} from './browser.ts';

/** Of a document in parts, its list of chapters and the longest of them. */
const listed = navigationOf(readSite().pages).flatMap(({ items }) =>
  items.flatMap(({ page, parts }) => [
    page,
    ...parts.toSorted((one, other) => other.markdown.length - one.markdown.length).slice(0, 1),
  ]),
);
const PAGES = [
  '/docs',
  ...listed.map(({ name }) => `/docs/${name}`),
  '/docs/decisions/0001-typescript-by-type-stripping',
];
const MAX_BYTES = 200_000;
const MAX_MS = 1_000;

let browser: Browser;
let api: TestApi;
let url: string;
beforeAll(async () => {
  [browser, api] = await Promise.all([openBrowser(), startApi({ docsFolder: DOCS_FOLDER })]);
  url = `http://127.0.0.1:${api.server.port}`;
});
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
afterAll(async () => {
  await browser.close();
  await api.close();
});

const openPage = async (options: Parameters<Browser['newContext']>[0] = { viewport: DESK }): Promise<Page> =>
  (await browser.newContext(options)).newPage();

/** When the text stands, in processor time of the browser's page: other tests run beside. */
const busyMs = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Infinity);
};

describe('every page', () => {
  it.each(PAGES)('%s comes small and fast, without a fault or a request elsewhere', async (target) => {
    const page = await openPage();
    const [troubles, origins] = [watchTroubles(page), watchOrigins(page)];
    const { bytes } = await firstLoad(page, `${url}${target}`);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(MAX_BYTES);
    expect(await busyMs(page)).toBeLessThan(MAX_MS);
    expect([troubles, [...origins]]).toEqual([[], [url]]);
  });

  it.each(PAGES)('%s fits a phone, and axe finds nothing grave in light and dark', async (target) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await openPage({ viewport: PHONE, colorScheme });
      await page.goto(`${url}${target}`, { waitUntil: 'networkidle' });
      expect(await overflow(page), await widest(page)).toBe(0);
      expect(await graveFaults(page)).toEqual([]);
    }
  });
});

describe('somebody', () => {
  it('finds an error code by searching, and lands on its row', async () => {
    const page = await openPage();
    const troubles = watchTroubles(page);
    await page.goto(`${url}/docs`, { waitUntil: 'networkidle' });
    await page.keyboard.press('/');
    await page.locator('#localsearch-input').fill('INSUFFICIENT_BALANCE');
    await page.locator('.results a[href$="/docs/errors#INSUFFICIENT_BALANCE"]').first().click();
    await page.waitForURL(`${url}/docs/errors#INSUFFICIENT_BALANCE`);
    const row = page.locator('tr#INSUFFICIENT_BALANCE');
    await expect.poll(async () => ((await row.boundingBox())?.y ?? DESK.height) < DESK.height).toBe(true);
    expect(await page.title()).toContain('Errors');
    expect(troubles).toEqual([]);
  });

  it('copies a block of code', async () => {
    const page = await openPage({ viewport: DESK, permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto(`${url}/docs/api/buying`, { waitUntil: 'networkidle' });
    const block = page.locator('.vp-doc div[class*=language-]').first();
    await block.locator('button.copy').click();
    await block.locator('button.copied').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied.trim()).toBe((await block.locator('code').innerText()).trim());
    expect(copied.length).toBeGreaterThan(10);
  });

  it('reaches the content by keyboard', async () => {
    const page = await openPage();
    await page.goto(`${url}/docs/errors`, { waitUntil: 'networkidle' });
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    expect(await focused.innerText()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate<string>('document.activeElement.id')).toBe('VPContent');
  });

  it('goes from page to page, and to the reference', async () => {
    const page = await openPage();
    const troubles = watchTroubles(page);
    await page.goto(`${url}/docs`, { waitUntil: 'networkidle' });
    await page.locator('.VPSidebar').getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.waitForURL(`${url}/docs/webhooks`);
    await page.locator('h1', { hasText: 'Webhooks' }).waitFor();
    await page.locator('.VPSidebar').getByRole('link', { name: 'API reference' }).click();
    await page.locator('.opblock').first().waitFor();
    expect(page.url()).toBe(`${url}/docs/reference`);
    expect(troubles).toEqual([]);
  });
});
