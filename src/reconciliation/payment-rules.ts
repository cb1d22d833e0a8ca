/** Our books and the gateway's. Guarantee: what is still moving is undecided, never a difference. */
import { divideHalfUp } from '../domain/money.ts';
import type { GatewayDispute, StatementLine } from '../payments/port.ts';

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

/** Amounts as digits of minor units, times as ISO 8601. Equal facts are the same difference. */
export type Facts = Readonly<Record<string, string>>;

export interface Difference {
  readonly kind: DifferenceKind;
  /** The same in every run: a payment's reference, a refund's key, a purchase's id. */
  readonly subject: string;
  /** The purchase or funding behind it, where one is known. */
  readonly transactionId: string | null;
  /** `USD4` for the supplier's units. */
  readonly currency: string;
  /** Theirs less ours: above zero they hold, or have taken, more than is booked. */
  readonly amountMinor: bigint;
  /** null: that side knows nothing about it. */
  readonly ours: Facts | null;
  readonly theirs: Facts | null;
}

/** The result of a run, in plain values, since it travels through Temporal. Times are ISO 8601. */
export interface ReconcileSummary {
  readonly runId: string;
  readonly from: string;
  readonly to: string;
  /** How many of each were compared: `charges`, `refunds`, `reversals`, `orders`. */
  readonly compared: Readonly<Record<string, number>>;
  readonly opened: number;
  readonly closed: number;
  /** Open differences of any age. */
  readonly open: readonly { readonly kind: DifferenceKind; readonly count: number }[];
}

/** The result of comparing one subject. */
export interface Verdict {
  readonly subject: string;
  readonly differences: readonly Difference[];
  /** It differs, and has moved too recently to count: compared again in the next run. */
  readonly isUndecided: boolean;
}

export const decided = (subject: string, ...differences: readonly Difference[]): Verdict => ({
  subject,
  differences,
  isUndecided: false,
});

export const undecided = (subject: string): Verdict => ({ subject, differences: [], isUndecided: true });

/** The same for every comparison of a run. */
export interface Rules {
  /** What has moved since is still in flight. */
  readonly settledBefore: Date;
  readonly fees: FeeTariffs;
}

/** The gateway's fee on a charge. */
export interface FeeTariff {
  readonly rateBps: number;
  readonly fixedMinor: bigint;
  /** Charges below this do not pay the fixed part. */
  readonly fixedFromMinor: bigint;
  /** null: no limit. */
  readonly capMinor: bigint | null;
}

/** By currency, several where foreign cards cost more. Fees in other currencies are not compared. */
export type FeeTariffs = Readonly<Record<string, readonly FeeTariff[]>>;

/** One movement on the statement. `refund`: not requested by us, but made by hand at the gateway. */
export interface GatewayLine extends Pick<
  StatementLine,
  'kind' | 'reference' | 'gatewayId' | 'feesOnTopMinor' | 'at'
> {
  readonly currency: string;
  /** Includes fees on top. */
  readonly amountMinor: bigint;
  /** null: unknown. */
  readonly feesMinor: bigint | null;
}

export interface Moved {
  readonly currency: string;
  readonly receivedMinor: bigint;
  readonly takenBackMinor: bigint;
}

/** A payment as the ledger has it, without refunds that we requested. */
export interface OurCharge {
  readonly reference: string;
  readonly transactionId: string;
  /** The requested amount. */
  readonly chargeMinor: bigint;
  readonly chargeCurrency: string;
  readonly moved: readonly Moved[];
  readonly lastMovedAt: Date | null;
}

/**
 * No lines: the gateway holds nothing. Lines without a charge: the charge is older than the statement, so
 * only what was taken back is compared.
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
    return decided(reference, ...feeDifferences(ours, lines, rules));
  const movedAt = lines.map((line) => line.at);
  if (isTooYoung(ours?.lastMovedAt ? [...movedAt, ours.lastMovedAt] : movedAt, rules))
    return undecided(reference);
  const [first] = theirs.length > 0 ? theirs : booked;
  // Stryker disable next-line OptionalChaining,StringLiteral: sides that differ have a movement
  const currency = first?.currency ?? '';
  const [own, held] = [inCurrency(booked, currency), inCurrency(theirs, currency)];
  return decided(reference, {
    kind: isPart ? 'refund-missing-in-ledger' : kindOf(booked, theirs, lines),
    subject: reference,
    transactionId: ours?.transactionId ?? null,
    currency,
    amountMinor: isPart ? own.takenBackMinor - held.takenBackMinor : netOf(held) - netOf(own),
    ours: ours === undefined ? null : bookedFacts(ours),
    theirs: lines.length === 0 ? null : { ...factsOf(theirs), gatewayIds: idsOf(lines) },
  });
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
  // Both sides received in the same currencies, so `once` is above zero.
  const isRepeated = theirs.some(({ currency, receivedMinor }) => {
    const once = inCurrency(booked, currency).receivedMinor;
    return receivedMinor > once && receivedMinor % once === 0n;
  });
  const charges = lines.filter((line) => line.kind === 'charge').length;
  return charges > 1 || isRepeated ? 'double-at-gateway' : 'amount-differs';
}

/** Charges that came in parts, or with the fee on top, have no single amount that a tariff applies to. */
function feeDifferences(
  ours: OurCharge | undefined,
  lines: readonly GatewayLine[],
  rules: Rules,
): Difference[] {
  const [charge, second] = lines.filter((line) => line.kind === 'charge');
  if (!charge || second || !ours || charge.feesOnTopMinor > 0n) return [];
  const { feesMinor, amountMinor, currency } = charge;
  if (feesMinor === null || amountMinor !== ours.chargeMinor || currency !== ours.chargeCurrency) return [];
  const agreed = (rules.fees[currency] ?? []).map((tariff) => feeOf(amountMinor, tariff));
  const [usual] = agreed;
  if (usual === undefined || agreed.some((feeMinor) => isWithinOne(feeMinor, feesMinor))) return [];
  return [
    {
      kind: 'fee-differs',
      subject: ours.reference,
      transactionId: ours.transactionId,
      currency,
      amountMinor: feesMinor - usual,
      ours: { agreedFeeMinor: agreed.join(' or ') },
      theirs: { feeMinor: String(feesMinor), gatewayIds: charge.gatewayId },
    },
  ];
}

/** A tariff's fee on an amount, rounded half up. */
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

/** A refund that we requested, as our rows and the ledger have it. */
export interface OurRefund {
  readonly refundKey: string;
  readonly reference: string;
  readonly transactionId: string;
  readonly status: string;
  readonly currency: string;
  readonly amountMinor: bigint;
  /** Booked as sent back: the amount, or zero. */
  readonly bookedMinor: bigint;
  readonly lastMovedAt: Date;
}

/** Compares one refund of ours with what the gateway sent back for it; undefined: nothing. */
export function compareRefund(ours: OurRefund, line: GatewayLine | undefined, rules: Rules): Verdict {
  const { refundKey: subject, bookedMinor, status, currency, amountMinor } = ours;
  const sentMinor = line?.amountMinor ?? 0n;
  if (sentMinor === bookedMinor && (line === undefined || line.currency === currency))
    return decided(subject);
  if (isTooYoung([ours.lastMovedAt, ...(line ? [line.at] : [])], rules)) return undecided(subject);
  const kindOfSent = bookedMinor === 0n ? 'refund-missing-in-ledger' : 'refund-differs';
  return decided(subject, {
    kind: line === undefined ? 'refund-missing-at-gateway' : kindOfSent,
    subject,
    transactionId: ours.transactionId,
    currency: line?.currency ?? currency,
    // Money sent back is money they hold less.
    amountMinor: bookedMinor - sentMinor,
    ours: { status, currency, amountMinor: String(amountMinor), bookedMinor: String(bookedMinor) },
    theirs: line
      ? { currency: line.currency, amountMinor: String(line.amountMinor), gatewayIds: line.gatewayId }
      : null,
  });
}

/** Whether anything moved too recently to decide. */
export function isTooYoung(movedAt: readonly Date[], rules: Pick<Rules, 'settledBefore'>): boolean {
  return movedAt.some((at) => at >= rules.settledBefore);
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
  const ids = lines.map((line) => line.gatewayId);
  return ids.toSorted().join(' ');
}

export interface DisputedPayment {
  readonly reference: string;
  readonly transactionId: string;
  readonly currency: string;
  /** Received and not taken back: at stake in its disputes. */
  readonly heldMinor: bigint;
}

export interface OurDispute {
  readonly disputeId: string;
  readonly outcome: 'WON' | 'LOST' | null;
  readonly isSettled: boolean;
  readonly lastMovedAt: Date;
}

/** Compares all disputes of one payment. */
export function compareDisputes(
  payment: DisputedPayment,
  ours: readonly OurDispute[],
  theirs: readonly GatewayDispute[],
  rules: Rules,
): Verdict[] {
  const left = theirs.filter((one) => !ours.some(({ disputeId }) => disputeId === one.disputeId));
  const verdicts = ours.map((own) => {
    const other = theirs.find(({ disputeId }) => disputeId === own.disputeId);
    return verdictOf(payment, own, other, rules);
  });
  return [...verdicts, ...left.map((other) => verdictOf(payment, undefined, other, rules))];
}

function verdictOf(
  payment: DisputedPayment,
  ours: OurDispute | undefined,
  theirs: GatewayDispute | undefined,
  rules: Rules,
): Verdict {
  const subject = `${payment.reference} dispute ${theirs?.disputeId ?? ours?.disputeId ?? ''}`.trimEnd();
  const kind = disputeKindOf(ours, theirs, payment);
  if (kind === undefined) return decided(subject);
  if (isTooYoung([ours?.lastMovedAt ?? theirs?.openedAt ?? new Date(0)], rules)) return undecided(subject);
  return decided(subject, {
    kind,
    subject,
    transactionId: payment.transactionId,
    currency: payment.currency,
    // What they may take, or have left with us, against what we count on.
    amountMinor: -payment.heldMinor,
    ours: ours ? { state: stateOf(ours) } : null,
    theirs: theirs ? { state: theirs.state, gatewayStatus: theirs.gatewayStatus } : null,
  });
}

function disputeKindOf(
  ours: OurDispute | undefined,
  theirs: GatewayDispute | undefined,
  { heldMinor }: DisputedPayment,
): Difference['kind'] | undefined {
  if (!theirs) return 'dispute-missing-at-gateway';
  // A payment that brought nothing has nothing at stake.
  if (!ours) return heldMinor > 0n ? 'dispute-missing-in-ledger' : undefined;
  const state = stateOf(ours);
  // Settled before outcomes were stored: it can only be compared whether it is over.
  const isSame = state === 'settled' ? theirs.state !== 'open' : state === theirs.state;
  return isSame ? undefined : 'dispute-differs';
}

function stateOf({ outcome, isSettled }: OurDispute): 'open' | 'won' | 'lost' | 'settled' {
  if (outcome !== null) return outcome === 'WON' ? 'won' : 'lost';
  return isSettled ? 'settled' : 'open';
}
