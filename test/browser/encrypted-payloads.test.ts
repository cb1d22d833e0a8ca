// The Temporal UI has the payloads decrypted over the API's admin port, and shows nothing without it.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../src/dev/ports.ts';
import type { RunningTemporal } from '../../src/dev/temporal.ts';
import { newBuyer } from '../support/people/buyer.ts';
import { startTestTemporal } from '../support/world/services.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import { openBrowser } from './browser.ts';

let browser: Browser;
let temporal: RunningTemporal;
let stack: Stack;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  browser = await openBrowser();
  closers.push(() => browser.close());
  const folder = await makeTestFolder();
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const adminPort = await freePort();
  temporal = await startTestTemporal(folder, { uiCodecEndpoint: `http://127.0.0.1:${adminPort}/codec` });
  closers.push(() => temporal.stop());
  stack = await startStack({
    temporalAddress: temporal.address,
    adminPort,
    env: {
      SIMWAY_TEMPORAL_CODEC_KEY: randomBytes(32).toString('hex'),
      SIMWAY_TEMPORAL_UI_ORIGIN: temporal.uiUrl,
      SIMWAY_TEMPORAL_TITLES: 'on',
    },
  });
  closers.push(() => stack.close());
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

it('the Temporal UI shows a purchase through the codec endpoint, and not without', async () => {
  const buyer = await newBuyer(stack);
  const { body } = await buyer.buy('SIM-OK');
  const url = `${temporal.uiUrl}/namespaces/${stack.namespace}/workflows/${body.transactionId}`;
  const page = await browser.newPage();
  await page.goto(url);
  const summary = page.getByText('Sandbox SIM-OK 1GB 7Days for Test account').first();
  await summary.waitFor();
  await page.getByText('"packageCode"').first().waitFor();
  await page.close();

  const blind = await browser.newPage();
  await blind.route('**/codec/decode', (route) => route.abort());
  await blind.goto(url);
  await blind.getByText(body.transactionId).first().waitFor();
  await blind.getByText('encryption-key-id').first().waitFor();
  expect(await blind.content()).not.toContain('Test account');
});

it('the list of the Temporal UI shows what was bought once its column is chosen, and no name of a buyer', async () => {
  const buyer = await newBuyer(stack);
  const { body } = await buyer.buy('SIM-OK');
  const page = await browser.newPage();
  // As the page itself keeps the choice of columns.
  const columns = {
    [stack.namespace]: ['Status', 'Workflow ID', 'Title'].map((label) => ({ label, pinned: false })),
  };
  await page.addInitScript(
    (chosen) => localStorage.setItem('namespace-workflow-table-columns', chosen),
    JSON.stringify(columns),
  );
  await page.goto(`${temporal.uiUrl}/namespaces/${stack.namespace}/workflows`);
  const row = page.getByRole('row').filter({ hasText: body.transactionId });
  await row.getByText('eSIM Sandbox SIM-OK 1GB 7Days').waitFor();
  expect(await page.content()).not.toContain('Test account');
});
