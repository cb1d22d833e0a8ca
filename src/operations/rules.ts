/**
 * Operator actions on a purchase or a funding: which are available, and why one is refused. Pure: the command line, the workflow's validator
 * and the step that carries out the action use the same tables. The rules of the ledger have the last word.
 */
import { divideHalfUp, type Money } from '../domain/money.ts';
import type { PurchaseStatus, PaymentPurpose } from '../domain/states.ts';
import { OPERATOR_ACTIONS, type OperatorAction } from '../accounts/roles.ts';
import type { DisputeOutcome } from '../payments/rules.ts';

/** Actions that only check: each request is a new one. */
export const CHECK_ACTIONS: readonly OperatorAction[] = [
  'look-at-gateway',
  'look-at-supplier',
  'retry-delivery',
];

/** Actions that rest on facts this system cannot check, so the person says where they can be seen. */
const ALWAYS_WITH_EVIDENCE: readonly OperatorAction[] = ['mark-paid', 'settle-claim'];

/** Why an action is refused. A closed list, published in docs/OPERATIONS.md. */
export const ACTION_REFUSALS = [
  'REASON_NEEDED',
  'PERSON_NEEDED',
  'EVIDENCE_NEEDED',
  'NOT_FOUND',
  'DOES_NOT_FIT',
  'ALREADY_DELIVERED',
  'NOTHING_TO_RETURN',
  'AMOUNT_TOO_HIGH',
  'AMOUNT_NOT_ALLOWED',
  'AMOUNT_NEEDED',
  'OTHER_CURRENCY',
  'WALLET_TOO_LOW',
  'REFUND_ON_ITS_WAY',
  'SUPPLIER_MAY_DELIVER',
  'NO_EQUAL_PACKAGE',
  'PACKAGE_DOES_NOT_FIT',
  'OUTCOME_NEEDED',
  'DISPUTE_NEEDED',
  'DISPUTE_OPEN',
  'OUTCOME_DIFFERS',
  'GATEWAY_SILENT',
  'KEY_REUSED',
  'SAME_PERSON',
  'NOT_WAITING',
  'APPROVAL_EXPIRED',
] as const;
export type ActionRefusal = (typeof ACTION_REFUSALS)[number];

/** Where a purchase or a funding is, as far as actions are concerned. */
export const PURCHASE_SITUATIONS = [
  'awaiting-money',
  'delivering',
  'settling',
  'delivered',
  'ended',
] as const;
export type PurchaseSituation = (typeof PURCHASE_SITUATIONS)[number];

/** A refund that has not ended. `stuck`: the gateway will not send it. `waits`: the gateway waits for the buyer's details. */
export type OpenRefund = 'due' | 'on-its-way' | 'waits' | 'stuck';

/** The facts by which an action is allowed or refused. */
export interface ActionFacts {
  readonly purpose: PaymentPurpose;
  readonly status: PurchaseStatus;
  readonly isFromOutside: boolean;
  /** What was bought is kept here; only settling may be left. */
  readonly hasGoods: boolean;
  /** Money is on hold for it, whatever its status says. */
  readonly holdsMoney: boolean;
  readonly openRefund: OpenRefund | null;
  /** Of this payment, in the account's wallet, and still the gateway's to send back: in the currency that it was paid in. */
  readonly inWallet: Money | null;
  /** Earned by delivering and not given back since, in the price's currency. */
  readonly earned: Money | null;
  /** Nothing of its payment has come, by the gateway's word or a person's. */
  readonly isUnpaid: boolean;
  /** The money was disputed or taken back, and a person has not settled that yet. */
  readonly hasClaim: boolean;
  /** Its time is over and the gateway still leaves it open. */
  readonly isLeftOpen: boolean;
}

export function situationOf({
  status,
  hasGoods,
}: Pick<ActionFacts, 'status' | 'hasGoods'>): PurchaseSituation {
  switch (status) {
    case 'PENDING':
      return 'awaiting-money';
    case 'PROCESSING':
      return hasGoods ? 'settling' : 'delivering';
    case 'SUCCESS':
      return 'delivered';
    case 'FAILED':
      return 'ended';
  }
}

/** What may fit a state at all; what it takes beyond that stands in `whyNot`. */
const ACTIONS_OF_SITUATION: Record<PurchaseSituation, readonly OperatorAction[]> = {
  'awaiting-money': ['look-at-gateway', 'mark-paid', 'cancel'],
  delivering: [
    'look-at-gateway',
    'look-at-supplier',
    'retry-delivery',
    'deliver-other',
    'refund-to-source',
    'credit-wallet',
    'cancel',
  ],
  settling: ['look-at-gateway', 'look-at-supplier', 'retry-delivery'],
  delivered: [
    'look-at-gateway',
    'look-at-supplier',
    'retry-delivery',
    'refund-to-source',
    'credit-wallet',
    'settle-claim',
  ],
  ended: [
    'look-at-gateway',
    'look-at-supplier',
    'mark-paid',
    'refund-to-source',
    'credit-wallet',
    'cancel',
    'settle-claim',
  ],
};

/** Whether an action may be available in a situation at all, whatever the other facts. */
export function couldBeAvailable(move: OperatorAction, state: PurchaseSituation): boolean {
  return ACTIONS_OF_SITUATION[state].includes(move);
}

export const actionsInSituation = (state: PurchaseSituation): readonly OperatorAction[] =>
  ACTIONS_OF_SITUATION[state];

/** Parts of the request that decide whether the action is available. */
export interface ActionTerms {
  /** Given back although it was delivered: a gift, and asked for as one. */
  readonly isGoodwill: boolean;
  readonly hasEvidence: boolean;
}

/** With everything that a person could add: what fits then is worth offering. */
const BEST_TERMS: ActionTerms = { isGoodwill: true, hasEvidence: true };

/** The available actions, with evidence or as goodwill where they need it. */
export function availableActions(facts: ActionFacts): OperatorAction[] {
  return OPERATOR_ACTIONS.filter((move) => refusalFor(move, facts, BEST_TERMS) === undefined);
}

/** undefined: the action is available. */
export function refusalFor(
  move: OperatorAction,
  facts: ActionFacts,
  terms: ActionTerms,
): ActionRefusal | undefined {
  if (!couldBeAvailable(move, situationOf(facts))) return refusalElsewhere(move, facts);
  const refusal = refusalInSituation(move, facts, terms);
  if (refusal !== undefined) return refusal;
  return ALWAYS_WITH_EVIDENCE.includes(move) && !terms.hasEvidence ? 'EVIDENCE_NEEDED' : undefined;
}

function refusalInSituation(
  move: OperatorAction,
  facts: ActionFacts,
  terms: ActionTerms,
): ActionRefusal | undefined {
  switch (move) {
    case 'look-at-gateway':
      return facts.isFromOutside ? undefined : 'DOES_NOT_FIT';
    case 'retry-delivery':
      // Delivered and its money still on hold: only settling is left.
      return facts.status === 'PROCESSING' || facts.holdsMoney ? undefined : 'ALREADY_DELIVERED';
    case 'look-at-supplier':
    case 'deliver-other':
      return facts.purpose === 'purchase' ? undefined : 'DOES_NOT_FIT';
    case 'mark-paid':
      return facts.isFromOutside && facts.isUnpaid ? undefined : 'DOES_NOT_FIT';
    case 'refund-to-source':
      return refundRefusal(facts, terms);
    case 'credit-wallet':
      return creditRefusal(facts, terms);
    case 'cancel':
      return facts.status !== 'FAILED' || facts.isLeftOpen || facts.holdsMoney ? undefined : 'DOES_NOT_FIT';
    case 'settle-claim':
      return facts.hasClaim ? undefined : 'DOES_NOT_FIT';
  }
}

function refusalElsewhere(move: OperatorAction, { status }: ActionFacts): ActionRefusal {
  const undoes = move === 'cancel' || move === 'deliver-other';
  return undoes && status === 'SUCCESS' ? 'ALREADY_DELIVERED' : 'DOES_NOT_FIT';
}

function refundRefusal(facts: ActionFacts, terms: ActionTerms): ActionRefusal | undefined {
  if (!facts.isFromOutside) return 'DOES_NOT_FIT';
  if (facts.status === 'PROCESSING') return undefined;
  // The gateway waits for the buyer: only who has paid the buyer by hand can end that here.
  if (facts.openRefund === 'waits') return terms.hasEvidence ? undefined : 'EVIDENCE_NEEDED';
  if (facts.openRefund !== null) return undefined;
  if (facts.hasClaim) return 'DOES_NOT_FIT';
  return facts.inWallet === null ? goodwillRefusal(facts, terms) : undefined;
}

function creditRefusal(facts: ActionFacts, terms: ActionTerms): ActionRefusal | undefined {
  if (facts.status === 'PROCESSING') return undefined;
  // What a bank has taken back, or may, is not ours to give a second time.
  if (facts.hasClaim) return 'DOES_NOT_FIT';
  switch (facts.openRefund) {
    // Stryker disable next-line StringLiteral: what no case names is not refused either
    case 'due':
      return undefined;
    case 'on-its-way':
      return 'REFUND_ON_ITS_WAY';
    case 'waits':
    case 'stuck':
      // It may still be sent, or have been sent before us: somebody must have seen that it is not.
      return terms.hasEvidence ? undefined : 'EVIDENCE_NEEDED';
    case null:
      return goodwillRefusal(facts, terms);
  }
}

function goodwillRefusal({ earned }: ActionFacts, { isGoodwill }: ActionTerms): ActionRefusal | undefined {
  if (earned === null) return 'NOTHING_TO_RETURN';
  return isGoodwill ? undefined : 'ALREADY_DELIVERED';
}

/** What a person asks for. Amounts are decimal digits of minor units, as all of this travels through Temporal. */
export interface ActionRequest {
  /** Of this attempt: its line on record. */
  readonly moveId: string;
  readonly transactionId: string;
  readonly move: OperatorAction;
  /** Who asks: text for the audit row. */
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
  /** settle-claim: how it ended. */
  readonly outcome?: DisputeOutcome | undefined;
  /** settle-claim: which dispute, by the gateway's id, where several are open. */
  readonly disputeId?: string | undefined;
  /** settle-claim: against what the gateway says, which takes a second person. */
  readonly overrides?: boolean | undefined;
  /** The same key is the same action: its first outcome is answered again. */
  readonly moveKey: string;
}

const MIN_REASON = 3;
const MAX_TEXT = 500;
const MAX_PERSON = 200;

/** Why a request is refused whatever the purchase. */
export function requestRefusal(
  request: Pick<ActionRequest, 'move' | 'by' | 'reason' | 'evidence' | 'outcome'>,
): ActionRefusal | undefined {
  if (!isTextOf(request.by, 1, MAX_PERSON)) return 'PERSON_NEEDED';
  if (!isTextOf(request.reason, MIN_REASON, MAX_TEXT)) return 'REASON_NEEDED';
  const wantsEvidence = ALWAYS_WITH_EVIDENCE.includes(request.move) || request.evidence !== undefined;
  if (wantsEvidence && !isTextOf(request.evidence ?? '', MIN_REASON, MAX_TEXT)) return 'EVIDENCE_NEEDED';
  return request.move === 'settle-claim' && request.outcome === undefined ? 'OUTCOME_NEEDED' : undefined;
}

function isTextOf(text: string, min: number, max: number): boolean {
  const { length } = text.trim();
  return length >= min && length <= max;
}

/** The same person, however the name was typed. */
export function isSamePerson(one: string, other: string): boolean {
  return plainName(one) === plainName(other);
}

function plainName(name: string): string {
  const typed = name.normalize('NFKC').trim().replace(/\s+/g, ' ');
  // Stryker disable next-line MethodExpression: names compare the same in upper case
  return typed.toLowerCase();
}

/** How an action ended. As with everything that crosses a network: done, refused or unknown. */
export type ActionOutcome =
  | {
      readonly outcome: 'done';
      readonly moveId: string;
      /** What was done, in a sentence. */
      readonly did: string;
      /** It was made before under the same key; nothing was done now. */
      readonly again?: true;
    }
  /** Kept until another person approves it. */
  | { readonly outcome: 'waits-for-approval'; readonly moveId: string; readonly expiresAt: string }
  | {
      readonly outcome: 'refused';
      readonly code: ActionRefusal;
      readonly detail: string;
      /** What would fit now. */
      readonly fits: readonly OperatorAction[];
    }
  /** No answer in time: it may still be carried out. Sending the same action again gives its outcome. */
  | { readonly outcome: 'unknown'; readonly detail: string };

export const ACTION_RECORD_STATUSES = [
  'BEGUN',
  'WAITS_FOR_APPROVAL',
  'APPROVED',
  'DONE',
  'REFUSED',
  'DECLINED',
  'EXPIRED',
] as const;
export type ActionRecordStatus = (typeof ACTION_RECORD_STATUSES)[number];

/** What each refusal means, for people. */
export const REFUSAL_WORDS: Record<ActionRefusal, string> = {
  REASON_NEEDED: `a reason of ${MIN_REASON} to ${MAX_TEXT} characters is needed`,
  PERSON_NEEDED: 'the person who takes the action is needed',
  EVIDENCE_NEEDED: `evidence of ${MIN_REASON} to ${MAX_TEXT} characters is needed: where it can be seen`,
  NOT_FOUND: 'there is no such purchase or funding',
  DOES_NOT_FIT: 'it is not possible in the present state',
  ALREADY_DELIVERED: 'already delivered; ask for it as goodwill to refund anyway',
  NOTHING_TO_RETURN: 'nothing is left to refund',
  AMOUNT_TOO_HIGH: 'the amount is above what was paid and not yet refunded',
  AMOUNT_NOT_ALLOWED: 'here only the whole amount can be moved',
  AMOUNT_NEEDED: 'no rate was locked for this money: say what it is worth',
  OTHER_CURRENCY: 'the amount is in another currency than the money',
  WALLET_TOO_LOW: 'the wallet does not hold it any more',
  REFUND_ON_ITS_WAY: 'the gateway is sending it back already',
  SUPPLIER_MAY_DELIVER: 'the supplier may still deliver what was ordered',
  NO_EQUAL_PACKAGE: 'no other package is equal to it',
  PACKAGE_DOES_NOT_FIT: 'this package cannot be delivered instead',
  OUTCOME_NEEDED: 'say how the claim ended: won or lost',
  DISPUTE_NEEDED: 'several disputes are open: name the one that ended',
  DISPUTE_OPEN: 'the gateway still has the dispute open',
  OUTCOME_DIFFERS: 'the gateway says that it ended the other way',
  GATEWAY_SILENT: 'the gateway does not say how the dispute stands',
  KEY_REUSED: 'this key belongs to another action',
  SAME_PERSON: 'it needs another person than the one who asked for it',
  NOT_WAITING: 'it does not wait for approval',
  APPROVAL_EXPIRED: 'it was not approved in time',
};

/** The money of a purchase or a funding, by where it is. */
export interface ActionMoney {
  readonly price: Money;
  /** What is to be paid, or was, at the gateway; null from the wallet. With the price it is the locked rate. */
  readonly charge: Money | null;
  /** A refund that has not ended, with what it is in the wallet's currency; null there: no rate was locked for it. */
  readonly openRefund: { readonly amount: Money; readonly credit: Money | null } | null;
  readonly inWallet: Money | null;
  readonly earned: Money | null;
  /** What of the earned the gateway can send back, in the charge's currency. */
  readonly earnedAtSource: Money | null;
}

export type AmountOf = { readonly amount: Money | null } | { readonly refusal: ActionRefusal };

type Asked = Pick<ActionRequest, 'amountMinor' | 'currency'>;

/** The amount that an available action would move; null where it moves no money. Parts are possible only in the wallet or of what was earned. */
export function amountOf(
  move: OperatorAction,
  facts: ActionFacts,
  money: ActionMoney,
  asked: Asked,
): AmountOf {
  switch (move) {
    case 'look-at-gateway':
    case 'look-at-supplier':
    case 'retry-delivery':
      return { amount: null };
    case 'settle-claim':
    case 'deliver-other':
      return { amount: money.price };
    case 'cancel':
      return facts.holdsMoney ? whole(money.price, asked) : { amount: null };
    case 'mark-paid':
      return whole(money.charge, asked);
    case 'refund-to-source':
      if (facts.status === 'PROCESSING') return whole(money.charge, asked);
      if (money.openRefund !== null) return whole(money.openRefund.amount, asked);
      return part(money.inWallet ?? money.earnedAtSource, asked);
    case 'credit-wallet':
      if (facts.status === 'PROCESSING') return whole(money.price, asked);
      if (money.openRefund !== null) return creditOf(money.openRefund.credit, money.price, asked);
      return part(money.earned, asked);
  }
}

function whole(all: Money | null, asked: Asked): AmountOf {
  const given = part(all, asked);
  // Stryker disable next-line OptionalChaining: without a refusal there is an amount
  if ('refusal' in given || given.amount?.amountMinor === all?.amountMinor) return given;
  return { refusal: 'AMOUNT_NOT_ALLOWED' };
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

/** Without a locked rate, the person who credits it says what it is worth. */
function creditOf(credit: Money | null, price: Money, asked: Asked): AmountOf {
  if (credit !== null) return whole(credit, asked);
  if (asked.amountMinor === undefined) return { refusal: 'AMOUNT_NEEDED' };
  if (asked.currency !== undefined && asked.currency !== price.currency) return { refusal: 'OTHER_CURRENCY' };
  const wanted = BigInt(asked.amountMinor);
  return wanted > 0n
    ? { amount: { amountMinor: wanted, currency: price.currency } }
    : { refusal: 'AMOUNT_NOT_ALLOWED' };
}

/** An amount in the price's currency, by which limits count: at the locked rate, or the whole price where there is none. */
export function worthOf(amount: Money, { price, charge }: ActionMoney): Money {
  if (amount.currency === price.currency) return amount;
  if (charge === null || amount.currency !== charge.currency) return price;
  return {
    amountMinor: divideHalfUp(amount.amountMinor * price.amountMinor, charge.amountMinor),
    currency: price.currency,
  };
}

/** Amounts above which a second person is needed, by currency. A currency without one needs none. */
export type ApprovalLimits = Readonly<Record<string, bigint>>;

export const APPROVAL_WITHIN_MS = 7 * 24 * 3_600_000;

/** No second person is needed where no money moves, or where the refund was decided before. */
export function needsApproval(
  move: OperatorAction,
  facts: ActionFacts,
  amount: Money | null,
  money: ActionMoney,
  limits: ApprovalLimits,
): boolean {
  if (amount === null || isOnItsWay(move, facts)) return false;
  const worth = worthOf(amount, money);
  const limitMinor = limits[worth.currency];
  // Stryker disable next-line ConditionalExpression: nothing is more than undefined
  if (limitMinor === undefined) return false;
  return worth.amountMinor > limitMinor;
}

/** A refund that is due goes back anyway: asking for it again decides nothing. */
function isOnItsWay(move: OperatorAction, { openRefund }: ActionFacts): boolean {
  return move === 'refund-to-source' && (openRefund === 'due' || openRefund === 'on-its-way');
}
