/**
 * The ledger's verbs: hold, post, void, transfer. Each is one statement, so it is whole or absent, and each is keyed, so doing it twice
 * is doing it once. Positive amounts credit the account they name. Balances move by trigger (migrations/world ledger).
 */
import { sql, type RawBuilder } from 'kysely';
import type { AccountCurrency, Money } from '../../domain/money.ts';
import { CROSSING, crossingOf, enqueueLowBalance, type Crossing } from './low-balance.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { newPendingMessages, type PendingMessages } from '../../webhooks/store/messages.ts';

export interface LedgerEntry {
  readonly account: string;
  readonly currency: string;
  readonly amountMinor: bigint;
}

export interface Transfer {
  /** Unique for ever: `<transactionId>:<step>`. */
  readonly operationKey: string;
  readonly kind: string;
  readonly transactionId?: string;
  readonly reason?: string;
  readonly entries: readonly LedgerEntry[];
}

/** Ledger account of an account's wallet. */
export const walletAccount = (accountId: string): string => `wallet:${accountId}`;

/** Makes an account's wallet if there is none; funds nothing. Its balance row comes with the ledger account, by trigger. */
export async function ensureWallet(db: WorldDb, accountId: string, currency: AccountCurrency): Promise<void> {
  await db
    .insertInto('ledger_accounts')
    .values({ id: walletAccount(accountId), kind: 'wallet', currency, account_id: accountId })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** What becomes of money that changes its currency: `from` is given up for `to`, over the exchange accounts. Nothing where both are one. */
export function exchangeEntries(from: Money, to: Money): LedgerEntry[] {
  if (from.currency === to.currency) return [];
  return [
    { account: `exchange:${from.currency}`, currency: from.currency, amountMinor: from.amountMinor },
    { account: `exchange:${to.currency}`, currency: to.currency, amountMinor: -to.amountMinor },
  ];
}

/** Makes the accounts of ours that a payment in a currency is booked on, where it is the first in it. */
export async function ensureSystemAccounts(db: WorldDb, currency: string): Promise<void> {
  await db
    .insertInto('ledger_accounts')
    .values(
      ['gateway-clearing', 'suspense', 'exchange'].map((kind) => ({
        id: `${kind}:${currency}`,
        kind,
        currency,
        account_id: null,
      })),
    )
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Books a transfer whose entries net to zero per currency. `already`: its operation key was used before, nothing was written. */
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
 * Reserves money on a wallet at once. `insufficient`: nothing was written. The id is the purchase's transactionId. That it leaves little is
 * told with it, in the caller's transaction.
 */
export async function placeHold(
  db: WorldDb,
  hold: { readonly id: string; readonly accountId: string; readonly amount: Money },
  written: PendingMessages = newPendingMessages(),
): Promise<'held' | 'already' | 'insufficient'> {
  const { currency } = hold.amount;
  const { rows } = await sql<Crossing>`with ${holding(hold)} select ${CROSSING} from booked`.execute(db);
  const [booked] = rows;
  if (booked) {
    const { id, accountId } = hold;
    const because = { key: id, subject: id, accountId, currency: currency as AccountCurrency };
    await enqueueLowBalance(db, because, booked, written);
    return 'held';
  }
  const existing = await db.selectFrom('holds').select('id').where('id', '=', hold.id).executeTakeFirst();
  return existing ? 'already' : 'insufficient';
}

/** Queries for a `with` that place a hold: `hold` has a row where they do, beside `low` for a crossing. Nothing where `only` does not hold. */
export function holding(
  hold: { readonly id: string; readonly accountId: string; readonly amount: Money },
  only: RawBuilder<boolean> = sql<boolean>`true`,
): RawBuilder<unknown> {
  const { amountMinor, currency } = hold.amount;
  return sql`
    wallet as (
      select account_id, ledger_account_id, currency, balance_minor from wallets
       where account_id = ${hold.accountId} and currency = ${currency} and balance_minor >= ${amountMinor}
         for update
    ), low as (${crossingOf(amountMinor)}
    ), hold as (
      insert into holds (id, account_id, currency, amount_minor)
      select ${hold.id}, account_id, currency, ${amountMinor}::bigint from wallet where ${only}
      on conflict (id) do nothing returning id
    ), booked as (
      insert into ledger_transactions (operation_key, kind, transaction_id)
      select id || ':hold', 'hold', id from hold returning id
    ), held as (
      insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
      select booked.id, entry.account, wallet.currency, entry.amount_minor
        from booked, wallet, lateral (values
          (wallet.ledger_account_id, ${-amountMinor}::bigint), ('held:' || wallet.currency, ${amountMinor}::bigint)
        ) entry (account, amount_minor)
    )`;
}

/**
 * Turns a hold into revenue and books what the supplier cost. `already`: it was posted before. Throws when it was voided or never
 * placed: delivering without money is a bug to be seen, not swallowed.
 */
export async function postHold(db: WorldDb, id: string, costUsdE4: bigint): Promise<'posted' | 'already'> {
  const { rows } = await sql<Posted>`
    with ${posting(sql`${id}`, sql`${costUsdE4}::bigint`)}
    select ${POSTED}`.execute(db);
  return expectPosted(db, id, rows[0]);
}

/** What a statement that posts a hold answers of it. */
export interface Posted {
  readonly has_posted: boolean;
}

/** The column of Posted, for the select list of a statement whose `with` has `posting`. */
export const POSTED = sql`exists (select from posted) as has_posted`;

/** Queries for a `with`, the last of them called `posted`: post a hold that is held. Its id and the cost may each be a query's one value. */
export function posting(id: RawBuilder<unknown>, costUsdE4: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    hold as (
      update holds set status = 'POSTED', closed_at = now() where id = ${id} and status = 'HELD' returning id, currency, amount_minor
    ), booked as (
      insert into ledger_transactions (operation_key, kind, transaction_id)
      select id || ':post', 'post', id from hold returning id
    ), posted as (
      insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
      select booked.id, entry.account, entry.currency, entry.amount_minor
        from booked, hold, (select ${costUsdE4} as e4) cost, lateral (values
          ('held:' || hold.currency, hold.currency, -hold.amount_minor),
          ('revenue:' || hold.currency, hold.currency, hold.amount_minor),
          ('supplier-cost:USD4', 'USD4', cost.e4),
          ('supplier-prepaid:USD4', 'USD4', -cost.e4)
        ) entry (account, currency, amount_minor)
       where entry.amount_minor <> 0
      returning ledger_transaction_id
    )`;
}

/** Throws where the hold was not posted, now or before. */
export async function expectPosted(
  db: WorldDb,
  id: string,
  answered: Posted | undefined,
): Promise<'posted' | 'already'> {
  if (answered?.has_posted) return 'posted';
  await expectClosedAs(db, id, 'POSTED');
  return 'already';
}

/** Gives a hold back to its wallet. `already`: voided before, or there never was one. Throws when it was posted. */
export async function voidHold(db: WorldDb, id: string): Promise<'voided' | 'already'> {
  const result = await sql`
    with hold as (
      update holds set status = 'VOIDED', closed_at = now() where id = ${id} and status = 'HELD'
      returning id, account_id, currency, amount_minor
    ), booked as (
      insert into ledger_transactions (operation_key, kind, transaction_id)
      select id || ':void', 'void', id from hold returning id
    )
    insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
    select booked.id, entry.account, hold.currency, entry.amount_minor
      from booked, hold, lateral (values
        ('held:' || hold.currency, -hold.amount_minor), ('wallet:' || hold.account_id, hold.amount_minor)
      ) entry (account, amount_minor)`.execute(db);
  if (result.numAffectedRows !== 0n) return 'voided';
  const hold = await db.selectFrom('holds').select('status').where('id', '=', id).executeTakeFirst();
  if (hold?.status === 'POSTED') throw new HoldConflict(id, 'VOIDED', 'POSTED');
  return 'already';
}

/** The hold that a payment from outside placed: its entries are part of the payment's own transfer. */
export async function placePaidHold(
  db: WorldDb,
  hold: { readonly id: string; readonly accountId: string; readonly amount: Money },
): Promise<void> {
  const { amountMinor, currency } = hold.amount;
  await sql`
    insert into holds (id, account_id, currency, amount_minor)
    values (${hold.id}, ${hold.accountId}, ${currency}, ${amountMinor})`.execute(db);
}

/**
 * Voids a paid hold into suspense, in the currency it was paid in, from where it goes back to the buyer. `already`: voided before. Throws
 * when it was posted.
 */
export async function voidHoldToSuspense(
  db: WorldDb,
  id: string,
  paid: Money,
): Promise<'voided' | 'already'> {
  const hold = await db
    .updateTable('holds')
    .set({ status: 'VOIDED', closed_at: sql`now()` })
    .where('id', '=', id)
    .where('status', '=', 'HELD')
    .returning(['currency', 'amount_minor'])
    .executeTakeFirst();
  if (!hold) {
    await expectClosedAs(db, id, 'VOIDED');
    return 'already';
  }
  const { currency, amount_minor: amountMinor } = hold;
  await transfer(db, {
    operationKey: `${id}:void`,
    kind: 'void',
    transactionId: id,
    entries: [
      { account: `held:${currency}`, currency, amountMinor: -amountMinor },
      ...exchangeEntries({ amountMinor, currency }, paid),
      { account: `suspense:${paid.currency}`, currency: paid.currency, amountMinor: paid.amountMinor },
    ],
  });
  return 'voided';
}

/** The hold ended the other way before: two steps disagree about one purchase. */
export class HoldConflict extends Error {
  constructor(id: string, wanted: string, found: string) {
    super(`hold ${id} should be ${wanted} but is ${found}`);
    this.name = 'HoldConflict';
  }
}

async function expectClosedAs(db: WorldDb, id: string, status: 'POSTED' | 'VOIDED'): Promise<void> {
  const hold = await db.selectFrom('holds').select('status').where('id', '=', id).executeTakeFirst();
  if (hold?.status !== status) throw new HoldConflict(id, status, hold?.status ?? 'absent');
}

/** Spendable balance and when it last moved, or undefined when the account has no wallet in this world. */
export async function findWallet(
  db: WorldDb,
  accountId: string,
): Promise<{ balance: Money; updatedAt: Date } | undefined> {
  const row = await db
    .selectFrom('wallets')
    .select(['balance_minor', 'currency', 'updated_at'])
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return (
    row && { balance: { amountMinor: row.balance_minor, currency: row.currency }, updatedAt: row.updated_at }
  );
}

/** Credits a wallet from outside money (an operator's or the sandbox's funding). Once per operation key. */
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

/** What an operation key put into which wallet, or undefined where it was never used for that. */
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
  return {
    accountId: row.account_id,
    amount: { amountMinor: row.amount_minor, currency: row.currency },
  };
}
