import type { Principal } from '../domain/account.ts';
import type { OutsideMethod } from '../domain/states.ts';
import { identifyRequest } from '../platform/idempotency/identify-request.ts';
import { beginKey } from '../platform/idempotency/store.ts';
import { markOf, type IdempotencyContext } from '../platform/idempotency/tag.ts';
import type { RequestContext } from '../platform/telemetry/subject.ts';
import type { PaymentDeps } from './deps.ts';
import { startOnEngine, ifReachable, requireAccepted } from './first-answer.ts';
import { quoteCharge, requireRoomForUnpaid } from './outside-payments.ts';
import type { FundingInput } from './rules.ts';
import { findFunding, type FundingRow } from './store/payments.ts';
import { findPaymentView, type FundingView } from './views.ts';

interface FundCommand {
  /** In the wallet's currency. */
  readonly amountMinor: bigint;
  readonly paymentMethod: OutsideMethod;
  readonly idempotency?: IdempotencyContext;
}

/** Opens a payment into one's own wallet and returns how to pay. PAYMENT_METHOD_UNAVAILABLE, PAYMENT_FAILED. */
export async function fundWallet(
  deps: PaymentDeps,
  principal: Principal,
  { amountMinor, paymentMethod, idempotency: tag }: FundCommand,
  { requestId }: RequestContext,
): Promise<FundingView> {
  const { db, engine } = deps;
  const { transactionId, earlier } = await identifyRequest(deps, principal, tag);
  const written = earlier && (await findFunding(db, transactionId));
  if (written) return fundingView(deps, written);
  await requireRoomForUnpaid(deps, principal);
  const { id: accountId, currency } = principal.account;
  const unsigned: FundingInput = {
    transactionId,
    accountId,
    paymentMethod,
    amountMinor: String(amountMinor),
    currency,
    charge: quoteCharge(deps, deps.catalogue.current(), paymentMethod, { amountMinor, currency }),
    requestId,
    timings: deps.settings.timings,
    idempotency: tag && markOf(tag),
  };
  const input = deps.terms.sign('funding', unsigned, deps.clock.now());
  const answer = await startOnEngine(
    transactionId,
    (deadlineMs) => engine.fundWallet(input, deadlineMs),
    input.timings.answerWithinMs,
    async () => (await ifReachable(() => findFunding(db, transactionId))) !== undefined,
  );
  requireAccepted(answer, tag);
  if (answer === 'no-answer-yet') await ifReachable(() => beginKey(db, input));
  const view = await ifReachable(async () => {
    const row = await findFunding(db, transactionId);
    return row && fundingView(deps, row);
  });
  return view ?? notWrittenYet(input);
}

/** A funding as it now stands. */
export async function fundingView(deps: Pick<PaymentDeps, 'db'>, row: FundingRow): Promise<FundingView> {
  return {
    transactionId: row.transaction_id,
    paymentMethod: row.payment_method,
    status: row.status,
    reason: row.reason,
    amount: { amountMinor: row.amount_minor, currency: row.currency },
    payment: row.status === 'PENDING' ? await findPaymentView(deps.db, row.transaction_id) : null,
    timeline: [
      { at: row.created_at, what: 'opened' },
      ...(row.closed_at
        ? [{ at: row.closed_at, what: row.status === 'SUCCESS' ? 'wallet-credited' : 'failed' }]
        : []),
    ],
  };
}

function notWrittenYet(input: FundingInput): FundingView {
  return {
    transactionId: input.transactionId,
    paymentMethod: input.paymentMethod,
    status: 'PENDING',
    reason: null,
    amount: { amountMinor: BigInt(input.amountMinor), currency: input.currency },
    payment: null,
    timeline: [],
  };
}
