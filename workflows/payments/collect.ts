import { workflowInfo, setCurrentDetails, condition } from '@temporalio/workflow';
import type { PaymentPurpose } from '../../src/domain/states.ts';
import type { FundingInput } from '../../src/payments/rules.ts';
import { type Carrier, carry } from '../carrier.ts';
import { isContinued, fromRows } from '../runs.ts';
import type { CollectRequest, AfterClosingInput } from '../contract.ts';
import { GATEWAY_REFERENCE, show, NEEDS_ATTENTION, PURCHASE_STATUS, REASON } from '../search-attributes.ts';
import { collectPayment, openFunding } from '../steps.ts';

interface Collected {
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

interface FundingResult {
  readonly status: 'SUCCESS' | 'FAILED';
  readonly reason?: string;
}

/**
 * Funds a wallet through the gateway: opens the payment, waits for the money, which the check credits. Ends
 * SUCCESS or FAILED.
 */
export const fundWallet = (input: FundingInput): Promise<FundingResult> =>
  fromRows(input, async () => {
    const { transactionId, timings } = input;
    const carrier = carry({
      transactionId,
      purpose: 'funding',
      isThroughGateway: true,
      timings,
      fingerprint: input.idempotency?.fingerprint,
    });
    const opened = await openFunding(input, workflowInfo().startTime.toISOString());
    carrier.vendors.know(opened.vendors);
    const collected =
      opened.stage === 'awaiting-payment'
        ? await collect(carrier, { transactionId, purpose: 'funding', timings })
        : undefined;
    const refused = collected?.state === 'failed' ? collected : undefined;
    const refusal = opened.stage === 'failed' ? opened.refusal : refused;
    const isAtRest = collected?.state === 'done' && !collected.isMoneyOpen;
    await (refusal ? carrier.refuse(refusal) : carrier.answer({ status: 'SUCCESS' }));
    await carrier.close({ followsMoney: !isAtRest });
    return end(refusal?.reason);
  });

function end(reason: string | undefined): FundingResult {
  const status = reason === undefined ? 'SUCCESS' : 'FAILED';
  setCurrentDetails(reason === undefined ? 'The wallet is credited.' : `Ended without a credit: ${reason}.`);
  show([
    { key: PURCHASE_STATUS, value: status },
    { key: NEEDS_ATTENTION, value: false },
    { key: REASON, value: reason ?? null },
  ]);
  return { status, ...(reason === undefined ? {} : { reason }) };
}

/** The message that started this workflow arrives with its first task. */
const REQUEST_WITHIN_MS = 30_000;

/**
 * What happens after a purchase or funding is closed and its workflow has ended: late money, operator
 * actions, disputes. One workflow for each. It is started by a message that asks for something, and ends once
 * that is done and the money is at rest. Ends without a step if nothing was asked of it.
 */
export const afterClosing = (input: AfterClosingInput): Promise<string> =>
  fromRows(input, async () => {
    const carrier = carry(input);
    if (!isContinued()) await condition(carrier.requests.isPending, REQUEST_WITHIN_MS);
    await carrier.close({ followsMoney: isContinued() });
    show([
      { key: NEEDS_ATTENTION, value: false },
      { key: REASON, value: null },
    ]);
    setCurrentDetails('What the gateway has is booked, and what had to go back is sent.');
    return 'at rest';
  });
