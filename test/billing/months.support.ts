// Books whose entries lie in months that are over: what the ledger books now is moved there by its owner.
import { randomUUID } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import { insertAccount } from '../../src/accounts/store/accounts.ts';
import { issueMissingInvoices } from '../../src/billing/invoices.ts';
import { askToClose, closeMonth } from '../../src/billing/months.ts';
import { insertCompany } from '../../src/billing/store/details.ts';
import type { Session } from '../../src/domain/callers.ts';
import type { AccountCurrency } from '../../src/domain/money.ts';
import { monthOf, rangeOf, type Month } from '../../src/domain/papers.ts';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
import { addMoney, newWallet } from '../support/money/stock.ts';
import { newAccount } from '../support/money/facts.ts';
import { openSales } from '../reconciliation/sales.support.ts';

export const COMPANY = {
  legalName: 'Simway Test Ltd',
  addressLines: ['1 Marina Road', 'Lagos'],
  country: 'NG',
  taxNumber: '12345678-0001',
  taxName: 'VAT',
  taxRateBps: 750,
};

export const person = (name: string): Pick<Session, 'person'> => ({
  person: { personId: `person-${name}`, email: `${name}@operator.example`, name, role: 'FINANCE' },
});

/** So many months ago. */
export function monthAgo(months: number, now = new Date()): Month {
  return monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)));
}

export async function openMonths() {
  const books = await openSales();
  const { world, owner, accounts } = books;
  const close = async (month: Month) => {
    await askToClose({ db: world }, person('ada'), month);
    await closeMonth({ db: world }, person('bola'), month);
    return issueMissingInvoices({ db: world });
  };
  return {
    ...books,
    setCompany: () => insertCompany(world, COMPANY, { by: 'ada@operator.example', reason: 'a test' }),
    account: async (currency: AccountCurrency, fundsMinor = 10_000_000n) => {
      const one = newAccount({ email: `${randomUUID()}@merchant.example`, currency });
      await insertAccount(accounts, one);
      await newWallet(world, { accountId: one.id, fundsMinor: 0n, currency });
      if (fundsMinor > 0n) await addMoney(world, one.id, { amountMinor: fundsMinor, currency });
      return one.id;
    },
    moveTo: (timeOf: (nth: number) => Date) => moveBookings(owner, timeOf),
    close,
  };
}

/** Some moment of a month. */
export function momentIn(month: Month, part: number): Date {
  const { from, to } = rangeOf(month);
  return new Date(from.getTime() + Math.floor(part * (to.getTime() - from.getTime() - 1)));
}

/** Moves each transfer to the time that is chosen for it. */
export async function moveBookings(
  owner: Kysely<WorldDatabase>,
  timeOf: (nth: number) => Date,
): Promise<void> {
  const rows = await owner.selectFrom('ledger_transactions').select('id').orderBy('id').execute();
  await sql`alter table ledger_transactions disable trigger ledger_transactions_append_only`.execute(owner);
  for (const [nth, { id }] of rows.entries())
    await sql`update ledger_transactions set created_at = ${timeOf(nth)} where id = ${id}`.execute(owner);
  await sql`alter table ledger_transactions enable trigger ledger_transactions_append_only`.execute(owner);
  // As the trigger would have written it: entries of a wallet lie in the order of the ledger's.
  await sql`
    update wallet_entries w set booked_at = l.created_at
      from (select t.created_at, a.account_id, row_number() over (partition by a.account_id order by e.id) as number
              from ledger_entries e join ledger_transactions t on t.id = e.ledger_transaction_id
              join ledger_accounts a on a.id = e.ledger_account_id and a.kind = 'wallet') l
     where l.account_id = w.account_id and l.number = w.entry_number`.execute(owner);
}
