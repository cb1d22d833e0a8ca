import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { FundingInput } from '../../src/payments/rules.ts';
import { carry } from '../carrier.ts';
import { fromRows } from '../continue-as-new.ts';
import { NEEDS_ATTENTION, PURCHASE_STATUS, REASON } from '../search-attributes.ts';
import { openFunding } from '../steps.ts';
import { collect } from './collect.ts';

interface FundingResult {
  readonly status: 'SUCCESS' | 'FAILED';
  readonly reason?: string;
}

/** Funds a wallet through the gateway: opens the payment, waits for the money, which the check credits. Ends SUCCESS or FAILED. */
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
    if (opened.stage !== 'failed') carrier.vendors.know(opened.vendors);
    let refusal = opened.stage === 'failed' ? opened.refusal : undefined;
    if (opened.stage === 'awaiting-payment') {
      const paid = await collect(carrier, { transactionId, purpose: 'funding', timings });
      if (paid.state === 'failed') refusal = paid;
    }
    await (refusal ? carrier.refuse(refusal) : carrier.answer({ status: 'SUCCESS' }));
    await carrier.close({ followsMoney: refusal !== undefined || opened.stage === 'delivered' });
    return end(refusal?.reason);
  });

function end(reason: string | undefined): FundingResult {
  const status = reason === undefined ? 'SUCCESS' : 'FAILED';
  setCurrentDetails(reason === undefined ? 'The wallet is credited.' : `Ended without a credit: ${reason}.`);
  upsertSearchAttributes([
    { key: PURCHASE_STATUS, value: status },
    { key: NEEDS_ATTENTION, value: false },
    ...(reason === undefined ? [] : [{ key: REASON, value: reason }]),
  ]);
  return { status, ...(reason === undefined ? {} : { reason }) };
}
