/**
 * docs/CAPACITY.md states for every table how long its rows are kept. The tables and the rights to delete
 * match the database.
 */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { KEEP_NOTICES_MS } from '../../src/webhooks/rules.ts';
import {
  KEEP_ALERTS_MS,
  KEEP_EVENTS_MS,
  KEEP_GATEWAY_EVENTS_MS,
  KEEP_KEYS_MS,
  KEEP_QUOTES_MS,
  KEEP_RATES_MS,
  KEEP_SUPPLIER_BALANCES_MS,
  KEEP_SUPPLIER_EVENTS_MS,
} from '../../src/platform/database/retention.ts';
import { createTestDatabase } from '../support/world/database.ts';

const database = await createTestDatabase();
const client = new pg.Client({ connectionString: database.url });
await client.connect();
afterAll(async () => {
  await client.end();
  await database.drop();
});

const [, section = ''] = readFileSync('docs/CAPACITY.md', 'utf8').split('\n## How long rows are kept\n');
const rows = Array.from(
  (section.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` .*\| *([^|]+?) *\|$/gm),
  ([, table = '', kept = '']) => [table, kept] as const,
);
const written = new Map(rows);

const names = async (text: string): Promise<string[]> =>
  (await client.query<{ name: string }>(text)).rows.map((row) => row.name);
/** Migrations keep their own two tables. */
const tablesOf = (schema: string): Promise<string[]> =>
  names(
    `select tablename as name from pg_tables where schemaname = '${schema}' and tablename not like 'kysely%' order by 1`,
  );

describe('the table of tables', () => {
  it.each(['live', 'test'])('names every table of %s and of accounts once, and no other', async (world) => {
    const tables = [...(await tablesOf(world)), ...(await tablesOf('accounts'))];
    expect(tables.length).toBeGreaterThan(30);
    expect(rows.map(([table]) => table).toSorted()).toEqual(tables.toSorted());
  });

  it('says "for ever" where the service may not delete, and a time where it or a cascade may', async () => {
    const deletable = await names(`
      select distinct table_name as name from information_schema.table_privileges
       where grantee in ('simway_test', 'simway_accounts') and privilege_type = 'DELETE'
      union
      select distinct conrelid::regclass::text from pg_constraint
       where confdeltype = 'c' and connamespace = 'test'::regnamespace order by 1`);
    const forgotten = [...written].filter(([, kept]) => kept !== 'for ever').map(([table]) => table);
    // A table may be both.
    const deleted = new Set(deletable.map((name) => name.replace(/^test\./, '')));
    expect(forgotten.toSorted()).toEqual([...deleted].toSorted());
  });

  it.each([
    ['idempotency_keys', KEEP_KEYS_MS],
    ['events', KEEP_EVENTS_MS],
    ['gateway_events', KEEP_GATEWAY_EVENTS_MS],
    ['supplier_events', KEEP_SUPPLIER_EVENTS_MS],
    ['exchange_rates', KEEP_RATES_MS],
    ['supplier_balances', KEEP_SUPPLIER_BALANCES_MS],
    ['operator_alerts', KEEP_ALERTS_MS],
    ['quotes', KEEP_QUOTES_MS],
    ['notices', KEEP_NOTICES_MS],
  ])('says the days of %s', (table, keepMs) => {
    expect(written.get(table)).toMatch(new RegExp(`^${keepMs / 86_400_000} days`));
  });
});
