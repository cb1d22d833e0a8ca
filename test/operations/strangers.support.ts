// Purchases that a stranger attacks, and what must not have changed after that.
import { expect } from 'vitest';
import type { Buyer } from '../support/people/buyer.ts';
import { untilStatus } from '../support/money/payments.ts';
import { alarms } from '../support/world/stranger.ts';
import type { Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { RARE_CHECK_TIMINGS, type Order, type WorkflowHarness } from '../support/world/workflow-harness.ts';

interface Scene {
  readonly stack: Stack;
  readonly harness: WorkflowHarness;
  readonly buyer: Buyer;
}

export function createScenes({ stack, harness, buyer }: Scene) {
  const { account } = buyer;
  return {
    /** Held, accepted by the supplier, and never answered. */
    withUnknownOutcome: async (more: Partial<Order> = {}): Promise<string> => {
      await stack.faults({ loseAnswer: 1 });
      const { transactionId } = await harness.purchase({ account, timings: RARE_CHECK_TIMINGS, ...more });
      await stack.clearFaults();
      return transactionId;
    },
    /** Once its workflow waits. */
    untilParked: (transactionId: string): Promise<boolean> =>
      until(() => harness.isParked(transactionId), Boolean, { what: 'a workflow that waits' }),
    /** Opened at the gateway, not paid. */
    unpaid: async (timings = RARE_CHECK_TIMINGS): Promise<string> =>
      (await harness.purchase({ account, paidBy: 'CARD', timings })).transactionId,
    delivered: async (more: Partial<Order> = {}): Promise<string> => {
      const { transactionId } = await harness.purchase({ account, ...more });
      await untilStatus(stack, transactionId, 'SUCCESS');
      await harness.result(transactionId);
      return transactionId;
    },
    /** Runs an attack that must raise an alarm of this kind and leave the wallet as it is. */
    expectAlarm: async <T>(what: string, attack: () => Promise<T>): Promise<T> => {
      const raised = () => alarms(stack.workerAdminUrl(), what);
      const before = { balance: await buyer.balanceMinor(), alarms: await raised() };
      const result = await attack();
      expect(await buyer.balanceMinor()).toBe(before.balance);
      expect(await raised(), `after ${JSON.stringify(result)}`).toBeGreaterThan(before.alarms);
      return result;
    },
    /** How many rows there are about it, of every kind that money moves by. */
    rowsAbout: async (transactionId: string): Promise<number> => {
      const tables = [
        'purchases',
        'supplier_orders',
        'fundings',
        'payments',
        'refunds',
        'operator_actions',
        'ledger_transactions',
      ] as const;
      const counts = tables.map((table) =>
        stack.owner
          .selectFrom(table as 'payments')
          .select(({ fn }) => fn.countAll<bigint>().as('count'))
          .where('transaction_id', '=', transactionId)
          .executeTakeFirstOrThrow(),
      );
      return (await Promise.all(counts)).reduce((sum, { count }) => sum + Number(count), 0);
    },
    /** Its orders at the supplier, as our rows have them. */
    ordersOf: (transactionId: string) =>
      stack.owner
        .selectFrom('supplier_orders')
        .select(['state', 'attempts', 'withdrawing_since', 'refused_reason'])
        .where('transaction_id', '=', transactionId)
        .orderBy('planned_at')
        .execute(),
    /** What a workflow was started with: everything that a reader of Temporal can see. */
    signedInputOf: async (transactionId: string): Promise<object> => {
      const { events } = await stack.temporal.workflow.getHandle(transactionId).fetchHistory();
      const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
      return JSON.parse(Buffer.from(payload?.data ?? []).toString()) as object;
    },
  };
}
