/**
 * Prices as finance sets them: for an account, a plan, a type of account or all, and for a package, a
 * country, a region or all. Where no rule applies, the markups do. Pure.
 */
import type { Account, AccountType, Plan } from '../domain/account.ts';
import type { AccountCurrency } from '../domain/money.ts';
import {
  RULE_SCOPES,
  RULE_TARGETS,
  type RuleRounding,
  type RuleScope,
  type RuleTarget,
} from '../domain/price-rules.ts';
import type { RuleAmount } from './pricing.ts';
import type { CataloguePackage } from './rules.ts';

/**
 * WAITS: for a second person. SCHEDULED: it begins later. ENDED: by its time or by a person. LAPSED: nobody
 * confirmed it within 24 hours.
 */
export const RULE_STATUSES = ['WAITS', 'SCHEDULED', 'IN_FORCE', 'ENDED', 'DECLINED', 'LAPSED'] as const;
export type RuleStatus = (typeof RULE_STATUSES)[number];

export type RuleTerms = RuleAmount & {
  readonly scope: RuleScope;
  /** An account's id, a plan or a type; empty for all. */
  readonly scopeId: string;
  readonly target: RuleTarget;
  /** A code; empty for all. */
  readonly targetId: string;
  readonly rounding: RuleRounding;
};

/** Applies while fromMs ≤ now < untilMs, by Postgres' time. null: until it is ended. */
export type PriceRule = RuleTerms & {
  readonly id: bigint;
  readonly fromMs: number;
  readonly untilMs: number | null;
};

/** What a price depends on, of who buys. */
export interface Buyer {
  readonly accountId?: string | undefined;
  readonly type: AccountType;
  readonly plan?: Plan | undefined;
  /** The one that they pay in. */
  readonly currency: AccountCurrency;
}

/** What a rule looks at, of a package. */
export type Targeted = Pick<CataloguePackage, 'packageCode' | 'regionCode' | 'location'>;

export const buyerOf = ({ id, type, plan, currency }: Account): Buyer => ({
  accountId: id,
  type,
  plan,
  currency,
});

const SCOPE_ID: Record<RuleScope, (buyer: Buyer) => string | undefined> = {
  ACCOUNT: ({ accountId }) => accountId,
  PLAN: ({ plan }) => plan,
  ACCOUNT_TYPE: ({ type }) => type,
  ALL: () => '',
};

/** A country has the packages for it alone: one that covers several has the price of its region. */
const TARGET_ID: Record<RuleTarget, (item: Targeted) => string | undefined> = {
  PACKAGE: ({ packageCode }) => packageCode,
  COUNTRY: ({ location }) => (location.includes(',') ? undefined : location),
  REGION: ({ regionCode }) => regionCode,
  ALL: () => '',
};

export const isForPackage = ({ target, targetId }: RuleTerms, item: Targeted): boolean =>
  TARGET_ID[target](item) === targetId;

/** A price in another currency than the buyer's is not for them. */
const isForBuyer = (rule: RuleTerms, buyer: Buyer): boolean =>
  SCOPE_ID[rule.scope](buyer) === rule.scopeId &&
  (rule.kind === 'MARKUP' || rule.currency === buyer.currency);

const isInForce = ({ fromMs, untilMs }: PriceRule, nowMs: number): boolean =>
  fromMs <= nowMs && (untilMs === null || nowMs < untilMs);

export type PriceRules = ReturnType<typeof createPriceRules>;

/** Rules by whom and what they are for, so that a price costs no more where there are many. */
export function createPriceRules(rules: readonly PriceRule[]) {
  const newestFirst = rules.toSorted((a, b) => b.fromMs - a.fromMs || (a.id < b.id ? 1 : -1));
  const byPlace = Map.groupBy(newestFirst, ({ scope, scopeId, target, targetId }) =>
    placeOf(scope, scopeId, target, targetId),
  );
  const targets = RULE_TARGETS.filter((target) => rules.some((rule) => rule.target === target));
  const scopes = RULE_SCOPES.filter((scope) => rules.some((rule) => rule.scope === scope));
  const accounts = new Set(rules.flatMap(({ scope, scopeId }) => (scope === 'ACCOUNT' ? [scopeId] : [])));
  const edges = [...new Set(rules.flatMap(edgesOf))].sort((a, b) => a - b);
  let passed = 0;
  /** How many beginnings and ends are past. Every read asks, so it goes on from the last answer. */
  const passedBy = (nowMs: number): number => {
    while ((edges[passed] ?? Infinity) <= nowMs) passed += 1;
    while ((edges[passed - 1] ?? -Infinity) > nowMs) passed -= 1;
    return passed;
  };

  /** Rules of one scope and one target, the most specific first; those of one place by time, newest first. */
  function* placesOf(buyer: Buyer, item: Targeted): Generator<readonly PriceRule[]> {
    for (const target of targets) {
      const targetId = TARGET_ID[target](item);
      if (targetId === undefined) continue;
      for (const scope of scopes) {
        const scopeId = SCOPE_ID[scope](buyer);
        const found =
          scopeId === undefined ? undefined : byPlace.get(placeOf(scope, scopeId, target, targetId));
        if (found) yield found;
      }
    }
  }

  const find = (buyer: Buyer, item: Targeted, nowMs: number): PriceRule | undefined => {
    for (const place of placesOf(buyer, item)) {
      const rule = place.find((one) => isInForce(one, nowMs) && isForBuyer(one, buyer));
      if (rule) return rule;
    }
    return undefined;
  };

  return {
    /** The most specific rule that applies to this buyer and package. */
    find,
    /** When another rule, or none, begins to apply; null: not as the rules are. */
    changesAtMs: (buyer: Buyer, item: Targeted, nowMs: number): number | null => {
      const found = [...placesOf(buyer, item)].flat().filter((rule) => isForBuyer(rule, buyer));
      const later = [...new Set(found.flatMap(edgesOf))].filter((ms) => ms > nowMs).sort((a, b) => a - b);
      const now = find(buyer, item, nowMs);
      return later.find((ms) => find(buyer, item, ms) !== now) ?? null;
    },
    /**
     * What prices of this buyer have in common with those of others, for keys of caches: two buyers with one
     * text have the same prices, as long as the rules stay. It changes when a rule begins or ends.
     */
    groupOf: (buyer: Buyer | undefined, nowMs: number): string => {
      if (rules.length === 0) return buyer?.type ?? '';
      const { accountId = '', type = '', plan = '', currency = '' } = buyer ?? {};
      return [passedBy(nowMs), type, plan, currency, accounts.has(accountId) ? accountId : ''].join('/');
    },
  };
}

const placeOf = (...words: readonly [RuleScope, string, RuleTarget, string]): string => words.join('\n');

const edgesOf = ({ fromMs, untilMs }: PriceRule): number[] =>
  untilMs === null ? [fromMs] : [fromMs, untilMs];

export const NO_RULES = createPriceRules([]);

/** For the audit log and refusals. */
export function ruleText(rule: RuleTerms, amount: string): string {
  const scope = rule.scope === 'ALL' ? 'everybody' : `${rule.scope.toLowerCase()} ${rule.scopeId}`;
  const target = rule.target === 'ALL' ? 'everything' : `${rule.target.toLowerCase()} ${rule.targetId}`;
  const rounding = rule.rounding === 'NONE' ? '' : `, rounded ${rule.rounding}`;
  return `${scope.replace('_', ' ')}, ${target}: ${amount}${rounding}`;
}
