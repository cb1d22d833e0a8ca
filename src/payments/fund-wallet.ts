import type { Principal } from '../domain/account.ts';
import type { OwnDetails } from '../domain/own-details.ts';
import type { GatewayMethod } from '../domain/states.ts';
import { markOf, type IdempotencyContext } from '../platform/idempotency/tag.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { RequestContext } from '../platform/telemetry/subject.ts';
import type { PaymentDeps } from './deps.ts';
import { ifReachable, startOnce } from './first-answer.ts';
import { quoteCharge, requireUnpaidQuota } from './gateway-payments.ts';
import { requireReturnable, sealOwnDetails } from './own-details.ts';
import type { FundingInput } from './rules.ts';
import { findFunding, findFundingMoney, findMoneyEvents, type FundingRow } from './store/payments.ts';
import { findPaymentView, type FundingView } from './views.ts';

interface FundCommand {
  /** In the wallet's currency. */
  readonly amountMinor: bigint;
  readonly paymentMethod: GatewayMethod;
  readonly ownDetails?: OwnDetails;
  readonly idempotency?: IdempotencyContext;
}

/**
 * Opens a payment into one's own wallet and returns how to pay. PAYMENT_METHOD_UNAVAILABLE, PAYMENT_FAILED.
 */
export function fundWallet(
  deps: PaymentDeps,
  principal: Principal,
  { amountMinor, paymentMethod, ownDetails = {}, idempotency: tag }: FundCommand,
  { requestId }: RequestContext,
): Promise<FundingView> {
  const { id: accountId, currency } = principal.account;
  const read = async (transactionId: string): Promise<FundingView | undefined> => {
    const row = await findFunding(deps.db, transactionId);
    return row && fundingView(deps, row);
  };
  return startOnce<FundingInput, FundingView>(deps, principal, tag, {
    judge: async (found) => {
      await requireReturnable(deps, principal, ownDetails);
      await requireUnpaidQuota(deps, principal);
      const unsigned: FundingInput = {
        transactionId: found.transactionId,
        accountId,
        paymentMethod,
        amountMinor: String(amountMinor),
        currency,
        charge: quoteCharge(deps, deps.catalogue.current(), paymentMethod, { amountMinor, currency }),
        requestId,
        timings: deps.settings.timings,
        ...(tag ? { idempotency: markOf(tag, found) } : {}),
        ...sealOwnDetails(deps, found.transactionId, { paymentMethod, ownDetails }),
      };
      return deps.terms.sign('funding', unsigned, deps.clock.now());
    },
    start: (input, deadlineMs) => deps.engine.fundWallet(input, deadlineMs),
    read,
    show: async (input) =>
      (await ifReachable(() => read(input.transactionId))) ?? notWrittenYet(input, ownDetails),
  });
}

/** A funding as it now stands. */
export async function fundingView(deps: Pick<PaymentDeps, 'db'>, row: FundingRow): Promise<FundingView> {
  const { received, creditedMinor } = await findFundingMoney(deps.db, row);
  return {
    transactionId: row.transaction_id,
    paymentMethod: row.payment_method,
    status: row.status,
    reason: row.reason,
    amount: { amountMinor: row.amount_minor, currency: row.currency },
    received,
    creditedMinor,
    payment: row.status === 'PENDING' ? await findPaymentView(deps.db, row.transaction_id) : null,
    timeline: [{ at: row.created_at, what: 'opened' }, ...(await closingEvents(deps.db, row))],
    reference: row.reference,
    metadata: row.metadata,
  };
}

/** Its end, between the payments that came with it or before it and what came afterwards. */
async function closingEvents(db: WorldDb, row: FundingRow): Promise<FundingView['timeline']> {
  const { closed_at: at, status } = row;
  if (at === null) return [];
  const events = await findMoneyEvents(db, row);
  const isBefore = (event: (typeof events)[number]) =>
    event.at <= at && event.what.startsWith('payment-received');
  return [
    ...events.filter(isBefore),
    { at, what: status === 'SUCCESS' ? 'wallet-credited' : 'failed' },
    ...events.filter((event) => !isBefore(event)),
  ];
}

function notWrittenYet(input: FundingInput, ownDetails: OwnDetails): FundingView {
  return {
    transactionId: input.transactionId,
    paymentMethod: input.paymentMethod,
    status: 'PENDING',
    reason: null,
    amount: { amountMinor: BigInt(input.amountMinor), currency: input.currency },
    received: null,
    creditedMinor: 0n,
    payment: null,
    timeline: [],
    reference: ownDetails.reference ?? null,
    metadata: ownDetails.metadata ?? null,
  };
}
