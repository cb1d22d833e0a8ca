/** Finance sets prices for some buyers or some packages. Each refusal is a DomainError; nothing was saved. */
import { areTwoPeople } from '../accounts/store/access.ts';
import { findAccount } from '../accounts/store/accounts.ts';
import { ACCOUNT_TYPES, PLANS, type Account } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { ACCOUNT_CURRENCIES, CONVERTED_CURRENCIES, formatMinor } from '../domain/money.ts';
import type { Page, PageQuery } from '../domain/page.ts';
import type { AccountsDb, WorldDb } from '../platform/database/tables.ts';
import { inTransaction } from '../platform/database/transactions.ts';
import { effectOfRule, findSellingRate, type RateDeps } from './agreed-prices.ts';
import { effectOn, isBelowCost, judgePrices, type PackageEffect, type Seller } from './price-effect.ts';
import { createPriceRules, isForPackage, type Buyer, type RuleTerms } from './price-rules.ts';
import { ROUND_UP_TO } from './pricing.ts';
import {
  amountText,
  closePriceRule,
  confirmPriceRule,
  countOpenRules,
  countPriceRules,
  findOverlapping,
  findPriceRule,
  insertPriceRule,
  listPriceRules,
  readJudgedPackages,
  readPriceRules,
  settleTimes,
  type JudgedPackage,
  type RuleFilter,
  type RuleTimes,
  type StoredRule,
} from './store/price-rules.ts';
import { findPricingSettings } from './store/pricing-settings.ts';
import { lockPricing } from './store/rates.ts';

export type RuleDeps = RateDeps & { readonly accounts: AccountsDb };
export type RuleRequest = RuleTerms & RuleTimes;
export interface Author {
  readonly by: string;
  readonly reason: string;
}

/**
 * Rules that apply now or later. Every process keeps them in memory, some 500 bytes each: 10 MB. A price of
 * their own for each package, some 3,000, has room for several merchants.
 */
const MAX_RULES = 20_000;

/** Newest first. */
export async function listRules(
  { db }: Pick<RuleDeps, 'db'>,
  { page, limit, ...filter }: RuleFilter & PageQuery,
): Promise<Page<StoredRule>> {
  const [items, total] = await Promise.all([
    listPriceRules(db, filter, { limit, offset: (page - 1) * limit }),
    countPriceRules(db, filter),
  ]);
  return { items, total, page, limit };
}

export type RulePreview = Awaited<ReturnType<typeof previewRule>>;

/**
 * What a rule would do, at the moment at which it begins, to the prices that its buyers have by then: all of
 * them, those that change most first. VALIDATION_ERROR.
 */
export async function previewRule(deps: RuleDeps, request: RuleRequest) {
  const subject = await readSubject(deps, request);
  const { from, until } = await settle(deps.db, request);
  const [judged, settings, rules, overlapping, ...found] = await Promise.all([
    judge(deps, subject, request),
    findPricingSettings(deps.db),
    readPriceRules(deps.db),
    findOverlapping(deps.db, request, { from, until }),
    ...CONVERTED_CURRENCIES.map((currency) => findSellingRate(deps, currency)),
  ]);
  const rates = new Map(found.flatMap((rate) => (rate ? [[rate.currency, rate]] : [])));
  const fromMs = from.getTime();
  const wanted = { ...request, id: 0n, fromMs, untilMs: until?.getTime() ?? null };
  const [before, after] = [createPriceRules(rules), createPriceRules([...rules, wanted])];
  const effects = effectOn(subject.packages, {
    ...{ before: settings, after: settings, rates, sellers: subject.sellers },
    isFixed: (rule) => rule === wanted,
    ruleBefore: (item, seller) => before.find(subject.buyerOf(seller), item, fromMs),
    ruleAfter: (item, seller) => after.find(subject.buyerOf(seller), item, fromMs),
  });
  const changed = effects.filter(isChanged);
  const prices = effects.flatMap((effect) => effect.prices);
  const margins = prices.flatMap(({ marginBps }) => (marginBps === null ? [] : [marginBps]));
  return {
    verdict: overlapping ? ('overlaps' as const) : judged.verdict,
    overlapping,
    belowCost: judged.belowCost.length,
    belowCostExamples: judged.belowCost.slice(0, MAX_EXAMPLES),
    from,
    until,
    packages: subject.packages.length,
    changed: changed.length,
    lowestMarginBps: margins.reduce<number | null>((low, one) => Math.min(low ?? one, one), null),
    largestChangeBps: changed[0]?.largestChangeBps ?? null,
    changes: changed,
  };
}

const isChanged = ({ prices }: PackageEffect): boolean =>
  prices.some(({ beforeMinor, afterMinor }) => beforeMinor !== afterMinor);

/** `waits`: for a second person. */
export interface RuleSaved {
  readonly outcome: 'set' | 'waits';
  readonly id: bigint;
}

/**
 * Applies within a second of the moment at which it begins. VALIDATION_ERROR, PRICE_RULE_OVERLAPS,
 * PRICES_BELOW_COST.
 */
export async function setRule(deps: RuleDeps, request: RuleRequest, author: Author): Promise<RuleSaved> {
  const subject = await readSubject(deps, request);
  return inTransaction(deps.db, async (db) => {
    await lockPricing(db);
    const times = await settle(db, request);
    if ((await countOpenRules(db)) >= MAX_RULES)
      throw invalid(`there are ${MAX_RULES.toLocaleString('en')} rules, and no room for more: end some`);
    await requireFree(db, request, times);
    const waits = (await requireAboveCost({ ...deps, db }, subject, request)) === 'waits';
    const id = await insertPriceRule(db, { ...request, ...times }, { ...author, waits });
    return { outcome: waits ? 'waits' : 'set', id };
  });
}

/**
 * Applies a rule that another person proposed. Judges it once more, as rates and costs may have changed.
 * NOT_FOUND, FORBIDDEN, and the refusals of setRule.
 */
export async function confirmRule(deps: RuleDeps, id: bigint, { by, reason }: Author): Promise<void> {
  return inTransaction(deps.db, async (db) => {
    await lockPricing(db);
    const rule = await findPriceRule(db, id);
    if (rule?.status !== 'WAITS')
      throw new DomainError('NOT_FOUND', 'No such rule of the last 24 hours waits');
    if (!(await areTwoPeople(db, rule.by, by, deps.clock.now())))
      throw new DomainError('FORBIDDEN', 'Another person must confirm this rule', {
        details: 'you set it, or you two did not get your access independently within the last 24 hours',
      });
    const times = await settle(db, { from: rule.validFrom, until: rule.validUntil });
    await requireFree(db, rule, times);
    await requireAboveCost({ ...deps, db }, await readSubject({ ...deps, db }, rule), rule);
    await confirmPriceRule(db, rule, { by, reason, from: times.from });
  });
}

/**
 * Ends a rule now, or one that has not begun before it does; declines one that waits, or withdraws it. Prices
 * are those of the next rule, or of the markups: those were judged when they were set. NOT_FOUND.
 */
export async function closeRule(
  deps: Pick<RuleDeps, 'db'>,
  id: bigint,
  what: 'end' | 'decline',
  author: Author,
): Promise<void> {
  return inTransaction(deps.db, async (db) => {
    await lockPricing(db);
    const rule = await findPriceRule(db, id);
    const statuses = what === 'decline' ? ['WAITS'] : ['SCHEDULED', 'IN_FORCE'];
    if (!rule || !statuses.includes(rule.status))
      throw new DomainError(
        'NOT_FOUND',
        `No such rule ${what === 'decline' ? 'waits' : 'applies now or later'}`,
      );
    await closePriceRule(db, rule, author);
  });
}

interface Subject {
  readonly sellers: readonly Seller[];
  readonly buyerOf: (seller: Seller) => Buyer;
  readonly packages: readonly JudgedPackage[];
}

/** Whose prices a rule makes, and of what. VALIDATION_ERROR. */
async function readSubject(
  { db, accounts }: Pick<RuleDeps, 'db' | 'accounts'>,
  terms: RuleTerms,
): Promise<Subject> {
  const account = terms.scope === 'ACCOUNT' ? await findAccount(accounts, terms.scopeId) : undefined;
  const problem = scopeProblem(terms, account);
  if (problem !== undefined) throw invalid(problem);
  const packages = (await readJudgedPackages(db)).filter((item) => isForPackage(terms, item));
  if (packages.length === 0) throw invalid('targetId: no package on sale is priced by it');
  const types = account
    ? [account.type]
    : ACCOUNT_TYPES.filter((type) => terms.scope !== 'ACCOUNT_TYPE' || type === terms.scopeId);
  const currencies = ACCOUNT_CURRENCIES.filter(
    (currency) =>
      (account === undefined || account.currency === currency) &&
      (terms.kind === 'MARKUP' || terms.currency === currency),
  );
  if (currencies.length === 0)
    throw invalid(`currency: the account pays in ${account?.currency ?? 'another'}`);
  if (terms.rounding !== 'NONE' && !currencies.some((currency) => ROUND_UP_TO[terms.rounding][currency]))
    throw invalid(`rounding: ${terms.rounding} does not fit prices in ${currencies.join(', ')}`);
  const plan = account?.plan ?? PLANS.find((one) => terms.scope === 'PLAN' && one === terms.scopeId);
  return {
    sellers: types.flatMap((accountType) => currencies.map((currency) => ({ accountType, currency }))),
    buyerOf: ({ accountType: type, currency }) => ({ accountId: account?.id, type, plan, currency }),
    packages,
  };
}

function scopeProblem(terms: RuleTerms, account: Account | undefined): string | undefined {
  const { scope, scopeId, target, targetId, kind } = terms;
  const known: readonly string[] = {
    ACCOUNT: account ? [scopeId] : [],
    PLAN: PLANS,
    ACCOUNT_TYPE: ACCOUNT_TYPES,
    ALL: [''],
  }[scope];
  if (!known.includes(scopeId))
    return scope === 'ACCOUNT'
      ? 'scopeId: no such account'
      : `scopeId: must be one of ${known.join(', ') || 'none'}`;
  if ((target === 'ALL') !== (targetId === ''))
    return 'targetId: is for another target than ALL, and is needed for it';
  if (kind === 'PRICE' && target !== 'PACKAGE') return 'target: a fixed price is for one PACKAGE';
  if (kind === 'PRICE' && terms.rounding !== 'NONE') return 'rounding: a fixed price is not rounded';
  return undefined;
}

/** VALIDATION_ERROR where it would end before it begins. */
async function settle(db: WorldDb, times: RuleTimes) {
  const { isOver, ...settled } = await settleTimes(db, times);
  if (isOver) throw invalid('until: must be after the rule begins, and in the future');
  return settled;
}

async function requireFree(
  db: WorldDb,
  terms: RuleTerms,
  times: { readonly from: Date; readonly until: Date | null },
) {
  const other = await findOverlapping(db, terms, times);
  if (other)
    throw new DomainError(
      'PRICE_RULE_OVERLAPS',
      `Rule ${other.id} (${amountText(other)}) prices the same for the same buyers at that time: end it, or choose other times. Nothing was saved`,
    );
}

/** Named in a refusal: enough to find the mistake. */
const MAX_EXAMPLES = 5;

/** By the rule alone, also where another rule is more specific: that one may end. */
async function judge(deps: RateDeps, { packages, sellers }: Subject, rule: RuleTerms) {
  const effects = await effectOfRule(deps, packages, { sellers, ruleAfter: () => rule });
  const belowCost = effects.flatMap(({ packageCode, prices }) => {
    const worst = prices.find(isBelowCost);
    return worst
      ? [`${packageCode}: ${worst.charged ?? worst.currency} ${formatMinor(worst.afterMinor ?? 0n)}`]
      : [];
  });
  const verdict = judgePrices(effects, { ...deps.priceLimits, allowsBelowCost: false });
  return { verdict, belowCost };
}

/** PRICES_BELOW_COST. */
async function requireAboveCost(deps: RateDeps, subject: Subject, rule: RuleTerms): Promise<'set' | 'waits'> {
  const { verdict, belowCost } = await judge(deps, subject, rule);
  if (verdict !== 'below-cost') return verdict;
  const more = belowCost.length - MAX_EXAMPLES;
  const named = `${belowCost.slice(0, MAX_EXAMPLES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  throw new DomainError(
    'PRICES_BELOW_COST',
    `The rule would sell packages below our cost: ${named}. Nothing was saved`,
  );
}

const invalid = (details: string): DomainError =>
  new DomainError('VALIDATION_ERROR', 'Invalid request', { details });
