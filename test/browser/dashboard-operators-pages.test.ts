// SIMWAY_SCREENSHOTS=<folder> keeps what the pages look like.
import { describe, expect, it } from 'vitest';
import { graveFaults } from '../support/world/axe.ts';
import { listedPaths } from '../support/world/dashboard-pages.ts';
import { dataOf, signedIn } from '../support/people/people.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import {
  DESK,
  FIRST_LOAD_BYTES,
  firstLoad,
  LEAST_BYTES,
  overflow,
  PHONE,
  watchLoading,
  watchLoads,
  watchTroubles,
  widest,
} from './browser.ts';
import { startFinance } from './operators.support.ts';

/** The narrowest screen on which tables are tables. */
const TABLET = { width: 780, height: 1_000 };

const { browser, stack, account, ada, openAs, open, makeStuck } = await startFinance();

const BADGE = 'Test: no real money';

/** Those of finance that need no id. */
const PAGES = [
  ...listedPaths('operators').filter((path) => path !== '/people'),
  '/books?book=daily',
  '/books?book=charts',
];

/** Asked for again, it is the same batch repair. */
const REPAIR_KEY = crypto.randomUUID();

describe.each([
  { name: 'light, on a desk', options: { colorScheme: 'light', viewport: DESK } },
  { name: 'dark, on a phone', options: { colorScheme: 'dark', viewport: PHONE } },
] as const)('every page, $name', ({ name, options }) => {
  it('has no grave fault for keyboards and screen readers, names its environment, fits the screen and comes without a jump', async () => {
    const [id = ''] = await makeStuck(1);
    const repair = dataOf(
      await ada.call('POST', '/ops/batch-repairs', {
        action: 'check-supplier',
        filter: { class: 'paid-not-delivered' },
        maxRows: 1,
        reason: 'the supplier does not deliver, ticket 4711',
        repairKey: REPAIR_KEY,
      }),
    );
    const look = name.split(',')[0] ?? '';
    const found: string[] = [];
    const loads = watchLoads();
    for (const [person, paths] of [
      [
        ada,
        [
          ...PAGES,
          `/purchases/${id}`,
          `/accounts/${account.accountId}`,
          `/repairs/${String(repair['repairId'])}`,
        ],
      ],
      [await signedIn(stack, 'ADMIN'), ['/people']],
    ] as const) {
      const page = await openAs(person, '', options);
      // What is left in the middle counts as not loaded.
      await page.waitForLoadState('networkidle');
      await watchLoading(page.context());
      const troubles = watchTroubles(page);
      for (const path of paths) {
        await open(page, path);
        found.push(...(await loads.read(page, path || '/')), ...(await graveFaults(page)));
        if (!(await page.getByText(BADGE).isVisible())) found.push(`${path} does not name its environment`);
        const kept = path.replace(/(txn|acc|repair)-.*/, 'one').replaceAll(/\W+/g, '-');
        await keepScreenshot(page, `operators${kept}-${look}-whole`);
        for (const size of [TABLET, options.viewport]) {
          await page.setViewportSize(size);
          const tooWide = await overflow(page);
          if (tooWide > 0)
            found.push(`${path} is ${tooWide} wider than a screen of ${size.width}: ${await widest(page)}`);
        }
      }
      expect(troubles).toEqual([]);
      await page.context().close();
    }
    loads.print();
    expect(found).toEqual([]);
  });
});

it.each(['', '/rates'])('the page “%s” takes less than 300 KB at first', async (path) => {
  const page = await openAs(ada, '');
  const fresh = await browser.newContext({ storageState: await page.context().storageState() });
  const { bytes, scripts } = await firstLoad(await fresh.newPage(), `${page.url()}${path}`);
  expect(bytes).toBeGreaterThan(LEAST_BYTES);
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES);
  expect(scripts.length).toBeGreaterThan(0);
  await Promise.all([fresh.close(), page.context().close()]);
});

it('lets in a command by its code, once the person has seen which machine asks', async () => {
  const body = { machine: 'adas-laptop' };
  const asked = dataOf(await stack.call('POST', '/ops/device-logins', { body })) as Record<string, string>;
  expect(asked['verificationUrl']).toBe(`${stack.apiUrl}/dashboard/operators/test/device`);
  const page = await openAs(ada, '/device');
  const type = async (code: string): Promise<void> => {
    await page.getByLabel('Code', { exact: true }).fill(code);
    await page.getByRole('button', { name: 'Continue' }).click();
  };
  await type('BBBB-BBBB');
  await page.getByText('This code is wrong').waitFor();
  await type(asked['userCode'] ?? '');
  await page.getByText('adas-laptop').waitFor();
  expect(await graveFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Go back to the command').waitFor();
  const { deviceCode } = asked;
  const taken = await stack.call('POST', '/ops/device-logins/token', { body: { deviceCode } });
  expect(dataOf(taken)).toMatchObject({ email: ada.email });
  await page.context().close();
});
