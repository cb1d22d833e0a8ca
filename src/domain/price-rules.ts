/** Closed lists of price rules. */

/** Whom a rule is for, the most specific first: of two rules for one target, the earlier scope wins. */
export const RULE_SCOPES = ['ACCOUNT', 'PLAN', 'ACCOUNT_TYPE', 'ALL'] as const;
export type RuleScope = (typeof RULE_SCOPES)[number];

/** What a rule prices, the most specific first: the earlier target wins, whatever the scopes are. */
export const RULE_TARGETS = ['PACKAGE', 'COUNTRY', 'REGION', 'ALL'] as const;
export type RuleTarget = (typeof RULE_TARGETS)[number];

export const RULE_KINDS = ['MARKUP', 'PRICE'] as const;

/**
 * How rules round, always up, so that a rule never gives less than its markup. TO_99: to the next amount that
 * ends in .99. TO_HUNDREDS: to the next hundred, in currencies of which a hundred is little.
 */
export const RULE_ROUNDINGS = ['NONE', 'TO_99', 'TO_HUNDREDS'] as const;
export type RuleRounding = (typeof RULE_ROUNDINGS)[number];
