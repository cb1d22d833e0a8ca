/**
 * Prices the package, freezes the quote and starts the workflow. Writes only the Idempotency-Key of a purchase that was not answered in time: all else is written by the
 * workflow's first step, so that no row is without a workflow.
 */
import type { CataloguePackage } from '../catalogue/rules.ts';
import type { Principal } from '../domain/account.ts';
import { asFailureReason } from '../domain/refusals.ts';
import { visibleEsim } from '../esims/esim-view.ts';
import { findEsim } from '../esims/store/esims.ts';
import { startOnEngine, ifReachable, refused, requireAccepted } from '../payments/first-answer.ts';
import { requireRoomForUnpaid } from '../payments/outside-payments.ts';
import { identifyRequest } from '../platform/idempotency/identify-request.ts';
import { beginKey } from '../platform/idempotency/store.ts';
import { markOf, type IdempotencyRecord } from '../platform/idempotency/tag.ts';
import { newEsimId } from '../platform/idempotency/transaction-id.ts';
import type { RequestContext } from '../platform/telemetry/subject.ts';
import { chooseBase, chooseTopUp, type ChooseDeps, type ChosenPackage } from './choose-package.ts';
import type { PurchaseDeps } from './deps.ts';
import type { PurchaseInput } from './purchase.ts';
import { findUsableQuote } from './quotes.ts';
import { findPurchase } from './store/reads.ts';
import {
  currentTerms,
  quotedTerms,
  requireAccountCurrency,
  requireAtMost,
  type PurchaseTerms,
} from './terms.ts';
import { purchaseView, type PurchaseView, type BuyCommand } from './views.ts';

/** Buys or tops up and answers SUCCESS, PROCESSING or, paid from outside, PENDING with how to pay; a refusal is thrown as DomainError. */
export async function buy(
  deps: ChooseDeps,
  principal: Principal,
  command: BuyCommand,
  context: RequestContext,
): Promise<PurchaseView> {
  const askedAtMs = deps.clock.now().getTime();
  const { transactionId, earlier } = await identifyRequest(deps, principal, command.idempotency);
  const answered = earlier && (await answerEarlier(deps, earlier));
  if (answered) return answered;
  requireAccountCurrency(principal, command);
  const quote = await findUsableQuote(deps, principal, command, transactionId);
  if (command.paymentMethod !== 'WALLET') await requireRoomForUnpaid(deps, principal);
  const chosen =
    command.packageType === 'BASE'
      ? { item: chooseBase(deps, command), esimId: newEsimId() }
      : await chooseTopUp(deps, principal, command);
  const terms = quote
    ? quotedTerms(deps, command, chosen.item, quote)
    : currentTerms(deps, principal, command, chosen.item);
  requireAtMost(command, terms);
  const known = { ...chosen, terms, transactionId, askedAtMs };
  const input = buildInput(deps, principal, command, context, known);
  const startedAtMs = deps.clock.now().getTime();
  const answer = await startOnEngine(
    input.transactionId,
    (deadlineMs) => deps.engine.purchase(input, deadlineMs, titleOf(principal, command, chosen.item)),
    input.timings.answerWithinMs,
    async () => (await ifReachable(() => findPurchase(deps.db, input.transactionId))) !== undefined,
  );
  const status = answer === 'no-answer-yet' ? 'PROCESSING' : answer.status;
  deps.events.purchaseAnswered({
    transactionId: input.transactionId,
    requestId: context.requestId,
    answer: status,
    ...(answer !== 'no-answer-yet' && answer.status === 'REFUSED' ? { reason: answer.refusal.reason } : {}),
    ms: deps.clock.now().getTime() - startedAtMs,
  });
  requireAccepted(answer, command.idempotency);
  if (answer === 'no-answer-yet') await ifReachable(() => beginKey(deps.db, input));
  return readBack(deps, input, chosen.item, status === 'SUCCESS');
}

/** The workflow's title: the package and a company's name. People's names stay out of Temporal. */
function titleOf({ account }: Principal, { packageType }: BuyCommand, { name }: CataloguePackage): string {
  const buyer = account.type === 'MERCHANT' ? account.name : 'a user';
  return `${packageType === 'BASE' ? 'eSIM' : 'Top-up'} ${name} for ${buyer}`;
}

/** A retry whose first request left a row is answered from the database, whatever has changed since. */
async function answerEarlier(deps: ChooseDeps, record: IdempotencyRecord): Promise<PurchaseView | undefined> {
  if (record.refusal) throw refused(record.refusal);
  const purchase = await findPurchase(deps.db, record.transactionId);
  if (purchase?.purchase.reason)
    throw refused({ reason: asFailureReason(purchase.purchase.reason), detail: '' });
  return purchase && purchaseView(deps, purchase);
}

/** Checking the eSIM is part of the buyer's wait; the purchase itself gets at least this much. */
const LEAST_ANSWER_WITHIN_MS = 1_000;

/** Signs everything that the purchase is opened with. */
export function buildInput(
  deps: PurchaseDeps,
  { account }: Principal,
  { packageType, paymentMethod, idempotency }: BuyCommand,
  context: RequestContext,
  chosen: ChosenPackage & {
    readonly transactionId: string;
    readonly askedAtMs: number;
    readonly terms: PurchaseTerms;
  },
): PurchaseInput {
  const { timings } = deps.settings;
  const leftMs = timings.answerWithinMs - (deps.clock.now().getTime() - chosen.askedAtMs);
  const leastMs = Math.min(LEAST_ANSWER_WITHIN_MS, timings.answerWithinMs);
  const input: PurchaseInput = {
    transactionId: chosen.transactionId,
    accountId: account.id,
    packageType,
    packageCode: chosen.item.packageCode,
    paymentMethod,
    esimId: chosen.esimId,
    ...chosen.terms,
    requestId: context.requestId,
    timings: { ...timings, answerWithinMs: Math.max(leastMs, leftMs) },
    ...(idempotency ? { idempotency: markOf(idempotency) } : {}),
  };
  return deps.terms.sign('purchase', input, deps.clock.now());
}

/** The database answers; before it has rows, the frozen input does, as PROCESSING. A delivered purchase only lacks its eSIM here. */
async function readBack(
  deps: ChooseDeps,
  input: PurchaseInput,
  item: CataloguePackage,
  isDelivered: boolean,
): Promise<PurchaseView> {
  if (isDelivered && input.packageType === 'BASE') {
    const esim = await ifReachable(() => findEsim(deps.db, input.esimId));
    // Absent for a retry that joined its first request: that one made the eSIM's id.
    if (esim)
      return { ...frozenView(input, item), status: 'SUCCESS', esim: visibleEsim(deps.installData, esim) };
  }
  const record = await ifReachable(() => findPurchase(deps.db, input.transactionId));
  if (record?.purchase.reason) throw refused({ reason: asFailureReason(record.purchase.reason), detail: '' });
  return record ? purchaseView(deps, record) : frozenView(input, item);
}

function frozenView(input: PurchaseInput, item: CataloguePackage): PurchaseView {
  return {
    transaction_id: input.transactionId,
    package_type: input.packageType,
    payment_method: input.paymentMethod,
    status: input.charge === undefined ? 'PROCESSING' : 'PENDING',
    reason: null,
    package_code: item.packageCode,
    package_name: item.name,
    price_minor: BigInt(input.quote.priceMinor),
    currency: input.quote.currency,
    volume_bytes: BigInt(item.volumeBytes),
    duration: item.duration,
    top_up_iccid: null,
    top_up_total_volume_bytes: null,
    top_up_remaining_bytes: null,
    esim: undefined,
    payment: null,
    closed_at: null,
    timeline: [],
  };
}
