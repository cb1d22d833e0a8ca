/** Sums of a wallet by the ledger's own time, so that a month's statement is the month of the ledger. */
import { sql } from 'kysely';
import type { WalletEntryKind } from '../../ledger/wallet-entry-rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

interface Range {
  readonly from: Date;
  readonly to: Date;
}

export interface WalletSums {
  readonly openingMinor: bigint;
  readonly closingMinor: bigint;
  readonly kinds: readonly {
    readonly kind: WalletEntryKind;
    readonly entries: number;
    readonly amountMinor: bigint;
  }[];
}

/** Counted back from the balance of now: what lies behind a month is shorter than what lies before it. */
export async function readWalletSums(
  db: WorldDb,
  accountId: string,
  { from, to }: Range,
): Promise<WalletSums> {
  const since = (time: Date) => sql`
    coalesce((select sum(amount_minor) from wallet_entries where account_id = ${accountId} and booked_at >= ${time}), 0)`;
  const balances = await sql<{ readonly opening: bigint; readonly closing: bigint }>`
    select (balance_minor - ${since(from)})::int8 as opening, (balance_minor - ${since(to)})::int8 as closing
      from wallets where account_id = ${accountId}`.execute(db);
  const kinds = await sql<WalletSums['kinds'][number]>`
    select kind, count(*)::int4 as entries, sum(amount_minor)::int8 as "amountMinor"
      from wallet_entries where account_id = ${accountId} and booked_at >= ${from} and booked_at < ${to}
     group by kind order by kind`.execute(db);
  const { opening = 0n, closing = 0n } = balances.rows[0] ?? {};
  return { openingMinor: opening, closingMinor: closing, kinds: kinds.rows };
}

/** What a month booked up to this entry, included. */
export async function sumUpTo(
  db: WorldDb,
  accountId: string,
  { from, to }: Range,
  entryNumber: bigint,
): Promise<bigint> {
  const { rows } = await sql<{ readonly minor: bigint }>`
    select coalesce(sum(amount_minor), 0)::int8 as minor from wallet_entries
     where account_id = ${accountId} and booked_at >= ${from} and booked_at < ${to} and entry_number <= ${entryNumber}::bigint`.execute(
    db,
  );
  return rows[0]?.minor ?? 0n;
}
