/**
 * An operator's moves on a purchase or a funding: which there are, which fit how it stands, and why one does not. Pure: the command line,
 * the workflow's validator and the step that makes the move ask the same tables. Moves are wishes; the ledger's own rules decide.
 */
import type { Money } from '../domain/money.ts';
import type { PurchaseStatus, PaymentPurpose } from '../domain/states.ts';
import { OPERATOR_ACTIONS, type OperatorAction } from '../accounts/roles.ts';
import type { DisputeOutcome } from '../payments/rules.ts';

/** Moves that only ask: made as often as somebody likes, each time anew. */
export const CHECK_ACTIONS: readonly OperatorAction[] = [
  'look-at-gateway',
  'look-at-supplier',
  'retry-delivery',
];

/** Moves that rest on something nobody here can look up, so the person says where it can be seen. */
const ALWAYS_WITH_EVIDENCE: readonly OperatorAction[] = ['mark-paid', 'settle-claim'];

/** Why a move is refused. A closed list, published in docs/OPERATIONS.md. */
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

/** How a purchase or a funding stands, as far as moves are concerned. */
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

/** What is known of a purchase or a funding when a move is asked for. */
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
const MOVES_OF_STATE: Record<PurchaseSituation, readonly OperatorAction[]> = {
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

/** Whether a move may fit a state at all, whatever else is known. */
export function couldBeAvailable(move: OperatorAction, state: PurchaseSituation): boolean {
  return MOVES_OF_STATE[state].includes(move);
}

export const actionsInSituation = (state: PurchaseSituation): readonly OperatorAction[] =>
  MOVES_OF_STATE[state];

/** How a move was asked for, where that decides whether it fits. */
export interface ActionTerms {
  /** Given back although it was delivered: a gift, and asked for as one. */
  readonly isGoodwill: boolean;
  readonly hasEvidence: boolean;
}

/** With everything that a person could add: what fits then is worth offering. */
const BEST_TERMS: ActionTerms = { isGoodwill: true, hasEvidence: true };

/** The moves that fit, with evidence or as goodwill where they need it. */
export function availableActions(facts: ActionFacts): OperatorAction[] {
  return OPERATOR_ACTIONS.filter((move) => refusalFor(move, facts, BEST_TERMS) === undefined);
}

/** Why a move does not fit, or undefined when it does. */
export function refusalFor(
  move: OperatorAction,
  facts: ActionFacts,
  terms: ActionTerms,
): ActionRefusal | undefined {
  if (!couldBeAvailable(move, situationOf(facts))) return whyNotThen(move, facts);
  const refusal = whyNotHere(move, facts, terms);
  if (refusal !== undefined) return refusal;
  return ALWAYS_WITH_EVIDENCE.includes(move) && !terms.hasEvidence ? 'EVIDENCE_NEEDED' : undefined;
}

function whyNotHere(move: OperatorAction, facts: ActionFacts, terms: ActionTerms): ActionRefusal | undefined {
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
      return whyNoRefund(facts, terms);
    case 'credit-wallet':
      return whyNoCredit(facts, terms);
    case 'cancel':
      return facts.status !== 'FAILED' || facts.isLeftOpen || facts.holdsMoney ? undefined : 'DOES_NOT_FIT';
    case 'settle-claim':
      return facts.hasClaim ? undefined : 'DOES_NOT_FIT';
  }
}

function whyNotThen(move: OperatorAction, { status }: ActionFacts): ActionRefusal {
  const undoes = move === 'cancel' || move === 'deliver-other';
  return undoes && status === 'SUCCESS' ? 'ALREADY_DELIVERED' : 'DOES_NOT_FIT';
}

function whyNoRefund(facts: ActionFacts, terms: ActionTerms): ActionRefusal | undefined {
  if (!facts.isFromOutside) return 'DOES_NOT_FIT';
  if (facts.status === 'PROCESSING') return undefined;
  // The gateway waits for the buyer: only who has paid the buyer by hand can end that here.
  if (facts.openRefund === 'waits') return terms.hasEvidence ? undefined : 'EVIDENCE_NEEDED';
  if (facts.openRefund !== null) return undefined;
  if (facts.hasClaim) return 'DOES_NOT_FIT';
  return facts.inWallet === null ? whyNoGoodwill(facts, terms) : undefined;
}

function whyNoCredit(facts: ActionFacts, terms: ActionTerms): ActionRefusal | undefined {
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
      return whyNoGoodwill(facts, terms);
  }
}

function whyNoGoodwill({ earned }: ActionFacts, { isGoodwill }: ActionTerms): ActionRefusal | undefined {
  if (earned === null) return 'NOTHING_TO_RETURN';
  return isGoodwill ? undefined : 'ALREADY_DELIVERED';
}

/** What a person says when making a move. Amounts are decimal digits of minor units, as all of this travels through Temporal. */
export interface ActionRequest {
  /** Of this try: its line on record. */
  readonly moveId: string;
  readonly transactionId: string;
  readonly move: OperatorAction;
  /** Who makes it: text for the audit row. */
  readonly by: string;
  readonly reason: string;
  /** Where what cannot be looked up here can be seen: an address, a ticket, a statement's line. */
  readonly evidence?: string;
  /** Absent: all that the move can move. */
  readonly amountMinor?: string;
  readonly currency?: string;
  /** deliver-other: what to deliver; absent: the cheapest equal package. */
  readonly packageCode?: string;
  readonly goodwill?: boolean;
  /** settle-claim: how it ended. */
  readonly outcome?: DisputeOutcome;
  /** settle-claim: which dispute, by the gateway's id, where several are open. */
  readonly disputeId?: string;
  /** settle-claim: against the gateway's word, which takes a second person. */
  readonly overrides?: boolean;
  /** The same key is the same move: its first outcome is answered again. */
  readonly moveKey: string;
}

const MIN_REASON = 3;
const MAX_TEXT = 500;
const MAX_PERSON = 200;

/** Why a wish is refused whatever it is about. */
export function whyNotAsked(
  wish: Pick<ActionRequest, 'move' | 'by' | 'reason' | 'evidence' | 'outcome'>,
): ActionRefusal | undefined {
  if (!isTextOf(wish.by, 1, MAX_PERSON)) return 'PERSON_NEEDED';
  if (!isTextOf(wish.reason, MIN_REASON, MAX_TEXT)) return 'REASON_NEEDED';
  const wantsEvidence = ALWAYS_WITH_EVIDENCE.includes(wish.move) || wish.evidence !== undefined;
  if (wantsEvidence && !isTextOf(wish.evidence ?? '', MIN_REASON, MAX_TEXT)) return 'EVIDENCE_NEEDED';
  return wish.move === 'settle-claim' && wish.outcome === undefined ? 'OUTCOME_NEEDED' : undefined;
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

/** How a move ended, for whoever made it. As with everything that crosses a network: done, refused or unknown. */
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
  /** Nobody answered in time: it may still be made. The same move again tells. */
  | { readonly outcome: 'unknown'; readonly detail: string };

/** How a move stands on record. */
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
  PERSON_NEEDED: 'who makes the move is needed',
  EVIDENCE_NEEDED: `evidence of ${MIN_REASON} to ${MAX_TEXT} characters is needed: where it can be seen`,
  NOT_FOUND: 'there is no such purchase or funding',
  DOES_NOT_FIT: 'it does not fit how things stand',
  ALREADY_DELIVERED: 'it was delivered; giving money back all the same is goodwill, and asked for as such',
  NOTHING_TO_RETURN: 'nothing of it is left to be given back',
  AMOUNT_TOO_HIGH: 'the amount is above what was paid and not yet given back',
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
  KEY_REUSED: 'another move was made under this key',
  SAME_PERSON: 'it needs another person than the one who asked for it',
  NOT_WAITING: 'it does not wait for approval',
  APPROVAL_EXPIRED: 'nobody approved it in time',
};
