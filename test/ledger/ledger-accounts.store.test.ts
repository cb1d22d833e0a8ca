// The reports know every kind of ledger account that the database has, so that none is missing from a report.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { LEDGER_KINDS, balanceOn, creditOf } from '../../src/ledger/chart-of-accounts.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());

it('each kind that the database allows has a class', async () => {
  const { rows } = await sql<{ rule: string }>`
    select pg_get_constraintdef(oid) as rule from pg_constraint
     where conname = 'ledger_accounts_kind_check' and conrelid = 'ledger_accounts'::regclass`.execute(
    books.owner,
  );
  const allowed = Array.from(rows[0]?.rule.matchAll(/'([a-z-]+)'/g) ?? [], ([, kind]) => kind);
  expect(allowed.toSorted()).toEqual(LEDGER_KINDS.toSorted());
});

it('a cost is a debit and grows its account; a sale is a credit and grows its own', () => {
  expect(balanceOn('supplier-cost', creditOf(20_000n, 'USD4'))).toBe(20_000n);
  expect(balanceOn('supplier-prepaid', creditOf(-20_000n, 'USD4'))).toBe(-20_000n);
  expect(balanceOn('revenue', creditOf(500n, 'NGN'))).toBe(500n);
});
