/**
 * The booking of money through the gateway: each rule of docs/API.md's table on its own, and over any history
 * never more out than in.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chargeReference,
  convertBetween,
  nextPollMs,
  refundTimingsOf,
  paymentWindowMs,
} from '../../src/payments/rules.ts';
import {
  atLockedRate,
  decideBooking,
  type BookedPayment,
  type BookingDecision,
  type ReceivedMoney,
} from '../../src/payments/booking-rules.ts';
import { purchaseInput } from '../support/money/facts.ts';
import { withSeed } from '../support/time/size.ts';
import type { GatewayMethod } from '../../src/domain/states.ts';

const { timings } = purchaseInput({ transactionId: 'txn-1' });

const payment = (given: Partial<BookedPayment> = {}): BookedPayment => ({
  purpose: 'purchase',
  chargeMinor: 1_000n,
  chargeCurrency: 'NGN',
  priceMinor: 100n,
  priceCurrency: 'USD',
  receivedMinor: 0n,
  vouchedMinor: 0n,
  refundedMinor: 0n,
  reversedMinor: 0n,
  awaited: true,
  paidBefore: false,
  ...given,
});
const paid = (netMinor: bigint, currency = 'NGN'): ReceivedMoney => ({ state: 'paid', netMinor, currency });
const REVERSED: ReceivedMoney = { state: 'reversed', netMinor: 1_000n, currency: 'NGN' };
const NOTHING: BookingDecision = {
  receivedMinor: 0n,
  toHoldMinor: 0n,
  toWalletMinor: 0n,
  toReturnMinor: 0n,
  reversedMinor: 0n,
  receivedAndReversedMinor: 0n,
  confirmedMinor: 0n,
};
const closed = { awaited: false };
const funding = { purpose: 'funding' } as const;

describe('judgePayment', () => {
  it.each<[string, Partial<BookedPayment>, ReceivedMoney, Partial<BookingDecision>]>([
    ['exactly', {}, paid(1_000n), { toHoldMinor: 1_000n, what: 'payment-received' }],
    ['more', {}, paid(1_001n), { toHoldMinor: 1_000n, toWalletMinor: 1n, what: 'payment-received-over' }],
    [
      'less',
      {},
      paid(999n),
      { toWalletMinor: 999n, what: 'payment-received-short', ends: 'PAYMENT_UNDERPAID' },
    ],
    [
      'in another currency',
      {},
      paid(1_000n, 'USD'),
      { toReturnMinor: 1_000n, what: 'payment-received-in-other-currency', ends: 'PAYMENT_WRONG_CURRENCY' },
    ],
    [
      'in another currency, for what is closed',
      closed,
      paid(1_000n, 'USD'),
      { toReturnMinor: 1_000n, what: 'payment-received-in-other-currency' },
    ],
    ['late', closed, paid(1_000n), { toWalletMinor: 1_000n, what: 'payment-received-late' }],
    [
      'twice',
      { ...closed, paidBefore: true, receivedMinor: 1_000n },
      paid(2_000n),
      { toWalletMinor: 1_000n, what: 'payment-received-again' },
    ],
    [
      'by another of its attempts, once it is paid',
      { ...closed, paidBefore: true },
      paid(1_000n),
      { toWalletMinor: 1_000n, what: 'payment-received-again' },
    ],
    ['as before', { ...closed, receivedMinor: 1_000n }, paid(1_000n), {}],
    ['less than before', { ...closed, receivedMinor: 1_000n }, paid(900n), {}],
    ['nothing', {}, paid(0n), {}],
    ['into a wallet, exactly', funding, paid(1_000n), { toWalletMinor: 1_000n, what: 'payment-received' }],
    ['into a wallet, less', funding, paid(10n), { toWalletMinor: 10n, what: 'payment-received-short' }],
    ['into a wallet, more', funding, paid(1_250n), { toWalletMinor: 1_250n, what: 'payment-received-over' }],
    [
      'into a wallet, again',
      { ...funding, ...closed, paidBefore: true, receivedMinor: 1_000n },
      paid(1_500n),
      { toWalletMinor: 500n, what: 'payment-received-again' },
    ],
    [
      'into a wallet, late',
      { ...funding, ...closed },
      paid(1_500n),
      { toWalletMinor: 1_500n, what: 'payment-received-late' },
    ],
    [
      'into a wallet, in another currency',
      funding,
      paid(10n, 'GHS'),
      { toReturnMinor: 10n, what: 'payment-received-in-other-currency', ends: 'PAYMENT_WRONG_CURRENCY' },
    ],
  ])('paid %s', (_how, given, received, expected) => {
    const { toHoldMinor = 0n, toWalletMinor = 0n, toReturnMinor = 0n } = expected;
    const receivedMinor = toHoldMinor + toWalletMinor + toReturnMinor;
    expect(decideBooking(payment(given), received)).toEqual({ ...NOTHING, receivedMinor, ...expected });
  });

  it.each<[string, Partial<BookedPayment>, Partial<BookingDecision>]>([
    [
      'before we saw it',
      {},
      { receivedAndReversedMinor: 1_000n, what: 'payment-reversed', ends: 'PAYMENT_REVERSED' },
    ],
    [
      'before we saw it, for what is closed',
      closed,
      { receivedAndReversedMinor: 1_000n, what: 'payment-reversed' },
    ],
    ['before we saw it, and that is booked', { ...closed, receivedMinor: 1_000n, reversedMinor: 1_000n }, {}],
    [
      'after it paid',
      { ...closed, receivedMinor: 1_000n },
      { reversedMinor: 1_000n, what: 'payment-reversed' },
    ],
    ['and seen before', { ...closed, receivedMinor: 1_000n, reversedMinor: 1_000n }, {}],
    [
      'after a person had vouched for it',
      { ...closed, vouchedMinor: 1_000n },
      { confirmedMinor: 1_000n, reversedMinor: 1_000n, what: 'payment-reversed' },
    ],
    ['by our own refund', { ...closed, receivedMinor: 1_000n, refundedMinor: 1_000n }, {}],
    [
      'beyond our own refund',
      { ...closed, receivedMinor: 1_500n, refundedMinor: 1_000n },
      { reversedMinor: 500n, what: 'payment-reversed' },
    ],
  ])('reversed %s', (_how, given, expected) => {
    const receivedMinor = (expected.receivedAndReversedMinor ?? 0n) + (expected.confirmedMinor ?? 0n);
    expect(decideBooking(payment(given), REVERSED)).toEqual({ ...NOTHING, receivedMinor, ...expected });
  });

  it.each<[string, Partial<BookedPayment>, NonNullable<ReceivedMoney['refunds']>, bigint]>([
    ['a part of ours', { refundedMinor: 300n }, { oursMinor: 300n, othersMinor: 0n }, 0n],
    ['all of ours', { refundedMinor: 1_000n }, { oursMinor: 1_000n, othersMinor: 0n }, 0n],
    ['a part that others asked for', {}, { oursMinor: 0n, othersMinor: 200n }, 200n],
    ['a part of each', { refundedMinor: 300n }, { oursMinor: 300n, othersMinor: 200n }, 200n],
    [
      'what others asked for, and that is booked',
      { reversedMinor: 200n },
      { oursMinor: 0n, othersMinor: 200n },
      0n,
    ],
  ])('reversed, and the list of refunds shows %s', (_what, given, refunds, reversedMinor) => {
    const before = payment({ ...closed, receivedMinor: 1_000n, ...given });
    expect(decideBooking(before, { ...REVERSED, refunds }).reversedMinor).toBe(reversedMinor);
  });

  it('money that came beside a listed refund of ours is received, though the charge is called reversed', () => {
    const before = payment({ ...closed, paidBefore: true, receivedMinor: 1_000n, refundedMinor: 1_000n });
    const received = { ...REVERSED, netMinor: 1_500n, refunds: { oursMinor: 1_000n, othersMinor: 0n } };
    expect(decideBooking(before, received)).toEqual({
      ...NOTHING,
      receivedMinor: 500n,
      toWalletMinor: 500n,
      what: 'payment-received-again',
    });
  });

  it('a reversal with more fees than money books nothing', () => {
    const received = { ...REVERSED, netMinor: -1n };
    expect(decideBooking(payment(closed), received)).toEqual(NOTHING);
    expect(decideBooking(payment(), received)).toEqual({
      ...NOTHING,
      what: 'payment-reversed',
      ends: 'PAYMENT_REVERSED',
    });
  });

  it.each<[string, Partial<BookedPayment>, ReceivedMoney, Partial<BookingDecision>]>([
    ['less than', {}, paid(400n), { confirmedMinor: 400n, what: 'payment-confirmed' }],
    ['the same as', {}, paid(1_000n), { confirmedMinor: 1_000n, what: 'payment-confirmed' }],
    [
      'more than',
      {},
      paid(1_300n),
      { confirmedMinor: 1_000n, toWalletMinor: 300n, what: 'payment-confirmed' },
    ],
    [
      'the rest of',
      { receivedMinor: 400n, vouchedMinor: 600n },
      paid(1_000n),
      { confirmedMinor: 600n, what: 'payment-confirmed' },
    ],
    [
      'more than the rest of',
      { receivedMinor: 400n, vouchedMinor: 600n },
      paid(1_001n),
      { confirmedMinor: 600n, toWalletMinor: 1n, what: 'payment-confirmed' },
    ],
    ['nothing new beside', { receivedMinor: 400n, vouchedMinor: 600n }, paid(400n), {}],
    [
      'another currency than',
      {},
      paid(1_000n, 'GHS'),
      { toReturnMinor: 1_000n, what: 'payment-received-in-other-currency' },
    ],
    [
      'the same, for a wallet, as',
      { purpose: 'funding' },
      paid(1_000n),
      { confirmedMinor: 1_000n, what: 'payment-confirmed' },
    ],
  ])('the gateway reports %s what evidence had confirmed', (_how, given, received, expected) => {
    const vouched = payment({ ...closed, vouchedMinor: 1_000n, ...given });
    const { confirmedMinor = 0n, toWalletMinor = 0n, toReturnMinor = 0n } = expected;
    const receivedMinor = confirmedMinor + toWalletMinor + toReturnMinor;
    expect(decideBooking(vouched, received)).toEqual({ ...NOTHING, receivedMinor, ...expected });
  });

  it('every state without money keeps the payment waiting', () => {
    for (const given of [{}, closed, funding, { ...closed, receivedMinor: 1_000n }]) {
      const other: ReceivedMoney = { state: 'other', netMinor: 1_000n, currency: 'NGN' };
      expect(decideBooking(payment(given), other)).toEqual(NOTHING);
    }
  });
});

describe('atLockedRate', () => {
  const amount = fc.bigInt({ min: 1n, max: 10n ** 15n });
  const locked = fc.record({ chargeMinor: amount, priceMinor: amount }).map((each) => payment(each));
  const RUNS = 2_000;

  it('gives the price for the whole charge, and the same amount in the same currency', () => {
    expect(atLockedRate(1_000n, payment())).toBe(100n);
    expect(atLockedRate(1_001n, payment({ priceCurrency: 'NGN' }))).toBe(1_001n);
    expect(atLockedRate(4n, payment())).toBe(0n);
    expect(atLockedRate(5n, payment()), 'the half goes up').toBe(1n);
  });

  it('is off by at most one minor unit, however the money is split, and always in the same direction', async () => {
    await withSeed((seed) => {
      fc.assert(
        fc.property(locked, amount, amount, (each, one, other) => {
          expect(atLockedRate(each.chargeMinor, each)).toBe(each.priceMinor);
          const whole = atLockedRate(one + other, each);
          const parts = atLockedRate(one, each) + atLockedRate(other, each);
          const drift = whole > parts ? whole - parts : parts - whole;
          expect(drift <= 1n).toBe(true);
          expect(atLockedRate(one + other, each) >= atLockedRate(one, each)).toBe(true);
          const off = 2n * (atLockedRate(one, each) * each.chargeMinor - one * each.priceMinor);
          expect(-each.chargeMinor < off && off <= each.chargeMinor, 'to the nearest, half up').toBe(true);
        }),
        { numRuns: RUNS, seed },
      );
    });
  });
});

const METHODS = ['CARD', 'APPLE_PAY', 'MOBILE_MONEY', 'BANK_TRANSFER'] as const;

describe('nextPollMs', () => {
  it.each<[number, GatewayMethod, number]>([
    [0, 'CARD', 2_000],
    [20_000, 'CARD', 2_000],
    [30_000, 'CARD', 3_000],
    [180_000, 'MOBILE_MONEY', 18_000],
    [600_000, 'MOBILE_MONEY', 40_000],
    [900_000, 'CARD', 60_000],
    [7_199_999, 'APPLE_PAY', 60_000],
    [7_200_000, 'APPLE_PAY', 600_000],
    [1_800_000, 'BANK_TRANSFER', 180_000],
    [28_799_999, 'BANK_TRANSFER', 240_000],
    [86_400_000, 'CARD', 600_000],
  ])('after %i ms of waiting for %s: %i ms', (waitedMs, method, pauseMs) => {
    expect(nextPollMs(waitedMs, method, timings)).toBe(pauseMs);
  });

  it('is bounded for any input, and no pause is shorter than the first', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000_000), fc.constantFrom(...METHODS), (waitedMs, method) => {
        const pauseMs = nextPollMs(waitedMs, method, timings);
        expect(pauseMs).toBeGreaterThanOrEqual(timings.pollFirstMs);
        expect(pauseMs).toBeLessThanOrEqual(timings.pollMaxMs);
        const rare = { ...timings, pollFirstMs: 3_600_000, pollMaxMs: 3_600_000 };
        expect(nextPollMs(waitedMs, method, rare), 'tests scale it').toBe(3_600_000);
      }),
    );
  });
});

describe('the rules for times, ids and amounts', () => {
  it('check a refund at its own pace, with its own settings only', () => {
    expect(refundTimingsOf({ ...timings, refundCheckFirstMs: 7, refundCheckMaxMs: 70 })).toEqual({
      refundCheckFirstMs: 7,
      refundCheckMaxMs: 70,
    });
  });

  it('give a transfer account a shorter time than a page', () => {
    expect(paymentWindowMs('BANK_TRANSFER', timings)).toBe(1_800_000);
    for (const method of ['CARD', 'APPLE_PAY', 'MOBILE_MONEY'] as const)
      expect(paymentWindowMs(method, timings)).toBe(86_400_000);
  });

  it('give the first attempt our own id, later ones their number, all in the gateway’s alphabet', () => {
    const id = 'txn-0123456789abcdef0123456789abcdef';
    const references = [1, 2, 3, 99].map((attempt) => chargeReference(id, attempt));
    expect(references).toEqual([id, `${id}-2`, `${id}-3`, `${id}-99`]);
    for (const reference of references) expect(reference).toMatch(/^[A-Za-z0-9-]{1,50}$/);
  });

  it('convert a charge in another currency through the dollar, half up', () => {
    const [dollar, naira, cedi] = [1_000_000n, 1_600_000_000n, 15_500_000n];
    expect(convertBetween(230n, dollar, naira)).toBe(368_000n);
    expect(convertBetween(368_000n, naira, dollar)).toBe(230n);
    expect(convertBetween(368_000n, naira, cedi)).toBe(3_565n);
    expect(convertBetween(1n, 2n, 1n), 'the half goes up').toBe(1n);
  });
});
