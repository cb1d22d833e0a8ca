/**
 * Indexes on large tables, built while these are written to: a plain `create index` would hold up every write for as long as it reads the table.
 * That cannot be part of a transaction, so it is no migration. Safe to run twice and by several processes at once.
 */
import { setTimeout } from 'node:timers/promises';
import { sql, type Kysely } from 'kysely';

export interface LiveIndex {
  readonly name: string;
  /** The migration that makes its columns. */
  readonly after: string;
  readonly definition: string;
}

const AFTER_SEALING = '2026-11-23-3-sealed-esims';
const AFTER_BOUND = '2026-11-23-4-unpaid-bound';
const AFTER_LIFE = '2026-11-23-61-esim-life';
const AFTER_EVENTS = '2026-11-23-5-events';
const AFTER_SEARCH = '2026-11-23-81-esim-search';
const AFTER_ENTRIES = '2026-11-24-1-wallet-entries';
const AFTER_EXCHANGES = '2026-11-24-2-webhook-exchanges';
const AFTER_DECISIONS = '2026-11-25-8-decision-reasons';
const AFTER_GRAMS = '2026-11-25-91-id-grams';
const AFTER_USERS = '2026-11-24-1-users';

export const ACCOUNTS_INDEXES: readonly LiveIndex[] = [
  // The audit log, newest first, by each of its filters.
  { name: 'audit_log_by_time', after: AFTER_USERS, definition: 'audit_log (at, id)' },
  { name: 'audit_log_by_actor', after: AFTER_USERS, definition: 'audit_log (actor, at, id)' },
  { name: 'audit_log_by_action', after: AFTER_USERS, definition: 'audit_log (action, at, id)' },
  { name: 'audit_log_by_subject', after: AFTER_USERS, definition: 'audit_log (subject, at, id)' },
  // An operator has the id of a request in hand, and nothing else.
  { name: 'api_requests_by_request', after: AFTER_USERS, definition: 'api_requests (request_id)' },
];

export const WORLD_INDEXES: readonly LiveIndex[] = [
  // The expressions of these two are in src/esims/store/install-data.ts as well, literally.
  {
    name: 'esims_in_clear',
    after: AFTER_SEALING,
    definition: `esims (id)
      where (ac || qr_code_url || short_url || smdp_address || matching_id || coalesce(pin, '') || coalesce(puk, '')) <> ''`,
  },
  {
    name: 'esims_by_seal',
    after: AFTER_SEALING,
    definition: 'esims (substring(install_sealed from 1 for 9), id) where install_sealed is not null',
  },
  {
    name: 'purchases_unpaid',
    after: AFTER_BOUND,
    definition: "purchases (account_id) where status = 'PENDING'",
  },
  {
    name: 'fundings_unpaid',
    after: AFTER_BOUND,
    definition: "fundings (account_id) where status = 'PENDING'",
  },
  // The conditions of these three are in src/esims/store/due.ts as well, literally.
  {
    name: 'esims_by_next_check',
    after: AFTER_LIFE,
    definition:
      "esims (next_check_at) where status in ('CREATED', 'ACTIVE', 'SUSPENDED') and esim_tran_no <> ''",
  },
  {
    name: 'esims_by_next_usage',
    after: AFTER_LIFE,
    definition:
      "esims (next_usage_at) where status in ('CREATED', 'ACTIVE', 'SUSPENDED') and esim_tran_no <> ''",
  },
  {
    name: 'esims_by_expiry',
    after: AFTER_LIFE,
    definition:
      "esims (notified_expiry_days, expired_time) where status in ('CREATED', 'ACTIVE', 'SUSPENDED') and esim_tran_no <> ''",
  },
  // An account's eSIMs that were not asked about for longest, and those with the oldest usage: src/esims/store/esims.ts, literally.
  {
    name: 'esims_by_account_age',
    after: AFTER_LIFE,
    definition:
      "esims (account_id, looked_at) where status in ('CREATED', 'ACTIVE', 'SUSPENDED') and esim_tran_no <> ''",
  },
  {
    name: 'esims_by_account_usage_age',
    after: AFTER_LIFE,
    definition:
      "esims (account_id, coalesce(usage_as_of, looked_at)) where status in ('CREATED', 'ACTIVE', 'SUSPENDED') and esim_tran_no <> ''",
  },
  {
    name: 'webhook_messages_by_event',
    after: AFTER_EVENTS,
    definition: 'webhook_messages (event_id) where event_id is not null',
  },
  {
    name: 'esims_by_package',
    after: AFTER_SEARCH,
    definition: 'esims (account_id, package_name, status, created_at desc, id desc)',
  },
  // Without a list of pending entries, which every search would read: only `fold_figures` writes here, in batches.
  {
    name: 'esim_search_by_gram',
    after: AFTER_GRAMS,
    definition: 'esim_search using gin (id_grams(account_id, ids)) with (fastupdate = off)',
  },
  // What is on hold of a wallet: few rows.
  {
    name: 'holds_open_by_account',
    after: AFTER_ENTRIES,
    definition: "holds (account_id) where status = 'HELD'",
  },
  // Each combination of the filters of the list of transactions, newest first.
  {
    name: 'purchases_by_filters',
    after: AFTER_ENTRIES,
    definition:
      'purchases (account_id, status, payment_method, package_type, created_at desc, transaction_id desc)',
  },
  {
    name: 'fundings_by_filters',
    after: AFTER_ENTRIES,
    definition: 'fundings (account_id, status, payment_method, created_at desc, transaction_id desc)',
  },
  // The top-ups of an eSIM.
  {
    name: 'purchases_by_topped_up_esim',
    after: AFTER_ENTRIES,
    definition: "purchases (esim_id) where package_type = 'TOPUP'",
  },
  // The life of an eSIM.
  {
    name: 'events_by_subject',
    after: AFTER_ENTRIES,
    definition: 'events (subject) where subject is not null',
  },
  // The audit log, newest first, by each of its filters; by subject there is one already.
  {
    name: 'operator_moves_by_time',
    after: AFTER_EXCHANGES,
    definition: 'operator_moves (created_at, id)',
  },
  {
    name: 'operator_moves_by_person',
    after: AFTER_EXCHANGES,
    definition: 'operator_moves (by_person, created_at, id)',
  },
  {
    name: 'operator_moves_by_approver',
    after: AFTER_EXCHANGES,
    definition: 'operator_moves (approved_by, created_at, id) where approved_by is not null',
  },
  {
    name: 'operator_moves_by_action',
    after: AFTER_EXCHANGES,
    definition: 'operator_moves (move, created_at, id)',
  },
  // An operator has the id of a request in hand, and nothing else.
  { name: 'purchases_by_request', after: AFTER_EXCHANGES, definition: 'purchases (request_id)' },
  { name: 'fundings_by_request', after: AFTER_EXCHANGES, definition: 'fundings (request_id)' },
  // The same with an id of the gateway or of the supplier. The conditions are in src/operations/store/search.ts as well.
  {
    name: 'payments_by_gateway_id',
    after: AFTER_DECISIONS,
    definition: 'payments (gateway_id) where gateway_id is not null',
  },
  {
    name: 'refunds_by_gateway_id',
    after: AFTER_DECISIONS,
    definition: 'refunds (gateway_refund_id) where gateway_refund_id is not null',
  },
  {
    name: 'disputes_by_gateway_id',
    after: AFTER_DECISIONS,
    definition: "disputes (dispute_id) where dispute_id <> ''",
  },
  { name: 'esims_by_order_no', after: AFTER_DECISIONS, definition: "esims (order_no) where order_no <> ''" },
  // An account's messages that were not delivered yet: few.
  {
    name: 'webhook_messages_undelivered',
    after: AFTER_DECISIONS,
    definition: "webhook_messages (account_id, created_at desc, id desc) where status <> 'DELIVERED'",
  },
  // Rates that wait for confirmation: few among all that were observed.
  {
    name: 'exchange_rates_quarantined',
    after: AFTER_DECISIONS,
    definition: "exchange_rates (observed_at) where status = 'QUARANTINED'",
  },
];

/** Between two looks at an index that another process builds. */
const LOOK_EVERY_MS = 100;

export function buildIndex(db: Kysely<unknown>, schema: string, index: LiveIndex): Promise<void> {
  return db.connection().execute((connection) => build(connection, schema, index));
}

/** On one connection: the lock belongs to it. */
async function build(db: Kysely<unknown>, schema: string, index: LiveIndex): Promise<void> {
  const name = sql.id(schema, index.name);
  const lock = sql`hashtextextended(${`build index ${schema}.${index.name}`}, 0)`;
  for (;;) {
    if ((await stateOf(db, schema, index)) === 'ready') return;
    // Not waited for inside Postgres: who builds waits for every open statement.
    const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_lock(${lock}) as mine`.execute(db);
    if (rows[0]?.mine) break;
    await setTimeout(LOOK_EVERY_MS);
  }
  try {
    const state = await stateOf(db, schema, index);
    if (state === 'ready') return;
    // An earlier attempt was cut short.
    if (state === 'broken') await sql`drop index concurrently ${name}`.execute(db);
    await sql`create index concurrently ${sql.id(index.name)} on ${sql.raw(index.definition)}`.execute(db);
  } finally {
    await sql`select pg_advisory_unlock(${lock})`.execute(db);
  }
}

async function stateOf(
  db: Kysely<unknown>,
  schema: string,
  { name }: LiveIndex,
): Promise<'ready' | 'broken' | 'absent'> {
  const { rows } = await sql<{ isValid: boolean }>`
    select indisvalid as "isValid" from pg_index where indexrelid = to_regclass(${`${schema}.${name}`})`.execute(
    db,
  );
  if (rows.length === 0) return 'absent';
  return rows[0]?.isValid ? 'ready' : 'broken';
}
