// Screenshots of pages, in the folder that SIMWAY_SCREENSHOTS names; none without.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { settled } from './axe.ts';

/** A name that ends in `-whole` keeps the page down to its end, others one screen. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['SIMWAY_SCREENSHOTS'];
  if (folder === undefined) return;
  // A part of the page may still be loading.
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  await settled(page);
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: name.endsWith('-whole') });
}
