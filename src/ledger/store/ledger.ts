import { sql } from 'kysely';
import type { AccountCurrency, Money } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { LedgerAccountsTable } from './tables.ts';

/** A positive amount credits the account. */
export interface LedgerEntry {
  readonly account: string;
  readonly currency: string;
  readonly amountMinor: bigint;
}

interface Transfer {
  /** Unique for ever, so that a repeated transfer changes nothing: `<transactionId>:<step>`. */
  readonly operationKey: string;
  readonly kind: string;
  readonly transactionId?: string;
  readonly reason?: string;
  readonly entries: readonly LedgerEntry[];
}

export const walletAccount = (accountId: string): string => `wallet:${accountId}`;

/**
 * Creates accounts that are missing. Safe to repeat, also by many at the same time: the table has two unique
 * keys, and neither raises an error.
 */
export async function ensureAccounts(db: WorldDb, accounts: readonly LedgerAccountsTable[]): Promise<void> {
  await db
    .insertInto('ledger_accounts')
    .values(accounts)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Creates an empty wallet if there is none; a trigger adds its balance row. */
export const ensureWallet = (db: WorldDb, accountId: string, currency: AccountCurrency): Promise<void> =>
  ensureAccounts(db, [{ id: walletAccount(accountId), kind: 'wallet', currency, account_id: accountId }]);

/** Exchanges `from` for `to` over the exchange accounts. No entries where both have the same currency. */
export function exchangeEntries(from: Money, to: Money): LedgerEntry[] {
  if (from.currency === to.currency) return [];
  return [
    { account: `exchange:${from.currency}`, currency: from.currency, amountMinor: from.amountMinor },
    { account: `exchange:${to.currency}`, currency: to.currency, amountMinor: -to.amountMinor },
  ];
}

/** What a gateway owes us, by its name. */
export const clearingAccount = (gateway: string, currency: string): string =>
  `gateway-clearing:${gateway}:${currency}`;

/** Creates the accounts that payments at a gateway in a currency are booked on, if there are none. */
export function ensureSystemAccounts(db: WorldDb, gateway: string, currency: string): Promise<void> {
  const accounts = [
    { id: clearingAccount(gateway, currency), kind: 'gateway-clearing' },
    ...['suspense', 'exchange'].map((kind) => ({ id: `${kind}:${currency}`, kind })),
  ];
  return ensureAccounts(
    db,
    accounts.map((account) => ({ ...account, currency, account_id: null })),
  );
}

/** The account of our money at a supplier. */
export function ensureSupplierAccount(db: WorldDb, supplier: string): Promise<void> {
  const id = `supplier-prepaid:${supplier}:USD4`;
  return ensureAccounts(db, [{ id, kind: 'supplier-prepaid', currency: 'USD4', account_id: null }]);
}

/** Bookings often have parts of nothing, which the ledger does not take. */
export const withoutZeros = (entries: readonly LedgerEntry[]): LedgerEntry[] =>
  entries.filter(({ amountMinor }) => amountMinor !== 0n);

/**
 * The entries must net to zero in each currency. `already`: the operation key was used before; nothing was
 * written.
 */
export async function transfer(db: WorldDb, request: Transfer): Promise<'done' | 'already'> {
  const entries = sql.join(
    request.entries.map(
      (entry) => sql`(${entry.account}::text, ${entry.currency}::text, ${entry.amountMinor}::bigint)`,
    ),
  );
  const result = await sql`
    with booked as (
      insert into ledger_transactions (operation_key, kind, transaction_id, reason)
      values (${request.operationKey}, ${request.kind}, ${request.transactionId ?? null}, ${request.reason ?? null})
      on conflict (operation_key) do nothing returning id
    )
    insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
    select booked.id, entry.account, entry.currency, entry.amount_minor
      from booked, (values ${entries}) entry (account, currency, amount_minor)`.execute(db);
  return result.numAffectedRows === 0n ? 'already' : 'done';
}

/**
 * undefined: the account has no wallet in this environment. On hold is what was taken from the wallet; a
 * payment at the gateway is held elsewhere.
 */
export async function findWallet(db: WorldDb, accountId: string) {
  const row = await db
    .selectFrom('wallets')
    .select(['balance_minor', 'owed_minor', 'currency', 'updated_at'])
    .select((eb) =>
      eb
        .selectFrom('holds')
        .innerJoin('purchases', 'purchases.transaction_id', 'holds.id')
        .select(sql<bigint>`coalesce(sum(holds.amount_minor), 0)::bigint`.as('minor'))
        .whereRef('holds.account_id', '=', 'wallets.account_id')
        .where('holds.status', '=', 'HELD')
        .where('purchases.payment_method', '=', 'WALLET')
        .as('on_hold_minor'),
    )
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    balance: { amountMinor: row.balance_minor, currency: row.currency },
    onHoldMinor: row.on_hold_minor ?? 0n,
    owedMinor: row.owed_minor,
    updatedAt: row.updated_at,
  };
}

/** Credits a wallet with money that an operator or the sandbox received. */
export function fundWallet(
  db: WorldDb,
  request: { operationKey: string; accountId: string; amount: Money; reason: string },
): Promise<'done' | 'already'> {
  const { amountMinor, currency } = request.amount;
  return transfer(db, {
    operationKey: request.operationKey,
    kind: 'fund',
    reason: request.reason,
    entries: [
      { account: `funding:${currency}`, currency, amountMinor: -amountMinor },
      { account: walletAccount(request.accountId), currency, amountMinor },
    ],
  });
}

/** The wallet and the amount that an operation key credited; undefined if none. */
export async function findFunded(
  db: WorldDb,
  operationKey: string,
): Promise<{ accountId: string; amount: Money } | undefined> {
  const row = await db
    .selectFrom('ledger_transactions as t')
    .innerJoin('ledger_entries as e', 'e.ledger_transaction_id', 't.id')
    .innerJoin('ledger_accounts as a', 'a.id', 'e.ledger_account_id')
    .select(['a.account_id', 'e.amount_minor', 'e.currency'])
    .where('t.operation_key', '=', operationKey)
    .where('a.kind', '=', 'wallet')
    .executeTakeFirst();
  if (!row?.account_id) return undefined;
  return { accountId: row.account_id, amount: { amountMinor: row.amount_minor, currency: row.currency } };
}
