// The rules of reconciliation: what differs, by how much and with which facts, what is still changing, and
// that equal sides never differ. The currencies of a charge are compared separately.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/domain/clock.ts';
import {
  compareCharge,
  compareRefund,
  feeOf,
  type FeeTariff,
  type GatewayLine,
  type OurCharge,
  type OurRefund,
  type Rules,
} from '../../src/reconciliation/payment-rules.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const lately = new Date(NOW - HOUR_MS / 2);
const TARIFF: FeeTariff = { rateBps: 150, fixedMinor: 10_000n, fixedFromMinor: 250_000n, capMinor: 200_000n };
const rules: Rules = { settledBefore: new Date(NOW - HOUR_MS), fees: { NGN: [TARIFF] } };

/**
 * Settled long ago, as all that follows by default: a charge of NGN 1,000.00 that both sides have, and a
 * refund of it.
 */
const long = new Date(NOW - 10 * HOUR_MS);
const line = (change: Partial<GatewayLine> = {}): GatewayLine => ({
  kind: 'charge',
  reference: 'txn-1',
  gatewayId: '1',
  currency: 'NGN',
  amountMinor: 100_000n,
  feesMinor: 1_500n,
  feesOnTopMinor: 0n,
  at: long,
  ...change,
});
const ours = (change: Partial<OurCharge> = {}): OurCharge => ({
  reference: 'txn-1',
  transactionId: 'txn-1',
  chargeMinor: 100_000n,
  chargeCurrency: 'NGN',
  moved: [{ currency: 'NGN', receivedMinor: 100_000n, takenBackMinor: 0n }],
  lastMovedAt: long,
  ...change,
});
const refund = (change: Partial<OurRefund> = {}): OurRefund => ({
  refundKey: 'txn-1-not-delivered',
  reference: 'txn-1',
  transactionId: 'txn-1',
  status: 'DONE',
  currency: 'NGN',
  amountMinor: 100_000n,
  bookedMinor: 100_000n,
  lastMovedAt: long,
  ...change,
});

const booked = (receivedMinor: bigint, takenBackMinor = 0n, currency = 'NGN') => [
  { currency, receivedMinor, takenBackMinor },
];

describe('a charge', () => {
  it.each<[string, OurCharge | undefined, GatewayLine[], bigint]>([
    ['missing-in-ledger', undefined, [line()], 100_000n],
    ['missing-in-ledger', ours({ moved: [], lastMovedAt: null }), [line()], 100_000n],
    ['missing-at-gateway', ours(), [], -100_000n],
    ['amount-differs', ours(), [line({ amountMinor: 100_001n })], 1n],
    ['amount-differs', ours(), [line({ amountMinor: 99_999n })], -1n],
    ['amount-differs', ours(), [line({ amountMinor: 150_000n })], 50_000n],
    ['currency-differs', ours(), [line({ currency: 'GHS' })], 100_000n],
    ['double-at-gateway', ours(), [line(), line({ gatewayId: '2' })], 100_000n],
    ['double-at-gateway', ours(), [line({ amountMinor: 300_000n })], 200_000n],
    ['status-differs', ours(), [line(), line({ kind: 'reversal' })], -100_000n],
    ['status-differs', ours({ moved: booked(100_000n, 100_000n) }), [line()], 100_000n],
    ['refund-missing-in-ledger', ours(), [line(), line({ kind: 'refund', amountMinor: 40_000n })], -40_000n],
    ['refund-missing-in-ledger', ours(), [line({ kind: 'refund', amountMinor: 40_000n })], -40_000n],
  ])('differs: %s', (kind, side, lines, amountMinor) => {
    const verdict = compareCharge('txn-1', side, lines, rules);
    expect(verdict).toMatchObject({ subject: 'txn-1', isUndecided: false });
    expect(verdict.differences).toMatchObject([{ kind, subject: 'txn-1', amountMinor }]);
    const [found] = verdict.differences;
    expect(found?.ours === null).toBe(side === undefined);
    expect(found?.theirs === null).toBe(lines.length === 0);
  });

  it.each<[string, OurCharge | undefined, GatewayLine[]]>([
    ['the same on both sides', ours(), [line()]],
    ['nothing on both sides', ours({ moved: [] }), []],
    ['paid twice, and booked twice', ours({ moved: booked(200_000n) }), [line({ amountMinor: 200_000n })]],
    ['the fee borne on top', ours(), [line({ amountMinor: 101_500n, feesOnTopMinor: 1_500n })]],
    [
      'reversed with the fee on top',
      ours({ moved: booked(100_000n, 100_000n) }),
      [
        line({ amountMinor: 101_500n, feesOnTopMinor: 1_500n }),
        line({ kind: 'reversal', amountMinor: 101_500n, feesOnTopMinor: 1_500n }),
      ],
    ],
    ['received and reversed before any check', ours({ moved: [] }), [line(), line({ kind: 'reversal' })]],
    [
      'refunded by hand and booked as taken back',
      ours({ moved: booked(100_000n, 100_000n) }),
      [line(), line({ kind: 'refund' })],
    ],
    [
      'the refund of an older charge, booked as taken back',
      ours({ moved: booked(100_000n, 100_000n) }),
      [line({ kind: 'refund', amountMinor: 100_000n })],
    ],
  ])('is no difference: %s', (_name, side, lines) => {
    expect(compareCharge('txn-1', side, lines, rules)).toEqual({
      subject: 'txn-1',
      differences: [],
      isUndecided: false,
    });
  });

  it.each<[string, OurCharge | undefined, GatewayLine[]]>([
    ['was paid a moment ago', undefined, [line({ at: lately })]],
    ['was booked a moment ago', ours({ lastMovedAt: lately }), []],
    ['moved a moment ago on one side', ours({ lastMovedAt: lately }), [line({ amountMinor: 1n })]],
    ['moved just when settling begins', undefined, [line({ at: rules.settledBefore })]],
  ])('is undecided if it %s', (_name, side, lines) => {
    expect(compareCharge('txn-1', side, lines, rules)).toEqual({
      subject: 'txn-1',
      differences: [],
      isUndecided: true,
    });
  });

  it('never differs when both sides are equal, and always when one unit is off', () => {
    const minor = fc.bigInt({ min: 1n, max: 10n ** 12n });
    fc.assert(
      fc.property(minor, fc.integer({ min: 0, max: 100 }), minor, (received, percent, off) => {
        const taken = (received * BigInt(percent)) / 100n;
        const side = ours({ moved: booked(received, taken), chargeMinor: received + 1n });
        const lines = [
          line({ amountMinor: received }),
          ...(taken > 0n ? [line({ kind: 'reversal', amountMinor: taken })] : []),
        ];
        expect(compareCharge('txn-1', side, lines, rules).differences).toEqual([]);
        const [charge, ...rest] = lines as [GatewayLine, ...GatewayLine[]];
        const wrong = [{ ...charge, amountMinor: charge.amountMinor + off }, ...rest];
        const found = compareCharge('txn-1', side, wrong, rules).differences;
        expect(found).toHaveLength(1);
        expect(found[0]?.amountMinor).toBe(off);
      }),
    );
  });
});

describe('the fee of a charge', () => {
  it.each([
    [100_000n, 1_500n],
    [249_999n, 3_750n],
    [250_000n, 13_750n],
    [20_000_000n, 200_000n],
    [33n, 0n],
    [34n, 1n],
  ])('of %s is %s', (amountMinor, feeMinor) => {
    expect(feeOf(amountMinor, TARIFF)).toBe(feeMinor);
  });

  it('differs beyond one unit of rounding, separately from the money', () => {
    const kinds = (feesMinor: bigint) =>
      compareCharge('txn-1', ours(), [line({ feesMinor })], rules).differences.map(
        ({ kind, amountMinor }) => `${kind} ${amountMinor}`,
      );
    expect(kinds(1_499n)).toEqual([]);
    expect(kinds(1_501n)).toEqual([]);
    expect(kinds(1_502n)).toEqual(['fee-differs 2']);
    expect(kinds(1_498n)).toEqual(['fee-differs -2']);
  });

  it('may be any agreed one, and is not compared if none was agreed', () => {
    const abroad = { ...TARIFF, rateBps: 390 };
    const two = { ...rules, fees: { NGN: [TARIFF, abroad] } };
    expect(compareCharge('txn-1', ours(), [line({ feesMinor: 3_900n })], two).differences).toEqual([]);
    const none = { ...rules, fees: {} };
    expect(compareCharge('txn-1', ours(), [line({ feesMinor: 3_900n })], none).differences).toEqual([]);
  });
});

describe('a refund of ours', () => {
  const sent = (change: Partial<GatewayLine> = {}) => line({ kind: 'refund', ...change });
  const open = { status: 'PENDING', bookedMinor: 0n };

  it.each<[string, OurRefund, GatewayLine | undefined, bigint]>([
    ['refund-missing-at-gateway', refund(), undefined, 100_000n],
    ['refund-missing-in-ledger', refund(open), sent(), -100_000n],
    ['refund-missing-in-ledger', refund({ status: 'CREDITED', bookedMinor: 0n }), sent(), -100_000n],
    ['refund-differs', refund(), sent({ amountMinor: 90_000n }), 10_000n],
    ['refund-differs', refund(), sent({ currency: 'USD' }), 0n],
  ])('differs: %s', (kind, side, theirs, amountMinor) => {
    expect(compareRefund(side, theirs, rules).differences).toMatchObject([
      { kind, subject: 'txn-1-not-delivered', transactionId: 'txn-1', amountMinor },
    ]);
  });

  it('does not differ if both have sent it, or neither has', () => {
    expect(compareRefund(refund(), sent(), rules).differences).toEqual([]);
    expect(compareRefund(refund(open), undefined, rules).differences).toEqual([]);
  });

  it('is undecided while it is in progress', () => {
    expect(compareRefund(refund(open), sent({ at: lately }), rules).isUndecided).toBe(true);
    expect(compareRefund(refund({ lastMovedAt: lately }), undefined, rules).isUndecided).toBe(true);
  });
});

const PLAIN = { rateBps: 150, fixedMinor: 0n, fixedFromMinor: 0n, capMinor: null };
const plain: Rules = { ...rules, fees: { NGN: [PLAIN, { ...PLAIN, rateBps: 390 }], GHS: [PLAIN] } };
const reversal = (change: Partial<GatewayLine> = {}) => line({ kind: 'reversal', gatewayId: '9', ...change });
const money = (currency: string, receivedMinor: bigint, takenBackMinor = 0n) => ({
  currency,
  receivedMinor,
  takenBackMinor,
});
const found = (side: OurCharge | undefined, lines: readonly GatewayLine[]) =>
  compareCharge('txn-1', side, lines, plain).differences;
const kindsOf = (side: OurCharge | undefined, lines: readonly GatewayLine[]) =>
  found(side, lines).map(({ kind, currency, amountMinor }) => `${kind} ${currency} ${amountMinor}`);

describe('the facts of a charge that differs', () => {
  it('are what each side has received and reversed, and the gateway’s ids in order', () => {
    const side = ours({ moved: [money('NGN', 100_000n, 20_000n)] });
    expect(found(side, [line({ gatewayId: '2' }), line()])).toEqual([
      {
        kind: 'double-at-gateway',
        subject: 'txn-1',
        transactionId: 'txn-1',
        currency: 'NGN',
        amountMinor: 120_000n,
        ours: { receivedNGNMinor: '100000', takenBackNGNMinor: '20000' },
        theirs: { receivedNGNMinor: '200000', gatewayIds: '1 2' },
      },
    ]);
  });

  it('are null for the side that does not know the charge, and zero for a side that has no money for it', () => {
    expect(found(undefined, [line()])).toMatchObject([{ transactionId: null, ours: null }]);
    expect(found(ours(), [])).toMatchObject([{ theirs: null, ours: { receivedNGNMinor: '100000' } }]);
    expect(found(ours({ moved: [] }), [line()])).toMatchObject([{ ours: { receivedNGNMinor: '0' } }]);
  });

  it('include, for an older charge, reversals beyond the booked ones', () => {
    const side = ours({ moved: [money('NGN', 100_000n, 10_000n)] });
    expect(found(side, [reversal({ amountMinor: 40_000n })])).toMatchObject([
      { kind: 'refund-missing-in-ledger', amountMinor: -30_000n },
    ]);
  });

  it('are empty if neither side knows the reference', () => {
    expect(compareCharge('txn-1', undefined, [], plain)).toEqual({
      subject: 'txn-1',
      differences: [],
      isUndecided: false,
    });
  });
});

describe('money in two currencies', () => {
  const both = ours({ moved: [money('NGN', 100_000n), money('USD', 50n)] });
  const dollars = (amountMinor: bigint) => line({ currency: 'USD', amountMinor, gatewayId: '2' });

  it('is equal if each currency is', () => {
    expect(found(both, [line(), dollars(50n)])).toEqual([]);
    expect(found(both, [dollars(50n), line()])).toEqual([]);
  });

  it('is a difference of amount, not of status, if one currency was received differently', () => {
    const [only, ...more] = found(both, [line(), dollars(51n)]);
    expect(more).toEqual([]);
    expect(only?.kind).toBeDefined();
    expect(only?.kind).not.toBe('status-differs');
  });

  it.each<[string, GatewayLine[], GatewayLine]>([
    ['amount-differs', [line({ amountMinor: 100_001n })], reversal({ amountMinor: 5n })],
    ['amount-differs', [line({ amountMinor: 100_001n })], reversal({ currency: 'GHS', amountMinor: 5n })],
    ['double-at-gateway', [line({ amountMinor: 300_000n })], reversal({ currency: 'GHS', amountMinor: 5n })],
    [
      'double-at-gateway',
      [line({ amountMinor: 50_000n }), line({ amountMinor: 60_000n })],
      reversal({ amountMinor: 5n }),
    ],
  ])('is %s by the charges only, whatever was reversed', (kind, charges, back) => {
    expect(found(ours(), [...charges, back])).toMatchObject([{ kind }]);
  });

  it('is covered only if the reversals are booked in each currency', () => {
    const side = ours({ moved: [money('NGN', 100_000n, 100_000n), money('USD', 50n)] });
    const back = [reversal(), reversal({ currency: 'USD', amountMinor: 50n })];
    expect(found(side, back)).toMatchObject([{ kind: 'refund-missing-in-ledger' }]);
    expect(found(ours({ moved: [money('NGN', 100_000n, 100_000n), money('USD', 50n, 50n)] }), back)).toEqual(
      [],
    );
  });
});

describe('the fee', () => {
  it('that differs is shown next to every agreed one', () => {
    expect(found(ours(), [line({ feesMinor: 2_000n, gatewayId: '77' })])).toEqual([
      {
        kind: 'fee-differs',
        subject: 'txn-1',
        transactionId: 'txn-1',
        currency: 'NGN',
        amountMinor: 500n,
        ours: { agreedFeeMinor: '1500 or 3900' },
        theirs: { feeMinor: '2000', gatewayIds: '77' },
      },
    ]);
  });

  it('is compared even if the charge was reversed', () => {
    const side = ours({ moved: [money('NGN', 100_000n, 100_000n)] });
    expect(kindsOf(side, [line({ feesMinor: 2_000n }), reversal()])).toEqual(['fee-differs NGN 500']);
  });

  it.each<[string, OurCharge, GatewayLine]>([
    ['the gateway does not report it', ours(), line({ feesMinor: null })],
    [
      'the buyer bore it on top',
      ours({ moved: [money('NGN', 98_500n)] }),
      line({ feesMinor: 2_000n, feesOnTopMinor: 1_500n }),
    ],
    [
      'the charge is in another currency than was asked for',
      ours({ moved: [money('GHS', 100_000n)] }),
      line({ currency: 'GHS', feesMinor: 2_000n }),
    ],
    [
      'the charge is another amount than was asked for',
      ours({ moved: [money('NGN', 90_000n)] }),
      line({ amountMinor: 90_000n, feesMinor: 2_000n }),
    ],
  ])('is not compared if %s', (_name, side, charge) => {
    expect(found(side, [charge])).toEqual([]);
  });

  it('without a cap grows with the amount', () => {
    expect(feeOf(10n ** 12n, PLAIN)).toBe(15_000_000_000n);
  });
});

describe('the facts of a refund that differs', () => {
  const booked = (bookedMinor = 90_000n): OurRefund => refund({ bookedMinor });

  it('are both sides, in the currency that was sent', () => {
    const sent = line({ kind: 'refund', currency: 'USD', amountMinor: 60n, gatewayId: '5' });
    expect(compareRefund(booked(), sent, plain)).toEqual({
      subject: 'txn-1-not-delivered',
      isUndecided: false,
      differences: [
        {
          kind: 'refund-differs',
          subject: 'txn-1-not-delivered',
          transactionId: 'txn-1',
          currency: 'USD',
          amountMinor: 89_940n,
          ours: { status: 'DONE', currency: 'NGN', amountMinor: '100000', bookedMinor: '90000' },
          theirs: { currency: 'USD', amountMinor: '60', gatewayIds: '5' },
        },
      ],
    });
  });

  it('are ours only, if nothing was sent', () => {
    expect(compareRefund(booked(), undefined, plain).differences).toMatchObject([
      { currency: 'NGN', theirs: null },
    ]);
    expect(compareRefund(booked(0n), undefined, plain)).toEqual({
      subject: 'txn-1-not-delivered',
      differences: [],
      isUndecided: false,
    });
  });
});
