/**
 * How much money each operator action moves, for every kind of money; which amounts are refused; and when a
 * second person is needed.
 */
import { describe, expect, it } from 'vitest';
import {
  amountOf,
  isAboveLimits,
  worthMoved,
  worthOf,
  type ActionFacts,
  type ActionMoney,
} from '../../src/operations/rules.ts';
import type { Money } from '../../src/domain/money.ts';
import type { OperatorAction } from '../../src/accounts/operators/action-table.ts';

const usd = (amountMinor: bigint): Money => ({ amountMinor, currency: 'USD' });
const ngn = (amountMinor: bigint): Money => ({ amountMinor, currency: 'NGN' });

const PROCESSING: ActionFacts = {
  purpose: 'purchase',
  status: 'PROCESSING',
  isThroughGateway: true,
  isDelivered: false,
  holdsMoney: true,
  openRefund: null,
  inWallet: null,
  earned: null,
  isUnpaid: false,
  hasDispute: false,
  isLeftOpen: false,
};
const ENDED: ActionFacts = { ...PROCESSING, status: 'FAILED', holdsMoney: false };

/** Each kind of money has a different amount, so that none can be mistaken for another. */
const MONEY: ActionMoney = {
  price: usd(230n),
  charge: ngn(368_000n),
  openRefund: { amount: ngn(100_000n), credit: usd(62n) },
  inWallet: ngn(48_000n),
  earned: usd(115n),
  earnedAtSource: ngn(184_000n),
};
const NO_REFUND: ActionMoney = { ...MONEY, openRefund: null };

describe('the whole amount', () => {
  it.each<[string, OperatorAction, ActionFacts, ActionMoney, Money | null]>([
    ['a check at the gateway moves nothing', 'check-gateway', ENDED, MONEY, null],
    ['a check at the supplier moves nothing', 'check-supplier', ENDED, MONEY, null],
    ['trying to deliver again moves nothing', 'retry-delivery', PROCESSING, MONEY, null],
    ['a dispute is about the price', 'settle-dispute', ENDED, MONEY, usd(230n)],
    ['another package costs the price', 'deliver-other', PROCESSING, MONEY, usd(230n)],
    ['what is on hold is the price', 'cancel', PROCESSING, MONEY, usd(230n)],
    ['nothing is on hold', 'cancel', ENDED, MONEY, null],
    ['paid is what was charged', 'mark-paid', ENDED, MONEY, ngn(368_000n)],
    ['before delivery the charge goes back', 'refund-to-source', PROCESSING, MONEY, ngn(368_000n)],
    ['an open refund goes back before anything else', 'refund-to-source', ENDED, MONEY, ngn(100_000n)],
    ['then what is in the wallet', 'refund-to-source', ENDED, NO_REFUND, ngn(48_000n)],
    ['then what was earned', 'refund-to-source', ENDED, { ...NO_REFUND, inWallet: null }, ngn(184_000n)],
    ['before delivery the price is credited', 'credit-wallet', PROCESSING, MONEY, usd(230n)],
    ['an open refund is credited at its worth', 'credit-wallet', ENDED, MONEY, usd(62n)],
    ['then what was earned is credited', 'credit-wallet', ENDED, NO_REFUND, usd(115n)],
  ])('%s', (_name, action, facts, money, amount) => {
    expect(amountOf(action, facts, money, {})).toEqual({ amount });
  });
});

describe('a requested amount', () => {
  it.each<[string, OperatorAction, ActionFacts, ActionMoney, bigint]>([
    ['a cancellation', 'cancel', PROCESSING, MONEY, 230n],
    ['a payment by hand', 'mark-paid', ENDED, MONEY, 368_000n],
    ['a refund before delivery', 'refund-to-source', PROCESSING, MONEY, 368_000n],
    ['a refund that is open', 'refund-to-source', ENDED, MONEY, 100_000n],
    ['a credit before delivery', 'credit-wallet', PROCESSING, MONEY, 230n],
    ['a credit of an open refund', 'credit-wallet', ENDED, MONEY, 62n],
  ])('must be the whole amount for %s', (_name, action, facts, money, all) => {
    const asked = (amountMinor: bigint) =>
      amountOf(action, facts, money, { amountMinor: String(amountMinor) });
    expect(asked(all)).toMatchObject({ amount: { amountMinor: all } });
    expect(asked(all - 1n)).toEqual({ refusal: 'AMOUNT_NOT_ALLOWED' });
    expect(asked(all + 1n)).toEqual({ refusal: 'AMOUNT_TOO_HIGH' });
  });

  it.each<[string, OperatorAction, ActionMoney, bigint]>([
    ['the wallet', 'refund-to-source', NO_REFUND, 48_000n],
    ['the earned, at the gateway', 'refund-to-source', { ...NO_REFUND, inWallet: null }, 184_000n],
    ['the earned, in the wallet', 'credit-wallet', NO_REFUND, 115n],
  ])('may be a part of what is in %s', (_name, action, money, all) => {
    const asked = (amountMinor: bigint) =>
      amountOf(action, ENDED, money, { amountMinor: String(amountMinor) });
    expect(asked(1n)).toMatchObject({ amount: { amountMinor: 1n } });
    expect(asked(all)).toMatchObject({ amount: { amountMinor: all } });
    expect(asked(all + 1n)).toEqual({ refusal: 'AMOUNT_TOO_HIGH' });
    expect(asked(0n)).toEqual({ refusal: 'AMOUNT_NOT_ALLOWED' });
  });

  it('is refused when there is no money', () => {
    const none: ActionMoney = {
      ...NO_REFUND,
      charge: null,
      inWallet: null,
      earned: null,
      earnedAtSource: null,
    };
    for (const asked of [{}, { amountMinor: '1' }]) {
      expect(amountOf('mark-paid', ENDED, none, asked)).toEqual({ refusal: 'NOTHING_TO_RETURN' });
      expect(amountOf('refund-to-source', ENDED, none, asked)).toEqual({ refusal: 'NOTHING_TO_RETURN' });
      expect(amountOf('credit-wallet', ENDED, none, asked)).toEqual({ refusal: 'NOTHING_TO_RETURN' });
    }
    const empty = { ...NO_REFUND, earned: usd(0n) };
    expect(amountOf('credit-wallet', ENDED, empty, {})).toEqual({ refusal: 'NOTHING_TO_RETURN' });
  });

  it('must be in the currency of the money', () => {
    const asked = (currency: string) =>
      amountOf('refund-to-source', ENDED, NO_REFUND, { amountMinor: '230', currency });
    expect(asked('NGN')).toEqual({ amount: ngn(230n) });
    expect(asked('USD')).toEqual({ refusal: 'OTHER_CURRENCY' });
  });

  it('must be given, in the price’s currency, when no rate was locked', () => {
    const money = { ...MONEY, openRefund: { amount: ngn(100_000n), credit: null } };
    const asked = (amountMinor?: string, currency?: string) =>
      amountOf('credit-wallet', ENDED, money, { amountMinor, currency });
    expect(asked()).toEqual({ refusal: 'AMOUNT_NEEDED' });
    expect(asked('980', 'USD')).toEqual({ amount: usd(980n) });
    expect(asked('1')).toEqual({ amount: usd(1n) });
    expect(asked('980', 'NGN')).toEqual({ refusal: 'OTHER_CURRENCY' });
    expect(asked('0')).toEqual({ refusal: 'AMOUNT_NOT_ALLOWED' });
    expect(asked('-1')).toEqual({ refusal: 'AMOUNT_NOT_ALLOWED' });
  });

  it('is ignored where nothing moves', () => {
    expect(amountOf('check-supplier', PROCESSING, MONEY, { amountMinor: '1' })).toEqual({ amount: null });
  });
});

describe('a second person', () => {
  const limits = { perAction: { USD: 230n }, perPersonDay: { USD: 500n }, perAccountDay: { USD: 400n } };
  const NOTHING = { byPersonMinor: 0n, onAccountMinor: 0n };
  const needs = (action: OperatorAction, facts: ActionFacts, amount: Money | null): boolean => {
    const worth = worthMoved(action, facts, amount, MONEY);
    return worth !== null && isAboveLimits(worth, NOTHING, limits);
  };

  it('is needed above the limit, counted in the price’s currency at the locked rate', () => {
    expect(worthOf(ngn(184_000n), MONEY)).toEqual(usd(115n));
    expect(needs('credit-wallet', PROCESSING, usd(230n))).toBe(false);
    expect(needs('credit-wallet', PROCESSING, usd(231n))).toBe(true);
    expect(needs('refund-to-source', PROCESSING, ngn(368_000n))).toBe(false);
    expect(needs('refund-to-source', PROCESSING, ngn(370_000n))).toBe(true);
    expect(needs('retry-delivery', PROCESSING, null)).toBe(false);
  });

  it('counts the whole price when the value of the money is unknown', () => {
    expect(worthOf({ amountMinor: 1n, currency: 'EUR' }, MONEY)).toEqual(MONEY.price);
    expect(worthOf(ngn(1n), { ...MONEY, charge: null })).toEqual(MONEY.price);
    expect(worthOf(usd(1n), { ...MONEY, charge: null })).toEqual(usd(1n));
  });

  it('is not needed for a refund that is due anyway', () => {
    const much = ngn(900_000n);
    expect(needs('refund-to-source', { ...ENDED, openRefund: 'due' }, much)).toBe(false);
    expect(needs('refund-to-source', { ...ENDED, openRefund: 'on-its-way' }, much)).toBe(false);
    expect(needs('refund-to-source', { ...ENDED, openRefund: 'waits' }, much)).toBe(true);
    expect(needs('refund-to-source', { ...ENDED, openRefund: 'stuck' }, much)).toBe(true);
    expect(needs('refund-to-source', ENDED, much)).toBe(true);
    for (const openRefund of ['due', 'on-its-way'] as const)
      expect(needs('credit-wallet', { ...ENDED, openRefund }, much)).toBe(true);
  });

  it('is not needed in a currency without a limit', () => {
    const none = { perAction: {}, perPersonDay: {}, perAccountDay: {} };
    expect(isAboveLimits(usd(10n ** 12n), NOTHING, none)).toBe(false);
    expect(isAboveLimits(ngn(10n ** 12n), NOTHING, limits)).toBe(false);
  });

  it.each([
    [400n, 300n, false],
    [401n, 0n, true],
    [0n, 301n, true],
  ])('is needed after %s by the person and %s on the account: %s', (byPersonMinor, onAccountMinor, is) => {
    expect(isAboveLimits(usd(100n), { byPersonMinor, onAccountMinor }, limits)).toBe(is);
  });
});

describe('an action approved as moving no money', () => {
  it.each<[string, OperatorAction, ActionFacts, ReturnType<typeof amountOf>]>([
    ['is refused where it would give back by now', 'cancel', PROCESSING, { refusal: 'AMOUNT_NOT_ALLOWED' }],
    ['goes on where it still moves none', 'cancel', ENDED, { amount: null }],
    ['goes on if it never moves any', 'check-gateway', PROCESSING, { amount: null }],
    ['keeps its own refusal', 'refund-to-source', ENDED, { refusal: 'NOTHING_TO_RETURN' }],
  ])('%s', (_what, action, facts, expected) => {
    const money = { ...NO_REFUND, inWallet: null, earnedAtSource: null };
    expect(amountOf(action, facts, money, { movesNoMoney: true })).toEqual(expected);
  });
});
