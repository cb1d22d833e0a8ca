// All that is known of one purchase or funding, for who looks for the cause of a failure in a random test.
import { sql } from 'kysely';
import { findPurchaseRow } from './buyer.ts';
import { movedBy } from '../money/fundings.ts';
import type { Stack } from '../world/stack.ts';

/** Every order of it: an action may have withdrawn the first one. */
export async function supplierOrdersOf(stack: Stack, transactionId: string) {
  const planned = await stack.owner
    .selectFrom('supplier_orders')
    .select('id')
    .where('transaction_id', '=', transactionId)
    .execute();
  return (await Promise.all(planned.map(({ id }) => stack.supplierOrders(id)))).flat();
}

/** Its rows, workflows, gateway's charge and supplier's orders, as JSON. */
export async function storyOf(stack: Stack, id: string): Promise<string> {
  const of = (
    table: 'payments' | 'disputes' | 'refunds' | 'operator_actions' | 'purchase_events' | 'supplier_orders',
  ) => sql`select * from ${sql.table(table)} where transaction_id = ${id}`.execute(stack.owner);
  const workflow = (workflowId: string) =>
    stack.temporal.workflow
      .getHandle(workflowId)
      .describe()
      .then(
        ({ status, historyLength, raw }) => ({
          status: status.name,
          historyLength,
          pending: raw.pendingActivities,
        }),
        String,
      );
  const story = {
    ...{ purchase: await findPurchaseRow(stack, id), moved: await movedBy(stack, id) },
    ...{ payments: await of('payments'), disputes: await of('disputes'), refunds: await of('refunds') },
    ...{ actions: await of('operator_actions'), events: await of('purchase_events') },
    ...{ orders: await of('supplier_orders'), ordersAtSupplier: await supplierOrdersOf(stack, id) },
    ...{ workflow: await workflow(id), afterClosing: await workflow(`after-${id}`) },
    charge: await (await fetch(`${stack.gatewayControlUrl}/charges/${id}`)).text(),
  };
  const plain = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  return JSON.stringify(story, plain, 1);
}
