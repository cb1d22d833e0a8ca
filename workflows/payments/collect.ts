import { workflowInfo } from '@temporalio/workflow';
import type { PaymentPurpose } from '../../src/domain/states.ts';
import type { Carrier } from '../carrier.ts';
import { isContinued } from '../runs.ts';
import type { CollectRequest } from '../contract.ts';
import { GATEWAY_REFERENCE, show } from '../search-attributes.ts';
import { collectPayment } from '../steps.ts';

export interface Collected {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
  readonly timings: CollectRequest['timings'] & { readonly answerWithinMs: number };
}

/**
 * Time for the last try to end, half a second, and for the step's result to come back over its queue, a
 * second.
 */
const OPENING_MARGIN_MS = 1_500;

/**
 * Opens the payment and returns once it is paid, or closed unpaid. Its caller is answered as soon as there is
 * a way to pay, or its time is over.
 */
export function collect(carrier: Carrier, { transactionId, purpose, timings }: Collected) {
  let isFirst = !isContinued();
  const ask = async () => {
    const elapsedMs = Date.now() - workflowInfo().startTime.getTime();
    const budgetMs = isFirst ? Math.max(0, timings.answerWithinMs - elapsedMs - OPENING_MARGIN_MS) : 0;
    isFirst = false;
    const vendors = await carrier.vendors.find();
    const step = await collectPayment(vendors, { transactionId, purpose, budgetMs, timings });
    if (step?.reference !== undefined) show([{ key: GATEWAY_REFERENCE, value: step.reference }]);
    return step;
  };
  return carrier.follow(ask, {
    onWaiting: () => carrier.answer({ status: 'PENDING' }),
    endsWith: ({ state }) => state === 'paid' || state === 'ended',
  });
}
