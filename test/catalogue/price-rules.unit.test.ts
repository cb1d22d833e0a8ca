// Which rule makes a price, and what it makes of a cost.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ACCOUNT_TYPES, PLANS } from '../../src/domain/account.ts';
import { ACCOUNT_CURRENCIES } from '../../src/domain/money.ts';
import { RULE_ROUNDINGS, RULE_SCOPES, RULE_TARGETS } from '../../src/domain/price-rules.ts';
import {
  createPriceRules,
  NO_RULES,
  type Buyer,
  type PriceRule,
  type Targeted,
} from '../../src/catalogue/price-rules.ts';
import { costMinor, priceOf, priceUsdMinor } from '../../src/catalogue/pricing.ts';

const ACCOUNTS = ['acc-1', 'acc-2'];
const item = (packageCode: string, regionCode: string, location: string): Targeted => {
  return { packageCode, regionCode, location };
};
const ITEMS = [
  item('NG-1', 'NG', 'NG'),
  item('NG-2', 'NG', 'NG'),
  item('GH-1', 'GH', 'GH'),
  item('AF-1', 'AF', 'NG,GH'),
];
const SCOPE_IDS = { ACCOUNT: ACCOUNTS, PLAN: PLANS, ACCOUNT_TYPE: ACCOUNT_TYPES, ALL: [''] } as const;
const TARGET_IDS = {
  PACKAGE: ['NG-1', 'AF-1'],
  COUNTRY: ['NG', 'GH'],
  REGION: ['NG', 'AF'],
  ALL: [''],
} as const;

const buyers: fc.Arbitrary<Buyer> = fc.record({
  accountId: fc.constantFrom(...ACCOUNTS, undefined),
  type: fc.constantFrom(...ACCOUNT_TYPES),
  plan: fc.constantFrom(...PLANS),
  currency: fc.constantFrom(...ACCOUNT_CURRENCIES),
});

const rule = (id: bigint): fc.Arbitrary<PriceRule> =>
  fc
    .record({ scope: fc.constantFrom(...RULE_SCOPES), target: fc.constantFrom(...RULE_TARGETS) })
    .chain(({ scope, target }) =>
      fc.record({
        ...{ id: fc.constant(id), scope: fc.constant(scope), target: fc.constant(target) },
        scopeId: fc.constantFrom<string>(...SCOPE_IDS[scope]),
        targetId: fc.constantFrom<string>(...TARGET_IDS[target]),
        rounding: fc.constantFrom(...RULE_ROUNDINGS),
        kind: fc.constant('MARKUP' as const),
        markupBps: fc.nat(5_000),
        fromMs: fc.nat(20),
        untilMs: fc.option(fc.nat(40)),
      }),
    );
const rules = fc
  .nat(12)
  .chain((size) => fc.tuple(...Array.from({ length: size }, (_, at) => rule(BigInt(at)))));

/** The table of docs/OPERATIONS.md: every rule that fits, then the first by target, scope and beginning. */
function plainly(
  all: readonly PriceRule[],
  buyer: Buyer,
  sold: Targeted,
  nowMs: number,
): PriceRule | undefined {
  const countries = sold.location.split(',');
  const fits = all.filter(
    (one) =>
      one.fromMs <= nowMs &&
      (one.untilMs ?? Infinity) > nowMs &&
      { ACCOUNT: buyer.accountId, PLAN: buyer.plan, ACCOUNT_TYPE: buyer.type, ALL: '' }[one.scope] ===
        one.scopeId &&
      {
        PACKAGE: sold.packageCode,
        COUNTRY: countries.length === 1 ? countries[0] : undefined,
        REGION: sold.regionCode,
        ALL: '',
      }[one.target] === one.targetId,
  );
  const rank = (one: PriceRule) =>
    ['PACKAGE', 'COUNTRY', 'REGION', 'ALL'].indexOf(one.target) * 10 +
    ['ACCOUNT', 'PLAN', 'ACCOUNT_TYPE', 'ALL'].indexOf(one.scope);
  return fits.sort((a, b) => rank(a) - rank(b) || b.fromMs - a.fromMs || Number(b.id - a.id))[0];
}

describe('the most specific rule', () => {
  test('is found as the plain model finds it, at every moment', () => {
    fc.assert(
      fc.property(rules, buyers, fc.constantFrom(...ITEMS), fc.nat(45), (all, buyer, sold, nowMs) => {
        expect(createPriceRules(all).find(buyer, sold, nowMs)).toEqual(plainly(all, buyer, sold, nowMs));
      }),
      { numRuns: 2_000 },
    );
  });

  test('changes at the moment that is told, and not before', () => {
    fc.assert(
      fc.property(rules, buyers, fc.constantFrom(...ITEMS), fc.nat(45), (all, buyer, sold, nowMs) => {
        const made = createPriceRules(all);
        const at = (ms: number) => plainly(all, buyer, sold, ms)?.id;
        const told = made.changesAtMs(buyer, sold, nowMs);
        for (let ms = nowMs; ms < (told ?? 60); ms += 1) expect(at(ms)).toBe(at(nowMs));
        if (told !== null) expect(at(told)).not.toBe(at(nowMs));
      }),
      { numRuns: 1_000 },
    );
  });

  test('is the same for all buyers of one group, as long as the group is the same', () => {
    fc.assert(
      fc.property(rules, buyers, buyers, fc.nat(45), fc.nat(45), (all, one, other, ms, later) => {
        const made = createPriceRules(all);
        if (all.length === 0 || made.groupOf(one, ms) !== made.groupOf(other, later)) return;
        for (const sold of ITEMS)
          expect(made.find(one, sold, ms)?.id).toBe(made.find(other, sold, later)?.id);
      }),
      { numRuns: 5_000 },
    );
  });

  test('is none without rules, and types of account differ then as ever', () => {
    expect(NO_RULES.groupOf({ type: 'USER', currency: 'USD' }, 0)).not.toBe(
      NO_RULES.groupOf({ type: 'MERCHANT', currency: 'USD' }, 0),
    );
  });

  test('with a price in another currency is not for the buyer', () => {
    const fixed = (currency: 'USD' | 'NGN'): PriceRule => ({
      ...{ id: 1n, scope: 'ALL', scopeId: '', target: 'PACKAGE', targetId: 'NG-1', rounding: 'NONE' },
      ...{ kind: 'PRICE', priceMinor: 450n, currency, fromMs: 0, untilMs: null },
    });
    const inUsd = { type: 'USER', currency: 'USD' } as const;
    const [sold] = ITEMS;
    if (!sold) throw new Error('nothing is sold');
    expect(createPriceRules([fixed('USD')]).find(inUsd, sold, 0)).toBeDefined();
    expect(createPriceRules([fixed('NGN')]).find(inUsd, sold, 0)).toBeUndefined();
  });
});

describe('a price', () => {
  const settings = { id: 'x', userMarkupBps: 2_500, merchantMarkupBps: 1_500, ngnIncrementBps: 300 };
  const NGN = { currency: 'NGN', micros: 1_500_000_000n };
  const cases = fc.record({
    cost: fc.bigInt(1n, 10_000_000n),
    rate: fc.constantFrom(undefined, NGN, { currency: 'NGN', micros: 1_534_250_001n }),
    rounding: fc.constantFrom(...RULE_ROUNDINGS),
    markupBps: fc.nat(100_000),
    priceMinor: fc.bigInt(1n, 1_000_000_000n),
  });

  test('of a rule is never below cost, never below its markup, and ends as it is rounded', () => {
    fc.assert(
      fc.property(cases, ({ cost, rate, rounding, markupBps }) => {
        const terms = { settings, rate };
        const made = priceOf(cost, 'MERCHANT', { ...terms, rule: { kind: 'MARKUP', markupBps, rounding } });
        if (priceUsdMinor(cost, 'MERCHANT', settings) === 0n) return;
        const marked = priceOf(cost, 'MERCHANT', {
          rate,
          settings: { ...settings, merchantMarkupBps: markupBps },
          rule: undefined,
        });
        expect(made.amountMinor >= costMinor(cost, rate)).toBe(true);
        expect(made.amountMinor >= marked.amountMinor).toBe(true);
        if (rounding === 'TO_99') expect(made.amountMinor % 100n).toBe(99n);
        if (rounding === 'TO_HUNDREDS' && rate) expect(made.amountMinor % 10_000n).toBe(0n);
        const step = rounding === 'TO_99' ? 100n : rounding === 'TO_HUNDREDS' && rate ? 10_000n : 1n;
        const least = marked.amountMinor > costMinor(cost, rate) ? marked.amountMinor : costMinor(cost, rate);
        expect(made.amountMinor < least + step).toBe(true);
      }),
    );
  });

  test('that is fixed is what was set, or the cost where that has risen above it', () => {
    fc.assert(
      fc.property(cases, ({ cost, rate, priceMinor }) => {
        const rule = { kind: 'PRICE', priceMinor, currency: 'USD', rounding: 'NONE' } as const;
        if (priceUsdMinor(cost, 'USER', settings) === 0n) return;
        const floor = costMinor(cost, rate);
        const { amountMinor } = priceOf(cost, 'USER', { settings, rate, rule });
        expect(amountMinor).toBe(priceMinor > floor ? priceMinor : floor);
      }),
    );
  });

  test.each([
    ['TO_99', undefined, 30_001n, 2_500, 399n],
    ['TO_99', undefined, 39_900n, 0, 399n],
    ['TO_HUNDREDS', NGN, 10_000n, 0, 160_000n],
    ['TO_HUNDREDS', undefined, 10_000n, 0, 100n],
    ['NONE', undefined, 10_001n, 0, 101n],
  ] as const)(
    'is rounded up as finance chose: %s, case %#',
    (rounding, rate, cost, markupBps, amountMinor) => {
      const rule = { kind: 'MARKUP', markupBps, rounding } as const;
      expect(priceOf(cost, 'USER', { settings, rate, rule }).amountMinor).toBe(amountMinor);
    },
  );

  test('of a package that costs nothing stays nothing', () => {
    const rule = { kind: 'PRICE', priceMinor: 100n, currency: 'USD', rounding: 'NONE' } as const;
    expect(priceOf(0n, 'USER', { settings, rate: undefined, rule }).amountMinor).toBe(0n);
  });
});
