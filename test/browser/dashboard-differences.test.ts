import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { DIFFERENCE_WORDS } from '../../src/reconciliation/difference-words.ts';
import { DIFFERENCE_KINDS, type DifferenceKind } from '../../src/reconciliation/payment-rules.ts';
import { graveFaults } from '../support/world/axe.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { SIGN_IN_ENV, signedIn } from '../support/people/people.ts';
import { DESK, openPages, overflow, PHONE, watchTroubles } from './browser.ts';
import { openOperator } from './operators.support.ts';

const [browser, stack] = await openPages({ env: SIGN_IN_ENV });
const ada = await signedIn(stack, 'FINANCE');

type Side = Readonly<Record<string, string>> | null;

/** As the comparisons write them (payment-rules.ts, supplier-rules.ts). */
const charge: Side = { receivedNGNMinor: '123450', takenBackNGNMinor: '3450' };
const atGateway: Side = { ...charge, receivedUSDMinor: '12345', gatewayIds: '4712 4713' };
const refund: Side = { status: 'SENT', currency: 'NGN', amountMinor: '123450', bookedMinor: '0' };
const order: Side = {
  ...{ status: 'SUCCESS', packageCode: 'SIM-OK' },
  ...{ agreedCostUsdE4: '25600', bookedCostUsdE4: '25601' },
};
const listed: Side = { orderNos: 'B2311 B2312', packageCodes: 'SIM-OK SIM-OK', states: 'charged refunded' };
const dispute: Side = { state: 'open' };
const fee: Side = { agreedFeeMinor: '1950 or 2000' };
const sums = { sumFromUsdE4: '99999540000', sumToUsdE4: '99999540000' };

const SIDES: Record<DifferenceKind, readonly [ours: Side, theirs: Side]> = {
  'missing-in-ledger': [null, atGateway],
  'missing-at-gateway': [charge, null],
  'amount-differs': [charge, atGateway],
  'currency-differs': [charge, atGateway],
  'double-at-gateway': [charge, atGateway],
  'status-differs': [charge, atGateway],
  'refund-missing-in-ledger': [null, { currency: 'NGN', amountMinor: '500', gatewayIds: '1' }],
  'refund-missing-at-gateway': [refund, null],
  'refund-differs': [refund, { currency: 'NGN', amountMinor: '500', gatewayIds: '1' }],
  'dispute-missing-in-ledger': [null, { state: 'open', gatewayStatus: 'awaiting-merchant-feedback' }],
  'dispute-missing-at-gateway': [dispute, null],
  'dispute-differs': [dispute, { state: 'won', gatewayStatus: 'resolved' }],
  'fee-differs': [fee, { feeMinor: '2100', gatewayIds: '1' }],
  'supplier-order-unknown': [null, listed],
  'supplier-order-unbooked': [order, listed],
  'supplier-order-missing': [order, null],
  'supplier-order-double': [order, listed],
  'supplier-cost-differs': [order, listed],
  'supplier-balance-differs': [sums, { sumFromUsdE4: '99999560000', sumToUsdE4: '99999560000' }],
};

await sql`
  insert into reconciliation_runs (id, run_key, asked_by, is_regular, from_at, to_at, new_from_at, settled_before, slices)
  overriding system value values (7, 'run-7', 'ada', false, now(), now(), now(), now(), '[]')`.execute(
  stack.owner,
);
for (const [index, kind] of DIFFERENCE_KINDS.entries()) {
  const [ours, theirs] = SIDES[kind];
  const currency = kind.startsWith('supplier') ? 'USD4' : 'NGN';
  const text = (side: Side) => (side === null ? null : JSON.stringify(side));
  await sql`
    insert into reconciliation_differences (id, kind, subject, currency, amount_minor, dated_from, dated_to, first_run_id, last_run_id,
                                            first_seen_at, last_seen_at, ours, theirs)
    overriding system value
    values (${900_000 + index}, ${kind}, ${`subject-${index}`}, ${currency}, 123450, now(), now(), 7, 7, now(), now(),
            ${text(ours)}, ${text(theirs)})`.execute(stack.owner);
}

/** No value is cut into pieces, nothing is wider than the screen, and no grave fault for screen readers. */
async function readsWell(page: Page): Promise<void> {
  for (const cell of await page.locator('.sides td').all())
    expect((await cell.boundingBox())?.height, await cell.innerText()).toBeLessThanOrEqual(90);
  expect(await graveFaults(page)).toEqual([]);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
}

describe.each([
  { name: 'desktop', options: { viewport: DESK } },
  { name: 'phone', options: { viewport: PHONE } },
] as const)('every kind of difference, on a $name', ({ name, options }) => {
  it('has a title, both sides with their money written out, and what to do next', async () => {
    const page = await openOperator({ browser, stack }, ada, '/differences', options);
    const troubles = watchTroubles(page);
    await page.getByText(DIFFERENCE_WORDS['missing-in-ledger'].title).waitFor();
    let shown = await page.locator('main').innerText();
    await readsWell(page);
    await keepScreenshot(page, `differences-${name}-whole`);
    await page.getByRole('button', { name: 'Page 2', exact: true }).click();
    await page.getByText(DIFFERENCE_WORDS['supplier-balance-differs'].title).waitFor();
    shown += await page.locator('main').innerText();
    await readsWell(page);
    await keepScreenshot(page, `differences-${name}-2-whole`);
    for (const { title, next } of Object.values(DIFFERENCE_WORDS)) {
      expect(shown).toContain(title);
      expect(shown).toContain(next);
    }
    for (const text of [
      'NGN 1234.50',
      'USD 123.45',
      'USD 2.5601',
      'USD 9999954.0000',
      'NGN 19.50 or NGN 20.00',
    ])
      expect(shown).toContain(text);
    // Neither the name of a field nor a word that was made from one.
    expect(shown).not.toMatch(/usde4|minor\b|takenback|gatewayids|[a-z]Usd/i);
    expect(troubles).toEqual([]);
  });
});
