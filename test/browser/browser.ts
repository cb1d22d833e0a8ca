// Debian's Chromium, without requests of its own. Must fail clearly where there is no browser.
import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page, type Response } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { settled } from '../support/world/axe.ts';
import { startStack, type Stack, type StackOptions } from '../support/world/stack.ts';

/** The first one that is installed. The shell opens a first page in a third of the processor time. */
const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const DESK = { width: 1280, height: 900 };
export const PHONE = { width: 375, height: 800 };

/** How long a page is waited for: many times what it takes on a quiet machine. */
const PATIENCE_MS = 60_000;

/** Starts the browser; close it in afterAll. Every wait of its pages is patient. */
export async function openBrowser(): Promise<Browser> {
  const program = PROGRAMS.find((path) => existsSync(path));
  if (program === undefined)
    throw new Error(
      `no browser at ${PROGRAMS.join(' or ')}: install Debian's package chromium-headless-shell`,
    );
  const browser = await chromium.launch({ executablePath: program, headless: true, args: FLAGS });
  browser.on('context', (context) => context.setDefaultTimeout(PATIENCE_MS));
  return browser;
}

/**
 * A browser and a stack for one file. Contexts that a test leaves open are closed after it; those that the
 * file itself opens stay.
 */
export async function openPages(options: StackOptions): Promise<[Browser, Stack]> {
  const [browser, stack] = await Promise.all([openBrowser(), startStack(options)]);
  if (stack.env['SIMWAY_TRUSTED_PROXIES'] !== undefined) {
    // A proxy that is trusted says who asks.
    const newContext = browser.newContext.bind(browser);
    const extraHTTPHeaders = { 'X-Forwarded-For': '127.0.0.1' };
    browser.newContext = (given) => newContext({ extraHTTPHeaders, ...given });
  }
  let kept: readonly BrowserContext[] = [];
  beforeAll(() => {
    kept = browser.contexts();
  });
  afterEach(() =>
    Promise.all(
      browser
        .contexts()
        .filter((context) => !kept.includes(context))
        .map((context) => context.close()),
    ),
  );
  afterAll(async () => {
    await browser.close();
    await stack.close();
  });
  return [browser, stack];
}

export function watchTroubles(page: Page): string[] {
  const troubles: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') troubles.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => troubles.push(`script: ${error.message}`));
  page.on('requestfailed', (request) => {
    // What the page itself gave up, since it was left.
    if (request.failure()?.errorText === 'net::ERR_ABORTED') return;
    troubles.push(`not loaded: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) troubles.push(`${response.status()}: ${response.url()}`);
  });
  return troubles;
}

/** The origins that the page asks anything of, from now on. */
export function watchOrigins(page: Page): Set<string> {
  const origins = new Set<string>();
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.protocol !== 'blob:') origins.add(url.origin);
  });
  return origins;
}

/** By how many pixels something is wider than the screen. */
export async function overflow(page: Page): Promise<number> {
  await settled(page);
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

export const widest = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `[...document.querySelectorAll('body *')]
      .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth)
      .map((one) => one.tagName + '.' + String(one.className).slice(0, 60)).slice(0, 5).join(' | ')`,
  );

const MEASURE = `window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.layoutShift += value;
  }).observe({ type: 'layout-shift', buffered: true });
  window.roundTrips = 0;
  let answered = 0;
  const { fetch } = window;
  window.fetch = (...request) => {
    const nth = answered + 1;
    window.roundTrips = Math.max(window.roundTrips, nth);
    const answer = fetch(...request);
    const end = () => (answered = Math.max(answered, nth));
    answer.then(end, end);
    return answer;
  };`;

/** How far each page of this context jumps while it loads, and its round trips. Call it first. */
export async function watchLoading(context: BrowserContext): Promise<void> {
  await context.addInitScript(MEASURE);
}

interface Loaded {
  /** Web vitals: above 0.1 people notice it. */
  readonly layoutShift: number;
  /** Requests for data that began after the answer of another, in a row. */
  readonly roundTrips: number;
  readonly ms: number;
  readonly bytes: number;
}

const readLoad = (page: Page): Promise<Loaded> =>
  page.evaluate<Loaded>(`(() => {
    const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
    const bytes = loaded.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    const { layoutShift, roundTrips } = window;
    return { layoutShift, roundTrips, ms: Math.round(performance.now()), bytes };
  })()`);

/** Generous, since other tests run beside; what costs people time is a request that waits for another. */
const MAX_MS = 10_000;
const MAX_ROUND_TRIPS = 3;
const MAX_SHIFT = 0.1;
/** Over the network, compressed. */
export const FIRST_LOAD_BYTES = 300_000;
/** A page with less was not fully measured. */
export const LEAST_BYTES = 50_000;

interface Loads {
  /** What is wrong with the way it came. Without `roundTrips` a page makes 1 to 3 of them. */
  read(page: Page, name: string, roundTrips?: { least?: number; most?: number }): Promise<string[]>;
  /** Prints how long each page took, which a busy machine cannot promise. */
  print(): void;
}

export function watchLoads(): Loads {
  const times: string[] = [];
  return {
    read: async (page, name, { least = 1, most = MAX_ROUND_TRIPS } = {}) => {
      await page.locator('h1').waitFor();
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
      const { layoutShift, roundTrips, ms, bytes } = await readLoad(page);
      times.push(`${name} ${ms} ms ${Math.round(bytes / 1000)} KB`);
      const isGood =
        layoutShift < MAX_SHIFT &&
        roundTrips >= least &&
        roundTrips <= most &&
        ms < MAX_MS &&
        bytes > LEAST_BYTES &&
        bytes < FIRST_LOAD_BYTES;
      const how = `${roundTrips} round trips and ${bytes} bytes in ${ms} ms`;
      return isGood ? [] : [`${name} jumps by ${layoutShift}, with ${how}`];
    },
    print: () => console.info(`Pages came in: ${times.join(', ')}`),
  };
}

/** What comes over the network until the page is quiet, and the scripts in it. */
export async function firstLoad(page: Page, url: string): Promise<{ bytes: number; scripts: string[] }> {
  const sizes: Promise<number>[] = [];
  const scripts: Promise<string>[] = [];
  const measure = (response: Response): void => {
    if (response.url().endsWith('.js')) scripts.push(response.text());
    sizes.push(
      response
        .request()
        .sizes()
        .then(({ responseBodySize }) => responseBodySize),
    );
  };
  page.on('response', measure);
  await page.goto(url, { waitUntil: 'networkidle' });
  await page.locator('h1').waitFor();
  // What comes later may never come whole: the page is closed soon.
  page.off('response', measure);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  return { bytes, scripts: await Promise.all(scripts) };
}
