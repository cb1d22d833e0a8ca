// SIMWAY_SCREENSHOTS=<folder> keeps what it looks like, as docs/images/install-page*.png.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { InstallPage, InstallView } from '../../src/esims/installing.ts';
import { startApi } from '../support/http/api.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { openBrowser, overflow, watchOrigins, watchTroubles } from './browser.ts';

const [browser, api] = await Promise.all([openBrowser(), startApi()]);
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
afterAll(async () => {
  await browser.close();
  await api.close();
});

const PHONE = { width: 390, height: 844 };
const TOKEN = 'Zk3t8xq1Vw0yLr5cNs7aPd2hGe9jUb4m';
const AC = 'LPA:1$rsp.example.com$K2-1A2B3C-4D5E6F';

const NO_BRAND = {
  ...{ name: null, accentColor: null, logoPath: null },
  ...{ supportEmail: null, supportUrl: null, supportPhone: null },
};

function shows(changes: Partial<InstallView> = {}, more: Partial<InstallPage> = {}): void {
  const view: InstallView = {
    esimId: `esim-${'a'.repeat(32)}`,
    packageName: 'Morocco 5GB 30Days',
    status: 'CREATED',
    smdpStatus: 'RELEASED',
    code: 'NOT_SCANNED',
    installState: 'READY',
    usedBytes: 0n,
    totalBytes: 5_368_709_120n,
    activateTime: null,
    remainingUnits: 30,
    durationUnit: 'DAY',
    expiredTime: new Date('2027-05-01T12:00:00Z'),
    apn: 'internet',
    asOf: new Date(Date.now() - 12 * 60_000),
    ac: AC,
    qrCodeUrl: '',
    smdpAddress: 'rsp.example.com',
    matchingId: 'K2-1A2B3C-4D5E6F',
    ...changes,
  };
  api.shop.replace('test', 'findInstallPage', (token) =>
    Promise.resolve(token === TOKEN ? { view, brand: NO_BRAND, topUps: undefined, ...more } : undefined),
  );
}

const NOTHING = { ac: '', smdpAddress: '', matchingId: '' };

async function open(
  given: BrowserContextOptions & { readonly query?: string; readonly token?: string } = {},
): Promise<Page> {
  const { query = '', token = TOKEN, ...options } = given;
  const context = await browser.newContext({
    viewport: PHONE,
    hasTouch: true,
    ...options,
  });
  const page = await context.newPage();
  await page.goto(`${api.server.url}/i/${token}${query}`);
  return page;
}

/** Contrast as WCAG 2 computes it, of every element that has text of its own. Below 4.5 is listed. */
const lowContrasts = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const rgb = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
    const luminance = (color) => {
      const [r, g, b] = color.map((part) => {
        const share = part / 255;
        return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
      for (let one = element; one; one = one.parentElement) {
        const color = rgb(getComputedStyle(one).backgroundColor);
        if (color.length < 4 || color[3] > 0) return color.slice(0, 3);
      }
      return [255, 255, 255];
    };
    const low = [];
    for (const element of document.querySelectorAll('body *')) {
      const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      if (!hasText) continue;
      const [one, other] = [luminance(rgb(getComputedStyle(element).color)), luminance(behind(element))];
      const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      if (!(ratio >= 4.5)) low.push(ratio.toFixed(2) + ' ' + element.textContent.trim().slice(0, 40));
    }
    return low;
  })()`);

/** What a finger must hit is at least 44 pixels high. */
const smallTargets = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('a, button, summary')]
    .filter((element) => element.getBoundingClientRect().height < 44)
    .map((element) => element.textContent)`);

describe.each([
  ['light', 'en', ''],
  ['dark', 'en', ''],
  ['light', 'ar', ''],
  ['dark', 'ar', '?lang=ar'],
  ['light', 'fr', '?lang=fr'],
  ['light', 'es', '?lang=es'],
  ['light', 'pt', '?lang=pt'],
] as const)('%s, %s%s', (colorScheme, language, query) => {
  it('is readable, fits the phone, and asks no other server', async () => {
    shows();
    const page = await open({ colorScheme, query, locale: query === '' ? language : 'en' });
    const troubles = watchTroubles(page);
    const origins = watchOrigins(page);
    await page.reload();
    expect(await page.locator('html').getAttribute('lang')).toBe(language);
    expect(await page.locator('html').getAttribute('dir')).toBe(language === 'ar' ? 'rtl' : 'ltr');
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
    expect(await page.getByRole('img').getAttribute('aria-label')).toMatch(/QR/);
    expect(await lowContrasts(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    expect(await smallTargets(page)).toEqual([]);
    expect(troubles).toEqual([]);
    expect([...origins]).toEqual([api.server.url]);
    await keepScreenshot(page, `ready-${colorScheme}-${language}`);
    await keepScreenshot(page, `ready-${colorScheme}-${language}-whole`);
  });
});

it('copies each code with one tap, and says so', async () => {
  shows();
  const page = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
  const buttons = page.getByRole('button', { name: 'Copy' });
  expect(await buttons.count()).toBe(4);
  await buttons.nth(2).tap();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(AC);
});

it('works without scripts: codes to select, no dead button, steps that open', async () => {
  shows();
  const page = await open({ javaScriptEnabled: false });
  expect(await page.getByRole('button').count()).toBe(0);
  expect(await page.locator('code').allInnerTexts()).toEqual([
    'rsp.example.com',
    'K2-1A2B3C-4D5E6F',
    AC,
    'internet',
  ]);
  const step = page.getByText('Open Settings, then Mobile Service (or Cellular).');
  expect(await step.isVisible()).toBe(false);
  await page.getByText('iPhone', { exact: true }).tap();
  expect(await step.isVisible()).toBe(true);
  await page.getByRole('link', { name: 'العربية' }).tap();
  await page.getByRole('heading', { name: 'ثبّت شريحة eSIM' }).waitFor();
});

it('can be used with the keyboard alone', async () => {
  shows();
  const page = await open();
  const reached: string[] = [];
  for (let tab = 0; tab < 14; tab += 1) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate<string>('document.activeElement.tagName'));
  }
  expect(new Set(reached)).toEqual(new Set(['A', 'BUTTON', 'SUMMARY']));
});

it.each([
  [
    'installed',
    {
      ...NOTHING,
      installState: 'INSTALLED',
      code: 'ROAMING_LIKELY_OFF',
      status: 'ACTIVE',
      activateTime: new Date('2026-12-01T00:00:00Z'),
    },
    'dark',
  ],
  [
    'preparing',
    { ...NOTHING, installState: 'NOT_DELIVERED', code: 'NOT_DELIVERED', status: 'PENDING' },
    'light',
  ],
  ['interrupted', { code: 'DOWNLOAD_INTERRUPTED', smdpStatus: 'DOWNLOAD' }, 'light'],
  ['ended', { ...NOTHING, installState: 'ENDED', code: 'EXPIRED', status: 'EXPIRED' }, 'dark'],
] as const)('other states are readable too: %s', async (name, changes, colorScheme) => {
  shows(changes);
  const page = await open({ colorScheme });
  expect([await lowContrasts(page), await overflow(page), await smallTargets(page)]).toEqual([[], 0, []]);
  await keepScreenshot(page, name);
});

it('an invalid link shows a page in the visitor’s language', async () => {
  shows();
  const page = await open({ token: 'x'.repeat(32), locale: 'ar' });
  await page.getByRole('heading', { name: 'لا توجد شريحة في هذا الرابط' }).waitFor();
  expect([await lowContrasts(page), await overflow(page)]).toEqual([[], 0]);
  await keepScreenshot(page, 'unknown-ar');
});
