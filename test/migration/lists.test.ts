/** Checks that a column has a member of a list: each has all members of a list of the code. */
import pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import * as catalogue from '../../src/catalogue/rules.ts';
import * as account from '../../src/domain/account.ts';
import * as alerts from '../../src/domain/alerts.ts';
import * as brand from '../../src/domain/brand.ts';
import * as mandates from '../../src/domain/mandates.ts';
import * as money from '../../src/domain/money.ts';
import * as memberRoles from '../../src/domain/member-roles.ts';
import * as notices from '../../src/domain/notice-kinds.ts';
import * as operatorRoles from '../../src/domain/operator-roles.ts';
import * as papers from '../../src/domain/papers.ts';
import * as priceRules from '../../src/domain/price-rules.ts';
import * as states from '../../src/domain/states.ts';
import * as esims from '../../src/esims/rules.ts';
import * as jobs from '../../src/jobs/rules.ts';
import * as walletEntries from '../../src/ledger/wallet-entry-rules.ts';
import * as repairs from '../../src/operations/batch-repair-rules.ts';
import * as actions from '../../src/operations/rules.ts';
import * as batches from '../../src/purchases/batches/rules.ts';
import * as adjustments from '../../src/domain/wallet-adjustments.ts';
import * as webhooks from '../../src/webhooks/rules.ts';
import { createTestDatabase } from '../support/world/database.ts';

const MODULES = [
  ...[
    account,
    brand,
    mandates,
    money,
    memberRoles,
    operatorRoles,
    states,
    catalogue,
    esims,
    jobs,
    walletEntries,
    repairs,
    actions,
    batches,
    webhooks,
    notices,
    papers,
    alerts,
    priceRules,
    adjustments,
  ],
];
const textOf = (members: readonly unknown[]): string => members.map(String).toSorted().join(' ');
const LISTS = new Set(MODULES.flatMap((module) => Object.values(module).filter(Array.isArray).map(textOf)));

/** States that are known to the SQL of one store alone; its types name them. */
const OF_ONE_STORE = [
  ...['disputes.gateway_state', 'disputes.money', 'disputes.outcome', 'exchange_rates.status'],
  ...['fundings.status', 'ledger_accounts.kind', 'payments.status'],
  ...['reconciliation_differences.closed_how', 'reconciliation_lines.part', 'reconciliation_runs.status'],
  'refunds.status',
];

const database = await createTestDatabase();
const client = new pg.Client({ connectionString: database.url });
await client.connect();
afterAll(async () => {
  await client.end();
  await database.drop();
});

it('every check of a list has the members of a list of the code', async () => {
  const { rows } = await client.query<{ table: string; definition: string }>(`
    select c.relname as table, pg_get_constraintdef(k.oid) as definition
      from pg_constraint k join pg_class c on c.oid = k.conrelid
     where k.contype = 'c' and k.connamespace in ('accounts'::regnamespace, 'live'::regnamespace)`);
  const checks = rows.flatMap(({ table, definition }) => {
    const [, column, members = ''] =
      /^CHECK \(.*\((\w+) (?:= ANY \(|<@ )ARRAY\[([^\]]*)\]\)*$/.exec(definition) ?? [];
    const values = members.match(/(?<=')[^']+(?='::text)/g) ?? [];
    return column === undefined ? [] : [{ column: `${table}.${column}`, members: textOf(values) }];
  });
  expect(checks.length).toBeGreaterThan(45);
  const others = checks.filter(({ members }) => !LISTS.has(members)).map(({ column }) => column);
  expect(others.toSorted()).toEqual(OF_ONE_STORE);
});
