/** What an API key may spend, and how a refusal says it. The database decides (key_budget_breach). */
import { formatMinor, type AccountCurrency } from '../../domain/money.ts';
import { refusalOf, type Refusal } from '../../domain/refusals.ts';

/** In the currency of the account's wallet. Null: no such limit. */
export interface KeyBudget {
  /** Of one calendar day in UTC. */
  readonly dailyAmountMinor: bigint | null;
  /** Of one purchase, or of a whole batch. */
  readonly orderAmountMinor: bigint | null;
  /** Of one package. */
  readonly maxPriceMinor: bigint | null;
  /** As long as the key lives. */
  readonly maxPurchases: number | null;
  /** ISO 3166-1 alpha-2. Every country of a package must be among them. */
  readonly countries: readonly string[] | null;
}

/** What is left of what can be used up. Null: no such limit. */
export interface BudgetLeft {
  readonly dailyAmountMinor: bigint | null;
  readonly purchases: number | null;
}

/** The limit that an order breaks. Amounts are digits of minor units. */
export interface BudgetBreach {
  readonly limit: 'dailyAmount' | 'orderAmount' | 'maxPrice' | 'maxPurchases' | 'countries' | 'paymentMethod';
  readonly of: string;
  /** Of what can be used up. */
  readonly left?: string;
}

const ASK = 'a member of the account can change the limits of this key in the dashboard';

export function beyondBudget({ limit, of, left = '0' }: BudgetBreach, currency: AccountCurrency): Refusal {
  const amount = (minor: string) => `${currency} ${formatMinor(BigInt(minor))}`;
  const words: Record<BudgetBreach['limit'], () => string> = {
    dailyAmount: () => `dailyAmount is ${amount(of)}, and ${amount(left)} of it is left until midnight UTC`,
    orderAmount: () => `orderAmount is ${amount(of)}, and this order costs more`,
    maxPrice: () => `maxPrice is ${amount(of)}, and this package costs more`,
    maxPurchases: () => `maxPurchases is ${of}, and ${left} of them are left`,
    countries: () => `countries is ${of}, and this package covers others`,
    paymentMethod: () => `a key with a budget pays from the wallet alone, with paymentMethod ${of}`,
  };
  return refusalOf('KEY_BUDGET_EXCEEDED', `${words[limit]()}; ${ASK}`);
}

/** For the audit log. */
export function budgetText(budget: KeyBudget | null): string {
  if (!budget) return 'none';
  const { dailyAmountMinor, orderAmountMinor, maxPriceMinor, maxPurchases, countries } = budget;
  const amount = (minor: bigint | null) => minor && formatMinor(minor);
  const limits = {
    dailyAmount: amount(dailyAmountMinor),
    orderAmount: amount(orderAmountMinor),
    maxPrice: amount(maxPriceMinor),
    maxPurchases,
    countries: countries && countries.join(' '),
  };
  const given = Object.entries(limits).filter(([, of]) => of !== null);
  return given.map(([name, of]) => `${name} ${String(of)}`).join(', ');
}
