/** What applies in each currency of wallets where no setting says otherwise. */
import { ACCOUNT_CURRENCIES, CONVERTED_CURRENCIES, type AccountCurrency } from '../../domain/money.ts';

interface CurrencyDefaults {
  /** Units for one US dollar: invented, for the sandbox. */
  readonly ratePerUsd: string;
  /** More in one action needs a second person. Without a limit, none ever would. */
  readonly approvalLimitMinor: bigint;
}

const DEFAULTS: Record<AccountCurrency, CurrencyDefaults> = {
  NGN: { ratePerUsd: '1600.00', approvalLimitMinor: 500_000_00n },
  USD: { ratePerUsd: '1.00', approvalLimitMinor: 300_00n },
};

/** For payments and for callers who ask a rate: currencies without wallets. */
const OTHER_RATES = { EUR: '0.92', GBP: '0.79', GHS: '12.50', KES: '129.00', XOF: '605.00' };

export const DEFAULT_RATES: Readonly<Record<string, string>> = {
  ...OTHER_RATES,
  ...Object.fromEntries(CONVERTED_CURRENCIES.map((currency) => [currency, DEFAULTS[currency].ratePerUsd])),
};

export const DEFAULT_APPROVAL_LIMITS: Readonly<Record<string, bigint>> = Object.fromEntries(
  ACCOUNT_CURRENCIES.map((currency) => [currency, DEFAULTS[currency].approvalLimitMinor]),
);
