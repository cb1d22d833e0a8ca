// Twenty errors of nine kinds between our books and a gateway's statement, and payments that differ only
// because they have just changed. Each changes one side of one payment, with the expected finding, and how
// the gateway corrects it. Must not touch a payment twice.
import type { DifferenceKind } from '../../../src/reconciliation/payment-rules.ts';
import type { FixtureBooks, FixturePayment } from './fixture-payments.ts';
import type { Random } from '../time/size.ts';
import type { HeldRefund, HeldTransaction } from '../vendors/statement-server.ts';

export interface FixtureError {
  readonly kind: DifferenceKind;
  readonly subject: string;
  /** Changes the gateway's side so that it equals our books. */
  readonly repair: () => void;
}

interface Pair {
  readonly planted: FixtureBooks;
  readonly ours: FixturePayment;
  readonly theirs: HeldTransaction;
  /** The refund of the payment, in our books and at the gateway. */
  readonly refund: { readonly key: string; readonly held: HeldRefund } | null;
}

type Plant = (pair: Pair) => FixtureError;

/** Ids that only the gateway has. */
const OTHER_ID = 9_000_000_000;

function remove<T>(from: T[], one: T): () => void {
  const [gone] = from.splice(from.indexOf(one), 1) as [T];
  return () => from.push(gone);
}

function change<T extends object>(one: T, changed: Partial<T>): () => void {
  const before = { ...one };
  Object.assign(one, changed);
  return () => Object.assign(one, before);
}

function add<T>(to: T[], one: T): () => void {
  to.push(one);
  return () => to.splice(to.indexOf(one), 1);
}

const about =
  (kind: DifferenceKind, plant: (pair: Pair) => () => void): Plant =>
  (pair) => ({ kind, subject: pair.ours.reference, repair: plant(pair) });

const aboutRefund = (
  kind: DifferenceKind,
  plant: (pair: Pair & { readonly refund: NonNullable<Pair['refund']> }) => () => void,
): Plant => {
  return (pair) => {
    const { refund } = pair;
    if (refund === null) throw new Error(`${pair.ours.reference} was not refunded`);
    return { kind, subject: refund.key, repair: plant({ ...pair, refund }) };
  };
};

const unbooked = about('missing-in-ledger', ({ ours, theirs }) => {
  ours.receivedMinor = 0;
  return () => (theirs.status = 'abandoned');
});
const unknownHere = about('missing-in-ledger', ({ ours, theirs }) => {
  ours.isUnknown = true;
  return () => (theirs.status = 'abandoned');
});
const unknownThere = about('missing-at-gateway', ({ planted, theirs }) =>
  remove(planted.theirs.transactions, theirs),
);
const leftThere = about('missing-at-gateway', ({ theirs }) => change(theirs, { status: 'abandoned' }));
const oneUnitMore = about('amount-differs', ({ theirs }) =>
  change(theirs, { amountMinor: theirs.amountMinor + 1 }),
);
const oneUnitLess = about('amount-differs', ({ theirs }) =>
  change(theirs, { amountMinor: theirs.amountMinor - 1 }),
);
const otherCurrency = about('currency-differs', ({ ours, theirs }) =>
  change(theirs, { currency: ours.currency === 'USD' ? 'NGN' : 'USD' }),
);
const twoCharges = about('double-at-gateway', ({ planted, theirs }) =>
  add(planted.theirs.transactions, { ...theirs, id: theirs.id + OTHER_ID }),
);
const paidAgain = about('double-at-gateway', ({ theirs }) =>
  change(theirs, { amountMinor: theirs.amountMinor * 2, feesMinor: theirs.feesMinor * 2 }),
);
const takenBackThere = about('status-differs', ({ theirs }) => change(theirs, { status: 'reversed' }));
const takenBackHere = about('status-differs', ({ ours, theirs }) => {
  ours.takenBackMinor = ours.receivedMinor;
  return () => (theirs.status = 'reversed');
});
const higherFee = about('fee-differs', ({ theirs }) => change(theirs, { feesMinor: theirs.feesMinor + 2 }));
const refundByHand = about('refund-missing-in-ledger', ({ planted, ours, theirs }) =>
  add(planted.theirs.refunds, {
    id: theirs.id + OTHER_ID,
    transactionId: theirs.id,
    key: '',
    status: 'processed',
    amountMinor: 100,
    currency: ours.currency,
    createdAtMs: ours.movedAtMs,
    doneAtMs: ours.movedAtMs,
  }),
);
const refundUnbooked = aboutRefund('refund-missing-in-ledger', ({ planted, ours, theirs, refund }) => {
  if (ours.refund) ours.refund.doneAtMs = null;
  return () => {
    remove(planted.theirs.refunds, refund.held);
    theirs.status = 'success';
  };
});
const refundUnknownThere = aboutRefund('refund-missing-at-gateway', ({ planted, theirs, refund }) => {
  const repairs = [remove(planted.theirs.refunds, refund.held), change(theirs, { status: 'success' })];
  return () => repairs.forEach((repair) => repair());
});
const refundFailedThere = aboutRefund('refund-missing-at-gateway', ({ theirs, refund }) => {
  const repairs = [change(refund.held, { status: 'failed' }), change(theirs, { status: 'success' })];
  return () => repairs.forEach((repair) => repair());
});

const ON_PLAIN: readonly Plant[] = [
  unbooked,
  unknownHere,
  unknownHere,
  unknownThere,
  unknownThere,
  leftThere,
  oneUnitMore,
  oneUnitMore,
  oneUnitLess,
  otherCurrency,
  otherCurrency,
  twoCharges,
  paidAgain,
  takenBackThere,
  takenBackHere,
  higherFee,
  refundByHand,
];
const ON_REFUNDED: readonly Plant[] = [refundUnbooked, refundUnknownThere, refundFailedThere];

/** How many errors are planted. */
export const ERRORS = ON_PLAIN.length + ON_REFUNDED.length;

/**
 * Plants every error once, each on its own payment that had settled by then, and answers the expected
 * findings.
 */
export function plantErrors(planted: FixtureBooks, random: Random, settledBeforeMs: number): FixtureError[] {
  const settled = pairsOf(planted).filter(
    ({ ours, refund }) => Math.max(ours.movedAtMs, refund?.held.doneAtMs ?? 0) < settledBeforeMs,
  );
  const plain = settled.filter(({ ours, theirs, refund }) => {
    const isOnce = ours.receivedMinor === ours.chargeMinor && theirs.amountMinor === ours.chargeMinor;
    return refund === null && isOnce && ours.takenBackMinor === 0 && ours.currency !== 'GHS';
  });
  const refunded = settled.filter(({ refund }) => refund !== null);
  const take = (from: Pair[]): Pair => {
    const [one] = from.splice(random.below(from.length), 1);
    if (!one) throw new Error('too few payments to plant errors on');
    return one;
  };
  return [
    ...ON_PLAIN.map((plant) => plant(take(plain))),
    ...ON_REFUNDED.map((plant) => plant(take(refunded))),
  ];
}

/**
 * Makes payments differ that changed after this moment: one side has the change, the other does not yet.
 * Answers how many.
 */
export function plantMoving(planted: FixtureBooks, movedAfterMs: number): number {
  const young = pairsOf(planted).filter(
    ({ ours, refund }) => ours.movedAtMs >= movedAfterMs && refund === null,
  );
  young.forEach(({ ours, theirs }, nth) => {
    if (nth % 2 === 0) ours.receivedMinor = ours.takenBackMinor = 0;
    else remove(planted.theirs.transactions, theirs);
  });
  return young.length;
}

function pairsOf(planted: FixtureBooks): Pair[] {
  const charges = new Map(planted.theirs.transactions.map((one) => [one.reference, one]));
  const refunds = new Map(planted.theirs.refunds.map((one) => [one.key, one]));
  return planted.ours.flatMap((ours) => {
    const theirs = charges.get(ours.reference);
    const held = ours.refund ? refunds.get(ours.refund.key) : undefined;
    const refund = ours.refund && held ? { key: ours.refund.key, held } : null;
    return theirs ? [{ planted, ours, theirs, refund }] : [];
  });
}
