// A bank's dispute: opened and resolved at the gateway, and settled by a person.
import { atGateway } from './payments.ts';
import { findPurchaseRow } from '../people/buyer.ts';
import { EVIDENCE, type Operator } from '../people/operator-actions.ts';
import type { Stack } from '../world/stack.ts';
import { until } from '../time/until.ts';

export function disputing(stack: Stack, operator: Operator) {
  const attentionOf = async (transactionId: string): Promise<string | null> => {
    const funding = await stack.owner
      .selectFrom('fundings')
      .select('attention_reason')
      .where('transaction_id', '=', transactionId)
      .executeTakeFirst();
    return (funding ?? (await findPurchaseRow(stack, transactionId)))?.attention_reason ?? null;
  };
  const untilAttention = (transactionId: string, reason: string | null) =>
    until(
      () => attentionOf(transactionId),
      (found) => found === reason,
      { what: `${transactionId} has the attention reason ${reason}` },
    );
  return {
    untilAttention,
    /** Of all by default. Our rows say so. */
    dispute: async (transactionId: string, amountMinor?: number): Promise<void> => {
      await atGateway(stack, transactionId, 'dispute', amountMinor === undefined ? {} : { amountMinor });
      await untilAttention(transactionId, 'PAYMENT_DISPUTED');
    },
    resolve: (transactionId: string, resolution: 'declined' | 'merchant-accepted') =>
      atGateway(stack, transactionId, 'dispute', { action: 'resolve', resolution }),
    settle: (transactionId: string, outcome: 'won' | 'lost', more: object = {}) =>
      operator.act(transactionId, 'settle-dispute', { evidence: EVIDENCE, outcome, ...more }),
  };
}
