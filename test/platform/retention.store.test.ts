/**
 * What the hourly sweep deletes: old gateway events and exchange rates, in batches, and none that may still
 * be needed.
 */
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/index.ts';
import { createOpsActivities } from '../../activities/ops.ts';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { DAY_MS } from '../../src/domain/clock.ts';
import { UNMATCHED_EVENT } from '../../src/payments/store/gateway-events.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { findGoodRates, forgetRates } from '../../src/catalogue/store/rates.ts';
import { dismissByHand } from '../../src/operations/store/events-and-messages.ts';
import { openBooks } from '../support/world/books.ts';
import { explain, rowsReadBy } from '../support/world/explain.ts';
import { basePackage, purchaseInput, region } from '../support/money/facts.ts';
import { forFile } from '../support/world/for-file.ts';

const NOW = new Date('2026-06-01T10:00:00.000Z');
const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * DAY_MS);

const books = await forFile(openBooks());
await replaceCatalogue(
  books.world,
  { supplier: 'esim-access', regions: [region()], packages: [basePackage()] },
  NOW,
);
beforeEach(() => sql`truncate gateway_events, exchange_rates`.execute(books.owner));

const sweep = (): Promise<string> => {
  const deps = { db: books.world, clock: { now: () => NOW } };
  return createOpsActivities(deps as unknown as ActivityDeps).forgetOldKeys();
};

async function event(
  key: string,
  { about = 'charge', appliedAt, note }: { about?: string; appliedAt?: Date; note?: string },
): Promise<void> {
  await books.owner
    .insertInto('gateway_events')
    .values({
      gateway: 'paystack',
      event_key: key,
      type: 't',
      about,
      reference: 'r',
      email: null,
      received_at: daysAgo(400),
      applied_at: appliedAt ?? null,
      note: note ?? null,
    })
    .execute();
}

async function rate(
  source: string,
  {
    currency = 'NGN',
    days,
    status = 'GOOD',
    confirmedBy,
  }: { currency?: string; days: number; status?: 'GOOD' | 'QUARANTINED'; confirmedBy?: string },
): Promise<string> {
  const { id } = await books.owner
    .insertInto('exchange_rates')
    .values({
      currency,
      rate_micros: 1_600_000_000n,
      source,
      observed_at: daysAgo(days),
      created_at: daysAgo(days),
      status,
      confirmed_by: confirmedBy ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return String(id);
}

const eventsLeft = async (): Promise<string[]> =>
  (await books.world.selectFrom('gateway_events').select('event_key').orderBy('event_key').execute()).map(
    (row) => row.event_key,
  );
const ratesLeft = async (): Promise<string[]> =>
  (await books.world.selectFrom('exchange_rates').select('source').orderBy('source').execute()).map(
    (row) => row.source,
  );

it('supplier events are deleted 30 days after the check they caused, those of strangers after a day', async () => {
  const given: [string, boolean, number, number | null][] = [
    ['asked 31 days ago', false, 31, 31],
    ['asked 29 days ago', false, 40, 29],
    ['waiting', false, 40, null],
    ['of a stranger, 2 days ago', true, 2, 2],
    ['of a stranger, today', true, 0, 0],
  ];
  for (const [notifyId, isForeign, received, applied] of given)
    await books.owner
      .insertInto('supplier_events')
      .values({
        supplier: 'esim-access',
        notify_id: notifyId,
        type: 'ESIM_STATUS',
        about: 'esim',
        sender: '127.0.0.1',
        is_foreign: isForeign,
        received_at: daysAgo(received),
        applied_at: applied === null ? null : daysAgo(applied),
      })
      .execute();
  expect(await sweep()).toContain('2 supplier events');
  const left = await books.world.selectFrom('supplier_events').select('notify_id').orderBy('id').execute();
  expect(left.map(({ notify_id }) => notify_id)).toEqual([
    'asked 29 days ago',
    'waiting',
    'of a stranger, today',
  ]);
});

describe('gateway events', () => {
  it('are deleted 90 days after they were applied, unless a person still has to check them', async () => {
    await event('applied 91 days ago', { appliedAt: daysAgo(91), note: 'checked' });
    await event('applied 89 days ago', { appliedAt: daysAgo(89), note: 'checked' });
    await event('never applied', {});
    await event('unmatched, not dismissed', { appliedAt: daysAgo(300), note: UNMATCHED_EVENT });
    await event('unmatched, dismissed', { appliedAt: daysAgo(300), note: UNMATCHED_EVENT });
    await event('unmatched, and no money', {
      about: 'other',
      appliedAt: daysAgo(300),
      note: UNMATCHED_EVENT,
    });
    const { id } = await books.owner
      .selectFrom('gateway_events')
      .select('id')
      .where('event_key', '=', 'unmatched, dismissed')
      .executeTakeFirstOrThrow();
    await dismissByHand(books.world, id, { by: 'ada', reason: 'a test' });
    expect(await sweep()).toBe(
      '0 balances, 0 alerts, 0 keys, 0 refusals, 0 events, 3 gateway events, 0 supplier events, 0 rates, 0 quotes, 0 addresses of travellers and 0 of buyers deleted',
    );
    expect(await eventsLeft()).toEqual(['applied 89 days ago', 'never applied', 'unmatched, not dismissed']);
  });
});

describe('exchange rates', () => {
  it('are deleted after 90 days, unless an order refers to them, a person confirmed them, or no better one came since', async () => {
    await rate('old', { days: 91 });
    const sold = await rate('sold at', { days: 300 });
    await rate('confirmed', { days: 200, confirmedBy: 'ada' });
    await rate('in quarantine', { days: 91, status: 'QUARANTINED' });
    await rate('in quarantine since yesterday', { days: 1, status: 'QUARANTINED' });
    await rate('newer', { days: 89 });
    await rate('before the last good of GHS', { currency: 'GHS', days: 150 });
    await rate('last good of GHS', { currency: 'GHS', days: 120 });
    await rate('quarantined since', { currency: 'GHS', days: 110, status: 'QUARANTINED' });
    const input = purchaseInput({ transactionId: 'txn-at-an-old-rate', paymentMethod: 'CARD' });
    const quote = { ...input.quote, rateId: sold };
    await openPurchase(books.world, { ...input, quote }, { now: daysAgo(300), keepRefusal: () => false });
    const before = await findGoodRates(books.world);
    expect(await sweep()).toBe(
      '0 balances, 0 alerts, 0 keys, 0 refusals, 0 events, 0 gateway events, 0 supplier events, 4 rates, 0 quotes, 0 addresses of travellers and 0 of buyers deleted',
    );
    expect(await ratesLeft()).toEqual([
      'confirmed',
      'in quarantine since yesterday',
      'last good of GHS',
      'newer',
      'sold at',
    ]);
    expect(await findGoodRates(books.world)).toEqual(before);
  });
});

it('refusals without another row are kept longer than their purchase may be opened', async () => {
  const refusedAt = (days: number) => ({
    transaction_id: `txn-refused-${days}`,
    reason: 'INSUFFICIENT_BALANCE',
    detail: '',
    refused_at: daysAgo(days),
  });
  await books.owner.insertInto('refused_transaction_ids').values([1, 1.9, 2.1, 30].map(refusedAt)).execute();
  expect(await sweep()).toContain('2 refusals');
  const left = await books.world.selectFrom('refused_transaction_ids').select('transaction_id').execute();
  expect(left.map((row) => row.transaction_id).toSorted()).toEqual(['txn-refused-1', 'txn-refused-1.9']);
});

describe('a batch', () => {
  it.each(['gateway_events', 'exchange_rates', 'idempotency_keys'])(
    'of %s is a thousand rows',
    async (table) => {
      await sql`
      create table if not exists deleted_at_once (name text, rows bigint);
      create or replace function count_batch() returns trigger language plpgsql security definer set search_path = test as $$
        begin insert into deleted_at_once select tg_table_name, count(*) from gone; return null; end $$`.execute(
        books.owner,
      );
      await sql`
      create trigger count_batch after delete on ${sql.table(table)} referencing old table as gone
        for each statement execute function count_batch()`.execute(books.owner);
      await sql`
      insert into gateway_events (gateway, event_key, type, about, received_at, applied_at, note)
      select 'g', 'k' || i, 't', 'charge', timestamptz '2020-01-01', timestamptz '2020-01-01', 'checked' from generate_series(1, 2500) i`.execute(
        books.owner,
      );
      await sql`
      insert into exchange_rates (currency, rate_micros, source, observed_at, status, created_at)
      select 'NGN', 1, 's', timestamptz '2020-01-01' + i * interval '1 second', 'GOOD', timestamptz '2020-01-01' from generate_series(1, 2501) i`.execute(
        books.owner,
      );
      await sql`
      insert into idempotency_keys (account_id, key, path, fingerprint, transaction_id, created_at)
      select 'acc-many', 'k' || i, '/', 'f', 'txn-many-' || i, timestamptz '2020-01-01' from generate_series(1, 2500) i`.execute(
        books.owner,
      );
      await sweep();
      const { rows } = await sql<{
        rows: bigint;
      }>`select rows from deleted_at_once where name = ${table}`.execute(books.owner);
      expect(rows.map((batch) => Number(batch.rows))).toEqual([1_000, 1_000, 500]);
      expect([await eventsLeft(), await ratesLeft()]).toEqual([[], ['s']]);
    },
  );
});

it('with 50,000 purchases in the table, the sweep finds those that refer to a rate by an index', async () => {
  const at = sql`timestamptz '2026-05-01'`;
  await sql`
    insert into purchases (transaction_id, account_id, package_type, payment_method, status, package_code, package_name, volume_bytes, duration,
                           esim_id, price_minor, currency, price_usd_minor, cost_usd_e4, settings_id, request_id, created_at, closed_at, rate_id)
    select 't' || i, 'acc-1', 'BASE', 'CARD', 'SUCCESS', 'P', 'P', 1, 1, 'e' || i, 230, 'USD', 230, 1, 'initial', 'r', ${at}, ${at},
           (1000000 + i / 20)::text
      from generate_series(1, 50000) i`.execute(books.owner);
  await sql`
    insert into exchange_rates (currency, rate_micros, source, observed_at, status, created_at)
    select 'NGN', 1, 's', timestamptz '2020-01-01' + i * interval '10 minutes', 'GOOD', timestamptz '2020-01-01' + i * interval '10 minutes'
      from generate_series(1, 5000) i`.execute(books.owner);
  await sql`analyze`.execute(books.owner);
  const { scans } = await explain(books, (db) => forgetRates(db, daysAgo(90)));
  const ofPurchases = scans.filter((node) => node['Relation Name'] === 'purchases');
  expect(ofPurchases.map((node) => node['Index Name'])).toContain('purchases_by_rate');
  // One row for each rate at most, in each of six batches.
  expect(rowsReadBy(ofPurchases)).toBeLessThanOrEqual(6_000);
});
