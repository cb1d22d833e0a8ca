import type { AccountCurrency } from './money.ts';

export const ENVIRONMENTS = ['live', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export const ACCOUNT_TYPES = ['USER', 'MERCHANT'] as const;
export type AccountType = (typeof ACCOUNT_TYPES)[number];

export const PLANS = ['STANDARD', 'PREMIUM', 'ENTERPRISE'] as const;
export type Plan = (typeof PLANS)[number];

/** Enterprise accounts have a number of their own. */
export const PLAN_REQUESTS_PER_MINUTE = { STANDARD: 100, PREMIUM: 500 } as const;

export const SCOPES = ['read', 'purchase'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Account {
  readonly id: string;
  readonly type: AccountType;
  readonly name: string;
  readonly email: string;
  readonly currency: AccountCurrency;
  readonly plan: Plan;
  readonly requestsPerMinute: number;
}

/** Who is calling: the account behind a checked key, and what the key may do. */
export interface Principal {
  readonly account: Account;
  readonly keyId: string;
  readonly environment: Environment;
  readonly scopes: readonly Scope[];
  /** Single addresses or CIDR ranges, IPv4 or IPv6, 1 to 10. */
  readonly allowedAddresses: readonly string[];
}
