/**
 * Orders as the service leaves them: a purchase, its revenue and its eSIM each. The eSIMs are as freshly
 * looked at as can be, so that no slice waits for the supplier.
 */
import { sql, type Kysely } from 'kysely';
import { createInstallData } from '../../src/esims/install-data.ts';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
import { createSecretBox } from '../../src/platform/secret-box.ts';
import type { Service } from '../support/service.ts';

export const ORDERS_OF_AN_ACCOUNT = 1_000;

export interface Orders {
  /** Whose orders these are; null: each thousand of another account. */
  readonly accountId: string | null;
  /** How many times a thousand. */
  readonly accounts: number;
}

/** Fills the tables. */
export async function seedOrders(service: Service, orders: readonly Orders[]): Promise<void> {
  const { owner } = service;
  const indexes = await dropIndexes(owner);
  for (const { accountId, accounts } of orders) await insertEsims(owner, accountId, accounts);
  await insertPurchases(owner);
  await insertRevenue(owner);
  for (const definition of indexes) await sql.raw(definition).execute(owner);
  for (const { accountId } of orders) if (accountId !== null) await sealOrders(service, accountId);
  await sql`vacuum analyze purchases, ledger_transactions, ledger_entries, esims`.execute(owner);
}

/** Those that are cheaper to build at the end than to keep up meanwhile. Answers how to make them again. */
async function dropIndexes(owner: Kysely<WorldDatabase>): Promise<string[]> {
  const { rows } = await sql<{ name: string; definition: string }>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where not indisunique and indrelid in ('esims'::regclass, 'purchases'::regclass)`.execute(owner);
  for (const { name } of rows) await sql`drop index ${sql.raw(name)}`.execute(owner);
  return rows.map(({ definition }) => definition);
}

/**
 * With install data that opens, where one of the reads shows it: the newest eSIMs, and those that the search
 * for an ICCID finds.
 */
async function sealOrders({ owner, context }: Service, accountId: string): Promise<void> {
  const secretBox = createSecretBox(context.secrets.secretKeys);
  const { columns } = createInstallData({ secretBox, onUnreadable: () => undefined });
  const ofAccount = owner.selectFrom('esims').select('id').where('account_id', '=', accountId);
  const rows = [
    ...(await ofAccount.orderBy('created_at', 'desc').limit(5_000).execute()),
    ...(await ofAccount.where('iccid', 'like', '%0500%').execute()),
  ];
  for (const { id } of rows) {
    const ac = `LPA:1$rsp.bench.example$${id}`;
    const url = `https://qr.bench.example/${id}`;
    const install = columns(id, { ac, qrCodeUrl: `${url}.png`, shortUrl: url, pin: '1234', puk: '12345678' });
    await owner.updateTable('esims').set(install).where('id', '=', id).execute();
  }
}

/** Every tenth eSIM is in use, the others are over; ordered over a year. */
async function insertEsims(
  owner: Kysely<WorldDatabase>,
  accountId: string | null,
  accounts: number,
): Promise<void> {
  await sql`
    insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
      order_no, esim_tran_no, iccid, install_sealed, total_volume_bytes, total_duration, duration_unit, data_type, checked_at, created_at)
    select 'esim-' || md5(random()::text || a || '-' || n), coalesce(${accountId}, 'acc-' || md5('account ' || a)),
      'txn-' || md5(random()::text || n || '-' || a), sample.package_code, sample.name,
      case when n % 10 = 0 then 'ACTIVE' else 'EXPIRED' end, 1234, 'USD',
      jsonb_build_object('name', sample.name, 'location', sample.location, 'locationCode', sample.location_code,
        'regionCode', sample.region_code, 'networks', sample.networks, 'speed', sample.speed, 'description', sample.description),
      'esim-access', 'B' || a || n, lpad(a || '0' || n, 14, '2'),
      -- Fourteen digits that are spread as those of real cards are: zeros in front would make every search for zeros one for all rows.
      '89440' || lpad((('x' || left(md5('iccid ' || a || ' ' || n), 12))::bit(48)::bigint % 100000000000000)::text, 14, '0'),
      decode(repeat(md5(a || ' ' || n), 15), 'hex'), sample.volume_bytes, sample.duration, sample.duration_unit, sample.data_type,
      now() + interval '10 days', now() - interval '1 year' * random()
      from generate_series(1, ${accounts}) a, generate_series(1, ${ORDERS_OF_AN_ACCOUNT}) n,
        (select * from packages where package_type = 'BASE' order by package_code limit 1) sample`.execute(
    owner,
  );
}

/**
 * One of each eSIM, over all packages on sale and three payment methods. The eSIMs keep one package name: how
 * many a search matches depends on it.
 */
async function insertPurchases(owner: Kysely<WorldDatabase>): Promise<void> {
  await sql`
    with sold as materialized (
      select package_code, name, row_number() over (order by package_code) - 1 as nth from packages where package_type = 'BASE'
    ), bought as (
      select esims.*, ('x' || substr(transaction_id, 5, 7))::bit(28)::bigint as random from esims
    )
    insert into purchases (transaction_id, account_id, package_type, payment_method, status, package_code, package_name, volume_bytes, duration,
      esim_id, price_minor, currency, price_usd_minor, cost_usd_e4, settings_id, request_id, created_at, closed_at)
    select transaction_id, account_id, 'BASE', (array['WALLET', 'CARD', 'BANK_TRANSFER'])[(1 + random % 3)::integer], 'SUCCESS', sold.package_code, sold.name,
      total_volume_bytes, total_duration, id, price_minor, currency, price_minor, 10000, 'initial', 'bench', created_at, created_at
      from bought join sold on sold.nth = random % (select count(*) from sold)`.execute(owner);
}

/** What a purchase has earned in the end, without the steps between. */
async function insertRevenue(owner: Kysely<WorldDatabase>): Promise<void> {
  await sql`
    with booked as (
      insert into ledger_transactions (operation_key, kind, transaction_id)
      select transaction_id || ':post', 'post', transaction_id from purchases returning id, transaction_id
    )
    insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
    select booked.id, entry.kind || ':' || currency, currency, entry.amount_minor
      from booked join purchases using (transaction_id),
        lateral (values ('gateway-clearing:paystack', -price_minor), ('revenue', price_minor)) entry (kind, amount_minor)`.execute(
    owner,
  );
}
