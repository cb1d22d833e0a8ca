// Our deliveries compared with the supplier's orders, and its balance: what differs, what is in progress,
// what was accepted.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../src/reconciliation/difference-words.ts';
import {
  BALANCE_SUBJECT,
  compareBalance,
  compareOrders,
  NOTHING_PAID_IN,
  type AgreedSum,
  type OurOrder,
  type SupplierLine,
} from '../../src/reconciliation/supplier-rules.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const long = new Date(NOW - 10 * 3_600_000);
const lately = new Date(NOW - 1_000);
const rules = { settledBefore: new Date(NOW - 3_600_000) };

const ours = (change: Partial<OurOrder> = {}): OurOrder => ({
  transactionId: 'txn-1',
  status: 'SUCCESS',
  packageCode: 'ES-1',
  agreedCostUsdE4: 20_000n,
  bookedCostUsdE4: 20_000n,
  isReturned: false,
  lastMovedAt: long,
  ...change,
});
const listed = (change: Partial<SupplierLine> = {}): SupplierLine => ({
  transactionId: 'txn-1',
  orderNo: 'B1',
  packageCode: 'ES-1',
  isRefunded: false,
  at: long,
  listCostUsdE4: 30_000n,
  ...change,
});
const FAILED = { status: 'FAILED', bookedCostUsdE4: 0n } as const;

describe('an order', () => {
  it.each<[string, OurOrder | undefined, SupplierLine[], bigint]>([
    ['supplier-order-unknown', undefined, [listed()], 30_000n],
    ['supplier-order-unknown', undefined, [listed({ listCostUsdE4: null })], 0n],
    ['supplier-order-unbooked', ours(FAILED), [listed()], 20_000n],
    ['supplier-order-missing', ours(), [], -20_000n],
    ['supplier-order-double', ours(), [listed(), listed({ orderNo: 'B2' })], 20_000n],
    ['supplier-order-missing', ours({ bookedCostUsdE4: 0n }), [], 0n],
    ['supplier-order-unknown', undefined, [listed({ at: null })], 30_000n],
    ['supplier-cost-differs', ours({ bookedCostUsdE4: 19_999n }), [listed()], 1n],
    ['supplier-cost-differs', ours(), [listed({ packageCode: 'ES-2' })], 10_000n],
    ['supplier-cost-differs', ours(), [listed({ isRefunded: true })], -20_000n],
  ])('differs: %s', (kind, side, lines, amountMinor) => {
    expect(compareOrders('txn-1', side, lines, rules).differences).toMatchObject([
      { kind, subject: 'txn-1', currency: 'USD4', amountMinor },
    ]);
  });

  it.each<[string, OurOrder | undefined, SupplierLine[]]>([
    ['delivered and charged once', ours(), [listed()]],
    ['not delivered and not charged', ours(FAILED), []],
    ['not delivered, and cancelled with its money back', ours(FAILED), [listed({ isRefunded: true })]],
    ['replaced: the first cancelled', ours(), [listed({ isRefunded: true }), listed({ orderNo: 'B2' })]],
    ['listed without its package', ours(), [listed({ packageCode: '', listCostUsdE4: 1n })]],
    ['without a purchase, and cancelled', undefined, [listed({ isRefunded: true })]],
    ['another package at the same cost', ours(), [listed({ packageCode: 'ES-2', listCostUsdE4: 20_000n })]],
  ])('is no difference: %s', (_name, side, lines) => {
    expect(compareOrders('txn-1', side, lines, rules)).toMatchObject({ differences: [], isUndecided: false });
  });

  it.each<[string, OurOrder | undefined, SupplierLine[]]>([
    ['while its purchase is open', ours({ status: 'PROCESSING', bookedCostUsdE4: 0n }), [listed()]],
    ['while it is not paid', ours({ status: 'PENDING', bookedCostUsdE4: 0n }), [listed()]],
    ['a moment after it was listed', undefined, [listed({ at: lately })]],
    ['a moment after it was booked', ours({ lastMovedAt: lately }), []],
  ])('is undecided %s', (_name, side, lines) => {
    expect(compareOrders('txn-1', side, lines, rules)).toMatchObject({ differences: [], isUndecided: true });
  });
});

describe('the facts of a difference', () => {
  it('are both sides, the supplier’s orders by their numbers', () => {
    const lines = [
      listed({ orderNo: 'B2', packageCode: 'ES-2', isRefunded: true }),
      listed(),
      listed({ orderNo: 'B3' }),
    ];
    expect(compareOrders('txn-1', ours(), lines, rules)).toEqual({
      subject: 'txn-1',
      isUndecided: false,
      differences: [
        {
          kind: 'supplier-order-double',
          subject: 'txn-1',
          transactionId: 'txn-1',
          currency: 'USD4',
          amountMinor: 20_000n,
          ours: {
            status: 'SUCCESS',
            packageCode: 'ES-1',
            agreedCostUsdE4: '20000',
            bookedCostUsdE4: '20000',
          },
          theirs: {
            orderNos: 'B1 B2 B3',
            packageCodes: 'ES-1 ES-2 ES-1',
            states: 'charged refunded charged',
          },
        },
      ],
    });
  });

  it('are empty for a side without the order', () => {
    expect(compareOrders('txn-1', ours(), [], rules).differences).toMatchObject([{ theirs: null }]);
    expect(compareOrders('txn-1', undefined, [listed()], rules).differences).toMatchObject([
      { transactionId: null, ours: null },
    ]);
  });
});

describe('the balance', () => {
  const use = (usedUsdE4: bigint, inFlightUsdE4 = 0n, returningUsdE4 = 0n) => ({
    ...{ usedUsdE4, inFlightUsdE4, returningUsdE4 },
  });
  const quiet = (balanceUsdE4: bigint, usedUsdE4: bigint) => ({
    before: use(usedUsdE4),
    balanceUsdE4,
    after: use(usedUsdE4),
  });
  const agreed: AgreedSum = { fromUsdE4: 1_000_000n, toUsdE4: 1_000_000n };

  it('is not accepted at the first reading: all that was paid in is a difference, until a person agrees', () => {
    const first = compareBalance(quiet(900_000n, 100_000n), NOTHING_PAID_IN);
    expect(first.verdict.differences).toMatchObject([
      { kind: 'supplier-balance-differs', amountMinor: 1_000_000n, theirs: { sumFromUsdE4: '1000000' } },
    ]);
    expect(first.agreed).toEqual(NOTHING_PAID_IN);
    expect(compareBalance(quiet(900_000n, 100_000n), agreed).verdict.differences).toEqual([]);
    // An installation that has never paid in.
    expect(compareBalance(quiet(0n, 0n), NOTHING_PAID_IN).verdict.differences).toEqual([]);
  });

  it.each([
    [quiet(880_000n, 100_000n), -20_000n],
    [quiet(950_000n, 100_000n), 50_000n],
    [{ before: use(0n, 30_000n), balanceUsdE4: 960_000n, after: use(0n, 30_000n) }, -10_000n],
  ])('differs without an explaining purchase, and the accepted balance stays', (reading, amountMinor) => {
    const compared = compareBalance(reading, agreed);
    expect(compared.verdict.differences).toMatchObject([{ kind: 'supplier-balance-differs', amountMinor }]);
    expect(compared.agreed).toEqual(agreed);
  });

  it.each([
    ['more than what was agreed on at most', 1_300_000n, 200_000n],
    ['less than what was agreed on at least', 900_000n, -80_000n],
  ])('differs by what is %s', (_name, balanceUsdE4, amountMinor) => {
    const known: AgreedSum = { fromUsdE4: 1_000_000n, toUsdE4: 1_100_000n };
    const reading = { before: use(0n, 20_000n), balanceUsdE4, after: use(0n, 10_000n) };
    expect(compareBalance(reading, known)).toEqual({
      agreed: known,
      verdict: {
        subject: 'supplier-balance',
        isUndecided: false,
        differences: [
          {
            kind: 'supplier-balance-differs',
            subject: BALANCE_SUBJECT,
            transactionId: null,
            currency: 'USD4',
            amountMinor,
            ours: { sumFromUsdE4: '1000000', sumToUsdE4: '1100000' },
            theirs: { sumFromUsdE4: String(balanceUsdE4), sumToUsdE4: String(balanceUsdE4 + 20_000n) },
          },
        ],
      },
    });
  });

  it('never differs while purchases go on, and the accepted range always includes the true balance', () => {
    const step = fc.record({
      cost: fc.bigInt({ min: 1n, max: 50_000n }),
      settlesFirst: fc.boolean(),
      readAt: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const paidIn = 10_000_000n;
        let used = 0n;
        let known: AgreedSum = { fromUsdE4: paidIn, toUsdE4: paidIn };
        for (const { cost, settlesFirst, readAt } of steps) {
          // Requested, charged there, booked here; the reading falls anywhere between.
          const at = [
            { balance: paidIn - used, use: use(used, cost) },
            { balance: paidIn - used - cost, use: use(used, cost) },
            { balance: paidIn - used - cost, use: use(used + cost) },
            { balance: paidIn - used - cost, use: use(used + cost) },
          ];
          const [before, balance, after] = [
            at[Math.min(readAt, 2)],
            at[readAt],
            at[settlesFirst ? 3 : readAt],
          ];
          if (!before || !balance || !after) throw new Error('a reading has its three moments');
          const compared = compareBalance(
            { before: before.use, balanceUsdE4: balance.balance, after: after.use },
            known,
          );
          expect(compared.verdict.differences).toEqual([]);
          known = compared.agreed;
          expect(known.fromUsdE4 <= paidIn && paidIn <= known.toUsdE4).toBe(true);
          used += cost;
        }
      }),
    );
  });
});

describe('a difference of the balance, in words,', () => {
  const sum = (from: number, to: number) => ({ sumFromUsdE4: String(from), sumToUsdE4: String(to) });
  const words = (agreed: Record<string, string>, read: Record<string, string>) =>
    wordsOf({ kind: 'supplier-balance-differs', ours: agreed, theirs: read });

  it('is an opening balance before a person has agreed on one', () => {
    expect(words(sum(0, 0), sum(50_000, 50_000)).title).toBe('Opening balance at the supplier');
    expect(words(sum(10_000, 10_000), sum(50_000, 50_000)).title).toMatch('changed without a purchase');
  });

  it('is a payment only where one amount above zero is certain; otherwise a range', () => {
    const agreed = sum(100_000, 100_000);
    expect(words(agreed, sum(500_000, 500_000)).next).toMatch('If you paid this amount in');
    expect(words(agreed, sum(40_000, 40_000)).next).toMatch('took more than is booked');
    const next = 'Orders in flight make it a range: USD 10.0000 to USD 30.0000.';
    expect(words(agreed, sum(200_000, 400_000)).next).toMatch(next);
    const taken = 'Orders in flight make it a range: USD -9.0000 to USD -2.0000.';
    expect(words(agreed, sum(10_000, 80_000)).next).toMatch(taken);
  });
});
