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
import type { FailureReason, Refusal } from '../../src/domain/refusals.ts';
import type { AttentionReason } from '../../src/domain/states.ts';
import type { PurchaseAnswer } from '../../src/payments/engine.ts';
import type { FundingInput } from '../../src/payments/rules.ts';
import { continueAsNewIfSuggested } from '../continue-as-new.ts';
import { ACCEPT_UPDATE } from '../contract.ts';
import { raiseAttention } from '../operations/needs-attention.ts';
import {
  closedPurchaseActions,
  awaitingPaymentActions,
  handleActions,
} from '../operations/operator-actions.ts';
import { awaitPayment, type PaymentResult } from '../purchases/await-payment.ts';
import { NEEDS_ATTENTION, PURCHASE_STATUS, REASON } from '../search-attributes.ts';
import { openFunding } from '../steps.ts';
import { createOutbox } from '../webhooks/start-deliveries.ts';
import { followClaim } from './after-closing.ts';
import { listenForPaymentChecks } from './payment-poller.ts';
import { sendRefunds } from './send-refunds.ts';

/** Funds a wallet from outside: opens the payment, waits for the money, credits what came. Ends SUCCESS or FAILED. */
export async function fundWallet(input: FundingInput): Promise<{ status: string; reason?: string }> {
  let answer: PurchaseAnswer | undefined;
  const actions = handleActions(input.transactionId, 'awaiting-money');
  const fingerprint = input.idempotency ? { fingerprint: input.idempotency.fingerprint } : {};
  setHandler(defineUpdate<PurchaseAnswer>(ACCEPT_UPDATE), async () => {
    await condition(() => answer !== undefined);
    return answer as PurchaseAnswer;
  });
  const watch = {
    raiseAttention: async (reason: AttentionReason) => {
      await raiseAttention(input.transactionId, reason);
      setCurrentDetails(`Needs a person: ${reason}. We keep checking automatically.`);
    },
    outbox: createOutbox(input.transactionId),
    beforePause: () => continueAsNewIfSuggested(() => continueAsNew<typeof fundWallet>(input)),
    moves: () => actions.count(),
  };
  const poller = listenForPaymentChecks(input.transactionId, 'funding', () =>
    followClaim(input.transactionId, 'funding', input.timings),
  );
  const notOpened = await openFunding(input, workflowInfo().startTime.toISOString());
  if (notOpened) {
    answer = { status: 'REFUSED', refusal: notOpened, ...fingerprint };
    actions.serve('ended', closedPurchaseActions(input.transactionId, poller));
    await condition(allHandlersFinished);
    return end(notOpened.reason);
  }
  actions.serve('awaiting-money', awaitingPaymentActions(input.transactionId, poller));
  const payment = await awaitPayment({
    request: { transactionId: input.transactionId, purpose: 'funding' },
    poller,
    startedAtMs: workflowInfo().startTime.getTime(),
    timings: input.timings,
    onWaiting: () => {
      answer ??= { status: 'PENDING', ...fingerprint };
      return Promise.resolve();
    },
    ...watch,
  });
  const refusal = refusalOf(payment);
  answer ??= { ...(refusal ? { status: 'REFUSED', refusal } : { status: 'SUCCESS' }), ...fingerprint };
  actions.serve(refusal ? 'ended' : 'delivered', closedPurchaseActions(input.transactionId, poller));
  if (refusal) await sendRefunds(input.transactionId, input.timings, poller, watch);
  await condition(allHandlersFinished);
  if (!refusal && actions.count() > 0) await sendRefunds(input.transactionId, input.timings, poller, watch);
  return end(refusal?.reason);
}

/** undefined: paid. */
function refusalOf(payment: PaymentResult): Refusal | undefined {
  if (payment.outcome === 'paid') return undefined;
  return payment.outcome === 'refused' ? payment.refusal : { reason: payment.reason, detail: '' };
}

function end(reason: FailureReason | undefined): { status: string; reason?: string } {
  const status = reason === undefined ? 'SUCCESS' : 'FAILED';
  setCurrentDetails(reason === undefined ? 'The wallet is credited.' : `Ended without a credit: ${reason}.`);
  upsertSearchAttributes([
    { key: PURCHASE_STATUS, value: status },
    { key: NEEDS_ATTENTION, value: false },
    ...(reason === undefined ? [] : [{ key: REASON, value: reason }]),
  ]);
  return { status, ...(reason === undefined ? {} : { reason }) };
}
