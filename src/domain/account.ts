import type { AccountCurrency } from './money.ts';

export const ENVIRONMENTS = ['live', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export const ACCOUNT_TYPES = ['USER', 'MERCHANT'] as const;
export type AccountType = (typeof ACCOUNT_TYPES)[number];

interface PlanTerms {
  /** null: agreed with each account, and kept in its row. */
  readonly requestsPerMinute: number | null;
  /**
   * Purchases and fundings that may be open and unpaid at a time, if SIMWAY_UNPAID_PAYMENTS does not say it.
   * A hosted page that is not paid stays open for a day, so these are the abandoned checkouts of a day.
   */
  readonly unpaidPayments: number;
}

const PLAN_TABLE = {
  STANDARD: { requestsPerMinute: 100, unpaidPayments: 100 },
  PREMIUM: { requestsPerMinute: 500, unpaidPayments: 1_000 },
  ENTERPRISE: { requestsPerMinute: null, unpaidPayments: 10_000 },
} as const satisfies Record<string, PlanTerms>;

export type Plan = keyof typeof PLAN_TABLE;
export const PLANS = Object.keys(PLAN_TABLE) as [Plan, ...Plan[]];
export const termsOfPlan = (plan: Plan): PlanTerms => PLAN_TABLE[plan];

/** Whether each account of the plan has a number of requests of its own. */
export const hasOwnLimit = (plan: Plan | undefined): boolean =>
  plan !== undefined && termsOfPlan(plan).requestsPerMinute === null;

export const SCOPES = ['read', 'purchase', 'fund'] as const;
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

/** A caller, as far as install data is concerned: PIN, PUK, activation codes, QR codes and install links. */
export interface InstallReader {
  /** Without it, install data is left out of every answer. */
  readonly mayInstall: boolean;
  /**
   * Of a person: the eSIMs whose install data this request has read, for the audit log. People read it of one
   * eSIM at a time, so that the log says which; lists leave it out.
   */
  readonly installsRead?: Set<string> | undefined;
}

/** The traveller with the link, the merchant's server that gets webhooks, and our own work. */
export const READS_ALL: InstallReader = { mayInstall: true };

/** The same caller, in a list. */
export const inList = ({ mayInstall, installsRead }: InstallReader): InstallReader => ({
  mayInstall: mayInstall && installsRead === undefined,
});

/** Who is calling: the account behind a checked key, and what the key may do. */
export interface Principal extends InstallReader {
  readonly account: Account;
  readonly keyId: string;
  /** The member, or who made the key: an e-mail address, or a name given on the command line. */
  readonly maker: string;
  readonly environment: Environment;
  readonly scopes: readonly Scope[];
  /** Single addresses or CIDR ranges, IPv4 or IPv6, 1 to 10. */
  readonly allowedAddresses: readonly string[];
}
