// The facts shown for a difference, and money in more than one currency: the currencies of a charge are
// compared separately.
import { describe, expect, it } from 'vitest';
import {
  compareCharge,
  compareRefund,
  feeOf,
  type GatewayLine,
  type OurCharge,
  type OurRefund,
  type Rules,
} from '../../src/reconciliation/payment-rules.ts';
import { chargesWith } from './charges.support.ts';

const TARIFF = { rateBps: 150, fixedMinor: 0n, fixedFromMinor: 0n, capMinor: null };
const ABROAD = { ...TARIFF, rateBps: 390 };
const rules: Rules = {
  settledBefore: new Date('2026-11-21T11:00:00.000Z'),
  fees: { NGN: [TARIFF, ABROAD], GHS: [TARIFF] },
};

const charges = chargesWith('txn-1-2');
const { line, ours } = charges;
const reversal = (change: Partial<GatewayLine> = {}) => line({ kind: 'reversal', gatewayId: '9', ...change });
const money = (currency: string, receivedMinor: bigint, takenBackMinor = 0n) => ({
  currency,
  receivedMinor,
  takenBackMinor,
});
const found = (side: OurCharge | undefined, lines: readonly GatewayLine[]) =>
  compareCharge('txn-1-2', side, lines, rules).differences;
const kindsOf = (side: OurCharge | undefined, lines: readonly GatewayLine[]) =>
  found(side, lines).map(({ kind, currency, amountMinor }) => `${kind} ${currency} ${amountMinor}`);

describe('the facts of a charge that differs', () => {
  it('are what each side has received and reversed, and the gateway’s ids in order', () => {
    const side = ours({ moved: [money('NGN', 100_000n, 20_000n)] });
    expect(found(side, [line({ gatewayId: '2' }), line()])).toEqual([
      {
        kind: 'double-at-gateway',
        subject: 'txn-1-2',
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
    expect(compareCharge('txn-1-2', undefined, [], rules)).toEqual({
      subject: 'txn-1-2',
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
        subject: 'txn-1-2',
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
    expect(feeOf(10n ** 12n, TARIFF)).toBe(15_000_000_000n);
  });
});

describe('the facts of a refund that differs', () => {
  const refund = (change: Partial<OurRefund> = {}): OurRefund =>
    charges.refund({ bookedMinor: 90_000n, ...change });

  it('are both sides, in the currency that was sent', () => {
    const sent = line({ kind: 'refund', currency: 'USD', amountMinor: 60n, gatewayId: '5' });
    expect(compareRefund(refund(), sent, rules)).toEqual({
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
    expect(compareRefund(refund(), undefined, rules).differences).toMatchObject([
      { currency: 'NGN', theirs: null },
    ]);
    expect(compareRefund(refund({ bookedMinor: 0n }), undefined, rules)).toEqual({
      subject: 'txn-1-not-delivered',
      differences: [],
      isUndecided: false,
    });
  });
});
