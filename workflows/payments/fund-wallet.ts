/** A wallet funded from outside: opens the payment, waits for the money, credits what came. */
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineUpdate,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { followClaim } from './after-closing.ts';
import { awaitPayment, type PaymentResult } from '../purchases/await-payment.ts';
import { callPerson } from '../operations/needs-attention.ts';
import { ACCEPT_UPDATE } from '../contract.ts';
import type { AttentionReason } from '../../src/domain/states.ts';
import { continueAsNewIfSuggested } from '../continue-as-new.ts';
import { listenForPaymentChecks } from './payment-poller.ts';
import {
  closedPurchaseActions,
  awaitingPaymentActions,
  handleActions,
} from '../operations/operator-actions.ts';
import { sendRefunds } from './send-refunds.ts';
import { NEEDS_ATTENTION, PURCHASE_STATUS, REASON } from '../search-attributes.ts';
import { createOutbox } from '../webhooks/start-deliveries.ts';
import { openFunding } from '../steps.ts';
import type { PurchaseAnswer } from '../../src/payments/engine.ts';
import type { FundingInput } from '../../src/payments/rules.ts';

/** Ends SUCCESS or FAILED. */
export async function fundWallet(input: FundingInput): Promise<{ status: string; reason?: string }> {
  let answer: PurchaseAnswer | undefined;
  const actions = handleActions('awaiting-money');
  const fingerprint = input.idempotency ? { fingerprint: input.idempotency.fingerprint } : {};
  setHandler(defineUpdate<PurchaseAnswer>(ACCEPT_UPDATE), async () => {
    await condition(() => answer !== undefined);
    return answer as PurchaseAnswer;
  });
  const watch = {
    callPerson: (reason: AttentionReason) => callPersonFor(input, reason),
    outbox: createOutbox(input.transactionId),
    beforePause: () => continueAsNewIfSuggested(() => continueAsNew<typeof fundWallet>(input)),
    moves: () => actions.count(),
  };
  const poller = listenForPaymentChecks(input.transactionId, 'funding', () =>
    followClaim(input.transactionId, 'funding', input.timings),
  );
  await openFunding(input);
  actions.serve('awaiting-money', awaitingPaymentActions(input.transactionId, poller));
  const payment = await awaitPayment({
    request: {
      transactionId: input.transactionId,
      purpose: 'funding',
      accountId: input.accountId,
      method: input.paymentMethod,
      charge: input.charge,
      priceMinor: input.amountMinor,
      priceCurrency: input.currency,
    },
    poller,
    startedAtMs: workflowInfo().startTime.getTime(),
    timings: input.timings,
    onWaiting: () => {
      answer ??= { status: 'PENDING', ...fingerprint };
      return Promise.resolve();
    },
    ...watch,
  });
  answer ??= { ...firstAnswer(payment), ...fingerprint };
  actions.serve(
    payment.outcome === 'paid' ? 'delivered' : 'ended',
    closedPurchaseActions(input.transactionId, poller),
  );
  if (payment.outcome !== 'paid') await sendRefunds(input.transactionId, input.timings, poller, watch);
  await condition(allHandlersFinished);
  if (payment.outcome === 'paid' && actions.count() > 0)
    await sendRefunds(input.transactionId, input.timings, poller, watch);
  return end(payment);
}

function firstAnswer(payment: PaymentResult): PurchaseAnswer {
  if (payment.outcome === 'paid') return { status: 'SUCCESS' };
  return {
    status: 'REFUSED',
    refusal: payment.outcome === 'refused' ? payment.refusal : { reason: payment.reason, detail: '' },
  };
}

function end(payment: PaymentResult): { status: string; reason?: string } {
  const reason =
    payment.outcome === 'paid'
      ? undefined
      : payment.outcome === 'refused'
        ? payment.refusal.reason
        : payment.reason;
  const status = reason === undefined ? 'SUCCESS' : 'FAILED';
  setCurrentDetails(
    status === 'SUCCESS' ? 'The wallet is credited.' : `Ended without a credit: ${reason ?? ''}.`,
  );
  upsertSearchAttributes([
    { key: PURCHASE_STATUS, value: status },
    { key: NEEDS_ATTENTION, value: false },
    ...(reason === undefined ? [] : [{ key: REASON, value: reason }]),
  ]);
  return { status, ...(reason === undefined ? {} : { reason }) };
}

async function callPersonFor(input: FundingInput, reason: AttentionReason): Promise<void> {
  await callPerson(input.transactionId, reason);
  setCurrentDetails(`Needs a person: ${reason}. We keep checking automatically.`);
}
