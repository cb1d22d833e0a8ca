// Debian's Chromium, driven by Playwright, with nothing of its own going out to the network.
// Must fail clearly where there is no browser: a page that nobody looked at is not a page that works.
import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';

const PROGRAM = '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts the browser; close it in afterAll. */
export async function openBrowser(): Promise<Browser> {
  if (!existsSync(PROGRAM)) throw new Error(`no browser at ${PROGRAM}: install Debian's package chromium`);
  return chromium.launch({ executablePath: PROGRAM, headless: true, args: FLAGS });
}

/** What a reader of the page would find broken in the developer tools, collected from now on. */
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
export const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
