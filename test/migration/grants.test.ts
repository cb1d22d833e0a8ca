/**
 * What each role may do, compared literally: a new table or a wider privilege is a decision that shows here.
 * And what follows from it: no role reads another's schema, makes anything, or can log in.
 */
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/world/database.ts';
import { refusalOf } from '../support/world/books.ts';

const database = await createTestDatabase();
const client = new pg.Client({ connectionString: database.url });
await client.connect();
afterAll(async () => {
  await client.end();
  await database.drop();
});

async function lines(text: string, values: unknown[] = []): Promise<string[]> {
  return (await client.query<{ line: string }>(text, values)).rows.map((row) => row.line);
}

/**
 * `table: PRIVILEGE, …`, with columns in parentheses where the privilege covers only those; sequences too.
 */
const grantsOf = (schema: string, role: string): Promise<string[]> =>
  lines(
    `with whole as (
       select table_name, privilege_type from information_schema.table_privileges where table_schema = $1 and grantee = $2
       union all
       select relname, privilege_type from pg_class, aclexplode(relacl)
        where relkind = 'S' and relnamespace = $1::regnamespace and grantee = $2::regrole
     ), partial as (
       select table_name, privilege_type, string_agg(column_name, ' ' order by column_name) as columns
         from information_schema.column_privileges c where table_schema = $1 and grantee = $2
          and not exists (select from whole where whole.table_name = c.table_name and whole.privilege_type = c.privilege_type)
        group by 1, 2
     )
     select table_name || ': ' || string_agg(what, ', ' order by what) as line
       from (select table_name, privilege_type as what from whole
             union all select table_name, privilege_type || '(' || columns || ')' from partial) privileges
      group by table_name order by table_name`,
    [schema, role],
  );

const WORLD = [
  'account_taxes: DELETE, INSERT, SELECT, UPDATE',
  'alert_channels: DELETE, INSERT, SELECT, UPDATE(url_sealed)',
  'alert_messages: DELETE, INSERT, SELECT, UPDATE(attempts failure next_attempt_at sent_at)',
  'billing_details: INSERT, SELECT, UPDATE',
  'brands: INSERT, SELECT, UPDATE',
  'buyer_details: INSERT, SELECT, UPDATE(customer_email)',
  'checkout_sessions: INSERT, SELECT, UPDATE(canceled_at quote_id updated_at)',
  'company_details: INSERT, SELECT',
  'disputes: INSERT, SELECT, UPDATE',
  'esims: INSERT, SELECT, UPDATE',
  'event_feed: SELECT, UPDATE(deleted_to)',
  'events: DELETE, INSERT(account_id body event event_key id subject), SELECT',
  'exchange_rates: DELETE, INSERT, SELECT, UPDATE',
  'fundings: INSERT, SELECT, UPDATE',
  'gateway_events: DELETE, INSERT, SELECT, UPDATE',
  'gateway_windows: DELETE, INSERT, SELECT, UPDATE',
  'held_costs: DELETE, INSERT, SELECT',
  'holds: INSERT(account_id amount_minor currency id key_id), SELECT, UPDATE(closed_at status)',
  'idempotency_keys: DELETE, INSERT, SELECT, UPDATE',
  'install_links: DELETE, INSERT, SELECT',
  'invoices: SELECT',
  'job_rows: INSERT, SELECT, UPDATE(attempts closed_at detail email email_attempts email_closed_at email_due_at email_next_at email_status next_at status terms)',
  'jobs: INSERT, SELECT, UPDATE(all_begun_at cancel_reason closed_at decided_at decided_by done next_check_at refused skipped started_total_minor status stop_asked_at unknown)',
  'key_budgets: DELETE, INSERT, SELECT, UPDATE',
  'kysely_migration: SELECT',
  'kysely_migration_lock: SELECT',
  'ledger_accounts: INSERT, SELECT',
  'ledger_entries: INSERT, SELECT',
  'ledger_transactions: INSERT, SELECT',
  'low_balance_thresholds: DELETE, INSERT, SELECT, UPDATE',
  'month_closings: DELETE, INSERT(asked_by month), SELECT, UPDATE(invoiced_at)',
  'notices: DELETE, INSERT, SELECT, UPDATE(attempts next_attempt_at sent_at)',
  'operator_actions: INSERT, SELECT, UPDATE(account_id amount_minor approved_by closed_at currency decision_reason detail expires_at person_key refusal status worth_currency worth_minor)',
  'operator_alerts: DELETE, INSERT, SELECT, UPDATE(closed_at detail ending_since told_at)',
  'package_shortages: DELETE, INSERT, SELECT, UPDATE',
  'package_top_up_checks: INSERT, SELECT, UPDATE',
  'package_top_ups: DELETE, INSERT, SELECT, UPDATE',
  'package_versions: INSERT, SELECT, UPDATE',
  'packages: INSERT, SELECT, UPDATE',
  'paper_series: SELECT',
  'payment_checks: USAGE',
  'payments: INSERT, SELECT, UPDATE',
  'price_rules: INSERT, SELECT, UPDATE(closed_at closed_by closed_reason confirmed_by valid_from waits)',
  'pricing_settings: INSERT, SELECT',
  'proposed_prices: INSERT, SELECT, UPDATE(declined_at settings_id)',
  'purchase_events: INSERT, SELECT',
  'purchases: INSERT, SELECT, UPDATE',
  'quotes: DELETE, INSERT, SELECT, UPDATE',
  'reconciliation_differences: INSERT, SELECT, UPDATE(amount_minor close_reason closed_at closed_by closed_how currency dated_from dated_to last_run_id last_seen_at ours theirs transaction_id)',
  'reconciliation_lines: DELETE, INSERT, SELECT, UPDATE',
  'reconciliation_requests: INSERT, SELECT',
  'reconciliation_runs: INSERT, SELECT, UPDATE',
  'refunds: INSERT, SELECT, UPDATE',
  'refused_transaction_ids: DELETE, INSERT, SELECT',
  'regions: INSERT, SELECT, UPDATE',
  'replacements: INSERT, SELECT, UPDATE(closed_at delivered_at failure next_check_at refusal revoke_attempts state)',
  'retired_transaction_ids: INSERT, SELECT',
  'return_hosts: DELETE, INSERT, SELECT, UPDATE',
  'returns: INSERT, SELECT, UPDATE(amount_minor cancel_attempts cancel_send_before cancel_settles_after cancelled_at closed_at next_check_at refund_key refunded_to refusal state)',
  'revisions: INSERT, SELECT, UPDATE',
  'set_rates: INSERT, SELECT',
  'supplier_balance_checks: USAGE',
  'supplier_balances: DELETE, INSERT, SELECT',
  'supplier_events: DELETE, INSERT, SELECT, UPDATE',
  'supplier_orders: INSERT, SELECT, UPDATE(attempts cancel_send_before cancel_settles_after closed_at delivered_package_code delivered_volume_bytes earlier_settles_after first_sent_at last_sent_at order_no refused_detail refused_reason searched_until send_before settles_after state withdrawing_since)',
  'top_up_mandates: INSERT, SELECT, UPDATE(due_at end_reason ended_at open_transaction_id refusal sequence spent_minor state top_ups tried_at)',
  'wallet_adjustments: INSERT(account_id amount_minor asked_by currency expires_at id kind reason reference), SELECT, UPDATE(decided_at decided_by decision_reason status)',
  'wallet_entries: SELECT',
  'wallets: SELECT, UPDATE(updated_at)',
  'webhook_attempts: INSERT, SELECT',
  'webhook_endpoints: INSERT, SELECT, UPDATE',
  'webhook_messages: DELETE, INSERT, SELECT, UPDATE',
  'webhook_older_secrets: DELETE, INSERT, SELECT, UPDATE(secret_sealed)',
  'world: SELECT',
];

const ACCOUNTS = [
  'access_grants: INSERT, SELECT, UPDATE(confirmed_at confirmed_by second_half)',
  'accounts: INSERT, SELECT, UPDATE',
  'admin_removals: DELETE, INSERT, SELECT, UPDATE',
  'api_keys: INSERT, SELECT, UPDATE',
  'api_requests: DELETE, INSERT, SELECT',
  'audit_log: INSERT, SELECT',
  'device_logins: DELETE, INSERT, SELECT, UPDATE(approved_by polled_at session_until)',
  'invitations: DELETE, INSERT, SELECT',
  'mail_stops: INSERT, SELECT',
  'mails_to: DELETE, INSERT, SELECT, UPDATE',
  'members: DELETE, INSERT, SELECT, UPDATE(role)',
  'notes: INSERT, SELECT',
  'operators: INSERT, SELECT, UPDATE(changed_at disabled_at one_time_until role second_factor_waived)',
  'sign_in_failures: DELETE, INSERT, SELECT, UPDATE',
  'sign_ups: DELETE, INSERT, SELECT, UPDATE(wrong_passwords)',
  'used_codes: DELETE, INSERT, SELECT',
  'user_credentials: DELETE, INSERT, SELECT, UPDATE',
  'user_notices: DELETE, INSERT, SELECT, UPDATE(attempts next_attempt_at)',
  'user_second_factors: DELETE, INSERT, SELECT, UPDATE',
  'user_sessions: DELETE, INSERT, SELECT, UPDATE',
  'user_verifications: DELETE, INSERT, SELECT, UPDATE',
  'users: DELETE, INSERT, SELECT, UPDATE(email_verified image name two_factor_enabled updated_at)',
];

/**
 * What an environment may know of an account: a gateway's charge needs its e-mail address, and so does a
 * notice to its owner; papers name it; its plan bounds its unpaid payments. And of people: who gave whom
 * access, to see whether two people are two. It adds to the audit log what people change in its own rows.
 */
const SHARED = [
  'access_grants: SELECT(confirmed_at confirmed_by email given_at given_by)',
  'accounts: SELECT(email id name plan replacement_max replacement_share_bps replacement_window_days replacements_allowed return_fee_bps return_window_days returns_allowed type)',
  'audit_log: INSERT(action actor detail subject)',
];

const SCHEMAS = ['accounts', 'live', 'test'] as const;

describe('grants', () => {
  it.each(SCHEMAS.flatMap((schema) => SCHEMAS.map((role) => [role, schema] as const)))(
    'of simway_%s in %s',
    async (role, schema) => {
      const own = schema === 'accounts' ? ACCOUNTS : WORLD;
      const shared = schema === 'accounts' ? SHARED : [];
      const expected = role === schema ? own : role === 'accounts' ? [] : shared;
      expect(await grantsOf(schema, `simway_${role}`)).toEqual(expected);
      expect(
        await lines(
          `select has_schema_privilege($1, $2, 'usage')::text || has_schema_privilege($1, $2, 'create')::text as line`,
          [`simway_${role}`, schema],
        ),
      ).toEqual([expected.length > 0 ? 'truefalse' : 'falsefalse']);
    },
  );

  it.each(SCHEMAS)('no other role has any in %s', async (schema) => {
    const others = await lines(
      `select distinct grantee as line from information_schema.table_privileges
        where table_schema = $1 and grantee not in ($2, current_user)`,
      [schema, `simway_${schema}`],
    );
    expect(others).toEqual([]);
  });

  it.each(['live', 'test'])(
    "functions with the owner's rights in %s can be used by their intended role only",
    async (schema) => {
      const functions = await lines(
        `select p.proname || ' ' || coalesce(array_to_string(p.proconfig, ' '), '') || ' ' || has_function_privilege($2, p.oid, 'execute') as line
         from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = $1 and p.prosecdef order by 1`,
        [schema, `simway_${schema}`],
      );
      expect(functions).toEqual([
        `book_in_open_month search_path=${schema}, pg_temp false`,
        // They check what they write; no role may write it in another way.
        `book_wallet_adjustment search_path=${schema}, pg_temp true`,
        `check_and_apply_entries search_path=${schema}, pg_temp false`,
        `close_month search_path=${schema}, pg_temp true`,
        `give_wallet_its_balance search_path=${schema}, pg_temp false`,
        `issue_invoice search_path=${schema}, pg_temp true`,
        `list_new_wallet_entries search_path=${schema}, pg_temp false`,
      ]);
    },
  );

  it('no role can log in or has special rights', async () => {
    const roles = await lines(
      `select rolname || ' ' || concat_ws(',', case when rolcanlogin then 'login' end, case when rolsuper then 'super' end,
              case when rolcreatedb then 'createdb' end, case when rolcreaterole then 'createrole' end,
              case when rolbypassrls then 'bypassrls' end, case when rolreplication then 'replication' end) as line
         from pg_roles where rolname in ('simway_accounts', 'simway_live', 'simway_test') order by 1`,
    );
    expect(roles).toEqual(['simway_accounts ', 'simway_live ', 'simway_test ']);
  });

  it('no role is a member of another', async () => {
    const memberships = await lines(
      `select r.rolname || ' in ' || g.rolname as line from pg_auth_members m
         join pg_roles r on r.oid = m.member join pg_roles g on g.oid = m.roleid
        where r.rolname in ('simway_accounts', 'simway_live', 'simway_test')`,
    );
    expect(memberships).toEqual([]);
  });
});

describe('a role of one environment', () => {
  const outside = SCHEMAS.flatMap((role) =>
    SCHEMAS.filter((schema) => schema !== role).map((schema) => [role, schema] as const),
  );

  it.each(outside)('simway_%s reads and writes nothing in %s', async (role, schema) => {
    const tables = await lines(`select tablename as line from pg_tables where schemaname = $1`, [schema]);
    expect(tables.length).toBeGreaterThan(2);
    for (const table of tables) {
      const mayAdd = schema === 'accounts' && table === 'audit_log';
      for (const statement of [
        `select * from ${schema}.${table}`,
        `delete from ${schema}.${table}`,
        ...(mayAdd ? [] : [`insert into ${schema}.${table} default values`]),
      ])
        expect(await as(`simway_${role}`, statement)).toBe('permission denied');
    }
  });

  it.each(SCHEMAS)('simway_%s can create nothing in its own schema or in public', async (role) => {
    for (const schema of [role, 'public'])
      expect(await as(`simway_${role}`, `create table ${schema}.mine (a int)`)).toBe('permission denied');
  });

  /** The answer of a session that was opened under the role and cannot leave it. */
  async function as(role: string, statement: string): Promise<string> {
    await client.query('begin');
    try {
      await client.query(`set local role ${role}`);
      return await refusalOf(client.query(statement));
    } finally {
      await client.query('rollback');
    }
  }
});
