// SIMWAY_SCREENSHOTS=<folder> keeps what the pages look like.
import { describe, expect, it } from 'vitest';
import { graveFaults } from '../support/world/axe.ts';
import { dataOf } from '../support/people/people.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { watchTroubles } from './browser.ts';
import { TEMPORAL_UI, startFinance } from './operators.support.ts';

const { stack, ada, bayo, openAs, open, makeStuck } = await startFinance();

describe('twenty stuck purchases', () => {
  it('are repaired by one batch that a second person approves, and the list is empty', async () => {
    const ids = await makeStuck(20);
    await stack.clearFaults();
    const page = await openAs(ada, '');
    const troubles = watchTroubles(page);
    await page.getByRole('region', { name: 'Stuck' }).getByText('20', { exact: true }).waitFor();
    await keepScreenshot(page, 'operators-home');
    await page.getByRole('link', { name: 'Paid, not delivered' }).click();
    await page.getByText('20 items', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Repair many at once' }).click();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Possible on 20 of 20 items.').waitFor();
    expect(await graveFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Ask for approval of 20 items' }).click();
    await page.getByText('Give a reason of at least 3 characters').waitFor();
    await page.getByLabel('Reason').fill('the supplier has eSIMs again, ticket 4711');
    await page.getByRole('button', { name: 'Ask for approval of 20 items' }).click();
    await page.getByText('You requested it: another person of finance approves it.').waitFor();
    expect(await page.getByRole('button', { name: 'Approve and start' }).count()).toBe(0);

    const second = await openAs(bayo, '/approvals');
    await second.getByRole('link', { name: 'Review and decide' }).click();
    await second.getByRole('button', { name: 'Approve and start' }).click();
    const dialog = second.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('checked the list');
    await dialog.getByRole('button', { name: 'Approve and start' }).click();
    for (const shown of [page, second]) await shown.getByText('20 of 20 done', { exact: true }).waitFor();
    const repairId = /repair-[0-9a-f]{32}/.exec(second.url())?.[0] ?? '';
    expect(await second.getByRole('link', { name: repairId }).getAttribute('href')).toBe(
      `${TEMPORAL_UI}/namespaces/${stack.namespace}/workflows/${repairId}`,
    );
    expect(await graveFaults(second)).toEqual([]);
    await keepScreenshot(second, 'operators-batch-repair');

    await open(page, '/stuck?class=paid-not-delivered');
    await page.getByText('Nothing stuck matches these filters.').waitFor();
    const { text } = await ada.call('GET', '/ops/stuck?limit=100');
    expect(ids.filter((id) => text.includes(id))).toEqual([]);

    await page.getByRole('link', { name: 'Audit log' }).click();
    const asked = page.getByRole('row').filter({ hasText: 'ask-batch-repair' });
    await asked.getByText(ada.email).waitFor();
    const approved = page.getByRole('row').filter({ hasText: 'approve-batch-repair' });
    await approved.getByText('checked the list').waitFor();
    await approved.getByText(bayo.email).waitFor();
    await keepScreenshot(page, 'operators-audit-log');
    expect(troubles).toEqual([]);
  });
});

describe('a batch repair', () => {
  it('is declined, and nothing is done; one that runs is stopped, and what it had not begun is skipped', async () => {
    await makeStuck(12);
    const page = await openAs(bayo, '/repairs');
    const troubles = watchTroubles(page);
    const openNew = async (): Promise<void> => {
      const asked = await ada.call('POST', '/ops/batch-repairs', {
        action: 'check-supplier',
        filter: { class: 'paid-not-delivered' },
        maxRows: 12,
        reason: 'the supplier does not deliver, ticket 4711',
        repairKey: crypto.randomUUID(),
      });
      await open(page, `/repairs/${String(dataOf(asked)['repairId'])}`);
    };
    const dialog = page.getByRole('dialog');
    const decide = async (verb: string, reason: string): Promise<void> => {
      await page.getByRole('button', { name: verb }).click();
      await dialog.getByText(new RegExp(`^12 items.*, requested by ${ada.email}$`)).waitFor();
      await dialog.getByRole('button', { name: verb }).click();
      await dialog.getByText('Give a reason of at least 3 characters').waitFor();
      await dialog.getByLabel('Reason').fill(reason);
      await dialog.getByRole('button', { name: verb }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await openNew();
    await decide('Decline', 'the supplier asked us to wait');
    await page
      .getByText(/^Declined/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Approve and start' }).waitFor({ state: 'detached' });

    // Four at a time: the last four begin after some seconds.
    await stack.faults({ latencyMs: 3_000 });
    await openNew();
    await decide('Approve and start', 'checked the list');
    await decide('Stop', 'the supplier is slow today');
    await page
      .getByText(/^Stopped/)
      .first()
      .waitFor();
    await page.getByText(/^\d+ of 12 done, \d+ skipped$/).waitFor();
    await page.getByLabel('Result').selectOption('SKIPPED');
    await page.getByRole('table', { name: 'Items of the batch repair' }).waitFor();

    await open(page, '/repairs');
    const rowOf = (status: string) => page.getByRole('row').filter({ hasText: status });
    await rowOf('Declined').getByText('0 of 12 done').waitFor();
    await rowOf('Stopped').getByText(bayo.email).waitFor();
    expect(troubles).toEqual([]);
  });
});
