/**
 * The stuck list on tables of a million purchases: it reads open, flagged or unapplied rows, through their
 * small indexes, and no others.
 */
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { stuckLimits } from '../../src/operations/stuck-rules.ts';
import { findOpenRows, findStuckRows } from '../../src/operations/store/stuck.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { openBooks } from '../support/world/books.ts';
import { explain, rowsReadBy } from '../support/world/explain.ts';
import { size } from '../support/time/size.ts';
import { ago, HOUR, NOW, rowsOf } from './stuck.support.ts';

const CLOSED = size({ ci: 20_000, prove: 1_000_000 });
/** Open and healthy, or flagged: the rows that the list may read, however many are closed. */
const OPEN = 200;
const FLAGGED = 50;
const limits = stuckLimits({ attentionAfterMs: 600_000, openChargeForMs: 600_000 });
const query = { now: NOW, limits, limit: 10_000 };

const books = await openBooks({ statementTimeoutMs: 120_000 });
afterAll(() => books.close());

await closedPurchases(books.owner);
const rows = rowsOf(books.owner);
for (let i = 0; i < OPEN; i += 1) {
  const id = await rows.purchase({ payment_method: 'CARD', status: 'PENDING', created_at: ago(HOUR) });
  await rows.payment(id);
}
for (let i = 0; i < FLAGGED; i += 1) {
  const flag = { attention_reason: 'SUPPLIER_OUTCOME_UNKNOWN', needs_attention_since: ago(5) };
  await rows.hold(await rows.purchase(flag));
}
await sql`analyze`.execute(books.owner);

/**
 * Purchases that ended years and hours ago, each with a hold, a payment, a refund, an event and a message
 * that have ended too.
 */
async function closedPurchases(owner: WorldDb): Promise<void> {
  const endpoint = await rowsOf(owner).endpoint();
  const many = sql`generate_series(1, ${CLOSED}) i`;
  const at = sql`timestamptz '2026-03-01' - i * interval '30 seconds'`;
  await sql`
    insert into purchases (transaction_id, account_id, package_type, payment_method, status, package_code, package_name, volume_bytes, duration,
                           esim_id, price_minor, currency, price_usd_minor, cost_usd_e4, settings_id, request_id, created_at, closed_at)
    select 't' || i, 'acc-1', 'BASE', 'CARD', 'SUCCESS', 'P', 'P', 1, 1, 'e' || i, 230, 'USD', 230, 1, 'initial', 'r', ${at}, ${at}
      from ${many}`.execute(owner);
  await sql`
    insert into supplier_orders (id, transaction_id, kind, supplier, package_code, volume_bytes, cost_usd_e4, in_flight_grace_ms, state, attempts,
                                 first_sent_at, last_sent_at, closed_at)
    select 't' || i, 't' || i, 'BASE', 'esim-access', 'P', 1, 1, 1, 'delivered', 1, ${at}, ${at}, ${at} from ${many}`.execute(
    owner,
  );
  await sql`insert into ledger_accounts (id, kind, currency, account_id) values ('wallet:acc-1', 'wallet', 'USD', 'acc-1')`.execute(
    owner,
  );
  await sql`
    insert into holds (id, account_id, currency, amount_minor, status, created_at, closed_at)
    select 't' || i, 'acc-1', 'USD', 230, 'POSTED', ${at}, ${at} from ${many}`.execute(owner);
  await sql`
    insert into payments (gateway, reference, transaction_id, attempt, purpose, account_id, method, status, charge_minor, charge_currency, price_minor,
                          price_currency, expires_at)
    select 'paystack', 't' || i, 't' || i, 1, 'purchase', 'acc-1', 'CARD', 'CLOSED', 368000, 'NGN', 230, 'USD', ${at} from ${many}`.execute(
    owner,
  );
  await sql`
    insert into refunds (gateway, refund_key, reference, transaction_id, account_id, amount_minor, currency, reason, status, created_at, closed_at)
    select 'paystack', 'r' || i, 't' || i, 't' || i, 'acc-1', 1, 'NGN', 'not-delivered', 'DONE', ${at}, ${at} from ${many}`.execute(
    owner,
  );
  await sql`
    insert into gateway_events (gateway, event_key, type, about, reference, received_at, applied_at, note)
    select 'paystack', 'k' || i, 'charge.success', 'charge', 't' || i, ${at}, ${at}, 'checked' from ${many}`.execute(
    owner,
  );
  await sql`
    insert into webhook_messages (id, endpoint_id, account_id, event, event_key, subject, body, status, created_at, closed_at)
    select 'msg-' || md5(i::text), ${endpoint}, 'acc-1', 'esim.purchased', 'k' || i, 't' || i, '{}', 'DELIVERED', ${at}, ${at}
      from ${many}`.execute(owner);
}

async function planOf(
  run: (db: WorldDb) => Promise<unknown>,
): Promise<{ scans: string[]; rowsRead: number }> {
  const { statements, scans } = await explain(books, run);
  expect(statements).toBe(1);
  return {
    scans: scans.map((node) => `${node['Node Type']} ${node['Relation Name'] ?? node['Index Name'] ?? ''}`),
    rowsRead: rowsReadBy(scans),
  };
}

/** Tables that stay small, so a full read is fine. */
const SMALL = /^Seq Scan (webhook_endpoints|operator_actions|fundings|purchase_events|gateway_windows)$/;

it.each([
  ['the stuck list', findStuckRows, FLAGGED],
  ['what is open', findOpenRows, OPEN],
] as const)(
  `the stuck list reads no table of closed purchases for %s, with ${CLOSED} of them`,
  async (_name, find, most) => {
    const { scans, rowsRead } = await planOf(async (db) => {
      const found = await find(db, query);
      expect(found.length).toBeGreaterThanOrEqual(most);
    });
    expect(scans.filter((scan) => scan.startsWith('Seq Scan') && !SMALL.test(scan))).toEqual([]);
    // Each open purchase is read with its hold and its payments, in a branch or two.
    expect(rowsRead).toBeLessThan(10 * (OPEN + FLAGGED));
  },
  120_000,
);
