// Alerts, the balance at the supplier, and what is not sold, as operators see and change them.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { signedIn } from '../support/people/people.ts';
import { DESK, overflow, PHONE } from './browser.ts';
import { startFinance } from './operators.support.ts';

const { stack, openAs, open } = await startFinance();

/** An alert of each severity, one that is over, two channels of which one fails, and packages not sold. */
async function plant(): Promise<void> {
  const { owner } = stack;
  await sql`
    insert into operator_alerts (kind, subject, severity, detail, closed_at)
    values ('rates-quarantined', '', 'warning', '2 rates wait. Meanwhile the last good rate is used.', now())`.execute(
    owner,
  );
  await sql`
    insert into alert_channels (id, kind, shown, url_sealed, min_severity, kinds, created_by)
    values (${`channel-${'1'.repeat(32)}`}, 'MAIL', 'ada@operator.example', null, 'warning', '{}', 'ada@operator.example'),
           (${`channel-${'2'.repeat(32)}`}, 'WEBHOOK', 'hooks.slack.com', '\\x00', 'critical',
            '{supplier-balance-critical,refunds-need-attention}', 'ada@operator.example')`.execute(owner);
  await sql`
    insert into alert_messages (channel_id, what, severity, title, detail, failure, next_attempt_at)
    values (${`channel-${'2'.repeat(32)}`}, 'test', 'warning', 'This channel works', 'A test.', 'answered 404', now() + interval '1 h')`.execute(
    owner,
  );
  await sql`
    insert into package_shortages (package_code, supplier, reason, cost_usd_e4, order_id, probe_at, paid_probe_at)
    select package_code, supplier, case when package_code = 'SIM-OK' then 'BALANCE_TOO_LOW' else 'OUT_OF_STOCK' end,
           cost_usd_e4, 'txn', now() + interval '10 min', now() + interval '1 day'
      from packages where package_code in ('SIM-OK', 'SIM-SOLD-OUT')`.execute(owner);
}

describe('the page of alerts', () => {
  it.each([
    ['light, on a desk', { colorScheme: 'light', viewport: DESK }],
    ['dark, on a phone', { colorScheme: 'dark', viewport: PHONE }],
  ] as const)('shows what is wrong, who is told and what is not sold, %s', async (name, options) => {
    await sql`delete from package_shortages`.execute(stack.owner);
    await sql`truncate alert_channels, operator_alerts cascade`.execute(stack.owner);
    await plant();
    const admin = await signedIn(stack, 'ADMIN');
    const page = await openAs(admin, '', options);
    await open(page, '/alerts');
    await page.getByRole('button', { name: 'Check now' }).click();
    await expect.poll(() => page.getByText('The balance was read').count()).toBeGreaterThan(0);
    await expect.poll(() => page.getByText('Not sent yet: answered 404').count()).toBeGreaterThan(0);
    expect(await overflow(page)).toBe(0);
    await keepScreenshot(page, `alerts-${name.split(',')[0] ?? ''}-whole`);
    await page.getByRole('button', { name: 'Add a channel' }).click();
    await page.getByLabel('E-mail address').fill(admin.email);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => page.getByText('Added. Send a test message').count()).toBeGreaterThan(0);
    await page.getByRole('button', { name: `Send a test to ${admin.email}` }).click();
    await expect
      .poll(() => page.getByText('A test message is sent within a minute').count())
      .toBeGreaterThan(0);
    await open(page, '');
    await keepScreenshot(page, `home-${name.split(',')[0] ?? ''}-whole`);
  });
});
