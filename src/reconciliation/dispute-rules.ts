/** Disputes as our rows have them beside those of the gateway. Pure. */
import type { Difference, Rules, Verdict } from './payment-rules.ts';
import type { DisputeState } from '../payments/rules.ts';

/** A disputed payment, as far as money is concerned. */
export interface DisputedPayment {
  readonly reference: string;
  readonly transactionId: string;
  readonly currency: string;
  /** What came and is not taken back: at stake in its disputes. */
  readonly heldMinor: bigint;
}

/** A dispute as our rows have it. */
export interface OurDispute {
  /** "" until a look has told it. */
  readonly disputeId: string;
  readonly outcome: 'WON' | 'LOST' | null;
  readonly isSettled: boolean;
  readonly lastMovedAt: Date;
}

/** A dispute as the gateway has it. */
export interface TheirDispute {
  readonly disputeId: string;
  readonly state: DisputeState;
  readonly gatewayStatus: string;
  readonly openedAt: Date | null;
}

/** Compares all disputes of one payment. Ours without an id is the oldest of theirs that no other of ours is. */
export function compareDisputes(
  payment: DisputedPayment,
  ours: readonly OurDispute[],
  theirs: readonly TheirDispute[],
  rules: Rules,
): Verdict[] {
  const left = theirs.filter((one) => !ours.some(({ disputeId }) => disputeId === one.disputeId));
  const verdicts = ours.map((own) => {
    const other = theirs.find(({ disputeId }) => disputeId === own.disputeId);
    return verdictOf(payment, own, other ?? (own.disputeId === '' ? left.shift() : undefined), rules);
  });
  return [...verdicts, ...left.map((other) => verdictOf(payment, undefined, other, rules))];
}

function verdictOf(
  payment: DisputedPayment,
  ours: OurDispute | undefined,
  theirs: TheirDispute | undefined,
  rules: Rules,
): Verdict {
  const subject = `${payment.reference} dispute ${theirs?.disputeId ?? ours?.disputeId ?? ''}`.trimEnd();
  const kind = kindOf(ours, theirs, payment);
  if (kind === undefined) return { subject, differences: [], isUndecided: false };
  const movedAt = ours?.lastMovedAt ?? theirs?.openedAt ?? new Date(0);
  if (movedAt >= rules.settledBefore) return { subject, differences: [], isUndecided: true };
  const difference: Difference = {
    kind,
    subject,
    transactionId: payment.transactionId,
    currency: payment.currency,
    // What they may take of it, or have left us, against what we count on.
    amountMinor: -payment.heldMinor,
    ours: ours ? { state: stateOf(ours) } : null,
    theirs: theirs ? { state: theirs.state, gatewayStatus: theirs.gatewayStatus } : null,
  };
  return { subject, differences: [difference], isUndecided: false };
}

function kindOf(
  ours: OurDispute | undefined,
  theirs: TheirDispute | undefined,
  { heldMinor }: DisputedPayment,
): Difference['kind'] | undefined {
  if (!theirs) return 'dispute-missing-at-gateway';
  // What brought nothing has nothing at stake.
  if (!ours) return heldMinor > 0n ? 'dispute-missing-in-ledger' : undefined;
  const state = stateOf(ours);
  // Settled before outcomes were kept: only that it is over can be compared.
  const isSame = state === 'settled' ? theirs.state !== 'open' : state === theirs.state;
  return isSame ? undefined : 'dispute-differs';
}

function stateOf({ outcome, isSettled }: OurDispute): 'open' | 'won' | 'lost' | 'settled' {
  if (outcome !== null) return outcome === 'WON' ? 'won' : 'lost';
  return isSettled ? 'settled' : 'open';
}
