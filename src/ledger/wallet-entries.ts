import type { Principal } from '../domain/account.ts';
import { csvOf, type CsvFile } from '../domain/csv.ts';
import { DomainError } from '../domain/errors.ts';
import { formatMinor } from '../domain/money.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { readWalletEntries, type WalletEntriesQuery, type WalletEntry } from './store/wallet-entries.ts';

export type { WalletEntry } from './store/wallet-entries.ts';

/** Entries in one CSV: about 2 MB, and as much again for each 200 characters of metadata. */
export const MAX_CSV_ENTRIES = 10_000;

/** In a cell of a CSV. With longer ones in every row, one answer would be hundreds of megabytes. */
export const MAX_CSV_METADATA_CHARACTERS = 1_000;

type EntriesCommand = Omit<WalletEntriesQuery, 'accountId'>;

/**
 * One page of what changed the account's balance, newest first. Throws VALIDATION_ERROR where `from` is not
 * before `to`.
 */
export async function listWalletEntries(
  { db }: { readonly db: WorldDb },
  { account }: Principal,
  command: EntriesCommand,
): Promise<{ readonly entries: readonly WalletEntry[]; readonly hasMore: boolean }> {
  const { from, to, limit } = command;
  if (from !== undefined && to !== undefined && from >= to)
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: 'from: must be before to' });
  const found = await readWalletEntries(db, { ...command, accountId: account.id, limit: limit + 1 });
  return { entries: found.slice(0, limit), hasMore: found.length > limit };
}

const COLUMNS: Readonly<Record<string, (entry: WalletEntry) => string | null>> = {
  id: ({ id }) => id,
  at: ({ at }) => at.toISOString(),
  kind: ({ kind }) => kind,
  amount: ({ amountMinor }) => formatMinor(amountMinor),
  currency: ({ currency }) => currency,
  balanceAfter: ({ balanceAfterMinor }) => formatMinor(balanceAfterMinor),
  holdStatus: ({ holdStatus }) => holdStatus,
  transactionId: ({ transactionId }) => transactionId,
  packageName: ({ packageName }) => packageName,
  description: ({ description }) => description,
  reference: ({ reference }) => reference,
  metadata: ({ metadata }) => metadata && JSON.stringify(metadata),
};

export const CSV_COLUMNS = Object.keys(COLUMNS);

/** The same as CSV, with at most MAX_CSV_ENTRIES. `next`: its last one, where more match. */
export async function exportWalletEntries(
  deps: { readonly db: WorldDb },
  principal: Principal,
  command: Omit<EntriesCommand, 'limit'>,
): Promise<CsvFile> {
  const { entries, hasMore } = await listWalletEntries(deps, principal, {
    ...command,
    limit: MAX_CSV_ENTRIES,
    maxMetadataCharacters: MAX_CSV_METADATA_CHARACTERS,
  });
  const cells = Object.values(COLUMNS);
  const csv = csvOf(
    CSV_COLUMNS,
    entries.map((entry) => cells.map((cell) => cell(entry) ?? '')),
  );
  return { csv, next: hasMore ? entries.at(-1)?.id : undefined };
}
