/**
 * The floors of L2. `sameShape` makes the same calls to Temporal as a wallet purchase that goes well, and its
 * steps do nothing; `empty` answers its Update-with-Start at once. Must follow
 * workflows/purchases/purchase.ts and workflows/steps.ts when their shape changes.
 */
import {
  allHandlersFinished,
  condition,
  proxyLocalActivities,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { type OrderActivities, firstAnswer } from '../../workflows/contract.ts';
import { ICCID, NEEDS_ATTENTION, PURCHASE_STATUS } from '../../workflows/search-attributes.ts';
import type { PurchaseAnswer } from '../../src/payments/engine.ts';

const OWN_DATABASE = {
  startToCloseTimeout: '2500ms',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '5s' },
} as const;
const { openPurchase } = proxyLocalActivities<OrderActivities>({
  ...OWN_DATABASE,
  summary: 'Open: purchase, order and hold in one transaction',
});
const { tryDelivering } = proxyLocalActivities<OrderActivities>({
  startToCloseTimeout: 1_200,
  retry: { maximumAttempts: 1 },
  summary: 'Deliver and settle: one inline attempt at the supplier',
});

export async function sameShape(input: PurchaseInput): Promise<{ status: string }> {
  const buyer: { answer?: PurchaseAnswer } = {};
  setHandler(firstAnswer, async () => {
    await condition(() => buyer.answer !== undefined);
    return buyer.answer as PurchaseAnswer;
  });
  await openPurchase(input, new Date().toISOString());
  const delivered = await tryDelivering(input);
  buyer.answer = { status: 'SUCCESS' };
  await condition(allHandlersFinished);
  upsertSearchAttributes([
    { key: PURCHASE_STATUS, value: 'SUCCESS' },
    { key: NEEDS_ATTENTION, value: false },
    { key: ICCID, value: delivered.state === 'done' ? delivered.iccid : '' },
  ]);
  return { status: 'SUCCESS' };
}

export async function empty(): Promise<{ status: string }> {
  setHandler(firstAnswer, (): PurchaseAnswer => ({ status: 'SUCCESS' }));
  await condition(allHandlersFinished);
  return { status: 'SUCCESS' };
}
