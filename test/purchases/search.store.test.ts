/**
 * The merchants' search in a large database: every way uses an index, and a caller's own reference costs one
 * lookup in each of the newest batches.
 */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { findOwn } from '../../src/purchases/store/search.ts';
import { openBooks } from '../support/world/books.ts';
import { explain, rowsReadBy } from '../support/world/explain.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());

const ROWS = 20_000;
const BATCHES = 2_000;
const LARGE: ReadonlySet<string | undefined> = new Set([
  ...['purchases', 'esims', 'payments', 'jobs', 'job_rows', 'webhook_messages'],
]);

const each = sql`generate_series(1, ${ROWS}) i`;
const batch = sql`'batch-' || lpad((i / 10)::text, 32, '0')`;
for (const rowsOfTable of [
  sql`
    insert into purchases (transaction_id, account_id, package_type, payment_method, status, package_code, package_name, volume_bytes, duration,
                           esim_id, price_minor, currency, price_usd_minor, cost_usd_e4, settings_id, request_id, reference, created_at, closed_at)
    select 't' || i, 'acc-1', 'BASE', 'WALLET', 'SUCCESS', 'P', 'P', 1, 1, 'e' || i, 230, 'USD', 230, 1, 'initial', 'r' || i, 'own-' || i, now(), now() from ${each}`,
  sql`
    insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier, iccid, order_no,
                       esim_tran_no, total_volume_bytes, total_duration, duration_unit, data_type, created_at)
    select 'e' || i, 'acc-1', 't' || i, 'P', 'P', 'EXPIRED', 1, 'USD', '{}', 'esim-access', 'i' || i, 'o' || i, 'n' || i, 1, 30, 'DAY', 1, now() from ${each}`,
  sql`
    insert into payments (gateway, reference, transaction_id, attempt, purpose, account_id, method, status, charge_minor, charge_currency, price_minor,
                          price_currency, expires_at)
    select 'paystack', 'p' || i, 't' || i, 1, 'purchase', 'acc-1', 'CARD', 'CLOSED', 1, 'USD', 1, 'USD', now() from ${each}`,
  sql`
    insert into jobs (kind, status, id, account_id, sender_name, row_count, email_count, total_minor, currency, next_check_at, created_at)
    select 'order', 'RUNNING', ${batch}, 'acc-1', 'Merchant', 10, 0, 1, 'USD', now(), now() + i * interval '1 s' from generate_series(0, ${ROWS}, 10) i`,
  sql`
    insert into job_rows (kind, status, job_id, row_number, reference, package_code, transaction_id, closed_at)
    select 'order', 'DONE', ${batch}, i % 10, 'booking-' || i, 'P', 't' || i, now() from ${each}`,
  sql`
    insert into webhook_endpoints (id, account_id, url, events, secret_sealed, created_at, updated_at)
    values ('ep-' || repeat('0', 32), 'acc-1', 'https://shop.example', '{esim.purchased}', '', now(), now())`,
  sql`
    insert into webhook_messages (id, endpoint_id, account_id, event, event_key, body, status, closed_at)
    select 'msg-' || lpad(i::text, 32, '0'), 'ep-' || repeat('0', 32), 'acc-1', 'esim.purchased', 'k' || i, '{}', 'DELIVERED', now() from ${each}`,
])
  await rowsOfTable.execute(books.owner);
await sql`analyze`.execute(books.owner);

const NEWEST = `booking-${String(ROWS)}`;

it.each([
  ['t77', 'id'],
  ['r77', 'request'],
  ['p77', 'gatewayReference'],
  ['own-77', 'reference'],
  ['i77', 'iccid'],
  ['o77', 'orderNo'],
  ['n77', 'esimTranNo'],
  [NEWEST, 'batchReference'],
])('the search finds by %s, and reads no table completely', async (text, foundBy) => {
  const { scans } = await explain(books, (db) => findOwn(db, 'acc-1', text, 20));
  const whole = scans.filter((scan) => scan['Node Type'] === 'Seq Scan' && LARGE.has(scan['Relation Name']));
  expect(whole).toEqual([]);
  // The newest 1,000 batches, and one lookup in each.
  expect(rowsReadBy(scans)).toBeLessThan(2_500);
  expect(await findOwn(books.world, 'acc-1', text, 20)).toMatchObject([{ foundBy }]);
  expect(await findOwn(books.world, 'acc-2', text, 20)).toEqual([]);
});

it('the search finds own references in the newest 1,000 batches only', async () => {
  const { count } = await books.owner
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  expect(Number(count)).toBe(BATCHES + 1);
  expect(await findOwn(books.world, 'acc-1', 'booking-1', 20)).toEqual([]);
});
