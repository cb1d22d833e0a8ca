/**
 * Our books beside what the payment gateway and the supplier say of the same things: the kinds of differences, and the rules that find them.
 * Pure. Guarantee: what is still moving is undecided, never a difference. Must not decide what is to be done about one: that is a person's.
 */
import { divideHalfUp } from '../domain/money.ts';
import type { DisputeState } from '../payments/rules.ts';

export const DIFFERENCE_KINDS = [
  'missing-in-ledger',
  'missing-at-gateway',
  'amount-differs',
  'currency-differs',
  'double-at-gateway',
  'status-differs',
  'refund-missing-in-ledger',
  'refund-missing-at-gateway',
  'refund-differs',
  'dispute-missing-in-ledger',
  'dispute-missing-at-gateway',
  'dispute-differs',
  'fee-differs',
  'supplier-order-unknown',
  'supplier-order-unbooked',
  'supplier-order-missing',
  'supplier-order-double',
  'supplier-cost-differs',
  'supplier-balance-differs',
] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** What one side says of a subject: amounts as digits of minor units, times as ISO 8601. Equal facts are the same difference. */
export type Facts = Readonly<Record<string, string>>;

export interface Difference {
  readonly kind: DifferenceKind;
  /** What it is about, the same in every run: a payment's reference, a refund's key, a purchase's id. */
  readonly subject: string;
  /** The purchase or funding behind it, where one is known. */
  readonly transactionId: string | null;
  /** `USD4` for the supplier's units. */
  readonly currency: string;
  /** Theirs less ours: above zero they hold, or have taken, more than is booked. */
  readonly amountMinor: bigint;
  /** Null: that side knows nothing of it. */
  readonly ours: Facts | null;
  readonly theirs: Facts | null;
}

/** How many differences of any age are open, of a kind. */
export interface OpenCount {
  readonly kind: DifferenceKind;
  readonly count: number;
}

/** What a run came to; plain values, since it travels through Temporal. Times are ISO 8601. */
export interface ReconcileSummary {
  readonly runId: string;
  readonly from: string;
  readonly to: string;
  /** How many of each there were to compare: `charges`, `refunds`, `reversals`, `orders`. */
  readonly compared: Readonly<Record<string, number>>;
  readonly opened: number;
  readonly closed: number;
  readonly open: readonly OpenCount[];
}

/** What comparing one subject came to. */
export interface Verdict {
  readonly subject: string;
  readonly differences: readonly Difference[];
  /** It differs and has moved too lately to say so: looked at again in the next run. */
  readonly isUndecided: boolean;
}

/** What holds for every comparison of a run. */
export interface Rules {
  /** What has moved since is on its way. */
  readonly settledBefore: Date;
  readonly fees: FeeTariffs;
}

/** What the gateway takes of a charge. */
export interface FeeTariff {
  readonly rateBps: number;
  readonly fixedMinor: bigint;
  /** Charges below this are spared the fixed part. */
  readonly fixedFromMinor: bigint;
  /** The most that is taken; null: no limit. */
  readonly capMinor: bigint | null;
}

/** By currency, what was agreed on: more than one where cards of other countries cost more. A currency without is not looked at. */
export type FeeTariffs = Readonly<Record<string, readonly FeeTariff[]>>;

/** One movement on the gateway's statement. */
export interface GatewayLine {
  /** `refund`: one that is none of ours, made by hand at the gateway. */
  readonly kind: 'charge' | 'reversal' | 'refund';
  readonly reference: string;
  readonly gatewayId: string;
  readonly currency: string;
  /** Fees on top included. */
  readonly amountMinor: bigint;
  /** Null: not told. */
  readonly feesMinor: bigint | null;
  readonly feesOnTopMinor: bigint;
  readonly at: Date;
}

export interface Moved {
  readonly currency: string;
  readonly receivedMinor: bigint;
  readonly takenBackMinor: bigint;
}

/** A payment as the ledger has it, refunds at our own request left out. */
export interface OurCharge {
  readonly reference: string;
  readonly transactionId: string;
  /** What was asked for. */
  readonly chargeMinor: bigint;
  readonly chargeCurrency: string;
  readonly moved: readonly Moved[];
  readonly lastMovedAt: Date | null;
}

/**
 * Compares what the gateway holds for one reference with what is booked under it. `lines` without a charge: its charge is older than the
 * statement, so only what was taken back can be compared; no lines at all: the gateway holds nothing.
 */
export function compareCharge(
  reference: string,
  ours: OurCharge | undefined,
  lines: readonly GatewayLine[],
  rules: Rules,
): Verdict {
  const theirs = movedOf(lines);
  const booked = ours?.moved ?? [];
  const isPart = lines.length > 0 && !lines.some((line) => line.kind === 'charge');
  if (isPart ? coversTakenBack(booked, theirs) : isSameMoney(booked, theirs))
    return {
      subject: reference,
      differences: feeDifferences(reference, ours, lines, rules),
      isUndecided: false,
    };
  const movedAt = [...lines.map((line) => line.at), ...(ours?.lastMovedAt ? [ours.lastMovedAt] : [])];
  if (isTooYoung(movedAt, rules)) return { subject: reference, differences: [], isUndecided: true };
  const [first] = theirs.length > 0 ? theirs : booked;
  // Stryker disable next-line OptionalChaining,StringLiteral: sides that differ have a movement
  const currency = first?.currency ?? '';
  return {
    subject: reference,
    differences: [
      {
        kind: isPart ? 'refund-missing-in-ledger' : kindOf(booked, theirs, lines),
        subject: reference,
        transactionId: ours?.transactionId ?? null,
        currency,
        amountMinor: isPart
          ? -(inCurrency(theirs, currency).takenBackMinor - inCurrency(booked, currency).takenBackMinor)
          : netOf(inCurrency(theirs, currency)) - netOf(inCurrency(booked, currency)),
        ours: ours === undefined ? null : bookedFacts(ours),
        theirs: lines.length === 0 ? null : { ...factsOf(theirs), gatewayIds: idsOf(lines) },
      },
    ],
    isUndecided: false,
  };
}

function kindOf(
  booked: readonly Moved[],
  theirs: readonly Moved[],
  lines: readonly GatewayLine[],
): DifferenceKind {
  const [ours, held] = [receivedIn(booked), receivedIn(theirs)];
  if (held.length === 0) return 'missing-at-gateway';
  if (ours.length === 0) return 'missing-in-ledger';
  if (ours.join() !== held.join()) return 'currency-differs';
  const isSameReceived = theirs.every(
    (one) => one.receivedMinor === inCurrency(booked, one.currency).receivedMinor,
  );
  if (isSameReceived)
    return lines.some((line) => line.kind === 'refund') ? 'refund-missing-in-ledger' : 'status-differs';
  // Both sides received in the same currencies, so that what is more than once is more than zero.
  const isRepeated = theirs.some(({ currency, receivedMinor }) => {
    const once = inCurrency(booked, currency).receivedMinor;
    return receivedMinor > once && receivedMinor % once === 0n;
  });
  const charges = lines.filter((line) => line.kind === 'charge').length;
  return charges > 1 || isRepeated ? 'double-at-gateway' : 'amount-differs';
}

/** Charges that came in parts, or with the fee on top, have no one amount that a tariff could be applied to. */
function feeDifferences(
  reference: string,
  ours: OurCharge | undefined,
  lines: readonly GatewayLine[],
  rules: Rules,
): Difference[] {
  const [charge, second] = lines.filter((line) => line.kind === 'charge');
  if (!charge || second || !ours || charge.feesOnTopMinor > 0n) return [];
  const { feesMinor } = charge;
  if (feesMinor === null) return [];
  if (charge.amountMinor !== ours.chargeMinor || charge.currency !== ours.chargeCurrency) return [];
  const agreed = (rules.fees[charge.currency] ?? []).map((tariff) => feeOf(charge.amountMinor, tariff));
  const isAgreed = agreed.some((feeMinor) => isWithinOne(feeMinor, feesMinor));
  const [usual] = agreed;
  if (usual === undefined || isAgreed) return [];
  return [
    {
      kind: 'fee-differs',
      subject: reference,
      transactionId: ours.transactionId,
      currency: charge.currency,
      amountMinor: feesMinor - usual,
      ours: { agreedFeeMinor: agreed.join(' or ') },
      theirs: { feeMinor: String(feesMinor), gatewayIds: charge.gatewayId },
    },
  ];
}

/** What a tariff takes of an amount, half up. */
export function feeOf(amountMinor: bigint, tariff: FeeTariff): bigint {
  const fixedMinor = amountMinor >= tariff.fixedFromMinor ? tariff.fixedMinor : 0n;
  const feeMinor = divideHalfUp(amountMinor * BigInt(tariff.rateBps), 10_000n) + fixedMinor;
  // Stryker disable next-line EqualityOperator: a fee at the cap is the cap
  return tariff.capMinor !== null && feeMinor > tariff.capMinor ? tariff.capMinor : feeMinor;
}

/** The gateway does not say how it rounds. */
function isWithinOne(one: bigint, other: bigint): boolean {
  const apart = one - other;
  return apart >= -1n && apart <= 1n;
}

/** A refund at our request, as our rows and the ledger have it. */
export interface OurRefund {
  readonly refundKey: string;
  readonly reference: string;
  readonly transactionId: string;
  readonly status: string;
  readonly currency: string;
  readonly amountMinor: bigint;
  /** What the ledger has as sent back: the amount, or nothing. */
  readonly bookedMinor: bigint;
  readonly lastMovedAt: Date;
}

/** Compares one refund of ours with what the gateway has sent back of it; undefined: nothing. */
export function compareRefund(ours: OurRefund, line: GatewayLine | undefined, rules: Rules): Verdict {
  const sentMinor = line?.amountMinor ?? 0n;
  const isSame = sentMinor === ours.bookedMinor && (line === undefined || line.currency === ours.currency);
  const verdict = { subject: ours.refundKey, differences: [], isUndecided: false };
  if (isSame) return verdict;
  if (isTooYoung([ours.lastMovedAt, ...(line ? [line.at] : [])], rules))
    return { ...verdict, isUndecided: true };
  const kind =
    line === undefined
      ? 'refund-missing-at-gateway'
      : ours.bookedMinor === 0n
        ? 'refund-missing-in-ledger'
        : 'refund-differs';
  const difference: Difference = {
    kind,
    subject: ours.refundKey,
    transactionId: ours.transactionId,
    currency: line?.currency ?? ours.currency,
    // What went back is what they hold less.
    amountMinor: ours.bookedMinor - sentMinor,
    ours: {
      status: ours.status,
      currency: ours.currency,
      amountMinor: String(ours.amountMinor),
      bookedMinor: String(ours.bookedMinor),
    },
    theirs: line
      ? { currency: line.currency, amountMinor: String(line.amountMinor), gatewayIds: line.gatewayId }
      : null,
  };
  return { ...verdict, differences: [difference] };
}

/** Whether anything of it has moved too lately to be judged. */
export function isTooYoung(movedAt: readonly Date[], rules: Pick<Rules, 'settledBefore'>): boolean {
  return movedAt.some((at) => at.getTime() >= rules.settledBefore.getTime());
}

function movedOf(lines: readonly GatewayLine[]): Moved[] {
  const currencies = [...new Set(lines.map((line) => line.currency))].toSorted();
  return currencies.map((currency) => {
    const own = lines.filter((line) => line.currency === currency);
    return {
      currency,
      receivedMinor: sumOf(own.filter((line) => line.kind === 'charge')),
      takenBackMinor: sumOf(own.filter((line) => line.kind !== 'charge')),
    };
  });
}

function sumOf(lines: readonly GatewayLine[]): bigint {
  return lines.reduce((sum, line) => sum + line.amountMinor - line.feesOnTopMinor, 0n);
}

function inCurrency(moved: readonly Moved[], currency: string): Moved {
  const none = { currency, receivedMinor: 0n, takenBackMinor: 0n };
  return moved.find((one) => one.currency === currency) ?? none;
}

function netOf({ receivedMinor, takenBackMinor }: Moved): bigint {
  return receivedMinor - takenBackMinor;
}

function isSameMoney(booked: readonly Moved[], theirs: readonly Moved[]): boolean {
  return [...booked, ...theirs].every(
    ({ currency }) => netOf(inCurrency(booked, currency)) === netOf(inCurrency(theirs, currency)),
  );
}

function coversTakenBack(booked: readonly Moved[], theirs: readonly Moved[]): boolean {
  return theirs.every(
    ({ currency, takenBackMinor }) => inCurrency(booked, currency).takenBackMinor >= takenBackMinor,
  );
}

function receivedIn(moved: readonly Moved[]): string[] {
  return moved
    .filter((one) => one.receivedMinor > 0n)
    .map((one) => one.currency)
    .toSorted();
}

function bookedFacts({ moved, chargeCurrency: currency }: OurCharge): Facts {
  return factsOf(moved.length > 0 ? moved : [{ currency, receivedMinor: 0n, takenBackMinor: 0n }]);
}

/** `receivedNGNMinor`, and `takenBackNGNMinor` where something was taken back. */
function factsOf(moved: readonly Moved[]): Facts {
  return Object.fromEntries(
    moved.flatMap(({ currency, receivedMinor, takenBackMinor }) => [
      [`received${currency}Minor`, String(receivedMinor)],
      ...(takenBackMinor === 0n ? [] : [[`takenBack${currency}Minor`, String(takenBackMinor)]]),
    ]),
  ) as Facts;
}

function idsOf(lines: readonly GatewayLine[]): string {
  return lines
    .map((line) => line.gatewayId)
    .toSorted()
    .join(' ');
}

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
  const kind = disputeKindOf(ours, theirs, payment);
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

function disputeKindOf(
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
