/**
 * What changed a wallet's balance. The rows are written by a trigger of the ledger, under the wallet's lock
 * (migrations/world/baseline/wallet-entries.ts), so their numbers are the order in which the balance changed.
 */
import { sql } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { Metadata } from '../../domain/own-details.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { explainEntry, type HoldStatus, type WalletEntryKind } from '../wallet-entry-rules.ts';

export interface WalletEntriesQuery {
  readonly accountId: string;
  /** Continues behind this entry's number. */
  readonly after?: bigint | undefined;
  readonly limit: number;
  /** Included. */
  readonly from?: Date | undefined;
  /** Excluded. */
  readonly to?: Date | undefined;
  readonly kind?: WalletEntryKind | undefined;
  /** Longer metadata is left out. */
  readonly maxMetadataCharacters?: number | undefined;
  /** Those that the ledger booked then, oldest first: `after` continues in that order. */
  readonly booked?: { readonly from: Date; readonly to: Date } | undefined;
}

/** `id` is unique in its wallet. */
export type WalletEntry = ReturnType<typeof entryOf>;

interface Row {
  readonly number: bigint;
  readonly at: Date;
  readonly kind: WalletEntryKind;
  readonly amountMinor: bigint;
  readonly balanceAfterMinor: bigint;
  readonly currency: AccountCurrency;
  readonly ledgerKind: string;
  readonly transactionId: string | null;
  readonly packageName: string | null;
  readonly reference: string | null;
  readonly metadata: Metadata | null;
  readonly isTopUp: boolean;
  readonly isFunding: boolean;
  readonly hold: keyof typeof HOLD_STATUS_OF | null;
}

/**
 * Newest first, but for a statement. Times become numbers first, so that every filter reads one index in
 * order.
 */
export async function readWalletEntries(db: WorldDb, query: WalletEntriesQuery): Promise<WalletEntry[]> {
  const { accountId, after, limit, from, to, kind, booked, maxMetadataCharacters: most } = query;
  const metadata = sql`coalesce(purchases.metadata, fundings.metadata)`;
  const [isBehind, order] = booked ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`];
  const mine = sql`account_id = ${accountId}`;
  // In a statement as it was at its end, so that it reads the same later.
  const holdStatus = booked
    ? sql`case when holds.closed_at >= ${booked.to} then 'HELD' else holds.status end`
    : sql`holds.status`;
  // The number that is the first at or after a time; none: a number above all.
  const numberAt = (time: Date) => sql`
    coalesce((select entry_number from wallet_entries where ${mine} and at >= ${time} order by at, entry_number limit 1), 9e18::bigint)`;
  const { rows } = await sql<Row>`
    with page as materialized (
      select * from wallet_entries
       where ${mine}
         ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
         ${after === undefined ? sql`` : sql`and entry_number ${isBehind} ${after}::bigint`}
         ${booked === undefined ? sql`` : sql`and booked_at >= ${booked.from} and booked_at < ${booked.to}`}
         ${from === undefined ? sql`` : sql`and entry_number >= ${numberAt(from)}`}
         ${to === undefined ? sql`` : sql`and entry_number < ${numberAt(to)}`}
       order by entry_number ${order} limit ${limit}
    )
    select page.entry_number as number, page.at, page.kind, page.amount_minor as "amountMinor",
           page.balance_after_minor as "balanceAfterMinor", wallets.currency, page.ledger_kind as "ledgerKind",
           page.transaction_id as "transactionId", purchases.package_name as "packageName",
           coalesce(purchases.reference, fundings.reference) as reference,
           ${most === undefined ? metadata : sql`case when length(${metadata}::text) <= ${most}::integer then ${metadata} end`} as metadata,
           coalesce(purchases.package_type = 'TOPUP', false) as "isTopUp",
           fundings.transaction_id is not null as "isFunding", case when page.kind = 'HOLD' then ${holdStatus} end as hold
      from page
      join wallets on wallets.account_id = page.account_id
      left join purchases on purchases.transaction_id = page.transaction_id
      left join fundings on fundings.transaction_id = page.transaction_id
      left join holds on holds.id = page.transaction_id
     order by page.entry_number ${order}`.execute(db);
  return rows.map(entryOf);
}

const HOLD_STATUS_OF = { HELD: 'HELD', POSTED: 'CHARGED', VOIDED: 'RELEASED' } as const;

function entryOf({ number, hold, ledgerKind, isTopUp, isFunding, ...entry }: Row) {
  const holdStatus: HoldStatus | null = hold && HOLD_STATUS_OF[hold];
  const words = { ...entry, holdStatus, ledgerKind, isTopUp, isFunding, isGain: entry.amountMinor > 0n };
  return { id: `entry-${number}`, ...entry, holdStatus, description: explainEntry(words) };
}
