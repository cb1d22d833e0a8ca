// The rules of reconciliation: what differs and by how much, what is still changing, and that equal sides
// never differ.
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
import { chargesWith } from './charges.support.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const lately = new Date(NOW - HOUR_MS / 2);
const TARIFF: FeeTariff = { rateBps: 150, fixedMinor: 10_000n, fixedFromMinor: 250_000n, capMinor: 200_000n };
const rules: Rules = { settledBefore: new Date(NOW - HOUR_MS), fees: { NGN: [TARIFF] } };

const { line, ours, refund } = chargesWith('txn-1');

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
