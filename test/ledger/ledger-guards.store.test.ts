/**
 * Promise M1, the database's part: SQL typed directly, as the service's own role and as the owner of the
 * tables, cannot leave the books unbalanced, mixed, empty, changed or overdrawn. Each attempt is refused by
 * the named constraint, or for a missing privilege.
 */
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { postHold } from '../../src/ledger/store/holds.ts';
import { newWallet } from '../support/money/stock.ts';
import { placeHold } from '../support/money/holds.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { auditBooks, openBooks, refusalOf, type Books } from '../support/world/books.ts';

let books: Books;
let before: string;
beforeAll(async () => {
  books = await openBooks();
  for (const accountId of ['a', 'b']) await newWallet(books.world, { accountId, fundsMinor: 100n });
  await placeHold(books.world, { id: 'open', accountId: 'a', amount: { amountMinor: 10n, currency: 'USD' } });
  await placeHold(books.world, { id: 'done', accountId: 'a', amount: { amountMinor: 10n, currency: 'USD' } });
  await postHold(books.world, 'done', { supplier: 'esim-access', costUsdE4: 5n });
  before = await everything();
});
afterEach(async () => {
  expect(await everything()).toBe(before);
});
afterAll(async () => {
  expect(await auditBooks(books.owner)).toEqual([]);
  await books.close();
});

/** Every row of the ledger as one text. */
async function everything(): Promise<string> {
  const tables = ['ledger_accounts', 'ledger_transactions', 'ledger_entries', 'wallets', 'holds'];
  const texts = await Promise.all(
    tables.map(async (table) => {
      const { rows } = await sql<{ text: string | null }>`
        select string_agg(t::text, ' ' order by t::text) as text from ${sql.table(table)} t`.execute(
        books.owner,
      );
      return rows[0]?.text;
    }),
  );
  return texts.join('\n');
}

/**
 * Runs the statements in one transaction that never commits, and answers which constraint or privilege
 * refused them.
 */
async function attempt(db: WorldDb, statements: readonly string[]): Promise<string> {
  const trx = await db.startTransaction().execute();
  const run = async (): Promise<void> => {
    for (const statement of statements) await sql.raw(statement).execute(trx);
  };
  const refusal = await refusalOf(run());
  await trx.rollback().execute();
  return refusal;
}

/** A transfer typed by hand: `[account, currency, amount]` each. */
const book = (...entries: readonly [string, string, number][]): string => `
  with booked as (insert into ledger_transactions (operation_key, kind) values ('x' || random(), 'x') returning id)
  insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
  select booked.id, e.account, e.currency, e.amount from booked, (values ${entries
    .map(([account, currency, amount]) => `('${account}', '${currency}', ${amount}::bigint)`)
    .join(', ')}) e (account, currency, amount)`;

const refusedToAnyone: Record<string, [string, string | string[]]> = {
  'entries that do not net to zero': [
    'ledger_nets_to_zero',
    book(['wallet:a', 'USD', 5], ['funding:USD', 'USD', -4]),
  ],
  'a single entry': ['ledger_nets_to_zero', book(['suspense:USD', 'USD', 5])],
  'halves in two statements of one transaction': [
    'ledger_nets_to_zero',
    [
      `insert into ledger_transactions (operation_key, kind) values ('halves', 'x')`,
      ...['5', '-5'].map(
        (
          amount,
        ) => `insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
          select id, 'suspense:USD', 'USD', ${amount} from ledger_transactions where operation_key = 'halves'`,
      ),
    ],
  ],
  'two transactions that only balance each other': [
    'ledger_nets_to_zero',
    `with booked as (insert into ledger_transactions (operation_key, kind) values ('one', 'x'), ('two', 'x') returning id, operation_key)
     insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
     select id, 'suspense:USD', 'USD', case operation_key when 'one' then 5 else -5 end from booked`,
  ],
  'dollars balanced with naira': [
    'ledger_nets_to_zero',
    book(['suspense:USD', 'USD', 5], ['suspense:NGN', 'NGN', -5]),
  ],
  'an entry in another currency than its account': [
    'ledger_entry_in_the_accounts_currency',
    book(['wallet:a', 'NGN', 5], ['funding:NGN', 'NGN', -5]),
  ],
  'an entry on an account that does not exist': [
    'ledger_entry_in_the_accounts_currency',
    book(['wallet:unknown', 'USD', 5], ['funding:USD', 'USD', -5]),
  ],
  'an entry of nothing': ['ledger_entry_not_zero', book(['wallet:a', 'USD', 0], ['funding:USD', 'USD', 0])],
  'an entry without a transaction': [
    'ledger_entries_ledger_transaction_id_fkey',
    `insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
     values (999999, 'suspense:USD', 'USD', 5), (999999, 'funding:USD', 'USD', -5)`,
  ],
  'a wallet overdrawn by one': [
    'wallet_never_below_zero',
    book(['wallet:b', 'USD', -101], ['suspense:USD', 'USD', 101]),
  ],
  'an operation booked twice': [
    'ledger_operation_once',
    `insert into ledger_transactions (operation_key, kind) values ('fund:a', 'fund')`,
  ],
  'a second wallet for an account': [
    'wallets_pkey',
    `insert into ledger_accounts (id, kind, currency, account_id) values ('wallet:a-too', 'wallet', 'USD', 'a')`,
  ],
  'a closed hold closed again': [
    'hold_closes_once',
    `update holds set status = 'VOIDED', closed_at = now() where id = 'done'`,
  ],
  'a closed hold opened again': [
    'hold_closes_once',
    `update holds set status = 'HELD', closed_at = null where id = 'done'`,
  ],
};

const refusedToTheRole: Record<string, [string, string | string[]]> = {
  ...Object.fromEntries(
    ['ledger_entries', 'ledger_transactions', 'ledger_accounts', 'wallets', 'holds'].flatMap((table) => [
      [`delete from ${table}`, ['permission denied', `delete from ${table}`]],
      [`truncate ${table}`, ['permission denied', `truncate ${table} cascade`]],
      [
        `dropping the triggers of ${table}`,
        ['permission denied', `alter table ${table} disable trigger all`],
      ],
    ]),
  ),
  'an entry changed': ['permission denied', `update ledger_entries set amount_minor = 1`],
  'an entry moved to another account': [
    'permission denied',
    `update ledger_entries set ledger_account_id = 'wallet:b'`,
  ],
  'an entry changed through a conflict': [
    'permission denied',
    `insert into ledger_entries (id, ledger_transaction_id, ledger_account_id, currency, amount_minor)
     overriding system value select * from ledger_entries on conflict (id) do update set amount_minor = 1`,
  ],
  'an entry changed through merge': [
    'permission denied',
    `merge into ledger_entries e using wallets w on e.ledger_account_id = w.ledger_account_id
     when matched then update set amount_minor = 1`,
  ],
  'a transaction renamed': ['permission denied', `update ledger_transactions set operation_key = 'other'`],
  'an account given another currency': ['permission denied', `update ledger_accounts set currency = 'NGN'`],
  'a balance written directly': ['permission denied', `update wallets set balance_minor = 1000000`],
  'a wallet given to another account': ['permission denied', `update wallets set account_id = 'b'`],
  'a wallet with a balance from nowhere': [
    'permission denied',
    `insert into wallets (account_id, ledger_account_id, currency, balance_minor) values ('c', 'wallet:c', 'USD', 5)`,
  ],
  'a hold made larger': ['permission denied', `update holds set amount_minor = 1 where id = 'open'`],
  'a hold that was never open': [
    'permission denied',
    `insert into holds (id, account_id, currency, amount_minor, status, closed_at) values ('x', 'a', 'USD', 5, 'POSTED', now())`,
  ],
  'triggers switched off for the session': ['permission denied', `set session_replication_role = replica`],
  'a table of its own in the schema': ['permission denied', `create table test.wallets_too (a int)`],
  'a function that stands in for ours': [
    'permission denied',
    `create function test.refuse_change() returns trigger language plpgsql as 'begin return null; end'`,
  ],
  'a temporary table in the place of the wallets': [
    'wallet_never_below_zero',
    [
      `create temporary table wallets (like test.wallets including defaults)`,
      `insert into wallets (account_id, ledger_account_id, currency, balance_minor) values ('a', 'wallet:a', 'USD', 1000000)`,
      book(['wallet:a', 'USD', -1_000], ['suspense:USD', 'USD', 1_000]).replaceAll(
        /into (ledger_\w+)/g,
        'into test.$1',
      ),
    ],
  ],
  'entries of its own that move a balance': [
    'permission denied',
    [
      `create temporary table evil (ledger_transaction_id bigint, ledger_account_id text, currency text, amount_minor bigint)`,
      `create trigger evil after insert on evil referencing new table as new_entries
       for each statement execute function test.check_and_apply_entries()`,
    ],
  ],
  'the other environment': ['permission denied', `select from live.wallets`],
  'the accounts': ['permission denied', `select from accounts.api_keys`],
};

const refusedToTheOwner: Record<string, [string, string | string[]]> = {
  ...Object.fromEntries(
    ['ledger_entries', 'ledger_transactions'].flatMap((table) => [
      [`delete from ${table}`, ['ledger_append_only', `delete from ${table}`]],
      [`truncate ${table}`, ['ledger_append_only', `truncate ${table} cascade`]],
      [`update ${table}`, ['ledger_append_only', `update ${table} set id = default`]],
    ]),
  ),
  'the ledger emptied through its accounts': ['ledger_append_only', 'truncate ledger_accounts cascade'],
  'a balance below zero': ['wallet_never_below_zero', `update wallets set balance_minor = -1`],
  'a hold made larger': [
    'hold_closes_once',
    `update holds set status = 'POSTED', closed_at = now(), amount_minor = 1 where id = 'open'`,
  ],
};

const attempts = (cases: Record<string, [string, string | string[]]>) =>
  Object.entries(cases).map(([name, [refusal, statements]]) => ({
    name,
    refusal,
    statements: [statements].flat(),
  }));

describe("the service's role", () => {
  it.each(attempts({ ...refusedToAnyone, ...refusedToTheRole }))(
    'is refused $name',
    async ({ refusal, statements }) => {
      expect(await attempt(books.world, statements)).toBe(refusal);
    },
  );

  it('may write balanced entries, which the same attempts need', async () => {
    const good = book(['wallet:a', 'USD', 5], ['funding:USD', 'USD', -5]);
    expect(await attempt(books.world, [good])).toBe('accepted');
  });
});

describe('the owner of the tables', () => {
  it.each(attempts({ ...refusedToAnyone, ...refusedToTheOwner }))(
    'is refused $name',
    async ({ refusal, statements }) => {
      expect(await attempt(books.owner, statements)).toBe(refusal);
    },
  );
});
