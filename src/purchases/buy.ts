/**
 * Prices the package, freezes the quote and starts the workflow. All rows of the purchase are written by the
 * workflow's first step, so that none is without a workflow. Only an Idempotency-Key may be written here: of
 * a purchase that was not answered in time, or that is refused now.
 */
import type { CataloguePackage } from '../catalogue/rules.ts';
import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { isId } from '../domain/ids.ts';
import type { OwnDetails } from '../domain/own-details.ts';
import { asFailureReason } from '../domain/refusals.ts';
import { visibleEsim } from '../esims/install-data.ts';
import { findEsim } from '../esims/store/esims.ts';
import { ifReachable, refused, startOnce, type FirstStatus } from '../payments/first-answer.ts';
import { requireUnpaidQuota } from '../payments/gateway-payments.ts';
import { mergeDetails, openOwnDetails, requireReturnable, sealOwnDetails } from '../payments/own-details.ts';
import { markOf } from '../platform/idempotency/tag.ts';
import { newEsimId } from '../platform/idempotency/identify-request.ts';
import type { RequestContext } from '../platform/telemetry/subject.ts';
import {
  chooseBase,
  chooseTopUp,
  type ChooseDeps,
  type ChosenPackage,
  currentTerms,
  quotedTerms,
  requireAccountCurrency,
  requireDeliverable,
  requireMaxPrice,
  type PurchaseTerms,
  findUsableQuote,
} from './terms.ts';
import type { PurchaseDeps } from './deps.ts';
import type { PurchaseInput } from './purchase.ts';
import { findPurchase } from './store/reads.ts';
import { purchaseView, type PurchaseView, type BuyCommand } from './views.ts';

/**
 * Buys or tops up and answers SUCCESS, PROCESSING or, paid through the gateway, PENDING with how to pay; a
 * refusal is thrown as DomainError. Nothing is begun before its account's turn; RATE_LIMIT_EXCEEDED when none
 * comes in time.
 */
export async function buy(
  deps: ChooseDeps,
  principal: Principal,
  command: BuyCommand,
  context: RequestContext,
): Promise<PurchaseView> {
  const askedAtMs = deps.clock.now().getTime();
  const endTurn = await deps.turns.take(principal.account.id);
  if (!endTurn) throw new DomainError('RATE_LIMIT_EXCEEDED', TOO_MANY_AT_ONCE, { retryAfterSeconds: 1 });
  return buyInTurn(deps, principal, command, { ...context, askedAtMs }).finally(endTurn);
}

const TOO_MANY_AT_ONCE = 'Too many purchases of this account at once';

function buyInTurn(
  deps: ChooseDeps,
  principal: Principal,
  command: BuyCommand,
  { askedAtMs, ...context }: RequestContext & { readonly askedAtMs: number },
): Promise<PurchaseView> {
  const { clock, engine, events } = deps;
  let startedAtMs = askedAtMs;
  return startOnce<Purchase, PurchaseView>(deps, principal, command.idempotency, {
    judge: async (found) => {
      const chosen = await judge(deps, principal, command, found.transactionId);
      const input = buildInput(deps, principal, command, context, { ...chosen, ...found, askedAtMs });
      return { ...input, item: chosen.item };
    },
    start: ({ item, ...input }, deadlineMs) => {
      startedAtMs = clock.now().getTime();
      const title = `${command.packageType === 'BASE' ? 'eSIM' : 'Top-up'} ${item.name}`;
      return engine.purchase(input, deadlineMs, title, companyOf(principal));
    },
    onAnswer: ({ transactionId }, answer) =>
      events.purchaseAnswered({
        transactionId,
        requestId: context.requestId,
        answer: answer.status === 'UNANSWERED' ? 'PROCESSING' : answer.status,
        ...(answer.status === 'REFUSED' ? { reason: answer.refusal.reason } : {}),
        ms: clock.now().getTime() - startedAtMs,
      }),
    read: (transactionId) => readPurchase(deps, principal, transactionId),
    show: (input, status) => readBack(deps, principal, input, status),
  });
}

type Purchase = PurchaseInput & { readonly item: CataloguePackage };

/** Everything that the present may refuse. */
async function judge(
  deps: ChooseDeps,
  principal: Principal,
  command: BuyCommand,
  transactionId: string,
): Promise<ChosenPackage & { readonly terms: PurchaseTerms; readonly ownDetails: OwnDetails }> {
  requireAccountCurrency(principal, command);
  const quote = await findUsableQuote(deps, principal, command, transactionId);
  const ownDetails = mergeDetails(quote?.own_details ?? {}, command.ownDetails ?? {});
  await requireReturnable(deps, principal, ownDetails);
  if (command.paymentMethod !== 'WALLET') await requireUnpaidQuota(deps, principal);
  const chosen =
    command.packageType === 'BASE'
      ? { item: chooseBase(deps, command), esimId: newEsimId() }
      : await chooseTopUp(deps, principal, command);
  requireDeliverable(deps, command, chosen.item);
  const terms = quote
    ? quotedTerms(deps, command, chosen.item, quote)
    : currentTerms(deps, principal, command, chosen.item);
  requireMaxPrice(command, terms);
  return { ...chosen, terms, ownDetails };
}

/** People's names stay out of Temporal. */
const companyOf = ({ account }: Principal): string => (account.type === 'MERCHANT' ? account.name : 'a user');

/** The purchase as its rows say, whatever has changed since; undefined: nothing is written. */
async function readPurchase(
  deps: ChooseDeps,
  principal: Principal,
  transactionId: string,
): Promise<PurchaseView | undefined> {
  const record = await findPurchase(deps.db, transactionId);
  const reason = record?.purchase.reason;
  if (reason) throw refused({ reason: asFailureReason(reason), detail: '' }, transactionId);
  return record && purchaseView(deps, principal, record);
}

/** Checking the eSIM is part of the buyer's wait; the purchase itself gets at least this much. */
const LEAST_ANSWER_WITHIN_MS = 1_000;

/** Signs everything that the purchase is opened with. */
export function buildInput(
  deps: PurchaseDeps,
  { account, keyId }: Principal,
  { packageType, paymentMethod, idempotency }: BuyCommand,
  context: RequestContext,
  chosen: ChosenPackage & {
    readonly transactionId: string;
    readonly follows?: string;
    readonly askedAtMs: number;
    readonly terms: PurchaseTerms;
    readonly ownDetails?: OwnDetails;
    readonly mandate?: PurchaseInput['mandate'];
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
    ...(idempotency ? { idempotency: markOf(idempotency, chosen) } : {}),
    ...(isId('key', keyId) ? { keyId } : {}),
    ...(chosen.mandate ? { mandate: chosen.mandate } : {}),
    ...sealOwnDetails(deps, chosen.transactionId, { paymentMethod, ownDetails: chosen.ownDetails }),
  };
  return deps.terms.sign('purchase', input, deps.clock.now());
}

/**
 * The database answers; before it has rows, the frozen input does, as PROCESSING. A delivered purchase only
 * lacks its eSIM here.
 */
async function readBack(
  deps: ChooseDeps,
  principal: Principal,
  input: Purchase,
  status: FirstStatus,
): Promise<PurchaseView> {
  if (status === 'SUCCESS' && input.packageType === 'BASE') {
    const esim = await ifReachable(() => findEsim(deps.db, input.esimId));
    // Absent for a retry that joined its first request: that one made the eSIM's id.
    if (esim) {
      const shown = visibleEsim(deps.installData, esim, principal);
      return { ...frozenView(deps, input), status: 'SUCCESS', esim: shown };
    }
  }
  const written = await ifReachable(() => readPurchase(deps, principal, input.transactionId));
  return written ?? frozenView(deps, input);
}

function frozenView(
  { secretBox }: Pick<PurchaseDeps, 'secretBox'>,
  { item, ...input }: Purchase,
): PurchaseView {
  const { reference = null, metadata = null } = openOwnDetails(secretBox, input);
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
    reference,
    metadata,
    replaces: null,
    top_up_iccid: null,
    top_up_total_volume_bytes: null,
    top_up_remaining_bytes: null,
    esim: undefined,
    payment: null,
    closed_at: null,
    timeline: [],
  };
}
