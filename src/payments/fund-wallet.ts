import type { Principal } from '../domain/account.ts';
import { beginKey } from '../platform/idempotency/store.ts';
import { quoteCharge } from './quote-charge.ts';
import { askEngine, ifReachable, requireAccepted } from './engine.ts';
import { markOf, type IdempotencyTag } from '../platform/idempotency/tag.ts';
import { identifyRequest } from '../platform/idempotency/identify-request.ts';
import type { PaymentDeps } from './deps.ts';
import type { FundingInput } from './rules.ts';
import type { OutsideMethod } from '../domain/states.ts';
import { findFunding, type FundingRow } from './store/payments.ts';
import { findPaymentView, type FundingView } from './views.ts';
import type { RequestContext } from '../platform/telemetry/subject.ts';

interface FundCommand {
  /** In the wallet's currency. */
  readonly amountMinor: bigint;
  readonly paymentMethod: OutsideMethod;
  readonly idempotency?: IdempotencyTag;
}

/** Opens a payment into one's own wallet and returns how to pay. PAYMENT_METHOD_UNAVAILABLE, PAYMENT_FAILED. */
export async function fundWallet(
  deps: PaymentDeps,
  principal: Principal,
  command: FundCommand,
  context: RequestContext,
): Promise<FundingView> {
  const { transactionId, earlier } = await identifyRequest(deps, principal, command.idempotency);
  const written = earlier && (await findFunding(deps.db, transactionId));
  if (written) return fundingView(deps, written);
  const input = freeze(deps, principal, command, { ...context, transactionId });
  const answer = await askEngine(
    input.transactionId,
    (deadlineMs) => deps.engine.fundWallet(input, deadlineMs),
    input.timings.answerWithinMs,
    async () => (await ifReachable(() => findFunding(deps.db, input.transactionId))) !== undefined,
  );
  requireAccepted(answer, command.idempotency);
  if (answer === 'no-answer-yet') await ifReachable(() => beginKey(deps.db, input));
  const view = await ifReachable(async () => {
    const row = await findFunding(deps.db, input.transactionId);
    return row && fundingView(deps, row);
  });
  return view ?? notWrittenYet(input);
}

function freeze(
  deps: PaymentDeps,
  { account }: Principal,
  command: FundCommand,
  request: RequestContext & { readonly transactionId: string },
): FundingInput {
  const amount = { amountMinor: command.amountMinor, currency: account.currency };
  const tag = command.idempotency;
  return {
    transactionId: request.transactionId,
    accountId: account.id,
    paymentMethod: command.paymentMethod,
    amountMinor: String(command.amountMinor),
    currency: account.currency,
    charge: quoteCharge(deps, deps.catalogue.current(), command.paymentMethod, amount),
    requestId: request.requestId,
    timings: deps.settings.timings,
    ...(tag ? { idempotency: markOf(tag) } : {}),
  };
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
