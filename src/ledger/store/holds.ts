import { sql, type RawBuilder } from 'kysely';
import type { Money } from '../../domain/money.ts';
import { exchangeEntries, transfer } from './ledger.ts';
import { crossingQueries, type ThresholdCrossing } from './low-balance.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** `id`: the purchase's transactionId. */
interface NewHold {
  readonly id: string;
  readonly accountId: string;
  readonly amount: Money;
}

/** What a statement that places a hold has in its `with`, and what it may read. */
interface PlaceHoldQueries {
  readonly queries: RawBuilder<unknown>;
  /** A table with one row if the hold was placed. */
  readonly placed: RawBuilder<unknown>;
  /** The columns of ThresholdCrossing. */
  readonly crossing: RawBuilder<ThresholdCrossing>;
}

/** With `unlessLow`, places no hold that takes the balance below its threshold. */
export function placeHoldQueries(hold: NewHold, { unlessLow = false } = {}): PlaceHoldQueries {
  const { amountMinor, currency } = hold.amount;
  const low = crossingQueries('wallet', amountMinor);
  const only = unlessLow ? low.isNotCrossed : sql<boolean>`true`;
  const queries = sql`
    wallet as (
      select account_id, ledger_account_id, currency, balance_minor from wallets
       where account_id = ${hold.accountId} and currency = ${currency} and balance_minor >= ${amountMinor}
         for update
    ), ${low.queries}, hold as (
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
  return { queries, placed: sql`hold`, crossing: low.crossing };
}

/**
 * Turns a hold into revenue and books the supplier's cost. Throws HoldConflict when it was voided or never
 * placed: a delivery without money is a bug.
 */
export async function postHold(
  db: WorldDb,
  id: string,
  { supplier, costUsdE4 }: { readonly supplier: string; readonly costUsdE4: bigint },
): Promise<'posted' | 'already'> {
  const cost = { supplier: sql`${supplier}::text`, costUsdE4: sql`${costUsdE4}::bigint` };
  const { queries, hasPosted } = postHoldQueries(sql`${id}`, cost);
  const { rows } = await sql<Posted>`with ${queries} select ${hasPosted} as has_posted`.execute(db);
  return requirePosted(db, id, rows[0]);
}

export type Posted = { readonly has_posted: boolean };

interface PostHoldQueries {
  readonly queries: RawBuilder<unknown>;
  /** Whether the hold was held, and is posted now. */
  readonly hasPosted: RawBuilder<boolean>;
}

/**
 * What a statement that posts a hold has in its `with`, and what it may read. All of them may be subqueries.
 */
export function postHoldQueries(
  id: RawBuilder<unknown>,
  {
    supplier,
    costUsdE4,
  }: { readonly supplier: RawBuilder<unknown>; readonly costUsdE4: RawBuilder<unknown> },
): PostHoldQueries {
  const queries = sql`
    hold as (
      update holds set status = 'POSTED', closed_at = now() where id = ${id} and status = 'HELD' returning id, currency, amount_minor
    ), booked as (
      insert into ledger_transactions (operation_key, kind, transaction_id)
      select id || ':post', 'post', id from hold returning id
    ), posted as (
      insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
      select booked.id, entry.account, entry.currency, entry.amount_minor
        from booked, hold, (select ${costUsdE4} as e4, ${supplier} as supplier) cost, lateral (values
          ('held:' || hold.currency, hold.currency, -hold.amount_minor),
          ('revenue:' || hold.currency, hold.currency, hold.amount_minor),
          ('supplier-cost:USD4', 'USD4', cost.e4),
          ('supplier-prepaid:' || cost.supplier || ':USD4', 'USD4', -cost.e4)
        ) entry (account, currency, amount_minor)
       where entry.amount_minor <> 0
      returning ledger_transaction_id
    )`;
  return { queries, hasPosted: sql<boolean>`exists (select from posted)` };
}

/** Throws HoldConflict where the hold was posted neither now nor before. */
export async function requirePosted(
  db: WorldDb,
  id: string,
  answered: Posted | undefined,
): Promise<'posted' | 'already'> {
  return answered?.has_posted ? 'posted' : expectClosedAs(db, id, 'POSTED');
}

/**
 * Returns a hold to its wallet. `already`: voided before, or never placed. Throws HoldConflict when it was
 * posted.
 */
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
  if ((await readHoldStatus(db, id)) === 'POSTED') throw new HoldConflict(id, 'VOIDED', 'POSTED');
  return 'already';
}

/** The hold of a payment through the gateway; the payment's own transfer has its entries. */
export async function placePaidHold(db: WorldDb, hold: NewHold): Promise<void> {
  const { amountMinor, currency } = hold.amount;
  await db
    .insertInto('holds')
    .values({ id: hold.id, account_id: hold.accountId, currency, amount_minor: amountMinor })
    .execute();
}

/**
 * Moves a paid hold to suspense, in the currency it was paid in, to be refunded from there. Throws
 * HoldConflict when it was posted.
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
  if (!hold) return expectClosedAs(db, id, 'VOIDED');
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

/** Two steps disagree about how a purchase's hold ended. */
export class HoldConflict extends Error {
  constructor(id: string, wanted: string, found: string) {
    super(`hold ${id} should be ${wanted} but is ${found}`);
    this.name = 'HoldConflict';
  }
}

async function expectClosedAs(db: WorldDb, id: string, status: 'POSTED' | 'VOIDED'): Promise<'already'> {
  const found = await readHoldStatus(db, id);
  if (found !== status) throw new HoldConflict(id, status, found ?? 'absent');
  return 'already';
}

async function readHoldStatus(db: WorldDb, id: string) {
  const hold = await db.selectFrom('holds').select('status').where('id', '=', id).executeTakeFirst();
  return hold?.status;
}
