import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { FundingInput } from '../../src/payments/rules.ts';
import { carry } from '../carrier.ts';
import { fromRows } from '../runs.ts';
import { NEEDS_ATTENTION, PURCHASE_STATUS, REASON, show } from '../search-attributes.ts';
import { openFunding } from '../steps.ts';
import { collect } from './collect.ts';

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
