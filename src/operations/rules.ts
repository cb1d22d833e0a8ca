/** Which operator actions are available, and why one is refused. The ledger has the last word. */
import { divideHalfUp, type Money } from '../domain/money.ts';
import { MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS } from '../domain/reasons.ts';
import type { PurchaseStatus, PaymentPurpose } from '../domain/states.ts';
import {
  actionsInSituation,
  actionSpec,
  OPERATOR_ACTIONS,
  type OperatorAction,
  type PurchaseSituation,
} from '../accounts/operators/action-table.ts';
import type { DisputeOutcome } from '../payments/rules.ts';

const MAX_PERSON = 200;

/** Why an action is refused. The codes are a closed list, published in docs/OPERATIONS.md. */
export const REFUSAL_MESSAGES = {
  REASON_NEEDED: `a reason of ${MIN_REASON_CHARACTERS} to ${MAX_REASON_CHARACTERS} characters is needed`,
  PERSON_NEEDED: 'the person who takes the action is needed',
  EVIDENCE_NEEDED: `evidence of ${MIN_REASON_CHARACTERS} to ${MAX_REASON_CHARACTERS} characters is needed: where it can be seen`,
  NOT_FOUND: 'there is no such purchase or funding',
  DOES_NOT_FIT: 'not possible in the current state',
  ALREADY_DELIVERED: 'already delivered: only a refund as goodwill is possible',
  NOTHING_TO_RETURN: 'nothing is left to refund',
  AMOUNT_TOO_HIGH: 'the amount is more than was paid and not yet refunded',
  AMOUNT_NOT_ALLOWED: 'only the whole amount can be moved here, or no part this small',
  AMOUNT_NEEDED: 'no rate was locked for this money: give the amount to credit',
  OTHER_CURRENCY: 'the amount is in another currency than the money',
  CHANGED_MEANWHILE: 'another action moved its money after this was asked for: look at it again',
  WALLET_TOO_LOW: 'the wallet balance is too low',
  REFUND_ON_ITS_WAY: 'a refund is on its way: until it has ended, nothing else can be moved',
  SUPPLIER_MAY_DELIVER:
    'the supplier may still deliver what was ordered; evidence that it will not makes this possible',
  NO_EQUAL_PACKAGE: 'no other package is equal to it',
  PACKAGE_DOES_NOT_FIT: 'this package cannot be ordered instead',
  OUTCOME_NEEDED: 'say how the dispute ended: won or lost',
  DISPUTE_NEEDED: 'several disputes are open: name the one that ended',
  DISPUTE_OPEN: 'the gateway still has the dispute open',
  OUTCOME_DIFFERS: 'the gateway says that it ended the other way',
  GATEWAY_SILENT: 'the gateway does not say how the dispute stands',
  KEY_REUSED: 'this key belongs to another action',
  NOT_ASKED: 'not requested by an operator',
  STEP_FAILED: 'the database refuses this change',
  SAME_PERSON: 'a different person must approve it',
  NOT_INDEPENDENT:
    'within the last 24 hours one of the two people gave or confirmed access of the other, or a third person did so for both',
  NOT_WAITING: 'it does not await approval',
  APPROVAL_EXPIRED: 'it was not approved in time',
};
export type ActionRefusal = keyof typeof REFUSAL_MESSAGES;
export const ACTION_REFUSALS = Object.keys(REFUSAL_MESSAGES) as [ActionRefusal, ...ActionRefusal[]];

/** What was done, in a sentence, or why not; then nothing was written. */
export type Ended = { readonly did: string } | { readonly refusal: ActionRefusal; readonly detail?: string };

/** `stuck`: the gateway will not send it. `waits`: the gateway waits for the buyer's details. */
export type OpenRefund = 'due' | 'on-its-way' | 'waits' | 'stuck';

/** The facts by which an action is allowed or refused. */
export interface ActionFacts {
  readonly purpose: PaymentPurpose;
  readonly status: PurchaseStatus;
  readonly isThroughGateway: boolean;
  /** What was bought is kept here; only settling may be left. */
  readonly isDelivered: boolean;
  /** Money is on hold for it, whatever its status says. */
  readonly holdsMoney: boolean;
  /** Of money on hold that was paid at a gateway: a bank has left some of it, and does not dispute it. */
  readonly canGiveBack?: boolean;
  readonly openRefund: OpenRefund | null;
  /** In the account's wallet and still the gateway's to send back, in the currency it was paid in. */
  readonly inWallet: Money | null;
  /** Earned by delivering and not given back since, in the price's currency. */
  readonly earned: Money | null;
  /** Neither the gateway nor a person has confirmed any money for it. */
  readonly isUnpaid: boolean;
  /** The money was disputed or taken back, and a person has not settled that yet. */
  readonly hasDispute: boolean;
  /** Its time is over and the gateway still leaves it open. */
  readonly isLeftOpen: boolean;
  /** Its eSIM is to be returned and a person decides: what goes back. */
  readonly inReview?: (Money & { readonly returnId: string; readonly mayStillBeCancelled: boolean }) | null;
  /** A person decides its replacement: what we pay of the new eSIM. */
  readonly replacement?: (Money & { readonly replacementId: string; readonly isDelivered: boolean }) | null;
}

const SITUATION_OF = {
  PENDING: 'awaiting-money',
  PROCESSING: 'delivering',
  SUCCESS: 'delivered',
  FAILED: 'ended',
} as const satisfies Record<PurchaseStatus, PurchaseSituation>;

export const situationOf = ({
  status,
  isDelivered,
}: Pick<ActionFacts, 'status' | 'isDelivered'>): PurchaseSituation =>
  status === 'PROCESSING' && isDelivered ? 'settling' : SITUATION_OF[status];

/** Parts of the request that decide whether the action is available. */
export interface ActionTerms {
  /** Given back although it was delivered: goodwill, and the request must say so. */
  readonly isGoodwill: boolean;
  readonly hasEvidence: boolean;
}

/** The available actions, with evidence or as goodwill where they need it. */
export function availableActions(facts: ActionFacts): OperatorAction[] {
  const terms = { isGoodwill: true, hasEvidence: true };
  return OPERATOR_ACTIONS.filter((action) => refusalFor(action, facts, terms) === undefined);
}

/** undefined: the action is available. */
export function refusalFor(
  action: OperatorAction,
  facts: ActionFacts,
  terms: ActionTerms,
): ActionRefusal | undefined {
  if (!actionsInSituation(situationOf(facts)).includes(action)) {
    const undoes = action === 'cancel' || action === 'deliver-other';
    return undoes && facts.status === 'SUCCESS' ? 'ALREADY_DELIVERED' : 'DOES_NOT_FIT';
  }
  const lacksEvidence = actionSpec(action).needsEvidence && !terms.hasEvidence;
  return RULES[action].refusal(facts, terms) ?? (lacksEvidence ? 'EVIDENCE_NEEDED' : undefined);
}

interface ActionRule {
  /** Why a purchase in the right situation still does not allow it; undefined: it does. */
  readonly refusal: (facts: ActionFacts, terms: ActionTerms) => ActionRefusal | undefined;
  /** The amount that it would move. */
  readonly amount: (facts: ActionFacts, money: ActionMoney, asked: Asked) => AmountOf;
}

const fitsIf = (does: boolean): ActionRefusal | undefined => (does ? undefined : 'DOES_NOT_FIT');
const movesNone = (): AmountOf => ({ amount: null });
const movesPrice = (_facts: ActionFacts, { price }: ActionMoney): AmountOf => ({ amount: price });

/** Of the named dispute, or of all. Without one the payment was reversed. */
function movesDisputed(
  _facts: ActionFacts,
  { price, disputed = [] }: ActionMoney,
  { disputeId }: Asked,
): AmountOf {
  const named = disputed.filter((one) => disputeId === undefined || one.disputeId === disputeId);
  const [first = price] = named;
  const amountMinor = named.reduce((sum, one) => sum + one.amountMinor, 0n);
  return { amount: named.length === 0 ? price : { amountMinor, currency: first.currency } };
}

const RULES: Record<OperatorAction, ActionRule> = {
  'check-gateway': { refusal: (facts) => fitsIf(facts.isThroughGateway), amount: movesNone },
  'check-supplier': { refusal: (facts) => fitsIf(facts.purpose === 'purchase'), amount: movesNone },
  'retry-delivery': {
    // Delivered and its money still on hold: only settling is left.
    refusal: (facts) => (facts.status === 'PROCESSING' || facts.holdsMoney ? undefined : 'ALREADY_DELIVERED'),
    amount: movesNone,
  },
  'deliver-other': {
    // Nothing is ordered for money that is disputed or was taken back.
    refusal: (facts) => fitsIf(facts.purpose === 'purchase' && !facts.hasDispute),
    amount: movesPrice,
  },
  'mark-paid': {
    refusal: (facts) => fitsIf(facts.isThroughGateway && facts.isUnpaid),
    amount: (_facts, money, asked) => whole(money.charge, asked),
  },
  'refund-to-source': { refusal: refundRefusal, amount: refundAmount },
  'credit-wallet': { refusal: creditRefusal, amount: creditAmount },
  cancel: {
    refusal: (facts) => fitsIf(facts.status !== 'FAILED' || facts.isLeftOpen || facts.holdsMoney),
    amount: (facts, money, asked) =>
      facts.holdsMoney && money.price.amountMinor > 0n ? whole(money.price, asked) : movesNone(),
  },
  'grant-return': {
    refusal: ({ inReview, hasDispute }) => fitsIf(inReview != null && !hasDispute),
    amount: ({ inReview = null }) => ({
      amount: inReview && { amountMinor: inReview.amountMinor, currency: inReview.currency },
    }),
  },
  // A cancellation that still arrives would leave the buyer with neither.
  'refuse-return': {
    refusal: ({ inReview }) => fitsIf(inReview?.mayStillBeCancelled === false),
    amount: movesNone,
  },
  'grant-replacement': {
    refusal: ({ replacement, hasDispute }) => fitsIf(replacement != null && !hasDispute),
    // What we pay of it. Once the new eSIM is delivered, nothing more is paid.
    amount: ({ replacement = null }) => ({
      amount:
        replacement && !replacement.isDelivered
          ? { amountMinor: replacement.amountMinor, currency: replacement.currency }
          : null,
    }),
  },
  'refuse-replacement': {
    refusal: ({ replacement }) => fitsIf(replacement?.isDelivered === false),
    amount: movesNone,
  },
  'settle-dispute': { refusal: (facts) => fitsIf(facts.hasDispute), amount: movesDisputed },
};

function refundRefusal(facts: ActionFacts, terms: ActionTerms): ActionRefusal | undefined {
  if (!facts.isThroughGateway) return 'DOES_NOT_FIT';
  if (facts.status === 'PROCESSING') return facts.hasDispute ? 'DOES_NOT_FIT' : undefined;
  // The gateway waits for the buyer: only a person who has paid the buyer by hand can end that here.
  if (facts.openRefund === 'waits') return terms.hasEvidence ? undefined : 'EVIDENCE_NEEDED';
  if (facts.openRefund !== null) return undefined;
  if (facts.hasDispute) return 'DOES_NOT_FIT';
  return facts.inWallet === null ? goodwillRefusal(facts, terms) : undefined;
}

function creditRefusal(facts: ActionFacts, terms: ActionTerms): ActionRefusal | undefined {
  // A bank has this money, or may get it: it is not credited again. `cancel` returns what is left of it.
  if (facts.hasDispute) return 'DOES_NOT_FIT';
  if (facts.status === 'PROCESSING') return undefined;
  switch (facts.openRefund) {
    // Stryker disable next-line StringLiteral: what no case names is not refused either
    case 'due':
      return undefined;
    case 'on-its-way':
      return 'REFUND_ON_ITS_WAY';
    case 'waits':
    case 'stuck':
      // The gateway may still send it, or have sent it: a person must have seen that it does not.
      return terms.hasEvidence ? undefined : 'EVIDENCE_NEEDED';
    case null:
      return goodwillRefusal(facts, terms);
  }
}

function goodwillRefusal({ earned }: ActionFacts, { isGoodwill }: ActionTerms): ActionRefusal | undefined {
  if (earned === null) return 'NOTHING_TO_RETURN';
  return isGoodwill ? undefined : 'ALREADY_DELIVERED';
}

/** Amounts are decimal digits of minor units, as all of this travels through Temporal. */
export interface ActionRequest {
  /** Of this attempt: its line on record. */
  readonly actionId: string;
  readonly transactionId: string;
  readonly action: OperatorAction;
  /** The person who requests it, for the audit row. */
  readonly by: string;
  readonly reason: string;
  /** Where facts that this system cannot check can be seen: an address, a ticket, a line of a statement. */
  readonly evidence?: string | undefined;
  /** Absent: all that the action can move. */
  readonly amountMinor?: string | undefined;
  readonly currency?: string | undefined;
  /** deliver-other: what to deliver; absent: the cheapest equal package. */
  readonly packageCode?: string | undefined;
  /** A refund although it was delivered. */
  readonly goodwill?: boolean | undefined;
  /** settle-dispute: how it ended. */
  readonly outcome?: DisputeOutcome | undefined;
  /** settle-dispute: which dispute, by the gateway's id, where several are open. */
  readonly disputeId?: string | undefined;
  /** settle-dispute: another outcome than the gateway reports. A second person must approve it. */
  readonly overrides?: boolean | undefined;
  /** The second person who approved it with all rows of a batch repair. */
  readonly approver?: string | undefined;
  /** Refused if it would move money: the person who approved it saw that it moves none. */
  readonly movesNoMoney?: boolean | undefined;
  /** The same key is the same action: its first outcome is answered again. */
  readonly actionKey: string;
}

/** Reasons to refuse a request that do not depend on the purchase. */
export function requestRefusal(
  request: Pick<ActionRequest, 'action' | 'by' | 'reason' | 'evidence' | 'outcome'>,
): ActionRefusal | undefined {
  if (!isTextOf(request.by, 1, MAX_PERSON)) return 'PERSON_NEEDED';
  if (!isTextOf(request.reason, MIN_REASON_CHARACTERS, MAX_REASON_CHARACTERS)) return 'REASON_NEEDED';
  const wantsEvidence = actionSpec(request.action).needsEvidence || request.evidence !== undefined;
  if (wantsEvidence && !isTextOf(request.evidence ?? '', MIN_REASON_CHARACTERS, MAX_REASON_CHARACTERS))
    return 'EVIDENCE_NEEDED';
  return request.action === 'settle-dispute' && request.outcome === undefined ? 'OUTCOME_NEEDED' : undefined;
}

function isTextOf(text: string, min: number, max: number): boolean {
  const { length } = text.trim();
  return length >= min && length <= max;
}

/** How an action ended. As with everything that crosses a network: done, refused or unknown. */
export type ActionOutcome =
  | {
      readonly outcome: 'done';
      readonly actionId: string;
      /** What was done, in a sentence. */
      readonly did: string;
      /** It was done before under the same key; nothing was done now. */
      readonly again?: true;
    }
  /** Kept until another person approves it. */
  | { readonly outcome: 'waits-for-approval'; readonly actionId: string; readonly expiresAt: string }
  | {
      readonly outcome: 'refused';
      readonly code: ActionRefusal;
      readonly detail: string;
      /** The available actions. */
      readonly fits: readonly OperatorAction[];
    }
  /** No answer in time: it may still be carried out. Sending the same action again gives its outcome. */
  | { readonly outcome: 'unknown'; readonly detail: string };

export const ACTION_RECORD_STATUSES = [
  /** By an operator; the workflow has not begun it. */
  'ASKED',
  'BEGUN',
  'WAITS_FOR_APPROVAL',
  'APPROVED',
  'DONE',
  'REFUSED',
  'DECLINED',
  'EXPIRED',
] as const;
export type ActionRecordStatus = (typeof ACTION_RECORD_STATUSES)[number];

/** The money of a purchase or a funding, by where it is. */
export interface ActionMoney extends Pick<ActionFacts, 'inWallet' | 'earned'> {
  readonly price: Money;
  /** What open disputes are about. */
  readonly disputed?: readonly (Money & { readonly disputeId: string })[];
  /** Asked for at the gateway; null from the wallet. With the price it is the locked rate. */
  readonly charge: Money | null;
  /** Not ended, and what it is in the wallet's currency; null there: no rate was locked for it. */
  readonly openRefund: { readonly amount: Money; readonly credit: Money | null } | null;
  /** What of the earned the gateway can send back, in the charge's currency. */
  readonly earnedAtSource: Money | null;
  /** What of the money on hold a bank has left, and does not dispute. */
  readonly onHold?: Money;
}

export type AmountOf = { readonly amount: Money | null } | { readonly refusal: ActionRefusal };

type Asked = Pick<ActionRequest, 'amountMinor' | 'currency' | 'movesNoMoney' | 'disputeId'>;

/** What an available action would move. Parts are possible only in the wallet or of what was earned. */
export function amountOf(
  action: OperatorAction,
  facts: ActionFacts,
  money: ActionMoney,
  asked: Asked,
): AmountOf {
  const given = RULES[action].amount(facts, money, asked);
  // Of a return with a fee of all of it: the action still runs, and its record has no amount.
  const allowed = 'amount' in given && given.amount?.amountMinor === 0n ? movesNone() : given;
  const isMore = asked.movesNoMoney === true && 'amount' in allowed && allowed.amount !== null;
  return isMore ? { refusal: 'AMOUNT_NOT_ALLOWED' } : allowed;
}

function refundAmount(facts: ActionFacts, money: ActionMoney, asked: Asked): AmountOf {
  if (facts.status === 'PROCESSING') return whole(money.charge, asked);
  if (money.openRefund !== null) return wholeRefund(money.openRefund.amount, asked);
  return part(money.inWallet ?? money.earnedAtSource, asked);
}

function creditAmount(facts: ActionFacts, money: ActionMoney, asked: Asked): AmountOf {
  if (facts.status === 'PROCESSING') return whole(money.onHold ?? money.price, asked);
  if (money.openRefund !== null) return creditOf(money.openRefund.credit, money.price, asked);
  return part(money.earned, asked);
}

function whole(all: Money | null, asked: Asked): AmountOf {
  const given = part(all, asked);
  // Stryker disable next-line OptionalChaining: without a refusal there is an amount
  if ('refusal' in given || given.amount?.amountMinor === all?.amountMinor) return given;
  return { refusal: 'AMOUNT_NOT_ALLOWED' };
}

/** Another amount is about other money, which waits until the refund has ended. */
function wholeRefund(all: Money, asked: Asked): AmountOf {
  const allowed = whole(all, asked);
  const isOther = 'refusal' in allowed && /^AMOUNT_(NOT_ALLOWED|TOO_HIGH)$/.test(allowed.refusal);
  return isOther ? { refusal: 'REFUND_ON_ITS_WAY' } : allowed;
}

function part(all: Money | null, { amountMinor, currency }: Asked): AmountOf {
  if (all === null || all.amountMinor <= 0n) return { refusal: 'NOTHING_TO_RETURN' };
  if (currency !== undefined && currency !== all.currency) return { refusal: 'OTHER_CURRENCY' };
  if (amountMinor === undefined) return { amount: all };
  const wanted = BigInt(amountMinor);
  if (wanted <= 0n) return { refusal: 'AMOUNT_NOT_ALLOWED' };
  return wanted > all.amountMinor
    ? { refusal: 'AMOUNT_TOO_HIGH' }
    : { amount: { amountMinor: wanted, currency: all.currency } };
}

/** The most that a column holds. */
const ANY_MINOR = 2n ** 63n - 1n;

/** Without a locked rate, the person who credits it enters its value. */
function creditOf(credit: Money | null, { currency }: Money, asked: Asked): AmountOf {
  if (credit !== null) return wholeRefund(credit, asked);
  if (asked.amountMinor === undefined) return { refusal: 'AMOUNT_NEEDED' };
  return part({ amountMinor: ANY_MINOR, currency }, asked);
}

/** In the price's currency: at the locked rate, or the whole price where there is none. */
export function worthOf(amount: Money, { price, charge }: ActionMoney): Money {
  if (amount.currency === price.currency) return amount;
  if (charge === null || amount.currency !== charge.currency) return price;
  return {
    amountMinor: divideHalfUp(amount.amountMinor * price.amountMinor, charge.amountMinor),
    currency: price.currency,
  };
}

/** Amounts by currency. A currency without one is not limited. */
type AmountLimits = Readonly<Record<string, bigint>>;

/** Amounts above which a second person is needed. */
export interface ApprovalLimits {
  readonly perAction: AmountLimits;
  /** What one person moves within LIMITED_OVER_MS without a second person. */
  readonly perPersonDay: AmountLimits;
  /** What is moved on one account within LIMITED_OVER_MS without a second person. */
  readonly perAccountDay: AmountLimits;
}

/** How long after its request a workflow may begin an action. A repeated request wakes it again. */
export const BEGIN_WITHIN_MS = 3_600_000;

export const APPROVAL_WITHIN_MS = 7 * 24 * 3_600_000;

/** A rolling day. */
export const LIMITED_OVER_MS = 24 * 3_600_000;

/** What an action moves, as limits count it. null: no money moves, or the refund was decided before. */
export function worthMoved(
  action: OperatorAction,
  { openRefund }: Pick<ActionFacts, 'openRefund'>,
  amount: Money | null,
  money: ActionMoney,
): Money | null {
  const isDecided = action === 'refund-to-source' && (openRefund === 'due' || openRefund === 'on-its-way');
  return amount === null || isDecided ? null : worthOf(amount, money);
}

/** Whether an action needs a second person: by itself, or with what was moved before it. */
export function isAboveLimits(
  { amountMinor, currency }: Money,
  moved: { readonly byPersonMinor: bigint; readonly onAccountMinor: bigint },
  { perAction, perPersonDay, perAccountDay }: ApprovalLimits,
): boolean {
  const isAbove = (sumMinor: bigint, limits: AmountLimits): boolean => {
    const limitMinor = limits[currency];
    // Stryker disable next-line ConditionalExpression: nothing is more than undefined
    return limitMinor !== undefined && sumMinor > limitMinor;
  };
  return (
    isAbove(amountMinor, perAction) ||
    isAbove(moved.byPersonMinor + amountMinor, perPersonDay) ||
    isAbove(moved.onAccountMinor + amountMinor, perAccountDay)
  );
}
