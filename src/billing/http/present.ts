/** How papers are written in answers. */
import { presentOwn } from '../../platform/http/answer-fields.ts';
import type { Receipt } from '../receipts.ts';
import type { Statement } from '../statement.ts';

export function presentStatement({ entries, hasMore, ...statement }: Statement) {
  const items = entries.map((entry) => ({ ...entry, ...presentOwn(entry) }));
  return { ...statement, items, hasMore, nextCursor: hasMore ? (entries.at(-1)?.id ?? '') : '' };
}

export const presentReceipt = ({ tax, ...receipt }: Receipt) => ({
  ...receipt,
  taxName: tax?.taxName ?? null,
  taxRateBps: tax?.taxRateBps ?? null,
});
