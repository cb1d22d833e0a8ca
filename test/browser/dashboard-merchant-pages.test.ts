// SIMWAY_SCREENSHOTS=<folder> keeps what the pages look like.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { FIRST_LOAD_BYTES, firstLoad, LEAST_BYTES, openPages, watchLoading, watchLoads } from './browser.ts';
import {
  faultsOf as faultsOfPage,
  openVisitor,
  signUp as signUpAt,
  type Visitor,
} from './merchant.support.ts';

const [browser, stack] = await openPages({ env: SIGN_IN_ENV, wholeCatalogue: true });

const openPage = (): Promise<Visitor> => openVisitor(browser);

const signUp = ({ page, email }: Visitor): Promise<string> => signUpAt(stack.apiUrl, page, email);

const BADGE = 'Test: no real money';

const faultsOf = (page: Page, name: string) => faultsOfPage(page, name, BADGE);

describe('the pages', () => {
  it('have no grave fault for keyboard and screen reader, in light and dark, and fit a phone', async () => {
    const visitor = await openPage();
    const { page, context, faults } = visitor;
    await signUp(visitor);
    await watchLoading(context);
    const home = page.url().replace(/\/$/, '');
    const found: string[] = [];
    const loads = watchLoads();
    for (const [name, path] of [
      ['home', ''],
      ['catalogue', '/catalogue'],
      ['country', '/catalogue?region=NG'],
      ['buy', '/catalogue/SIM-OK'],
      ['batches', '/batches'],
      ['esims', '/esims'],
      ['purchases', '/purchases'],
      ['wallet', '/wallet'],
      ['figures', '/figures'],
      ['keys', '/developers/keys'],
      ['webhooks', '/developers/webhooks'],
      ['requests', '/developers/requests'],
      ['brand', '/brand'],
      ['team', '/team'],
      ['settings', '/settings'],
      ['search', '/search?text=nothing'],
      ['login', '/login'],
    ] as const) {
      await page.goto(`${home}${path}`);
      found.push(...(await loads.read(page, name)));
      found.push(...(await faultsOf(page, name)));
    }
    loads.print();
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('of live say that it is not open yet, and lead to test', async () => {
    const visitor = await openPage();
    const { page } = visitor;
    await signUp(visitor);
    const home = page.url().replace(/\/$/, '');
    await page.goto(`${home.replace(/test$/, 'live')}/wallet`);
    await page.getByRole('heading', { name: 'Live is not open yet' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByRole('button', { name: 'Go to the test environment' }).click();
    await page.waitForURL((url) => url.href.replace(/\/$/, '') === home);
  });

  it('have none before sign-in either, and come without a jump', async () => {
    const { page, context, faults } = await openPage();
    await watchLoading(context);
    const found: string[] = [];
    const loads = watchLoads();
    for (const path of [
      'sign-in',
      'sign-up',
      'reset-password',
      'confirm#token=none',
      'reset-password#token=none',
      'invitation#token=none',
    ]) {
      await page.goto(`${stack.apiUrl}/dashboard/${path}`);
      const name = path.replace('#token=none', '-by-mail');
      found.push(...(await loads.read(page, name, { least: 0 })), ...(await faultsOfPage(page, name)));
    }
    loads.print();
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('take less than 300 KB at first, also the home page and the one with charts', async () => {
    const { page } = await openPage();
    const { bytes, scripts } = await firstLoad(page, `${stack.apiUrl}/dashboard/sign-in`);
    expect(bytes).toBeGreaterThan(LEAST_BYTES);
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES);
    // Built for people, not for those who write it: no name of a file of ours.
    expect(scripts.length).toBeGreaterThan(0);
    expect(scripts.filter((text) => text.includes('.tsx'))).toEqual([]);

    const visitor = await openPage();
    await signUp(visitor);
    const home = visitor.page.url().replace(/\/$/, '');
    for (const path of ['', '/figures']) {
      const fresh = await browser.newContext({ storageState: await visitor.context.storageState() });
      const first = await firstLoad(await fresh.newPage(), `${home}${path}`);
      expect(first.bytes, path).toBeGreaterThan(LEAST_BYTES);
      expect(first.bytes, path).toBeLessThan(FIRST_LOAD_BYTES);
    }
  });
});
