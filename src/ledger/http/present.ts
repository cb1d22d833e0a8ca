import type { z } from 'zod';
import type { AccountCurrency, Money } from '../../domain/money.ts';
import { moneyJson, type Wire } from '../../platform/http/json.ts';
import type { lowBalanceSchema, walletSchema } from './schema.ts';
import type { WalletView } from '../store/ledger.ts';

export function presentWallet(view: WalletView): Wire<z.output<typeof walletSchema>> {
  return {
    success: true,
    data: {
      balance: moneyJson(view.balance.amountMinor),
      currency: view.balance.currency as AccountCurrency,
      lastUpdated: view.updatedAt.toISOString(),
    },
  };
}

export function presentLowBalance(
  threshold: Money | null,
  currency: AccountCurrency,
): Wire<z.output<typeof lowBalanceSchema>> {
  return { amount: threshold && moneyJson(threshold.amountMinor), currency };
}
