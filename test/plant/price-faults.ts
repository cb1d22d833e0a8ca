// Faults in the prices that finance sets: whom they are for, when, and the floor at cost.
import { type Fault, faultsIn } from './fault.ts';

const RULES = 'test/catalogue/price-rules.unit.test.ts';
const FINANCE = 'test/catalogue/price-rules.http.test.ts';
const LIST = 'test/catalogue/price-list.http.test.ts';

export const PRICE_FAULTS: readonly Fault[] = [
  ...faultsIn('src/catalogue/price-rules.ts', RULES, {
    'a price in another currency is for every buyer': [
      "(rule.kind === 'MARKUP' || rule.currency === buyer.currency)",
      'true',
    ],
    'a rule applies before it begins': ['fromMs <= nowMs &&', 'true &&'],
    'a rule applies at the moment at which it ends': ['nowMs < untilMs)', 'nowMs <= untilMs)'],
    'accounts with prices of their own share lists': ["accounts.has(accountId) ? accountId : ''", "''"],
    'lists stay the same when a rule begins': ['return [passedBy(nowMs), type', 'return [type'],
    'a country has packages for several': [
      "location.includes(',') ? undefined : location",
      'location.slice(0, 2)',
    ],
  }),
  ...faultsIn('src/catalogue/pricing.ts', RULES, {
    'a rule sells below cost': ['larger(wanted, costMinor(cost, rate))', 'wanted'],
    'the floor of a rule is rounded down': [
      'divideUp(cost * (rate?.micros ?? MICROS), COST_UNITS_PER_CENT * MICROS)',
      '(cost * (rate?.micros ?? MICROS)) / (COST_UNITS_PER_CENT * MICROS)',
    ],
    'a rule sells what costs nothing': [
      'if (!rule || priceUsdMinor(cost, accountType, settings) === 0n)',
      'if (!rule)',
    ],
  }),
  ...faultsIn('src/domain/money.ts', RULES, {
    'a price is rounded to .99 downwards': [
      'return amountMinor + missing;',
      'return amountMinor + missing - step;',
    ],
  }),
  ...faultsIn('src/catalogue/http/regions.ts', LIST, {
    'one account reads the lowest prices of another': [
      'const revision = cases.priceRevision(account);',
      'const revision = cases.catalogueRevision();',
    ],
  }),
  ...faultsIn('src/catalogue/price-rule-settings.ts', FINANCE, {
    'a rule below cost is set': ["if (verdict !== 'below-cost') return verdict;", "return 'set';"],
    'a rule below cost waits for a second person': ['allowsBelowCost: false', 'allowsBelowCost: true'],
    'a person confirms the rule that they set': [
      'if (!(await areTwoPeople(db, rule.by, by, deps.clock.now())))',
      'if (by === undefined)',
    ],
    'two rules overlap': ['await requireFree(db, request, times);', ''],
    'a confirmed rule overlaps another': ['await requireFree(db, rule, times);', ''],
    'a confirmed rule is not judged once more': [
      'await requireAboveCost({ ...deps, db }, await readSubject({ ...deps, db }, rule), rule);',
      '',
    ],
    'two people set prices at once': [
      '    await lockPricing(db);\n    const times = await settle(db, request);',
      '    const times = await settle(db, request);',
    ],
  }),
  ...faultsIn('src/catalogue/store/price-rules.ts', FINANCE, {
    'a rule that waits makes prices': [
      "    .selectAll()\n    .where('waits', '=', false)\n    .where((eb) =>",
      '    .selectAll()\n    .where((eb) =>',
    ],
    'a set rule reaches no process': ["if (!who.waits) await bumpRevision(trx, 'pricing');", ''],
  }),
  ...faultsIn('src/catalogue/memory.ts', FINANCE, {
    'rules begin by the clock of the process': [
      'const nowMs = () => performance.now() + postgresAheadMs;',
      'const nowMs = () => Date.now() + 3_600_000 + postgresAheadMs * 0;',
    ],
  }),
  ...faultsIn('src/catalogue/http/packages.ts', LIST, {
    'the price of one account is kept for all': [
      '      const { account } = principal;\n      const revision = cases.priceRevision(account);',
      '      const { account } = principal;\n      const revision = cases.priceRevision(undefined);',
    ],
  }),
  ...faultsIn('src/catalogue/prices.ts', LIST, {
    'the currency asked for is taken for that of the account': [
      'const isOwn = rule === undefined || currency === buyer.currency;',
      'const isOwn = true;',
    ],
  }),
];
