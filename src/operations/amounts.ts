/**
 * How much an operator's move moves, and whether it is worth a second person. Pure. Amounts are whole unless the money is in the wallet or was
 * earned: what is on hold or on its way back moves as one.
 */
import { divideHalfUp, type Money } from '../domain/money.ts';
import type { ActionFacts, ActionRefusal, ActionRequest } from './rules.ts';
import type { OperatorAction } from '../accounts/roles.ts';

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

/** What a move that fits would move; null where it moves no money. */
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

/** Money of a currency that nobody agreed on has no rate of ours: whoever credits it says what it is worth. */
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

/** How long a move waits for its second person. */
export const APPROVAL_WITHIN_MS = 7 * 24 * 3_600_000;

/** Moves whose money somebody else has decided about, or that move none, need one person only. */
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
