/** How papers are written in answers. */
import type { Receipt } from '../receipts.ts';
import type { Statement } from '../statement.ts';

export function presentStatement({ entries, hasMore, ...statement }: Statement) {
  return { ...statement, items: entries, hasMore, nextCursor: hasMore ? (entries.at(-1)?.id ?? '') : '' };
}

export const presentReceipt = ({ tax, ...receipt }: Receipt) => ({
  ...receipt,
  taxName: tax?.taxName ?? null,
  taxRateBps: tax?.taxRateBps ?? null,
});
