import { upsertSearchAttributes } from '@temporalio/workflow';
import type { Claim } from '../../src/payments/rules.ts';
import type { AttentionReason } from '../../src/domain/states.ts';
import { NEEDS_ATTENTION, REASON } from '../search-attributes.ts';
import { flagAttention } from '../steps.ts';

export async function raiseAttention(transactionId: string, reason: AttentionReason): Promise<void> {
  await flagAttention(transactionId, reason);
  showAttention(reason);
}

/** Where the row says it already. */
export function showAttention(reason: AttentionReason | Claim): void {
  upsertSearchAttributes([
    { key: NEEDS_ATTENTION, value: true },
    { key: REASON, value: reason },
  ]);
}
